// Bessel functions of orders 0, 1 and real order, and the Airy function. Formulas are cited by their number in the
// DLMF.
#include <cmath>
#include <cstdint>

#include "kernels/scalar_tiles.h"
#include "kernels/special_functions.h"

namespace flambeau::special {
namespace {

// exp(x) K_nu(x), x > 0: the trapezoidal rule on 10.32.9, which converges exponentially; the step follows the width of
// the integrand's peak.
Real scaled_k_integral(Real nu, Real x) {
  const Real h = std::fmin(static_cast<Real>(0.1L), 0.6L / std::sqrt(std::hypot(x, nu)));
  const Real peak = std::asinh(nu / x);
  const auto exponent = [&](Real t) {
    const Real s = std::sinh(t / 2);
    return nu * t - 2 * x * s * s;
  };
  Real sum = 0.5L;
  for (int k = 1;; ++k) {
    const Real t = h * static_cast<Real>(k);
    // exp(-x (cosh t - 1)) cosh(nu t), the two exponentials apart so that neither overflows
    const Real term = 0.5L * (std::exp(exponent(t)) + std::exp(exponent(t) - 2 * nu * t));
    sum += term;
    if (!(term > kEps * sum) && t > peak) break;
    if (std::isinf(sum)) break;
  }
  return sum * h;
}

// Orders 0 and 1: 10.31.1, 10.31.2 near zero, 10.40.2 far away.
Real scaled_k(int nu, Real x) {
  if (std::isinf(x)) return 0;
  if (x < 1) {
    constexpr Real kGamma = 0.577215664901532860606512090082402431L;
    const Real quarter = x * x / 4, logarithm = std::log(x / 2) + kGamma;
    Real term = nu == 0 ? 1 : x / 2, sum = 0, harmonic = 0;
    for (int k = 0; k < 30; ++k) {
      // psi(k + 1) + psi(k + nu + 1), relative to -2 gamma, halved
      const Real weight = nu == 0 ? harmonic : harmonic + 0.5L / static_cast<Real>(k + 1);
      sum += term * (logarithm - weight);
      harmonic += 1 / static_cast<Real>(k + 1);
      term *= quarter / static_cast<Real>((k + 1) * (k + 1 + nu));
    }
    return (nu == 0 ? -sum : 1 / x + sum) * std::exp(x);
  }
  if (x <= 50) return scaled_k_integral(static_cast<Real>(nu), x);
  const Real mu = 4.0L * static_cast<Real>(nu * nu);
  Real term = 1, sum = 1;
  for (int k = 1; k < 40; ++k) {
    const auto odd = static_cast<Real>(2 * k - 1);
    term *= (mu - odd * odd) / (static_cast<Real>(8 * k) * x);
    sum += term;
    if (std::fabs(term) < kEps * sum) break;
  }
  return sum * std::sqrt(kPi / (2 * x));
}
template <int kOrder, bool kScaled>
double bessel_k(double x) {
  if (std::isnan(x) || x < 0) return kNan;
  if (x == 0) return kInf;
  const Real scaled = scaled_k(kOrder, x);
  return static_cast<double>(kScaled ? scaled : scaled * std::exp(-static_cast<Real>(x)));
}

// ---- modified, first kind ----

struct Scaled {  // value * exp(exponent)
  Real value, exponent;
};

Scaled i_series(Real nu, Real x) {  // 10.25.2
  const Real quarter = x * x / 4;
  Real term = 1, sum = 1;
  for (int k = 1; k < 100000; ++k) {
    term *= quarter / (static_cast<Real>(k) * (static_cast<Real>(k) + nu));
    sum += term;
    if (!(term > kEps * sum)) break;
  }
  return {sum, nu * std::log(x / 2) - log_gamma(nu + 1)};
}
Scaled i_far(Real nu, Real x) {  // 10.40.1, for nu^2 up to about x
  const Real mu = 4 * nu * nu;
  Real term = 1, sum = 1;
  for (int k = 1; k < 500; ++k) {
    const auto odd = static_cast<Real>(2 * k - 1);
    term *= -(mu - odd * odd) / (static_cast<Real>(8 * k) * x);
    sum += term;
    if (!(std::fabs(term) > kEps * std::fabs(sum))) break;
  }
  return {sum / std::sqrt(2 * kPi * x), x};
}

// The polynomials u_k(p) of 10.41.9, made once.
constexpr int kDebye = 16;
struct DebyePolynomials {
  Real c[kDebye][3 * kDebye] = {};
  DebyePolynomials() {
    c[0][0] = 1;
    for (int k = 0; k + 1 < kDebye; ++k) {
      for (int j = 0; j <= 3 * k; ++j) {
        const auto n = static_cast<Real>(j);
        c[k + 1][j + 1] += c[k][j] * (n / 2 + 1 / (8 * (n + 1)));
        c[k + 1][j + 3] -= c[k][j] * (n / 2 + 5 / (8 * (n + 3)));
      }
    }
  }
};
Scaled i_uniform(Real nu, Real x) {  // 10.41.3
  static const DebyePolynomials polynomials;
  const Real root = std::hypot(nu, x), p = nu / root;
  Real sum = 0, power = 1;
  for (int k = 0; k < kDebye; ++k, power /= nu) {
    Real u = 0;
    for (int j = 3 * k; j >= 0; --j) u = u * p + polynomials.c[k][j];
    sum += u * power;
  }
  return {sum / std::sqrt(2 * kPi * root), root - nu * std::asinh(nu / x)};
}
Scaled bessel_i(Real nu, Real x) {  // nu >= 0, x > 0
  if (x <= 60 || x * x <= 200 * nu) return i_series(nu, x);
  return nu * nu <= 2 * x ? i_far(nu, x) : i_uniform(nu, x);
}

// I_nu(x), times exp(-|x|) if scaled.
double iv(Real nu, Real x, bool scaled) {
  if (std::isnan(nu) || std::isnan(x)) return kNan;
  const bool whole = nu == std::floor(nu);
  if (x < 0) {
    if (!whole) return kNan;
    const double y = iv(nu, -x, scaled);
    return std::fmod(nu, 2) == 0 ? y : -y;
  }
  if (whole) nu = std::fabs(nu);
  if (x == 0) return nu == 0 ? 1 : nu > 0 ? 0 : kInf;
  if (std::isinf(nu)) return std::isinf(x) ? kNan : nu > 0 ? 0 : kNan;
  if (std::isinf(x)) return scaled ? 0 : kInf;
  const Real order = std::fabs(nu), shift = scaled ? x : 0;
  const Scaled first = bessel_i(order, x);
  Real y = first.value * std::exp(first.exponent - shift);
  // 10.27.2; K counts only where it isn't lost beside I.
  if (nu < 0) {
    const Real sine = std::sin(kPi * (order - 2 * std::floor(order / 2)));
    y += 2 / kPi * sine * scaled_k_integral(order, x) * std::exp(-x - shift);
  }
  return static_cast<double>(y);
}
double iv_tile(double nu, double x) { return iv(nu, x, false); }
double ive_tile(double nu, double x) { return iv(nu, x, true); }

template <int kOrder, bool kScaled>
double bessel_i_tile(double x) {
  if (std::isinf(x)) return kScaled ? 0 : kOrder == 0 ? kInf : x;
  const double a = std::fabs(x);
  if (a == 0) return kOrder == 0 ? 1 : x;
  const Scaled y = bessel_i(kOrder, a);
  const double value = static_cast<double>(y.value * std::exp(kScaled ? y.exponent - a : y.exponent));
  return kOrder == 0 || std::isnan(x) ? value : std::copysign(value, x);
}

double y0(double x) { return x < 0 ? kNan : std::isinf(x) ? 0 : ::y0(x); }
double y1(double x) { return x < 0 ? kNan : std::isinf(x) ? 0 : ::y1(x); }
double spherical_j0(double x) { return std::isinf(x) ? 0 : std::fabs(x) < 1e-8 ? 1 : std::sin(x) / x; }
// (sin x - x cos x) / x^2, minus the derivative of the above
double spherical_j1(double x) {
  if (std::isinf(x)) return 0;
  if (std::fabs(x) > 1) return (std::sin(x) / x - std::cos(x)) / x;
  const double square = x * x / 2;
  double term = x / 3, sum = term;
  for (int k = 1; k < 12; ++k) {
    term *= -square / (k * (2 * k + 3));
    sum += term;
  }
  return sum;
}

// ---- Airy ----

// Ai and Ai' at -10, -9, ..., 10.
constexpr Real kAiry[21][2] = {
    {0.040241238486443190689L, 0.9962650441327900559L},        {-0.022133721547341403674L, -0.97566398092633159471L},
    {-0.052705050356386202622L, 0.93556093819830655103L},      {0.18428083525050563728L, -0.77100816841012654773L},
    {-0.32914517362982310523L, 0.34593548728134289493L},       {0.35076100902411431979L, 0.32719281855444313679L},
    {-0.070265532949289515099L, -0.7906285753685813803L},      {-0.37881429367765807435L, 0.31458376921659881365L},
    {0.22740742820168557599L, 0.61825902074169104141L},        {0.5355608832923521188L, -0.010160567116645209395L},
    {0.35502805388781723926L, -0.25881940379280679841L},       {0.13529241631288141552L, -0.15914744129679321279L},
    {0.034924130423274379135L, -0.053090384433653631704L},     {0.0065911393574607191443L, -0.011912976705951318474L},
    {0.00095156385120480187362L, -0.0019586409502041789001L},  {0.00010834442813607441735L, -0.000247413890868462476L},
    {9.9476943602528895702e-6L, -0.000024765200397034954754L}, {7.4921288639971670808e-7L, -2.0081508947387919912e-6L},
    {4.6922076160992316256e-8L, -1.3414392979067865743e-7L},   {2.4711684308724898433e-9L, -7.4806413896589464128e-9L},
    {1.1047532552898685934e-10L, -3.5206336767389236366e-10L}};

struct AiryPair {
  Real value, slope;
};
// Taylor series of y'' = x y about the nearest integer.
AiryPair airy_near(Real x) {
  const Real center = std::round(x), h = x - center;
  const Real* start = kAiry[static_cast<int>(center) + 10];
  Real a = start[0], b = start[1], before = 0;  // coefficients n, n + 1, n - 1
  Real value = a, slope = 0, power = 1;
  for (int n = 0; n < 32; ++n) {
    slope += static_cast<Real>(n + 1) * b * power;
    power *= h;
    value += b * power;
    const Real next = (center * a + before) / static_cast<Real>((n + 1) * (n + 2));
    before = a;
    a = b;
    b = next;
  }
  return {value, slope};
}
// 9.7.5, 9.7.6, 9.7.9, 9.7.10
AiryPair airy_far(Real x) {
  const Real size = std::fabs(x), z = 2 * size * std::sqrt(size) / 3, quarter = std::sqrt(std::sqrt(size));
  // Sums of u_k / z^k and v_k / z^k by k mod 4.
  Real u[4] = {1, 0, 0, 0}, v[4] = {1, 0, 0, 0}, term = 1;
  for (int k = 1; k < 40; ++k) {
    const auto n = static_cast<Real>(6 * k);
    const Real next = term * (n - 5) * (n - 3) * (n - 1) / (static_cast<Real>(216 * k * (2 * k - 1)) * z);
    if (std::fabs(next) > std::fabs(term) || std::fabs(next) < kEps) break;
    term = next;
    u[k % 4] += term;
    v[k % 4] -= term * (n + 1) / (n - 1);
  }
  if (x > 0) {
    const Real decay = std::exp(-z) / (2 * std::sqrt(kPi));
    return {decay / quarter * (u[0] - u[1] + u[2] - u[3]), -decay * quarter * (v[0] - v[1] + v[2] - v[3])};
  }
  const Real c = std::cos(z - kPi / 4), s = std::sin(z - kPi / 4), root = std::sqrt(kPi);
  return {(c * (u[0] - u[2]) + s * (u[1] - u[3])) / (root * quarter),
          (s * (v[0] - v[2]) - c * (v[1] - v[3])) * quarter / root};
}
AiryPair airy(double x) {
  if (std::isnan(x) || std::isinf(x)) return {x > 0 ? 0 : kNan, x > 0 ? 0 : kNan};
  return std::fabs(x) <= 10 ? airy_near(x) : airy_far(x);
}
double airy_ai(double x) { return static_cast<double>(airy(x).value); }
double airy_ai_prime(double x) { return static_cast<double>(airy(x).slope); }

using namespace scalar_tiles;
const Map1<&bessel_i_tile<0, false>, double> i0_entry("i0");
const Map1<&bessel_i_tile<0, true>, double> i0e_entry("i0e");
const Map1<&bessel_i_tile<1, false>, double> i1_entry("i1");
const Map1<&bessel_i_tile<1, true>, double> i1e_entry("i1e");
const Map1<&::j0, double> j0_entry("bessel_j0");
const Map1<&::j1, double> j1_entry("bessel_j1");
const Map1<&y0, double> y0_entry("bessel_y0");
const Map1<&y1, double> y1_entry("bessel_y1");
const Map1<&bessel_k<0, false>, double> k0_entry("bessel_k0");
const Map1<&bessel_k<1, false>, double> k1_entry("bessel_k1");
const Map1<&bessel_k<0, true>, double> k0e_entry("bessel_k0e");
const Map1<&bessel_k<1, true>, double> k1e_entry("bessel_k1e");
const Map1<&spherical_j0, double> spherical_j0_entry("spherical_bessel_j0");
const Map1<&spherical_j1, double> spherical_j1_entry("spherical_bessel_j1");
const Map1<&airy_ai, double> airy_entry("airy_ai");
const Map1<&airy_ai_prime, double> airy_prime_entry("airy_ai_prime");
const Map2<&iv_tile, double> iv_entry("iv");
const Map2<&ive_tile, double> ive_entry("ive");

}  // namespace
}  // namespace flambeau::special
