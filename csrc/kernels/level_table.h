// Tables of inner-loop functions compiled per CPU level, for families that are neither elementwise nor reductions. A
// tile file registers its table per dtype; the op picks the best one the machine can run.
#pragma once

#include "core/dtype.h"
#include "core/tile.h"

namespace flambeau {

enum class TableId : std::uint8_t { Softmax, Norm, Scan, Loss, Rows, Fft };
inline constexpr int kTableIds = 6;

void add_table(TableId id, DType dtype, const void* table, CpuLevel level) noexcept;
const void* find_table(TableId id, DType dtype) noexcept;  // null if there is none

}  // namespace flambeau
