// Gamma, error and Bessel functions. Series and asymptotic expansions from Abramowitz & Stegun, cited by formula
// number.
#include "kernels/special_functions.h"

#include <cmath>
#include <limits>

#include "kernels/scalar_tiles.h"

namespace flambeau::special {
namespace {

constexpr double kPi = 3.14159265358979323846, kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kEps = 1.1e-16;
constexpr double kSqrtHalf = 0.70710678118654752440;
// B_2k
constexpr double kBernoulli[] = {1.0 / 6,       -1.0 / 30,       1.0 / 42,       -1.0 / 30,
                                 5.0 / 66,      -691.0 / 2730,   7.0 / 6,        -3617.0 / 510,
                                 43867.0 / 798, -174611.0 / 330, 854513.0 / 138, -236364091.0 / 2730};

}  // namespace

double digamma(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  if (x < 0) {
    double whole;
    const double fraction = std::modf(x, &whole);
    if (fraction == 0) return kNan;
    return digamma(1 - x) - kPi / std::tan(kPi * fraction);  // A&S 6.3.7
  }
  double shift = 0;
  for (; x < 12; x += 1) shift -= 1 / x;
  if (std::isinf(x)) return x;
  const double y = 1 / (x * x);  // A&S 6.3.18
  double sum = 0, power = y;
  for (int k = 0; k < 8; ++k, power *= y) sum += kBernoulli[k] / (2 * (k + 1)) * power;
  return shift + std::log(x) - 0.5 / x - sum;
}

double trigamma(double x) {
  double sign = 1, result = 0;
  if (x < 0.5) {
    sign = -1;
    const double s = std::sin(kPi * x);
    result -= kPi * kPi / (s * s);
    x = 1 - x;
  }
  for (; x < 12; x += 1) result += 1 / (x * x);
  const double y = 1 / (x * x);  // A&S 6.4.12
  double sum = 1 / x + 0.5 * y, power = y / x;
  for (int k = 0; k < 8; ++k, power *= y) sum += kBernoulli[k] * power;
  return sign * (result + sum);
}

// Euler-Maclaurin after the first terms.
double zeta(double s, double q) {
  if (s == 1) return kInf;
  if (s < 1) return kNan;
  if (q <= 0) {
    if (q == std::floor(q)) return kInf;
    if (s != std::floor(s)) return kNan;
  }
  double sum = 0, a = q;
  do {
    const double term = std::pow(a, -s);
    sum += term;
    if (std::fabs(term) < kEps * std::fabs(sum)) return sum;
    a += 1;
  } while (a < 10 || a < q + 10);
  const double tail = std::pow(a, -s);
  sum += tail * a / (s - 1) + 0.5 * tail;
  double factor = s, power = tail / a;
  for (int k = 0; k < 12; ++k) {
    double factorial = 1;
    for (int j = 2; j <= 2 * k + 2; ++j) factorial *= j;
    const double term = kBernoulli[k] / factorial * factor * power;
    sum += term;
    if (std::fabs(term) < kEps * std::fabs(sum)) break;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2);
    power /= a * a;
  }
  return sum;
}

double polygamma(long n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1) return trigamma(x);
  const double s = static_cast<double>(n) + 1;
  return (n % 2 == 0 ? -1.0 : 1.0) * std::exp(std::lgamma(s)) * zeta(s, x);  // A&S 6.4.10
}

namespace {

double gamma_prefactor(double a, double x) { return std::exp(a * std::log(x) - x - std::lgamma(a)); }

double lower_series(double a, double x) {  // A&S 6.5.29
  double term = 1 / a, sum = term;
  for (int k = 1; k < 10000; ++k) {
    term *= x / (a + k);
    sum += term;
    if (term < kEps * sum) break;
  }
  return sum * gamma_prefactor(a, x);
}
double upper_fraction(double a, double x) {  // A&S 6.5.31, modified Lentz
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int k = 1; k < 10000; ++k) {
    const double an = -k * (k - a);
    b += 2;
    d = an * d + b;
    if (std::fabs(d) < kTiny) d = kTiny;
    c = b + an / c;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    h *= d * c;
    if (std::fabs(d * c - 1) < kEps) break;
  }
  return h * gamma_prefactor(a, x);
}

}  // namespace

