// Vec<T>: FLAMBEAU_VEC_BYTES of float or double, over GCC's vector extensions, and the few intrinsics those lack.
// Included only by files compiled per CPU level; everything is forced inline, so no level's code can leak into another.
#pragma once

#include <cstdint>
#if defined(__SSE4_1__)
// GCC 12 takes the undefined pass-through operands of its own AVX-512 intrinsics for mistakes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#include "core/tile.h"

namespace flambeau::FLAMBEAU_ISA {

inline constexpr CpuLevel kLevel = FLAMBEAU_VEC_BYTES == 64   ? CpuLevel::Avx512
                                   : FLAMBEAU_VEC_BYTES == 32 ? CpuLevel::Avx2
                                                              : CpuLevel::Baseline;

// Spelled per type: GCC 12 takes a vector_size typedef of a dependent type for the element type in overloads.
template <class T>
struct VecTypes;
template <>
struct VecTypes<float> {
  using Int = std::int32_t;
  typedef float Raw __attribute__((vector_size(FLAMBEAU_VEC_BYTES)));
  typedef std::int32_t Mask __attribute__((vector_size(FLAMBEAU_VEC_BYTES)));
};
template <>
struct VecTypes<double> {
  using Int = std::int64_t;
  typedef double Raw __attribute__((vector_size(FLAMBEAU_VEC_BYTES)));
  typedef std::int64_t Mask __attribute__((vector_size(FLAMBEAU_VEC_BYTES)));
};

template <class T>
struct Vec {
  using Int = typename VecTypes<T>::Int;
  using Raw = typename VecTypes<T>::Raw;
  using Mask = typename VecTypes<T>::Mask;  // all ones or all zeros per lane
  static constexpr int size = FLAMBEAU_VEC_BYTES / sizeof(T);
  Raw v;

  Vec() = default;
  [[gnu::always_inline]] Vec(Raw raw) : v(raw) {}
  [[gnu::always_inline]] Vec(T value) : v(Raw{} + value) {}
  [[gnu::always_inline]] static Vec load(const T* p) {
    Vec out;
    __builtin_memcpy(&out.v, p, sizeof(Raw));
    return out;
  }
  [[gnu::always_inline]] void store(T* p) const { __builtin_memcpy(p, &v, sizeof(Raw)); }
  // The first n < size lanes; the others are zero.
  [[gnu::always_inline]] static Vec load_part(const T* p, std::int64_t n) {
    alignas(FLAMBEAU_VEC_BYTES) T buffer[size] = {};
    for (std::int64_t i = 0; i < n; ++i) buffer[i] = p[i];
    return load(buffer);
  }
  [[gnu::always_inline]] void store_part(T* p, std::int64_t n) const {
    alignas(FLAMBEAU_VEC_BYTES) T buffer[size];
    store(buffer);
    for (std::int64_t i = 0; i < n; ++i) p[i] = buffer[i];
  }
  [[gnu::always_inline]] T operator[](int i) const { return v[i]; }
  [[gnu::always_inline]] friend Vec operator+(Vec a, Vec b) { return a.v + b.v; }
  [[gnu::always_inline]] friend Vec operator-(Vec a, Vec b) { return a.v - b.v; }
  [[gnu::always_inline]] friend Vec operator*(Vec a, Vec b) { return a.v * b.v; }
  [[gnu::always_inline]] friend Vec operator/(Vec a, Vec b) { return a.v / b.v; }
  [[gnu::always_inline]] friend Vec operator-(Vec a) { return -a.v; }
  [[gnu::always_inline]] friend Mask operator<(Vec a, Vec b) { return a.v < b.v; }
  [[gnu::always_inline]] friend Mask operator<=(Vec a, Vec b) { return a.v <= b.v; }
  [[gnu::always_inline]] friend Mask operator>(Vec a, Vec b) { return a.v > b.v; }
  [[gnu::always_inline]] friend Mask operator>=(Vec a, Vec b) { return a.v >= b.v; }
  [[gnu::always_inline]] friend Mask operator==(Vec a, Vec b) { return a.v == b.v; }
  [[gnu::always_inline]] friend Mask operator!=(Vec a, Vec b) { return a.v != b.v; }
  Vec& operator+=(Vec b) { return *this = *this + b; }
};

template <class T>
[[gnu::always_inline]] inline typename Vec<T>::Mask bits(Vec<T> x) {
  return (typename Vec<T>::Mask)x.v;
}
template <class T>
[[gnu::always_inline]] inline Vec<T> from_bits(typename Vec<T>::Mask x) {
  return (typename Vec<T>::Raw)x;
}
template <class T>
[[gnu::always_inline]] inline Vec<T> select(typename Vec<T>::Mask mask, Vec<T> yes, Vec<T> no) {
  return mask ? yes.v : no.v;
}
// NaN in either operand: the result is b (as minps does). Put the value that may be NaN second to keep it.
template <class T>
[[gnu::always_inline]] inline Vec<T> min(Vec<T> a, Vec<T> b) {
  return a.v < b.v ? a.v : b.v;
}
template <class T>
[[gnu::always_inline]] inline Vec<T> max(Vec<T> a, Vec<T> b) {
  return a.v > b.v ? a.v : b.v;
}
template <class T>
[[gnu::always_inline]] inline Vec<T> abs(Vec<T> x) {
  using Int = typename Vec<T>::Int;
  return from_bits<T>(bits(x) & (typename Vec<T>::Mask{} + Int(~(std::uint64_t(1) << (8 * sizeof(T) - 1)))));
}
template <class T>
[[gnu::always_inline]] inline typename Vec<T>::Mask sign_bit(Vec<T> x) {
  using Int = typename Vec<T>::Int;
  return bits(x) & (typename Vec<T>::Mask{} + Int(std::uint64_t(1) << (8 * sizeof(T) - 1)));
}
template <class T>
[[gnu::always_inline]] inline Vec<T> copysign(Vec<T> magnitude, Vec<T> sign) {
  return from_bits<T>(bits(abs(magnitude)) | sign_bit(sign));
}
template <class M>
[[gnu::always_inline]] inline bool any(M mask) {
  bool found = false;
  for (unsigned i = 0; i < sizeof(M) / sizeof(mask[0]); ++i) found |= mask[i] != 0;
  return found;
}

// a * b + c, rounded once where the level has FMA.
[[gnu::always_inline]] inline Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
#if FLAMBEAU_VEC_BYTES == 64
  return (Vec<float>::Raw)_mm512_fmadd_ps((__m512)a.v, (__m512)b.v, (__m512)c.v);
#elif FLAMBEAU_VEC_BYTES == 32
  return (Vec<float>::Raw)_mm256_fmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v);
