#include "kernels/slices.h"

#include "core/factory.h"

namespace flambeau {

Tensor swap_with_last(const Tensor& input, std::int64_t dim) {
  Dims sizes(input.sizes()), strides(input.strides());
  const std::int64_t last = input.dim() - 1;
  if (last >= 0) {
    std::swap(sizes[dim], sizes[last]);
    std::swap(strides[dim], strides[last]);
  }
  return alias(input, sizes, strides, input.offset());
}

}  // namespace flambeau
