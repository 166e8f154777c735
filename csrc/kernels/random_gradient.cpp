// Implicit derivatives of gamma and Dirichlet samples: how a draw moves with its parameter at a fixed quantile,
//   dx/da = -(dF(x; a)/da) / f(x; a)    for the distribution function F and the density f.
// Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients", 2018. dF/da has no closed form; the series and fits
// below, with their coefficients, are the ones that PyTorch uses, so that the gradients are PyTorch's (1e-3 relative).
#include <cmath>

#include "core/elementwise.h"
#include "core/factory.h"
#include "kernels/pointwise.h"
#include "kernels/scalar_tiles.h"
#include "kernels/special_functions.h"

namespace flambeau {
namespace {

using special::digamma;

double number_or_zero(double value) { return std::isnan(value) ? 0.0 : value; }
double square(double value) { return value * value; }

// c0 + c1 x + c2 x^2 + c3 x^3
double cubic(const double* c, double x) { return c[0] + x * (c[1] + x * (c[2] + x * c[3])); }

// ---- gamma ----

// Small x: F = x^a sum_k (-x)^k / (k! (a + k)) / Gamma(a), term by term.
double gamma_series(double a, double x) {
  double factor = 1, sum = 1 / a, derivative = 1 / square(a);
  for (int k = 1; k <= 5; ++k) {
    factor *= -x / k;
    sum += factor / (a + k);
    derivative += factor / square(a + k);
  }
  const double power = std::pow(x, a);
  const double density = std::pow(x, a - 1) * std::exp(-x);
  const double slope = (std::log(x) - digamma(a)) * (power * sum) - power * derivative;
  return number_or_zero(-slope / density);
}

// Large a: Rice's saddle point expansion, which is singular at x = a and has a Taylor polynomial there.
double gamma_saddle(double a, double x) {
  if (0.9F * a <= x && x <= 1.1F * a) {
    const double left = 1 + 24 * a * (1 + 12 * a);
    const double right = 1440 * square(a) + 6 * x * (53 - 120 * x) - 65 * square(x) / a + a * (107 + 3600 * x);
    return left * right / (1244160 * square(square(a)));
  }
  const double root = std::sqrt(8 * a), log_ratio = std::log(x / a);
  const double tail = std::pow(x - a - a * log_ratio, -1.5);
  const double sum = root / (a - x) + (x < a ? -tail : tail);
  const double bracket = log_ratio * sum - std::sqrt(2 / a) * (a + x) / square(a - x);
  const double stirling = 1 + 1 / (12 * a) * (1 + 1 / (24 * a));
  return -stirling * x * bracket / root;
}

// In between: exp(P/Q), both polynomials in log(x/a) and log a. Columns: P's powers of log a, then Q's.
double gamma_fit(double a, double x) {
  static constexpr double kFit[3][8] = {
      {0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1, 0.32668115, 0.10406089, 0.0014179084},
      {0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465, 0.020070113, -0.0035938915, -0.00058392623},
      {0.040121004, -0.0065914022, -0.0026286047, -0.0013441777, 0.017050642, -0.0021309326, 0.00085092367,
       -1.5247877e-07},
  };
  const double u = std::log(x / a), v = std::log(a);
  double row[8];
  for (int j = 0; j < 8; ++j) row[j] = kFit[0][j] + u * (kFit[1][j] + u * kFit[2][j]);
  return std::exp(cubic(row, v) / cubic(row + 4, v));
}

double standard_gamma_grad(double a, double x) {
  if (x < 0.8F) return gamma_series(a, x);
  return a > 8 ? gamma_saddle(a, x) : gamma_fit(a, x);
}

// ---- Dirichlet, through the beta distribution of one component ----

// x near 0: derivative in the first parameter, from the series of the incomplete beta function.
double beta_first_series(double x, double a, double b) {
  const double shift = digamma(a) - digamma(a + b) - std::log(x);
  double factor = 1, sum = (shift + 1 / a) / a;
  for (int k = 1; k <= 10; ++k) {
    factor *= (k - b) * x / k;
    sum += factor / (a + k) * (shift + 1 / (a + k));
  }
  return number_or_zero(x * std::pow(1 - x, -b) * sum);
}

// x near 0: derivative in the second parameter. `product` is (b - 1)...(b - k), `slope` its derivative in b.
double beta_second_series(double x, double a, double b) {
  const double shift = digamma(a + b) - digamma(b);
  double factor = 1, product = 1, slope = 0, sum = shift / a;
  for (int k = 1; k <= 8; ++k) {
    factor *= -x / k;
    slope = slope * (b - k) + product;
    product *= b - k;
    sum += factor / (a + k) * (slope + shift * product);
  }
  return number_or_zero(-std::pow(1 - x, 1 - b) * sum);
}

// Gamma(a) over the leading term of Stirling's formula.
double stirling(double a) { return 1 + 1 / (12 * a) + 1 / (288 * square(a)); }

// The Taylor polynomial of the saddle point expansion at the mean, where the expansion itself is singular.
double beta_center(double x, double a, double b) {
  const double total = a + b, b2 = square(b);
  const double c0 = 47 * x * square(b2);
  const double c1 = (43 + 20 * (16 + 27 * b) * x) * b2 * b;
  const double c2 = 3 * (59 + 180 * b - 90 * x) * b2;
  const double c3 = (453 + 1620 * b * (1 - x) - 455 * x) * b;
  const double c4 = 8 * (1 - x) * (135 * b - 11);
  const double sum = c0 + a * (c1 + a * (c2 + a * (c3 + a * c4)));
  const double scale = (1 + 12 * a) * (1 + 12 * b) / square(total);
  return scale / (1 - x) * sum / (12960 * a * a * a * b2 * (1 + 12 * total));
}

// Both parameters large: Rice's saddle point expansion.
double beta_saddle(double x, double a, double b) {
  const double total = a + b, mean = a / total;
  const double spread = std::sqrt(a * b / (total + 1)) / total;
  if (mean - 0.1 * spread <= x && x <= mean + 0.1 * spread) return beta_center(x, a, b);
  const double gap = a * (x - 1) + b * x;  // total * (x - mean)
  const double first = (2 * square(a) * (x - 1) + a * b * (x - 1) - x * square(b)) /
                       (std::sqrt(2 * a / b) * std::pow(total, 1.5) * square(gap));
  const double half_log = 0.5 * std::log(a / (total * x));
  const double entropy = b * std::log(b / (total * (1 - x))) + a * std::log(a / (total * x));
  const double tail = std::pow(entropy, -1.5);
  const double sum = first + half_log * (std::sqrt(8 * a * b / total) / gap + (x < mean ? tail : -tail));
  const double prefactor = -x / std::sqrt(2 * a * b / total);
  return stirling(a) * stirling(b) / stirling(total) * prefactor * sum;
}

// In between: x (digamma(total) - digamma(a)) / b, corrected by a rational function of three logarithms.
// [numerator, denominator][power of log x][power of log(a/x)][power of log(total x/a)]
double beta_fit(double x, double a, double total) {
  static constexpr double kFit[2][3][3][4] = {
      {{{1.003668233, -0.01061107488, -0.0657888334, 0.01201642863},
        {0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033},
        {-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013}},
       {{0.221950385, -0.3187676331, 0.01799915743, 0.01074823814},
        {-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057},
        {0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05}},
       {{-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565},
        {0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181},
        {0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05}}},
      {{{1, -0.02924021934, -0.04438342661, 0.007285809825},
        {0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521},
        {-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149}},
       {{0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273},
        {0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956},
        {-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05}},
       {{0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05},
        {0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05},
        {-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06}}},
  };
  const double u = std::log(x), v = std::log(a) - u, w = std::log(total) - v;
  const double powers_u[] = {1, u, u * u}, powers_v[] = {1, v, v * v};
  double sums[2] = {0, 0};
  for (int part = 0; part < 2; ++part) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) sums[part] += powers_u[i] * powers_v[j] * cubic(kFit[part][i][j], w);
    }
  }
  return sums[0] / sums[1] * (x * (digamma(total) - digamma(a)) / (total - a));
}

