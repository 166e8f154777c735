// Element copies between tensors of any strides and dtypes, and the derived helpers kernels use.
#pragma once

#include "core/scalar.h"
#include "core/tensor.h"

namespace flambeau {

// dst[...] = src[...], broadcasting src to dst and converting the dtype; resolves src's conj and neg bits (and dst's).
// The two may not partially overlap unless they are identical.
void copy_into(const Tensor& dst, const Tensor& src);
void fill(const Tensor& dst, const Scalar& value);
// "value cannot be converted to type uint8_t without overflow", as PyTorch checks numbers that become elements.
void check_fits(const Scalar& value, DType dtype);
Tensor clone(const Tensor& input, MemoryFormat format = MemoryFormat::Preserve);
Tensor contiguous(const Tensor& input);  // itself if row-major already (and no lazy bits)
Tensor contiguous(const Tensor& input, MemoryFormat format);
Tensor to_dtype(const Tensor& input, DType dtype);                     // itself if already
Tensor resolve(const Tensor& input);                                   // no conj or neg bit; itself if none is set
Tensor expand_to(const Tensor& input, IntSpan sizes, const char* op);  // alias with stride 0
Scalar item(const Tensor& input);                                      // one element

// Raises in PyTorch's words when writing to `dst` would touch one location twice, or when dst and src overlap partly.
void check_no_internal_overlap(const Tensor& dst, const char* op);
void check_no_partial_overlap(const Tensor& dst, const Tensor& src, const char* op);

}  // namespace flambeau
