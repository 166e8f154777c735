// Scalar helpers shared by the tile files: per-type traits and NaN-aware comparisons.
#pragma once

#include "simd/loops.h"

namespace flambeau::FLAMBEAU_ISA {

using u8 = std::uint8_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

template <class T>
inline constexpr bool kIsComplex = false;
template <>
inline constexpr bool kIsComplex<c64> = true;
template <>
inline constexpr bool kIsComplex<c128> = true;
template <class T>
inline constexpr bool kIsFloating = false;
template <>
inline constexpr bool kIsFloating<float> = true;
template <>
inline constexpr bool kIsFloating<double> = true;

[[gnu::always_inline]] inline float abs1(float x) { return __builtin_fabsf(x); }
[[gnu::always_inline]] inline double abs1(double x) { return __builtin_fabs(x); }
[[gnu::always_inline]] inline float sqrt1(float x) { return __builtin_sqrtf(x); }
[[gnu::always_inline]] inline double sqrt1(double x) { return __builtin_sqrt(x); }
[[gnu::always_inline]] inline float floor1(float x) { return __builtin_floorf(x); }
[[gnu::always_inline]] inline double floor1(double x) { return __builtin_floor(x); }
[[gnu::always_inline]] inline float ceil1(float x) { return __builtin_ceilf(x); }
[[gnu::always_inline]] inline double ceil1(double x) { return __builtin_ceil(x); }
[[gnu::always_inline]] inline float trunc1(float x) { return __builtin_truncf(x); }
[[gnu::always_inline]] inline double trunc1(double x) { return __builtin_trunc(x); }
[[gnu::always_inline]] inline float rint1(float x) { return __builtin_rintf(x); }
[[gnu::always_inline]] inline double rint1(double x) { return __builtin_rint(x); }

// Signed overflow wraps, as PyTorch's integers do: arithmetic on the unsigned type of the same width.
template <class T>
struct Wrapping {
  using type = T;
};
template <>
struct Wrapping<i8> {
  using type = std::uint8_t;
};
template <>
struct Wrapping<i16> {
  using type = std::uint16_t;
};
template <>
struct Wrapping<i32> {
  using type = std::uint32_t;
};
template <>
struct Wrapping<i64> {
  using type = std::uint64_t;
};
template <class T>
[[gnu::always_inline]] inline T add(T a, T b) {
  using U = typename Wrapping<T>::type;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
template <class T>
[[gnu::always_inline]] inline T sub(T a, T b) {
  using U = typename Wrapping<T>::type;
  return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
}
template <class T>
[[gnu::always_inline]] inline T mul(T a, T b) {
  using U = typename Wrapping<T>::type;
  if constexpr (sizeof(T) == 2 && !kIsFloating<T>) {
    return static_cast<T>(static_cast<std::uint32_t>(static_cast<U>(a)) *
                          static_cast<std::uint32_t>(static_cast<U>(b)));
  } else {
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  }
}

}  // namespace flambeau::FLAMBEAU_ISA
