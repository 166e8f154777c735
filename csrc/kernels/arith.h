// Element arithmetic of any dtype for scatter-like kernels: half types round after each step, bool is a saturating bit.
#pragma once

#include <cmath>
#include <limits>

#include "core/dtype.h"

namespace flambeau::arith {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool is_cx = std::is_same_v<T, c64> || std::is_same_v<T, c128>;

template <class T>
T add(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else if constexpr (is_half<T>)
    return T(static_cast<float>(a) + static_cast<float>(b));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <class T>
T mul(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a && b;
  else if constexpr (is_half<T>)
    return T(static_cast<float>(a) * static_cast<float>(b));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}
template <class T>
bool is_nan(T value) {
  if constexpr (is_half<T>)
    return std::isnan(static_cast<float>(value));
  else if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}
template <class T>
bool less(T a, T b) {
  if constexpr (is_half<T>)
    return static_cast<float>(a) < static_cast<float>(b);
  else if constexpr (is_cx<T>)
    return a.re < b.re;
  else
    return a < b;
}
// NaN wins, as in amax and amin.
template <class T>
T maximum(T a, T b) {
  return is_nan(a) ? a : is_nan(b) ? b : less(a, b) ? b : a;
}
template <class T>
T minimum(T a, T b) {
  return is_nan(a) ? a : is_nan(b) ? b : less(b, a) ? b : a;
}

template <class T>
T lowest() {
  if constexpr (std::is_same_v<T, bool>)
    return false;
  else if constexpr (is_half<T>)
    return T(-std::numeric_limits<float>::infinity());
  else if constexpr (is_cx<T>)
    return T(0);
  else if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::min();
}
template <class T>
T highest() {
  if constexpr (std::is_same_v<T, bool>)
    return true;
  else if constexpr (is_half<T>)
    return T(std::numeric_limits<float>::infinity());
  else if constexpr (is_cx<T>)
    return T(0);
  else if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}
// value / count; integers round toward minus infinity.
template <class T>
T divide_count(T value, std::int64_t count) {
  if constexpr (std::is_same_v<T, bool>)
    return value;
  else if constexpr (is_half<T>)
    return T(static_cast<float>(value) / static_cast<float>(count));
  else if constexpr (is_cx<T>)
    return value / T(static_cast<decltype(value.re)>(count));
  else if constexpr (std::is_floating_point_v<T>)
    return value / static_cast<T>(count);
  else {
    const auto wide = static_cast<std::int64_t>(value);
    const std::int64_t quotient = wide / count;
    return static_cast<T>(wide % count != 0 && wide < 0 ? quotient - 1 : quotient);
  }
}

}  // namespace flambeau::arith