// -(dF/da) / f / (1 - x) for x from Beta(a, total - a): the 1 - x makes components of a Dirichlet add up.
double dirichlet_grad(double x, double a, double total) {
  const double b = total - a, boundary = total * x * (1 - x);
  if (x <= 0.5 && boundary < 2.5) return beta_first_series(x, a, b);
  if (x >= 0.5 && boundary < 0.75) return -beta_second_series(1 - x, b, a);
  return a > 6 && b > 6 ? beta_saddle(x, a, b) : beta_fit(x, a, total);
}

void dirichlet_tile(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  double* y = static_cast<double*>(out[0]);
  const double* operands[3];
  for (int o = 0; o < 3; ++o) operands[o] = static_cast<const double*>(in[o]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = dirichlet_grad(operands[0][i], operands[1][i], operands[2][i]);
}

const scalar_tiles::Map2<&standard_gamma_grad, double> gamma_entry("standard_gamma_grad");
const TileEntry dirichlet_entry("dirichlet_grad", DType::Float64, DType::Float64, &dirichlet_tile, CpuLevel::Baseline);

constexpr BinaryInfo kGammaInfo{"_standard_gamma_grad", BinaryInfo::Same, kFloats, Tiles("standard_gamma_grad")};
const Kernel gamma_kernel(kGammaInfo.name, &binary, &kGammaInfo);

Tensor dirichlet_gradient(const Tensor& x, const Tensor& alpha, const Tensor& total) {
  static constexpr Tiles tiles("dirichlet_grad");
  check(is_floating(x.dtype()) && x.dtype() == alpha.dtype() && x.dtype() == total.dtype(),
        "_dirichlet_grad: expected x, alpha and total of one floating point dtype, got ", name_of(x.dtype()), ", ",
        name_of(alpha.dtype()), " and ", name_of(total.dtype()));
  return elementwise("_dirichlet_grad", {&x, &alpha, &total}, tiles[x.dtype()], x.dtype(), nullptr, Out());
}
const Kernel dirichlet_kernel("_dirichlet_grad", &dirichlet_gradient);

}  // namespace
}  // namespace flambeau
