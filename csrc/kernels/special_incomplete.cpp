// Regularised incomplete gamma functions and their derivatives in the parameter: series, continued fraction, and for
// large parameters Temme's uniform expansion (DLMF 8.12; N. M. Temme, "The asymptotic expansion of the incomplete gamma
// functions", 1979). Regions as in SciPy.
#include <cmath>
#include <cstdint>

#include "kernels/pointwise.h"
#include "kernels/scalar_tiles.h"
#include "kernels/special_functions.h"

namespace flambeau::special {
namespace {

// c_k(eta) of DLMF 8.12.10 in powers of eta, made in rational arithmetic; enough for a >= 150 and |eta| <= 0.7.
constexpr int kTemmeRows = 7, kTemmeColumns = 26;
constexpr Real kTemme[kTemmeRows][kTemmeColumns] = {
    {-3.3333333333333333333e-1L,  8.3333333333333333333e-2L,   -1.4814814814814814815e-2L,  1.1574074074074074074e-3L,
     3.5273368606701940035e-4L,   -1.787551440329218107e-4L,   3.9192631785224377817e-5L,   -2.1854485106799921615e-6L,
     -1.8540622107151599607e-6L,  8.296711340953086005e-7L,    -1.7665952736826079304e-7L,  6.7078535434014985804e-9L,
     1.0261809784240308043e-8L,   -4.3820360184533531866e-9L,  9.1476995822367902342e-10L,  -2.5514193994946249767e-11L,
     -5.8307721325504250675e-11L, 2.4361948020667416244e-11L,  -5.0276692801141755891e-12L, 1.1004392031956134771e-13L,
     3.3717632624009853788e-13L,  -1.3923887224181620659e-13L, 2.8534893807047443204e-14L,  -5.139111834242572619e-16L,
     -1.9752288294349442835e-15L},
    {-1.8518518518518518519e-3L,  -3.4722222222222222222e-3L,  2.6455026455026455026e-3L,  -9.9022633744855967078e-4L,
     2.0576131687242798354e-4L,   -4.0187757201646090535e-7L,  -1.8098550334489977837e-5L, 7.6491609160811100846e-6L,
     -1.6120900894563446004e-6L,  4.6471278028074343423e-9L,   1.3786334469157209593e-7L,  -5.752545603517704964e-8L,
     1.1951628599778147324e-8L,   -1.7543241719747647624e-11L, -1.0091543710600412627e-9L, 4.1627929918425826362e-10L,
     -8.5639070264929806381e-11L, 6.0672151016047586151e-14L,  7.1624989648114853901e-12L, -2.9331866437714371174e-12L,
     5.9966963656836887233e-13L},
    {4.1335978835978835979e-3L, -2.6813271604938271605e-3L, 7.7160493827160493827e-4L, 2.0093878600823045267e-6L,
     -1.0736653226365160522e-4L, 5.2923448829120125416e-5L, -1.2760635188618727713e-5L, 3.4235787340961380742e-8L,
     1.3721957309062933206e-6L, -6.2989921383800550229e-7L, 1.4280614206064241792e-7L, -2.0477098421990866015e-10L,
     -1.4092529910867521053e-8L, 6.2289740849220220336e-9L, -1.3670488396617113499e-9L, 9.4283561590146781955e-13L,
     1.287225240008931806e-10L, -5.5645956134363321147e-11L, 1.1975935546366981004e-11L},
    {6.4943415637860082305e-4L, 2.2947209362139917695e-4L, -4.6918949439525571213e-4L, 2.6772063206283885296e-4L,
     -7.5618016718839764107e-5L, -2.3965051138672966519e-7L, 1.1082654115347302361e-5L, -5.6749528269915965675e-6L,
     1.4230900732435883915e-6L, -2.7861080291528142241e-11L, -1.695840409193027729e-7L, 8.0994649053880823634e-8L,
     -1.9111168485973654061e-8L, 2.3928620439808117969e-12L, 2.0620131815488798437e-9L, -9.4604966618551321738e-10L},
    {-8.618882909167116986e-4L, 7.8403922172006662747e-4L, -2.9907248030319017973e-4L, -1.4638452578843418178e-6L,
     6.6414982154651221867e-5L, -3.9683650471794346644e-5L, 1.1375726970678419098e-5L, 2.5074972262375328017e-10L,
     -1.6954149536558306015e-6L, 8.9075075322053096888e-7L, -2.2929348340008048706e-7L, 2.956794137544049047e-11L,
     2.886582974270878363e-8L},
    {-3.3679855336635815031e-4L, -6.9728137583658577743e-5L, 2.7727532449593920787e-4L, -1.99325705161888477e-4L,
     6.7977804779372078388e-5L, 1.4190629206439670148e-7L, -1.3594048189768693278e-5L, 8.0184702563342015397e-6L,
     -2.2914811765080951704e-6L},
    {5.3130793646399222317e-4L, -5.9216643735369388286e-4L, 2.7087820967180448277e-4L, 7.9023532326603278721e-7L,
     -8.1539693675619687509e-5L, 5.61168275310624965e-5L}};

// log gamma(1 + a): for small a by its Taylor series, whose coefficients are values of the zeta function.
constexpr int kLog1pTerms = 40;
struct GammaSeries {
  Real c[kLog1pTerms];  // of a^1, a^2, ...
  GammaSeries() {
    c[0] = -0.577215664901532860606512090082402431L;
    for (int k = 2; k <= kLog1pTerms; ++k) {
      c[k - 1] = (k % 2 == 0 ? 1 : -1) * zeta(static_cast<Real>(k), 1) / static_cast<Real>(k);
    }
  }
};
template <class J>
J log_gamma1p(const J& a) {
  static const GammaSeries series;
  if (!(value_of(a) < 0.3L)) return log_gamma_positive(a + J(1));
  J sum(0);
  for (int k = kLog1pTerms - 1; k >= 0; --k) sum = (sum + J(series.c[k])) * a;
  return sum;
}

// x^a e^-x / gamma(a + 1); for large a without the cancellation of a log x - x - log gamma.
template <class J>
J prefactor(const J& a, Real x) {
  if (value_of(a) < 20) return exp(a * J(std::log(x)) - J(x) - log_gamma1p(a));
  const J ratio = J(x) / a;
  const J inverse = J(1) / a, square = inverse * inverse;
  J sum(0), power = inverse;
  for (int k = 0; k < kBernoulliCount; ++k) {
    sum += power * J(kBernoulli[k] / static_cast<Real>((2 * k + 2) * (2 * k + 1)));
    power *= square;
  }
  return exp(-(a * (ratio - J(1) - log(ratio))) - sum) / sqrt(a * J(2 * kPi));
}

constexpr int kMaxTerms = 100000;

template <class J>
J lower_series(const J& a, Real x) {  // A&S 6.5.29
  J term(1), sum(1), n = a;
  for (int k = 1; k < kMaxTerms; ++k) {
    n += J(1);
    term = term * J(x) / n;
    sum += term;
    if (!(size_of(term) > kEps * size_of(sum))) break;
  }
  return sum * prefactor(a, x);
}
template <class J>
J upper_fraction(const J& a, Real x) {  // A&S 6.5.31, modified Lentz
  J b = J(x + 1) - a, d = J(1) / b, h = d, c(1e300L);
  for (int k = 1; k < kMaxTerms; ++k) {
    const J n(static_cast<Real>(k)), numerator = n * (a - n);
    b += J(2);
    d = J(1) / (numerator * d + b);
    c = b + numerator / c;
    const J delta = d * c;
    h *= delta;
    if (!(size_of(delta - J(1)) > 1e-19L)) break;
  }
  return h * prefactor(a, x) * a;
}
// For small x: 1 minus the power series, arranged to keep the digits of a result of order a.
template <class J>
J upper_series(const J& a, Real x) {
  J sum(0);
  Real factor = 1;
  for (int n = 1; n < kMaxTerms; ++n) {
    factor *= -x / static_cast<Real>(n);
    const J term = J(factor) / (a + J(static_cast<Real>(n)));
    sum += term;
    if (!(size_of(term) > kEps * size_of(sum))) break;
  }
  const J exponent = a * J(std::log(x)) - log_gamma1p(a);
  return -expm1(exponent) - exp(exponent) * a * sum;
}

// mu - log(1 + mu)
template <class J>
J log_deficit(const J& mu) {
  if (std::fabs(value_of(mu)) > 0.25L) return mu - log(mu + J(1));
  J sum(0);
  for (int k = 34; k >= 0; --k) sum = sum * -mu + J(1 / static_cast<Real>(k + 2));
  return sum * mu * mu;
}
// sign +1: upper, -1: lower. Near x = a.
template <class J>
J uniform(const J& a, Real x, int sign) {
  const J mu = (J(x) - a) / a;
  J eta;
  if (std::fabs(value_of(mu)) > 0.25L) {
    eta = sqrt(J(2) * log_deficit(mu));
    if (value_of(mu) < 0) eta = -eta;
  } else {
    J sum(0);
    for (int k = 34; k >= 0; --k) sum = sum * -mu + J(1 / static_cast<Real>(k + 2));
    eta = mu * sqrt(J(2) * sum);
  }
  const J inverse = J(1) / a;
  J outer(0);
  for (int k = kTemmeRows - 1; k >= 0; --k) {
    J inner(0);
    for (int n = kTemmeColumns - 1; n >= 0; --n) inner = inner * eta + J(kTemme[k][n]);
    outer = outer * inverse + inner;
  }
  const J half = J(0.5L) * a * eta * eta;
  const J rest = exp(-half) / sqrt(J(2 * kPi) * a) * outer;
  const J z = eta * sqrt(a * J(0.5L));
  return sign > 0 ? J(0.5L) * erfc(z) + rest : J(0.5L) * erfc(-z) - rest;
}
bool is_uniform(Real a, Real x) { return a > 150 && std::fabs(x - a) < 0.45L * a; }

template <class J>
J upper(const J& a, Real x);
template <class J>
J lower(const J& a, Real x) {
  const Real v = value_of(a);
  if (is_uniform(v, x)) return uniform(a, x, -1);
  return x > 1 && x > v ? J(1) - upper(a, x) : lower_series(a, x);
}
template <class J>
J upper(const J& a, Real x) {
  const Real v = value_of(a);
  if (is_uniform(v, x)) return uniform(a, x, 1);
  if (x > 1.1L) return x < v ? J(1) - lower_series(a, x) : upper_fraction(a, x);
  const bool lower_is_small = x <= 0.5L ? -0.4L / std::log(x) < v : x * 1.1L < v;
  return lower_is_small ? J(1) - lower_series(a, x) : upper_series(a, x);
}

// Arguments with a limit; false if the functions above have to be asked.
bool limit(double a, double x, double& low) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a < 0 || (std::isinf(a) && std::isinf(x)) || (a == 0 && x == 0)) {
    low = kNan;
  } else if (x == 0 || std::isinf(a)) {
    low = 0;
  } else if (a == 0 || std::isinf(x)) {
    low = 1;
  } else {
    return false;
  }
  return true;
}
double gammainc(double a, double x) {
  double low = 0;
  return limit(a, x, low) ? low : static_cast<double>(lower(Real(a), x));
}
double gammaincc(double a, double x) {
  double low = 0;
  return limit(a, x, low) ? 1 - low : static_cast<double>(upper(Real(a), x));
}
// params: {order} of the derivative of gammainc in a
double gammainc_derivative(double a, double x, const void* params) {
  const auto order = static_cast<int>(*static_cast<const std::int64_t*>(params));
  double low = 0;
  if (limit(a, x, low) && !(a == 0 && std::isfinite(x) && x > 0)) return std::isnan(low) ? low : 0;
  return derivative(order, a, [x](auto t) { return lower(t, x); });
}

using namespace scalar_tiles;
const Map2<&gammainc, double> gammainc_entry("igamma");
const Map2<&gammaincc, double> gammaincc_entry("igammac");
const Map2p<&gammainc_derivative, double> derivative_entry("igamma_derivative");

// The order-th derivative of the lower function in its first argument.
Tensor igamma_derivative_op(std::int64_t order, const Tensor& input, const Tensor& other) {
  static constexpr Tiles tiles("igamma_derivative");
  check(order >= 0 && order <= 4, "igamma: expected a derivative of order 0 to 4 in input, got ", order, ".");
  const DType dtype = to_float_type(result_type(input, other));
  check(!is_complex(dtype), "igamma: expected real tensors, got ", torch_name_of(input.dtype()), " and ",
        torch_name_of(other.dtype()), ".");
  return elementwise("igamma_derivative", {&input, &other}, tiles[dtype], dtype, &order, Out{});
}
const Kernel igamma_derivative_kernel("igamma_derivative", &igamma_derivative_op);

}  // namespace
}  // namespace flambeau::special
