// Shape arithmetic that the view, join, index and scatter kernels share.
#pragma once

#include <optional>

#include "core/kernel.h"
#include "core/tensor.h"

namespace flambeau {

// `sizes` with one -1 replaced by what makes the product `numel`.
Dims infer_size(IntSpan sizes, std::int64_t numel, const char* op);
// Strides that show the same elements, in the same order, under new sizes; nullopt if only a copy can.
std::optional<Dims> view_strides(IntSpan old_sizes, IntSpan old_strides, IntSpan sizes);
Dims expand_strides(IntSpan sizes, IntSpan strides, IntSpan target, const char* op, Dims& expanded);
// Wrapped dims; RuntimeError if one repeats.
Dims wrap_distinct_dims(IntSpan dims, std::int64_t ndim, const char* op);
// Largest element position (relative to the offset) that a geometry reaches, -1 if it is empty. Overflow is an error.
std::int64_t max_position(IntSpan sizes, IntSpan strides, const char* op);
// Does [offset, offset + max_position] fit into the storage? RuntimeError if not.
void check_in_storage(const Tensor& tensor, IntSpan sizes, IntSpan strides, std::int64_t offset, DType dtype,
                      const char* op);
void check_sizes_nonnegative(IntSpan sizes, const char* op);
std::int64_t checked_mul(std::int64_t a, std::int64_t b, const char* op);

// For kernels that read by index while they write: out= may share no memory with what is read, nor overlap itself.
void check_out_apart(const char* op, const Out& out, std::initializer_list<const Tensor*> inputs);
// out= has to have exactly this dtype (gather, take, index_select ... do not convert).
void check_out_dtype(const char* op, const Out& out, DType dtype);

// A view of input, or, for the in-place form (transpose_, squeeze_ ...), input itself with its geometry changed.
Tensor view_or_change(const Tensor& input, const Dims& sizes, const Dims& strides, std::int64_t offset, const Out& out);

// The memory format that a tensor's strides look like: channels-last, also of a slice of such a tensor, or contiguous.
// PyTorch's rule: what kernels with a memory format (convolution, pooling, cat ...) give their results.
MemoryFormat suggested_format(const Tensor& tensor) noexcept;

// A row-major walk over all dims but one, for kernels that work along one dim: calls fn(offset_a, offset_b, ...) with
// element offsets of the start of each line. Sizes are those of the walk (the line dim left out).
template <int kOperands>
class LineWalk {
 public:
  // `skip` is the dim that lines run along (-1: none).
  LineWalk(IntSpan sizes, std::int64_t skip, std::initializer_list<IntSpan> strides) {
    for (std::int64_t d = 0; d < sizes.size(); ++d) {
      if (d == skip) continue;
      sizes_.push_back(sizes[d]);
      int k = 0;
      for (IntSpan s : strides) strides_[k++].push_back(s[d]);
      lines_ *= sizes[d];
    }
  }
  [[nodiscard]] std::int64_t lines() const { return lines_; }
  // fn(const std::int64_t* offsets) for lines [begin, end).
  template <class F>
  void run(std::int64_t begin, std::int64_t end, F&& fn) const {
    if (begin >= end) return;
    const std::int64_t n = sizes_.size();
    Dims index = Dims::filled(n, 0);
    std::int64_t offsets[kOperands] = {};
    std::int64_t rest = begin;
    for (std::int64_t d = n - 1; d >= 0; --d) {
      index[d] = rest % sizes_[d];
      rest /= sizes_[d];
      for (int k = 0; k < kOperands; ++k) offsets[k] += index[d] * strides_[k][d];
    }
    for (std::int64_t line = begin;;) {
      fn(static_cast<const std::int64_t*>(offsets));
      if (++line >= end) return;
      for (std::int64_t d = n - 1; d >= 0; --d) {
        if (++index[d] < sizes_[d]) {
          for (int k = 0; k < kOperands; ++k) offsets[k] += strides_[k][d];
          break;
        }
        index[d] = 0;
        for (int k = 0; k < kOperands; ++k) offsets[k] -= (sizes_[d] - 1) * strides_[k][d];
      }
    }
  }

 private:
  Dims sizes_;
  Dims strides_[kOperands];
  std::int64_t lines_ = 1;
};

}  // namespace flambeau
