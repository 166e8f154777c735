// The per-level part of cdist and pdist, built once per CPU level by tile/distance.cpp for float32 and float64.
#pragma once

#include <cstdint>

namespace flambeau {

enum class Distance { Count, Sum, Euclidean, Largest, Whole, Real };  // p = 0, 1, 2, inf, another integer, any other

inline constexpr std::int64_t kDistanceRows = 4;  // rows of x that share one pass over the panels

template <class T>
struct DistanceTile {
  std::int64_t width;  // rows of y in a panel
  // Rows y[n, d] (contiguous) as panels [n / width][d][width]; the last is padded with zeros.
  void (*pack)(T* panels, const T* y, std::int64_t n, std::int64_t d) noexcept;
  // out[i, j] = (sum over k of |x[i, k] - y[j, k]|^p)^(1/p) for m <= kDistanceRows rows of x and n of y. Real: float64.
  void (*rows)(Distance kind, T* out, std::int64_t ld, const T* x, std::int64_t m, const T* panels, std::int64_t n,
               std::int64_t d, double p) noexcept;
  // out[k] = sum over j of grad[j] times the derivative by x[k] of the distance[j] of x and y[j]; equal elements and
  // rows have slope 0. Real: float64.
  void (*slope)(Distance kind, T* out, const T* x, const T* y, const T* grad, const T* distance, std::int64_t n,
                std::int64_t d, double p) noexcept;
  // row = sqrt(max(row + add, 0)); a NaN stays.
  void (*root)(T* row, std::int64_t n, T add) noexcept;
};

struct DistanceTileEntry {
  DistanceTileEntry(int level, const DistanceTile<float>* f32, const DistanceTile<double>* f64) noexcept;
};

}  // namespace flambeau