double gammainc(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a < 0) return kNan;
  if (a == 0) return x > 0 ? 1 : kNan;
  if (x == 0) return 0;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 0;
  if (std::isinf(x)) return 1;
  return x < a + 1 ? lower_series(a, x) : 1 - upper_fraction(a, x);
}
double gammaincc(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a < 0) return kNan;
  if (a == 0) return x > 0 ? 0 : kNan;
  if (x == 0) return 1;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 1;
  if (std::isinf(x)) return 0;
  return x < a + 1 ? 1 - lower_series(a, x) : upper_fraction(a, x);
}

double erfcx(double x) {
  if (std::isnan(x)) return x;
  if (x < -26.7) return kInf;
  if (x > 10) {  // A&S 7.1.23
    const double y = 0.5 / (x * x);
    double term = 1, sum = 1;
    for (int k = 1; k < 12; ++k) {
      term *= -(2 * k - 1) * y;
      sum += term;
    }
    return sum / (x * std::sqrt(kPi));
  }
  const double square = x * x, lost = std::fma(x, x, -square);
  return std::exp(square) * (1 + lost) * std::erfc(x);
}

double log_ndtr(double x) {
  if (x < -1) return std::log(erfcx(-x * kSqrtHalf) / 2) - x * x / 2;
  return std::log1p(-std::erfc(x * kSqrtHalf) / 2);
}

// Newton's method on log_ndtr, which is concave and well scaled in the tail; the upper half by symmetry.
double ndtri(double p) {
  if (std::isnan(p) || p < 0 || p > 1) return kNan;
  if (p == 0) return -kInf;
  if (p == 1) return kInf;
  if (p > 0.5) return -ndtri(1 - p);
  const double target = std::log(p);
  double x = p > 0.02 ? (p - 0.5) * 2.5 : -std::sqrt(-2 * target - std::log(-2 * target) - 1.8378770664093453);
  for (int i = 0; i < 12; ++i) {
    const double value = log_ndtr(x);
    // d/dx log ndtr = pdf / cdf
    const double slope = std::exp(-0.5 * x * x - 0.91893853320467274178 - value);
    const double step = (value - target) / slope;
    x -= step;
    if (std::fabs(step) < 1e-15 * std::fabs(x) + 1e-300) break;
  }
  return x;
}

double erfinv(double y) {
  if (std::isnan(y) || std::fabs(y) > 1) return kNan;
  if (std::fabs(y) == 1) return std::copysign(kInf, y);
  if (std::fabs(y) > 0.5) return std::copysign(-ndtri((1 - std::fabs(y)) / 2) * kSqrtHalf, y);
  double x = y * 0.88622692545275801365;
  for (int i = 0; i < 6; ++i) x -= (std::erf(x) - y) * 0.88622692545275801365 * std::exp(x * x);
  return x;
}

namespace {

// exp(-x) I_nu(x) for integer nu in {0, 1}, x >= 0: power series (A&S 9.6.10) or large-x expansion (9.7.1).
double scaled_bessel_i(int nu, double x) {
  if (std::isinf(x)) return 0;
  if (x > 30) {
    const double mu = 4.0 * nu * nu;
    double term = 1, sum = 1;
    for (int k = 1; k < 30; ++k) {
      const double odd = 2 * k - 1;
      const double next = -term * (mu - odd * odd) / (k * 8 * x);
      if (std::fabs(next) > std::fabs(term)) break;
      term = next;
      sum += term;
      if (std::fabs(term) < kEps * sum) break;
    }
    return sum / std::sqrt(2 * kPi * x);
  }
  const double quarter = x * x / 4;
  double term = nu == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < 200; ++k) {
    term *= quarter / (k * static_cast<double>(k + nu));
    sum += term;
    if (term < kEps * sum) break;
  }
  return sum * std::exp(-x);
}

}  // namespace

double i0e(double x) { return std::isnan(x) ? x : scaled_bessel_i(0, std::fabs(x)); }
double i1e(double x) { return std::isnan(x) ? x : std::copysign(scaled_bessel_i(1, std::fabs(x)), x); }
double i0(double x) { return std::isinf(x) ? kInf : i0e(x) * std::exp(std::fabs(x)); }
double i1(double x) { return std::isinf(x) ? x : i1e(x) * std::exp(std::fabs(x)); }

