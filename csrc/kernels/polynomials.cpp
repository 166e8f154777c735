// Orthogonal polynomials of torch.special by their three-term recurrences, in double precision. Inputs: x and the
// degree n (rounded towards zero).
#include <cmath>

#include "kernels/scalar_tiles.h"

namespace flambeau {
namespace {

using namespace scalar_tiles;

// p_0 = 1, p_1 given, p_{k+1} = (a x + b) p_k - c p_{k-1} with coefficients from `step`.
template <class Step>
double recur(double degree, double first, Step step) {
  if (std::isnan(degree)) return degree;
  // A recurrence of more steps has no correct digit left, and would run for minutes or years.
  if (degree > 0x1p24) return std::nan("");
  const long n = static_cast<long>(degree);
  if (n < 0) return 0;
  if (n == 0) return 1;
  double previous = 1, current = first;
  for (long k = 1; k < n && !std::isnan(current); ++k) {
    const double next = step(static_cast<double>(k), current, previous);
    previous = current;
    current = next;
  }
  return current;
}

// All four Chebyshev families share the recurrence; they differ in p_1.
double chebyshev(double x, double n, double first) {
  return recur(n, first, [x](double, double p, double q) { return 2 * x * p - q; });
}
double chebyshev_t(double x, double n) {
  // |x| = 1 exactly, and the cosine form for high degrees inside.
  if (n > -1 && std::fabs(x) == 1) return x > 0 || std::fmod(std::trunc(n), 2) == 0 ? 1 : -1;
  if (n > 6 && std::fabs(x) < 1) return std::cos(std::trunc(n) * std::acos(x));
  return chebyshev(x, n, x);
}
double chebyshev_u(double x, double n) {
  if (n > 8 && std::fabs(x) < 1) {
    const double angle = std::acos(x), s = std::sin(angle);
    if (s != 0) return std::sin((std::trunc(n) + 1) * angle) / s;
  }
  return chebyshev(x, n, 2 * x);
}
double chebyshev_v(double x, double n) { return chebyshev(x, n, 2 * x - 1); }
double chebyshev_w(double x, double n) { return chebyshev(x, n, 2 * x + 1); }
double shifted_t(double x, double n) { return chebyshev_t(2 * x - 1, n); }
double shifted_u(double x, double n) { return chebyshev_u(2 * x - 1, n); }
double shifted_v(double x, double n) { return chebyshev_v(2 * x - 1, n); }
double shifted_w(double x, double n) { return chebyshev_w(2 * x - 1, n); }
double hermite_h(double x, double n) {
  return recur(n, 2 * x, [x](double k, double p, double q) { return 2 * x * p - 2 * k * q; });
}
double hermite_he(double x, double n) {
  return recur(n, x, [x](double k, double p, double q) { return x * p - k * q; });
}
double laguerre_l(double x, double n) {
  return recur(n, 1 - x, [x](double k, double p, double q) { return ((2 * k + 1 - x) * p - k * q) / (k + 1); });
}
double legendre_p(double x, double n) {
  if (std::fabs(x) == 1) return n < 0 ? 0 : x > 0 || std::fmod(std::trunc(n), 2) == 0 ? 1 : -1;
  return recur(n, x, [x](double k, double p, double q) { return ((2 * k + 1) * x * p - k * q) / (k + 1); });
}

const Map2<&chebyshev_t, double> t_entry("chebyshev_t");
const Map2<&chebyshev_u, double> u_entry("chebyshev_u");
const Map2<&chebyshev_v, double> v_entry("chebyshev_v");
const Map2<&chebyshev_w, double> w_entry("chebyshev_w");
const Map2<&shifted_t, double> shifted_t_entry("shifted_chebyshev_t");
const Map2<&shifted_u, double> shifted_u_entry("shifted_chebyshev_u");
const Map2<&shifted_v, double> shifted_v_entry("shifted_chebyshev_v");
const Map2<&shifted_w, double> shifted_w_entry("shifted_chebyshev_w");
const Map2<&hermite_h, double> hermite_h_entry("hermite_h");
const Map2<&hermite_he, double> hermite_he_entry("hermite_he");
const Map2<&laguerre_l, double> laguerre_entry("laguerre_l");
const Map2<&legendre_p, double> legendre_entry("legendre_p");

}  // namespace
}  // namespace flambeau
