// Elements and positions that a mask (bool or uint8, non-zero: chosen) picks, in row-major order.
#pragma once

#include <vector>

#include "core/tensor.h"

namespace flambeau {

std::int64_t count_nonzero_bytes(const std::uint8_t* bits, std::int64_t n) noexcept;
// Positions of the chosen ones among `bits`, each times `step`.
std::vector<std::int64_t> masked_positions(const std::uint8_t* bits, std::int64_t n, std::int64_t step);
// values[mask], for a mask of values' shape.
Tensor select_masked(const Tensor& values, const Tensor& mask);

}  // namespace flambeau
