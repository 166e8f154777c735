// Gamma family: digamma, polygamma, the Hurwitz zeta function. Formulas are cited by their number in Abramowitz &
// Stegun.
#include <cmath>
#include <cstdint>

#include "kernels/pointwise.h"
#include "kernels/scalar_tiles.h"
#include "kernels/special_functions.h"

namespace flambeau::special {

Real log_gamma(Real x) { return log_gamma_positive(x); }

Real digamma(Real x) {
  if (x == 0) return std::copysign(static_cast<Real>(kInf), -x);
  if (x < 0) {
    const Real fraction = x - std::round(x);
    if (fraction == 0) return kNan;
    return digamma(1 - x) - kPi / std::tan(kPi * fraction);  // 6.3.7
  }
  if (std::isinf(x)) return x;
  Real shift = 0;
  for (; x < 20; x += 1) shift -= 1 / x;
  const Real y = 1 / (x * x);  // 6.3.18
  Real sum = 0, power = y;
  for (int k = 0; k < kBernoulliCount; ++k, power *= y) sum += kBernoulli[k] / static_cast<Real>(2 * (k + 1)) * power;
  return shift + std::log(x) - 0.5L / x - sum;
}

namespace {

// a^-s
Real power(Real a, Real s) { return std::pow(a, -s); }
template <int N>
Taylor<N> power(Real a, const Taylor<N>& s) {
  return exp(-(s * Taylor<N>(std::log(a))));
}

// q > 0, s > 1: Euler-Maclaurin (23.2.3 generalised) behind enough terms for its expansion in s / q.
template <class J>
J zeta_positive(J s, Real q) {
  if (std::isinf(q)) return J(0);
  J sum(0);
  const Real limit = std::fmax(static_cast<Real>(12), value_of(s));
  for (; q < limit; q += 1) {
    const J term = power(q, s);
    sum += term;
    // What follows is about term * q / (s - 1).
    if (!(size_of(term) * (1 + q / (value_of(s) - 1)) > kEps * size_of(sum))) return sum;
  }
  const J tail = power(q, s);
  sum += tail * (J(q) / (s - J(1)) + J(0.5L));
  J factor = s;
  Real scale = 1 / q, factorial = 2;
  for (int k = 0; k < kBernoulliCount; ++k) {
    const J term = tail * factor * J(kBernoulli[k] / factorial * scale);
    sum += term;
    if (!(size_of(term) > kEps * size_of(sum))) break;
    factor = factor * (s + J(static_cast<Real>(2 * k + 1))) * (s + J(static_cast<Real>(2 * k + 2)));
    factorial *= static_cast<Real>((2 * k + 3) * (2 * k + 4));
    scale /= q * q;
  }
  return sum;
}

}  // namespace

Real zeta(Real s, Real q) {
  if (std::isnan(s) || std::isnan(q)) return kNan;
  if (s == 1) return kInf;
  if (s < 1) return kNan;
  if (q > 0) return zeta_positive(s, q);
  if (q == std::floor(q)) return kInf;
  if (s != std::floor(s)) return kNan;
  // q = f - m with 0 < f < 1: the m terms below zero are a difference of two zeta functions of positive arguments.
  const Real m = -std::floor(q), f = q + m, g = -q - (m - 1);  // g = 1 - f
  const Real below = zeta_positive(s, g) - zeta_positive(s, g + m);
  return zeta_positive(s, f) + (std::fmod(s, 2) == 0 ? below : -below);
}

namespace {

using namespace scalar_tiles;

double digamma_tile(double x) { return static_cast<double>(digamma(static_cast<Real>(x))); }
double polygamma(double x, const void* params) {
  const std::int64_t n = *static_cast<const std::int64_t*>(params);
  if (n == 0) return digamma_tile(x);
  const Real s = static_cast<Real>(n) + 1, sign = n % 2 == 0 ? -1 : 1;
  if (n > 1700) return static_cast<double>(sign * std::exp(log_gamma(s) + std::log(zeta(s, x))));
  return static_cast<double>(sign * std::tgamma(s) * zeta(s, x));  // 6.4.10
}
double zeta_tile(double s, double q) { return static_cast<double>(zeta(s, q)); }
// params: {order} of the derivative in s
double zeta_derivative(double s, double q, const void* params) {
  const auto order = static_cast<int>(*static_cast<const std::int64_t*>(params));
  if (!(s > 1) || !(q > 0)) return kNan;
  return derivative(order, s, [q](auto t) { return zeta_positive(t, q); });
}
const Map1<&digamma_tile, double> digamma_entry("digamma");
const Map1p<&polygamma, double> polygamma_entry("polygamma");
const Map2<&zeta_tile, double> zeta_entry("zeta");
const Map2p<&zeta_derivative, double> zeta_derivative_entry("zeta_derivative");

// The order-th derivative of the zeta function in its first argument.
Tensor zeta_derivative_op(std::int64_t order, const Tensor& input, const Tensor& other) {
  static constexpr Tiles tiles("zeta_derivative");
  check(order >= 0 && order <= 4, "zeta: expected a derivative of order 0 to 4 in input, got ", order, ".");
  const DType dtype = to_float_type(result_type(input, other));
  check(!is_complex(dtype), "zeta: expected real tensors, got ", torch_name_of(input.dtype()), " and ",
        torch_name_of(other.dtype()), ".");
  return elementwise("zeta_derivative", {&input, &other}, tiles[dtype], dtype, &order, Out{});
}
const Kernel zeta_derivative_kernel("zeta_derivative", &zeta_derivative_op);

}  // namespace
}  // namespace flambeau::special
