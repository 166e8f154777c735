// Making tensors, without autograd: new memory, aliases of existing memory, and the destinations of ops.
#pragma once

#include <optional>

#include "core/kernel.h"
#include "core/scalar.h"
#include "core/tensor.h"

namespace flambeau {

Tensor empty(IntSpan sizes, DType dtype, Device device = {}, MemoryFormat format = MemoryFormat::Contiguous);
Tensor empty_strided(IntSpan sizes, IntSpan strides, DType dtype, Device device = {});
// Same device; strides preserved as PyTorch's preserve_format does (dense non-overlapping inputs keep their order).
Tensor empty_like(const Tensor& input, std::optional<DType> dtype = {}, MemoryFormat format = MemoryFormat::Preserve);
Tensor zeros(IntSpan sizes, DType dtype, Device device = {});
Tensor full(IntSpan sizes, const Scalar& value, DType dtype, Device device = {});
Tensor scalar_tensor(const Scalar& value, DType dtype, Device device = {});  // 0-d
Tensor wrapped_number(const Scalar& value);  // 0-d float64/int64/bool/complex128, weak in type promotion

// An alias of input's storage with its own geometry (offset in elements). Keeps dtype and the conj and neg bits.
Tensor alias(const Tensor& input, IntSpan sizes, IntSpan strides, std::int64_t offset);
Tensor alias(const Tensor& input);  // same geometry, new TensorImpl

// The destination for result `i` of an op: a new tensor if out is not given; the in-place tensor after checking that
// `sizes` equals its own and that `dtype` may be cast to its dtype; or the out= tensor, resized when its shape differs
// (PyTorch warns when it was not empty: the warning is queued for the binding). The result may have another dtype than
// asked for and any strides: write through elementwise() or copy_into().
Tensor output(const char* op, const Out& out, std::int64_t i, IntSpan sizes, DType dtype, Device device,
              MemoryFormat format = MemoryFormat::Contiguous);
void resize_tensor(const Tensor& tensor, IntSpan sizes);  // in place; grows the storage

// May a result of `from` be stored in `to`? (complex -> real, float -> int and anything -> bool may not.)
bool can_cast(DType from, DType to);

void queue_warning(std::string message);  // raised as UserWarning when the op returns to Python
bool warnings_pending() noexcept;
std::vector<std::string> take_queued_warnings();

DType default_dtype() noexcept;  // what set_default_dtype set; float32 at start
void set_default_dtype(DType dtype);

}  // namespace flambeau
