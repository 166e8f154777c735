#include "kernels/level_table.h"

namespace flambeau {
namespace {

struct Slot {
  const void* table = nullptr;
  CpuLevel level = CpuLevel::Baseline;
};
constinit Slot slots[kTableIds][kNumDTypes];

}  // namespace

void add_table(TableId id, DType dtype, const void* table, CpuLevel level) noexcept {
  if (level > cpu_level()) return;
  Slot& slot = slots[static_cast<int>(id)][static_cast<int>(dtype)];
  if (slot.table == nullptr || level > slot.level) slot = {table, level};
}

const void* find_table(TableId id, DType dtype) noexcept {
  return slots[static_cast<int>(id)][static_cast<int>(dtype)].table;
}

}  // namespace flambeau
