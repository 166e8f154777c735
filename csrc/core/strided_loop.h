// A nested loop over several operands of one shape: dims sorted from the fastest to the slowest by stride, then merged
// where every operand allows it. Elementwise kernels and copies run on it.
#pragma once

#include <cstdint>

#include "core/elementwise.h"
#include "core/tensor.h"

namespace flambeau {

// Element conversion along one run; strides are in bytes, 0 repeats one source element.
using CastFn = void (*)(void* dst, std::int64_t dst_stride, const void* src, std::int64_t src_stride,
                        std::int64_t n) noexcept;
CastFn cast_fn(DType from, DType to);

// x -> conj(x), x -> -x on a contiguous run of `dtype`.
void apply_conj(void* data, DType dtype, std::int64_t n) noexcept;
void apply_neg(void* data, DType dtype, std::int64_t n) noexcept;

struct StridedLoop {
  int ndim = 0;
  int operands = 0;
  std::int64_t numel = 1;
  // Dim 0 is the fastest. Strides are in bytes; 0 where an operand is broadcast.
  std::int64_t sizes[kMaxDims];
  std::int64_t strides[kMaxOperands][kMaxDims];
  int order[kMaxDims];  // order[i]: dim of the original shape that loop dim i is (before merging)

  explicit StridedLoop(IntSpan shape);
  // Broadcasts the tensor to the loop's shape, which has to be possible. Dims in the original order, fastest first.
  void add(const Tensor& tensor) { add(tensor.sizes(), tensor.strides(), tensor.itemsize()); }
  void add(IntSpan tensor_sizes, IntSpan tensor_strides, std::int64_t itemsize);
  // PyTorch's TensorIterator order: the first operand that tells two dims apart decides. New outputs follow it.
  void sort();
  // Strides (in elements, original dim order) of a dense tensor laid out in this loop's order.
  [[nodiscard]] Dims dense_strides() const;
  void coalesce();
  // Is the operand dense in loop order, so that element i lies at i * itemsize?
  [[nodiscard]] bool linear(int operand, std::int64_t itemsize) const;
  [[nodiscard]] bool constant(int operand) const;  // one element, repeated

  // Calls row(pointers, n) for each run along dim 0 inside the linear range [begin, end).
  template <class F>
  void for_rows(char* const* bases, std::int64_t begin, std::int64_t end, F&& row) const {
    std::int64_t index[kMaxDims];
    char* pointers[kMaxOperands];
    for (int k = 0; k < operands; ++k) pointers[k] = bases[k];
    std::int64_t rest = begin;
    for (int d = 0; d < ndim; ++d) {
      index[d] = rest % sizes[d];
      rest /= sizes[d];
      for (int k = 0; k < operands; ++k) pointers[k] += index[d] * strides[k][d];
    }
    while (begin < end) {
      std::int64_t n = sizes[0] - index[0];
      if (n > end - begin) n = end - begin;
      row(pointers, n);
      begin += n;
      if (begin >= end) break;
      for (int k = 0; k < operands; ++k) pointers[k] -= index[0] * strides[k][0];
      index[0] = 0;
      for (int d = 1; d < ndim; ++d) {
        for (int k = 0; k < operands; ++k) pointers[k] += strides[k][d];
        if (++index[d] < sizes[d]) break;
        for (int k = 0; k < operands; ++k) pointers[k] -= sizes[d] * strides[k][d];
        index[d] = 0;
      }
    }
  }
};

}  // namespace flambeau
