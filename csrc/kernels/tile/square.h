// Transposes squares of a few lanes in registers, by rounds of interleaving.
#pragma once

#include "simd/vec.h"

namespace flambeau::FLAMBEAU_ISA {

template <int kStart, class T>
[[gnu::always_inline]] inline Vec<T> interleave(Vec<T> a, Vec<T> b) {  // a[s], b[s], a[s + 1], b[s + 1] ...
  constexpr int w = Vec<T>::size;
  typename Vec<T>::Mask order{};
#pragma GCC unroll 16
  for (int i = 0; i < w; ++i) order[i] = kStart + i / 2 + (i % 2) * w;
  return typename Vec<T>::Raw(__builtin_shuffle(a.v, b.v, order));
}
// kStart 0: the even elements of a and b, 1: the odd ones. Undoes interleave.
template <int kStart, class T>
[[gnu::always_inline]] inline Vec<T> separate(Vec<T> a, Vec<T> b) {
  constexpr int w = Vec<T>::size;
  typename Vec<T>::Mask order{};
#pragma GCC unroll 16
  for (int i = 0; i < w; ++i) order[i] = kStart + 2 * i;
  return typename Vec<T>::Raw(__builtin_shuffle(a.v, b.v, order));
}

// Rows of a square: at most 32 bytes wide. Sixteen rows of sixteen would spill, and take twice the time.
template <class T>
struct SquareRow;
template <>
struct SquareRow<float> {
  static constexpr int size = FLAMBEAU_VEC_BYTES >= 32 ? 8 : 4;
  typedef float Raw __attribute__((vector_size(size * 4)));
  typedef std::int32_t Order __attribute__((vector_size(size * 4)));
};
template <>
struct SquareRow<double> {
  static constexpr int size = FLAMBEAU_VEC_BYTES >= 32 ? 4 : 2;
  typedef double Raw __attribute__((vector_size(size * 8)));
  typedef std::int64_t Order __attribute__((vector_size(size * 8)));
};

template <class T>
[[gnu::always_inline]] inline void transpose_square(typename SquareRow<T>::Raw* rows) {
  using Row = SquareRow<T>;
  constexpr int w = Row::size;
  typename Row::Order low{}, high{};
#pragma GCC unroll 16
  for (int i = 0; i < w; ++i) {
    low[i] = i / 2 + (i % 2) * w;
    high[i] = w / 2 + i / 2 + (i % 2) * w;
  }
  typename Row::Raw next[w];
#pragma GCC unroll 16
  for (int round = w; round > 1; round /= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < w / 2; ++i) {
      next[2 * i] = __builtin_shuffle(rows[i], rows[i + w / 2], low);
      next[2 * i + 1] = __builtin_shuffle(rows[i], rows[i + w / 2], high);
    }
#pragma GCC unroll 16
    for (int i = 0; i < w; ++i) rows[i] = next[i];
  }
}

}  // namespace flambeau::FLAMBEAU_ISA
