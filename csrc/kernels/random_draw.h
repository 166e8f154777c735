// Single draws from a Generator, in PyTorch's arithmetic: how many bits each takes, and every rounding on the way.
// The multiply-adds are fused because PyTorch's AVX2 and AVX-512 builds fuse them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include "core/dtype.h"
#include "core/generator.h"

namespace flambeau::random {

// [0, 1): 24 bits of one draw, or 53 bits of two.
inline float unit_float(Generator& g) { return static_cast<float>(g.random() & 0xffffffU) * 0x1p-24F; }
inline double unit_double(Generator& g) { return static_cast<double>(g.random64() & 0x1fffffffffffffULL) * 0x1p-53; }

template <class T>
T unit(Generator& g) {
  if constexpr (std::is_same_v<T, double>) {
    return unit_double(g);
  } else {
    return unit_float(g);
  }
}

// from + u * (to - from). Half types draw and compute in float. What rounds up to `to` becomes `from`.
template <class T>
class Uniform {
 public:
  Uniform(double from, double to)
      : from_(static_cast<Wide>(from)), width_(static_cast<Wide>(to) - from_), to_(convert<T>(static_cast<Wide>(to))) {}
  T operator()(Generator& g) const {
    const T value = convert<T>(std::fma(unit<Wide>(g), width_, from_));
    return static_cast<Wide>(value) == static_cast<Wide>(to_) ? convert<T>(from_) : value;
  }

 private:
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  Wide from_, width_;
  T to_;
};

// Box-Muller in double; the second value of a pair waits in the generator.
inline double standard_normal(Generator& g) {
  if (g.has_normal_double) {
    g.has_normal_double = false;
    return g.normal_double;
  }
  const double u1 = unit_double(g), u2 = unit_double(g);
  const double radius = std::sqrt(-2.0 * std::log1p(-u2));
  const double angle = 2.0 * std::numbers::pi * u1;
  g.normal_double = radius * std::sin(angle);
  g.has_normal_double = true;
  return radius * std::cos(angle);
}
inline double normal(Generator& g, double mean, double std) { return std::fma(standard_normal(g), std, mean); }

inline double exponential(Generator& g, double lambda) { return -1.0 / lambda * std::log1p(-unit_double(g)); }
inline double geometric(Generator& g, double p) { return std::ceil(std::log(unit_double(g)) / std::log1p(-p)); }
inline double cauchy(Generator& g, double median, double sigma) {
  return std::fma(sigma, std::tan(std::numbers::pi * (unit_double(g) - 0.5)), median);
}
inline double log_normal(Generator& g, double mean, double std) { return std::exp(normal(g, mean, std)); }

// base + draw % range. The skew of a remainder grows with the range, hence 64 bits from 2^28 on.
inline std::int64_t integer_from_to(Generator& g, std::uint64_t range, std::int64_t base) {
  const std::uint64_t bits = range >= (1ULL << 28) ? g.random64() : g.random();
  return static_cast<std::int64_t>(bits % range + static_cast<std::uint64_t>(base));
}

// random_() without bounds: 0 to the largest value, or to 2^digits for floating types.
template <class T>
T integer_full(Generator& g) {
  if constexpr (std::is_same_v<T, bool>) {
    return (g.random() & 1U) != 0;
  } else if constexpr (std::is_same_v<T, double>) {
    return static_cast<double>(g.random64() % ((1ULL << 53) + 1));
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return static_cast<std::int64_t>(g.random64() & 0x7fffffffffffffffULL);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(g.random() % (static_cast<std::uint32_t>(std::numeric_limits<T>::max()) + 1U));
  } else {
    constexpr int digits = std::is_same_v<T, float> ? 24 : std::is_same_v<T, Half> ? 11 : 8;
    return convert<T>(static_cast<float>(g.random() % ((1U << digits) + 1U)));
  }
}

double poisson(Generator& g, double rate);  // rate >= 0
double binomial(Generator& g, double count, double prob);
double standard_gamma(Generator& g, double alpha);  // scale 1

}  // namespace flambeau::random
