// Scalar special functions in double precision, about 1e-15 relative unless said otherwise.
#pragma once

#include <limits>

#include "kernels/taylor.h"

namespace flambeau::special {

inline constexpr Real kPi = 3.14159265358979323846264338327950288L;
inline constexpr Real kEps = 1e-20L;  // where series stop
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// B_2k, k = 1 ...
inline constexpr int kBernoulliCount = 12;
inline constexpr Real kBernoulli[kBernoulliCount] = {
    1.0L / 6, -1.0L / 30,     1.0L / 42,      -1.0L / 30,       5.0L / 66,       -691.0L / 2730,
    7.0L / 6, -3617.0L / 510, 43867.0L / 798, -174611.0L / 330, 854513.0L / 138, -236364091.0L / 2730};

Real log_gamma(Real x);  // x > 0; absolute accuracy near 1 and 2
Real digamma(Real x);
Real zeta(Real s, Real q);  // Hurwitz, sum over (q + k)^-s
double erfcx(double x);     // exp(x^2) erfc(x)

// log gamma(x) for x > 0 by Stirling's series (A&S 6.1.41) behind a shift.
template <class J>
J log_gamma_positive(J x) {
  J product(1);
  for (; value_of(x) < 20; x += J(1)) product *= x;
  const J inverse = J(1) / x, square = inverse * inverse;
  J sum(0), power = inverse;
  for (int k = 0; k < kBernoulliCount; ++k) {
    sum += power * J(kBernoulli[k] / static_cast<Real>((2 * k + 2) * (2 * k + 1)));
    power *= square;
  }
  return (x - J(0.5L)) * log(x) - x + J(0.918938533204672741780329736405617640L) + sum - log(product);
}

}  // namespace flambeau::special
