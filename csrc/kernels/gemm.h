// Matrix products over raw memory: what matmul, linear, convolution, attention and the recurrent kernels are made of.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/dtype.h"
#include "core/scalar.h"

namespace flambeau {

// C[m, n] = alpha * A[m, k] B[k, n] (+ C, or + bias in every row). A and B of any strides (in elements), C row-major
// with row stride ldc.
template <class T>
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  std::int64_t a_row = 0, a_col = 0;
  const T* b = nullptr;
  std::int64_t b_row = 0, b_col = 0;
  T* c = nullptr;
  std::int64_t ldc = 0;
  T alpha = T(1);
  bool accumulate = false;
  const T* bias = nullptr;  // n elements; not together with accumulate; float32 and float64 only
};

// The bias written into C, for paths that can only add to it.
template <class T>
void start_from_bias(Gemm<T>& g) {
  if (g.bias == nullptr) return;
  for (std::int64_t i = 0; i < g.m; ++i) std::copy_n(g.bias, g.n, g.c + i * g.ldc);
  g.bias = nullptr;
  g.accumulate = true;
}

// Every element type, bool excepted. Half types accumulate in float32 and round once. Threads are used when the product
// is large and the caller is not already in a parallel region.
template <class T>
void gemm(const Gemm<T>& args);

// On the calling thread only, without a library call: for callers that split the work themselves. float and double.
template <class T>
void gemm_serial(const Gemm<T>& args) noexcept;

}  // namespace flambeau