#else
  return a * b + c;
#endif
}
[[gnu::always_inline]] inline Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
#if FLAMBEAU_VEC_BYTES == 64
  return (Vec<double>::Raw)_mm512_fmadd_pd((__m512d)a.v, (__m512d)b.v, (__m512d)c.v);
#elif FLAMBEAU_VEC_BYTES == 32
  return (Vec<double>::Raw)_mm256_fmadd_pd((__m256d)a.v, (__m256d)b.v, (__m256d)c.v);
#else
  return a * b + c;
#endif
}
// SIMD square root, correctly rounded.
[[gnu::always_inline]] inline Vec<float> sqrt(Vec<float> x) {
#if FLAMBEAU_VEC_BYTES == 64
  return (Vec<float>::Raw)_mm512_sqrt_ps((__m512)x.v);
#elif FLAMBEAU_VEC_BYTES == 32
  return (Vec<float>::Raw)_mm256_sqrt_ps((__m256)x.v);
#else
  Vec<float> r;
  for (int i = 0; i < Vec<float>::size; ++i) r.v[i] = __builtin_sqrtf(x.v[i]);
  return r;
#endif
}
[[gnu::always_inline]] inline Vec<double> sqrt(Vec<double> x) {
#if FLAMBEAU_VEC_BYTES == 64
  return (Vec<double>::Raw)_mm512_sqrt_pd((__m512d)x.v);
#elif FLAMBEAU_VEC_BYTES == 32
  return (Vec<double>::Raw)_mm256_sqrt_pd((__m256d)x.v);
#else
  Vec<double> r;
  for (int i = 0; i < Vec<double>::size; ++i) r.v[i] = __builtin_sqrt(x.v[i]);
  return r;
#endif
}

#if FLAMBEAU_VEC_BYTES == 64
// x * 2^n with one rounding, over the whole exponent range.
[[gnu::always_inline]] inline Vec<float> scalef(Vec<float> x, Vec<float> n) {
  return (Vec<float>::Raw)_mm512_scalef_ps((__m512)x.v, (__m512)n.v);
}
[[gnu::always_inline]] inline Vec<double> scalef(Vec<double> x, Vec<double> n) {
  return (Vec<double>::Raw)_mm512_scalef_pd((__m512d)x.v, (__m512d)n.v);
}
#endif

// Horizontal reductions, pairwise.
template <class T>
[[gnu::always_inline]] inline T reduce_add(Vec<T> x) {
  T lanes[Vec<T>::size];
  x.store(lanes);
  for (int half = Vec<T>::size / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}
template <class T>
[[gnu::always_inline]] inline T reduce_max(Vec<T> x) {
  T best = x.v[0];
  for (int i = 1; i < Vec<T>::size; ++i) best = x.v[i] > best ? x.v[i] : best;
  return best;
}
template <class T>
[[gnu::always_inline]] inline T reduce_min(Vec<T> x) {
  T best = x.v[0];
  for (int i = 1; i < Vec<T>::size; ++i) best = x.v[i] < best ? x.v[i] : best;
  return best;
}

}  // namespace flambeau::FLAMBEAU_ISA
