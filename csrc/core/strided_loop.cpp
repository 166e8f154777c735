// Dim ordering and merging for StridedLoop.
#include "core/strided_loop.h"

#include <utility>

namespace flambeau {

StridedLoop::StridedLoop(IntSpan shape) : ndim(static_cast<int>(shape.size())) {
  for (int i = 0; i < ndim; ++i) {
    order[i] = ndim - 1 - i;
    sizes[i] = shape[ndim - 1 - i];
    numel *= sizes[i];
  }
}

void StridedLoop::add(IntSpan tensor_sizes, IntSpan tensor_strides, std::int64_t itemsize) {
  std::int64_t* out = strides[operands++];
  const int have = static_cast<int>(tensor_sizes.size());
  for (int i = 0; i < ndim; ++i) {
    const int dim = have - 1 - i;
    out[i] = dim < 0 || (tensor_sizes[dim] == 1 && sizes[i] != 1) ? 0 : tensor_strides[dim] * itemsize;
  }
}

namespace {

// Should loop dim a (currently faster) and b change places? 1: yes, -1: no, 0: no operand can tell.
int compare_dims(const StridedLoop& loop, int a, int b) {
  for (int k = 0; k < loop.operands; ++k) {
    const std::int64_t stride_a = loop.strides[k][a], stride_b = loop.strides[k][b];
    if (stride_a == 0 || stride_b == 0) continue;
    if (stride_a < stride_b) return -1;
    if (stride_a > stride_b) return 1;
    if (loop.sizes[a] > loop.sizes[b]) return 1;
  }
  return 0;
}

}  // namespace

void StridedLoop::sort() {
  if (ndim < 2) return;
  int perm[kMaxDims];
  for (int i = 0; i < ndim; ++i) perm[i] = i;
  bool moved = false;
  // Insertion sort that tolerates incomparable pairs.
  for (int i = 1; i < ndim; ++i) {
    int at = i;
    for (int j = i - 1; j >= 0; --j) {
      const int verdict = compare_dims(*this, perm[j], perm[at]);
      if (verdict > 0) {
        std::swap(perm[j], perm[at]);
        at = j;
        moved = true;
      } else if (verdict < 0) {
        break;
      }
    }
  }
  if (!moved) return;
  const auto permute = [&](auto* values) {
    std::remove_reference_t<decltype(*values)> copy[kMaxDims];
    for (int i = 0; i < ndim; ++i) copy[i] = values[perm[i]];
    for (int i = 0; i < ndim; ++i) values[i] = copy[i];
  };
  permute(sizes);
  permute(order);
  for (int k = 0; k < operands; ++k) permute(strides[k]);
}

Dims StridedLoop::dense_strides() const {
  Dims result;
  result.resize(ndim);
  std::int64_t step = 1;
  for (int i = 0; i < ndim; ++i) {
    result[order[i]] = step;
    step *= sizes[i] > 1 ? sizes[i] : 1;
  }
  return result;
}

void StridedLoop::coalesce() {
  int last = -1;
  for (int i = 0; i < ndim; ++i) {
    if (sizes[i] == 1) continue;
    if (last >= 0) {
      bool mergeable = true;
      for (int k = 0; k < operands && mergeable; ++k) mergeable = strides[k][i] == strides[k][last] * sizes[last];
      if (mergeable) {
        sizes[last] *= sizes[i];
        continue;
      }
    }
    ++last;
    sizes[last] = sizes[i];
    for (int k = 0; k < operands; ++k) strides[k][last] = strides[k][i];
  }
  ndim = last + 1;
  if (ndim == 0) {  // always at least one dim, so that loops have a row
    ndim = 1;
    sizes[0] = 1;
    for (int k = 0; k < operands; ++k) strides[k][0] = 0;
  }
}

bool StridedLoop::linear(int operand, std::int64_t itemsize) const {
  std::int64_t step = itemsize;
  for (int i = 0; i < ndim; ++i) {
    if (sizes[i] != 1 && strides[operand][i] != step) return false;
    step *= sizes[i];
  }
  return true;
}

bool StridedLoop::constant(int operand) const {
  for (int i = 0; i < ndim; ++i) {
    if (sizes[i] != 1 && strides[operand][i] != 0) return false;
  }
  return true;
}

}  // namespace flambeau
