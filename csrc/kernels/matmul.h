// Tensor-level matrix products, for kernels that need one as a step.
#pragma once

#include "core/tensor.h"
#include "kernels/gemm.h"

namespace flambeau {

// A 2-d operand: pointer to the first element and strides in elements.
struct MatrixView {
  const void* data;
  std::int64_t row, col;
};

// c[m, n] (row-major, row stride ldc) = alpha * a b (+ c), any element type but bool.
void matrix_product(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, MatrixView a, MatrixView b, void* c,
                    std::int64_t ldc, const Scalar& alpha, bool accumulate);

// Batches broadcast: a (..., m, k), b (..., k, n), c contiguous (batch..., m, n).
void batched_product(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& alpha, bool accumulate);

}  // namespace flambeau
