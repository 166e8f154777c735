// The per-level part of matrix products: register-blocked kernels that csrc/kernels/tile/gemm.cpp builds once per CPU
// level. gemm.cpp cuts a product into blocks, threads and packing and calls these; nothing here allocates.
#pragma once

#include <cstdint>

namespace flambeau {

template <class T>
struct GemmTile {
  std::int64_t mr, nr;  // rows and columns of one register tile; packed panels have this width
  // Packed panels: A as [m/mr][k][mr], B as [n/nr][k][nr], zero-padded. Strides in elements.
  void (*pack_a)(T* packed, const T* a, std::int64_t row, std::int64_t col, std::int64_t m, std::int64_t k) noexcept;
  void (*pack_b)(T* packed, const T* b, std::int64_t row, std::int64_t col, std::int64_t k, std::int64_t n) noexcept;
  // C[m, n] = alpha * A B (+ start): packed panels in, row-major C out. start, of row stride start_ld, is null, C
  // itself or, with row stride 0, one row for all.
  void (*packed)(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c, std::int64_t ldc,
                 T alpha, const T* start, std::int64_t start_ld) noexcept;
  // The same without packing: A of any strides, B row-major. n may be anything, k at most kSmallK.
  void (*direct)(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t row, std::int64_t col,
                 const T* b, std::int64_t ldb, T* c, std::int64_t ldc, T alpha, const T* start,
                 std::int64_t start_ld) noexcept;
  // C[i, j] = alpha * dot(A[i, :], B[j, :]) (+ C): both contiguous along k. For few rows of A.
  void (*dots)(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, const T* b,
               std::int64_t ldb, T* c, std::int64_t ldc, T alpha, bool accumulate) noexcept;
  // y[n] = (y +) sum over k of x[k] * B[k, :]: B row-major.
  void (*combine)(std::int64_t n, std::int64_t k, const T* x, std::int64_t incx, const T* b, std::int64_t ldb, T* y,
                  T alpha, bool accumulate) noexcept;
};
inline constexpr std::int64_t kSmallK = 512;

struct GemmTileEntry {
  // level: 0 baseline, 1 avx2, 2 avx512. (elementwise.h has the enum, but per-level files stay clear of STL headers.)
  GemmTileEntry(int level, const GemmTile<float>* f32, const GemmTile<double>* f64) noexcept;
};
// Of the highest level this machine has.
template <class T>
const GemmTile<T>& gemm_tile() noexcept;

}  // namespace flambeau
