// Truncated Taylor series c[k] = f^(k)(x) / k! of a function of one variable: a formula written once over a number type
// gives its derivatives too. Used where a special function has to be differentiated in a parameter.
#pragma once

#include <cmath>

namespace flambeau::special {

// Series and asymptotic expansions run in extended precision where the machine has it; results are rounded once.
using Real = long double;

template <int N>
struct Taylor {
  Real c[N] = {};
  Taylor() = default;
  Taylor(Real value) { c[0] = value; }
  static Taylor variable(Real value) {
    Taylor x(value);
    x.c[1] = 1;
    return x;
  }
  Taylor& operator+=(const Taylor& other) {
    for (int k = 0; k < N; ++k) c[k] += other.c[k];
    return *this;
  }
  Taylor& operator*=(const Taylor& other) { return *this = *this * other; }
  friend Taylor operator+(Taylor a, const Taylor& b) { return a += b; }
  friend Taylor operator-(Taylor a) {
    for (Real& x : a.c) x = -x;
    return a;
  }
  friend Taylor operator-(Taylor a, const Taylor& b) {
    for (int k = 0; k < N; ++k) a.c[k] -= b.c[k];
    return a;
  }
  friend Taylor operator*(const Taylor& a, const Taylor& b) {
    Taylor y;
    for (int k = 0; k < N; ++k) {
      for (int j = 0; j <= k; ++j) y.c[k] += a.c[j] * b.c[k - j];
    }
    return y;
  }
  friend Taylor operator/(const Taylor& a, const Taylor& b) {
    Taylor y;
    for (int k = 0; k < N; ++k) {
      Real rest = a.c[k];
      for (int j = 0; j < k; ++j) rest -= y.c[j] * b.c[k - j];
      y.c[k] = rest / b.c[0];
    }
    return y;
  }
};

inline Real value_of(Real x) { return x; }
template <int N>
Real value_of(const Taylor<N>& x) {
  return x.c[0];
}
// Sum of the magnitudes of all coefficients, to decide when a series has converged.
inline Real size_of(Real x) { return std::fabs(x); }
template <int N>
Real size_of(const Taylor<N>& x) {
  Real sum = 0;
  for (const Real c : x.c) sum += std::fabs(c);
  return sum;
}

// The series of y where y(x) has the value `start` and y' = slope * x'.
template <int N>
Taylor<N> integrate(Real start, const Taylor<N>& slope, const Taylor<N>& x) {
  Taylor<N> y(start);
  for (int k = 1; k < N; ++k) {
    for (int j = 1; j <= k; ++j) y.c[k] += static_cast<Real>(j) * x.c[j] * slope.c[k - j];
    y.c[k] /= static_cast<Real>(k);
  }
  return y;
}
template <int N>
Taylor<N> exp(const Taylor<N>& x) {
  Taylor<N> y(std::exp(x.c[0]));
  for (int k = 1; k < N; ++k) {
    for (int j = 1; j <= k; ++j) y.c[k] += static_cast<Real>(j) * x.c[j] * y.c[k - j];
    y.c[k] /= static_cast<Real>(k);
  }
  return y;
}
template <int N>
Taylor<N> expm1(const Taylor<N>& x) {
  Taylor<N> y = exp(x);
  y.c[0] = std::expm1(x.c[0]);
  return y;
}
template <int N>
Taylor<N> log(const Taylor<N>& x) {
  return integrate(std::log(x.c[0]), Taylor<N>(1) / x, x);
}
template <int N>
Taylor<N> sqrt(const Taylor<N>& x) {
  Taylor<N> y(std::sqrt(x.c[0]));
  for (int k = 1; k < N; ++k) {
    Real rest = x.c[k];
    for (int j = 1; j < k; ++j) rest -= y.c[j] * y.c[k - j];
    y.c[k] = rest / (2 * y.c[0]);
  }
  return y;
}
template <int N>
Taylor<N> erfc(const Taylor<N>& x) {
  constexpr Real kSlope = -1.12837916709551257389615890312155L;  // -2 / sqrt(pi)
  return integrate(std::erfc(x.c[0]), Taylor<N>(kSlope) * exp(-(x * x)), x);
}
inline Real exp(Real x) { return std::exp(x); }
inline Real expm1(Real x) { return std::expm1(x); }
inline Real log(Real x) { return std::log(x); }
inline Real sqrt(Real x) { return std::sqrt(x); }
inline Real erfc(Real x) { return std::erfc(x); }

// Calls f(start) with the number type that carries `order` derivatives; returns the order-th derivative, NaN beyond
// what is provided.
template <class F>
double derivative(int order, double x, F&& f) {
  switch (order) {
    case 0: return static_cast<double>(f(Real(x)));
    case 1: return static_cast<double>(f(Taylor<2>::variable(x)).c[1]);
    case 2: return static_cast<double>(2 * f(Taylor<3>::variable(x)).c[2]);
    case 3: return static_cast<double>(6 * f(Taylor<4>::variable(x)).c[3]);
    case 4: return static_cast<double>(24 * f(Taylor<5>::variable(x)).c[4]);
    default: return std::nan("");
  }
}

}  // namespace flambeau::special
