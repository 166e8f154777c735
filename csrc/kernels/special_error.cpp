// Relatives of the error function and of the normal distribution, entropy, logit.
#include <cmath>

#include "kernels/scalar_tiles.h"
#include "kernels/special_functions.h"

namespace flambeau::special {

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
    return sum * 0.56418958354775628695 / x;
  }
  const double square = x * x, lost = std::fma(x, x, -square);
  return std::exp(square) * (1 + lost) * std::erfc(x);
}

namespace {

using namespace scalar_tiles;

constexpr Real kSqrtHalf = 0.70710678118654752440084436210484904L;

double ndtr(double x) { return static_cast<double>(std::erfc(-x * kSqrtHalf) / 2); }
double log_ndtr(double x) {
  if (std::isnan(x)) return x;
  if (x < -1) return std::log(erfcx(static_cast<double>(-x * kSqrtHalf)) / 2) - x * x / 2;
  return static_cast<double>(std::log1p(-std::erfc(x * kSqrtHalf) / 2));
}

// Newton's method on log_ndtr, which is concave and well scaled in the tail; the upper half by symmetry.
double ndtri(double p) {
  if (std::isnan(p) || p < 0 || p > 1) return kNan;
  if (p == 0) return -kInf;
  if (p == 1) return kInf;
  if (p > 0.5) return -ndtri(1 - p);
  if (p > 0.1) {  // Newton's method on ndtr itself, through zero at 1/2
    Real x = (p - 0.5L) * 2.5066282746310005024L;
    for (int i = 0; i < 8; ++i) {
      const Real step = (std::erf(x * kSqrtHalf) / 2 - (p - 0.5L)) * std::exp(x * x / 2) * 2.5066282746310005024L;
      x -= step;
      if (std::fabs(step) <= 1e-12L * std::fabs(x)) break;
    }
    return static_cast<double>(x);
  }
  const double target = std::log(p);
  double x = -std::sqrt(-2 * target - std::log(-2 * target) - 1.8378770664093453);
  for (int i = 0; i < 12; ++i) {
    const double value = log_ndtr(x);
    // d/dx log ndtr = pdf / cdf
    const double slope = std::exp(-0.5 * x * x - 0.91893853320467274178 - value);
    const double step = (value - target) / slope;
    x -= step;
    if (std::fabs(step) < 1e-15 * std::fabs(x)) break;
  }
  return x;
}

double erfinv(double y) {
  if (std::isnan(y) || std::fabs(y) > 1) return kNan;
  if (std::fabs(y) == 1) return std::copysign(kInf, y);
  if (std::fabs(y) > 0.8) return std::copysign(static_cast<double>(-ndtri((1 - std::fabs(y)) / 2) * kSqrtHalf), y);
  Real x = y * 0.88622692545275801365L;
  for (int i = 0; i < 8; ++i) {
    const Real step = (std::erf(x) - y) * 0.88622692545275801365L * std::exp(x * x);
    x -= step;
    if (std::fabs(step) <= 1e-12L * std::fabs(x)) break;
  }
  return static_cast<double>(x);
}

double logerfc(double x) {
  if (x > 1) return std::log(erfcx(x)) - x * x;
  return std::log1p(-std::erf(x)) + 0.0;  // 0, not -0, at 0
}
double logerfcx(double x) {
  if (x > 1) return std::isinf(x) ? -kInf : std::log(erfcx(x));
  return std::log1p(-std::erf(x)) + x * x;
}
double entr(double x) { return std::isnan(x) ? x : x > 0 ? -x * std::log(x) : x == 0 ? 0.0 : -kInf; }

// params: {eps}, negative for none
double logit(double x, const void* params) {
  const double eps = *static_cast<const double*>(params);
  if (eps >= 0) x = x < eps ? eps : x > 1 - eps ? 1 - eps : x;
  if (x < 0.3 || x > 0.65) return std::log(x / (1 - x));
  const double s = 2 * (x - 0.5);  // exact; near 1/2 the quotient would lose the digits
  return std::log1p(s) - std::log1p(-s);
}

const Map1<&erfcx, double> erfcx_entry("erfcx");
const Map1<&erfinv, double> erfinv_entry("erfinv");
const Map1<&ndtr, double> ndtr_entry("ndtr");
const Map1<&ndtri, double> ndtri_entry("ndtri");
const Map1<&log_ndtr, double> log_ndtr_entry("log_ndtr");
const Map1<&logerfc, double> logerfc_entry("logerfc");
const Map1<&logerfcx, double> logerfcx_entry("logerfcx");
const Map1<&entr, double> entr_entry("entr");
const Map1p<&logit, double> logit_entry("logit");

}  // namespace
}  // namespace flambeau::special