// By Bessel functions of order 1/3: A&S 10.4.14 and 10.4.15.
double airy_ai(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return x > 0 ? 0 : kNan;
  if (x == 0) return 0.35502805388781723926;
  const double z = 2.0 / 3.0 * std::pow(std::fabs(x), 1.5);
  if (x > 0) return z > 700 ? 0 : std::sqrt(x / 3) / kPi * std::cyl_bessel_k(1.0 / 3.0, z);
  const double j = std::cyl_bessel_j(1.0 / 3.0, z), y = std::cyl_neumann(1.0 / 3.0, z);
  return std::sqrt(-x) / 3 * (1.5 * j - 0.5 * std::sqrt(3.0) * y);
}

namespace {

using namespace scalar_tiles;

double lgamma_real(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}
double polygamma_tile(double x, const void* n) { return polygamma(*static_cast<const std::int64_t*>(n), x); }
double entr(double x) { return std::isnan(x) ? x : x > 0 ? -x * std::log(x) : x == 0 ? 0.0 : -kInf; }
double bessel_k(int nu, double x) {
  if (std::isnan(x) || x < 0) return kNan;
  if (x == 0) return kInf;
  return x > 700 ? 0 : std::cyl_bessel_k(static_cast<double>(nu), x);
}
double scaled_bessel_k(int nu, double x) {
  if (!(x > 50)) return bessel_k(nu, x) * std::exp(x);
  const double mu = 4.0 * nu * nu;  // A&S 9.7.2
  double term = 1, sum = 1;
  for (int k = 1; k < 30; ++k) {
    const double odd = 2 * k - 1;
    term *= (mu - odd * odd) / (k * 8 * x);
    sum += term;
    if (std::fabs(term) < kEps * sum) break;
  }
  return std::isinf(x) ? 0 : sum * std::sqrt(kPi / (2 * x));
}
double k0(double x) { return bessel_k(0, x); }
double k1(double x) { return bessel_k(1, x); }
double k0e(double x) { return scaled_bessel_k(0, x); }
double k1e(double x) { return scaled_bessel_k(1, x); }
double y0(double x) { return x < 0 ? kNan : ::y0(x); }
double y1(double x) { return x < 0 ? kNan : ::y1(x); }
double spherical_j0(double x) { return std::isinf(x) ? 0 : std::fabs(x) < 1e-8 ? 1 : std::sin(x) / x; }

const Map1<&lgamma_real, double> lgamma_entry("lgamma");
const Map1<&digamma, double> digamma_entry("digamma");
const Map1p<&polygamma_tile, double> polygamma_entry("polygamma");
const Map1<&erfcx, double> erfcx_entry("erfcx");
const Map1<&erfinv, double> erfinv_entry("erfinv");
const Map1<&ndtri, double> ndtri_entry("ndtri");
const Map1<&log_ndtr, double> log_ndtr_entry("log_ndtr");
const Map1<&entr, double> entr_entry("entr");
const Map1<&i0, double> i0_entry("i0");
const Map1<&i0e, double> i0e_entry("i0e");
const Map1<&i1, double> i1_entry("i1");
const Map1<&i1e, double> i1e_entry("i1e");
const Map1<&::j0, double> j0_entry("bessel_j0");
const Map1<&::j1, double> j1_entry("bessel_j1");
const Map1<&y0, double> y0_entry("bessel_y0");
const Map1<&y1, double> y1_entry("bessel_y1");
const Map1<&k0, double> k0_entry("bessel_k0");
const Map1<&k1, double> k1_entry("bessel_k1");
const Map1<&k0e, double> k0e_entry("bessel_k0e");
const Map1<&k1e, double> k1e_entry("bessel_k1e");
const Map1<&spherical_j0, double> spherical_entry("spherical_bessel_j0");
const Map1<&airy_ai, double> airy_entry("airy_ai");
const Map2<&zeta, double> zeta_entry("zeta");
const Map2<&gammainc, double> gammainc_entry("igamma");
const Map2<&gammaincc, double> gammaincc_entry("igammac");

}  // namespace
}  // namespace flambeau::special
