// Inner loops of the normalisations. T: dtype of the activations; weights and statistics come as the lane type L
// (float for float16, bfloat16 and float32; double for float64).
#pragma once

#include <cstdint>

#include "kernels/moments.h"

namespace flambeau {

struct NormTable {
  // Rows of n: mean and 1 / sqrt(var + eps) of each into L arrays (rms: mean 0, mean square instead of the variance).
  // y = (x - mean) * rstd * weight + bias; weight and bias may be null.
  void (*layer_forward)(const void* x, const void* weight, const void* bias, void* y, void* mean, void* rstd,
                        std::int64_t n, std::int64_t count, double eps, bool rms) noexcept;
  // dx (may be null) of each row, and the rows' sums for weight and bias added to d_weight, d_bias (L, may be null).
  void (*layer_backward)(const void* grad, const void* x, const void* weight, const void* mean, const void* rstd,
                         void* dx, void* d_weight, void* d_bias, std::int64_t n, std::int64_t count, bool rms) noexcept;
  // Runs of n elements with scalar coefficients.
  void (*moments)(const void* x, std::int64_t n, Moments* acc) noexcept;
  // y = (x - mean) a + b, and dx = g a + (x - mean) b + c: subtracting first keeps a large mean from costing digits.
  void (*affine)(const void* x, void* y, std::int64_t n, double mean, double a, double b) noexcept;
  void (*affine3)(const void* grad, const void* x, void* dx, std::int64_t n, double mean, double a, double b,
                  double c) noexcept;
  // sums[0] += sum(g), sums[1] += sum(g (x - shift))
  void (*dots)(const void* grad, const void* x, std::int64_t n, double shift, double* sums) noexcept;
  // `rows` rows of k <= 1024 columns, `stride` apart, with coefficients per column (arrays of L).
  void (*moments_columns)(const void* x, std::int64_t rows, std::int64_t stride, std::int64_t k, Moments* acc) noexcept;
  void (*affine_columns)(const void* x, void* y, std::int64_t rows, std::int64_t stride, std::int64_t k,
                         const void* mean, const void* a, const void* b) noexcept;
  void (*dots_columns)(const void* grad, const void* x, std::int64_t rows, std::int64_t stride, std::int64_t k,
                       const void* shift, double* sum_grad, double* sum_product) noexcept;
  void (*affine3_columns)(const void* grad, const void* x, void* dx, std::int64_t rows, std::int64_t stride,
                          std::int64_t k, const void* mean, const void* a, const void* b, const void* c) noexcept;
};

}  // namespace flambeau
