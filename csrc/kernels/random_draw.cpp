// Rejection samplers: Poisson, binomial, gamma.
#include "kernels/random_draw.h"

namespace flambeau::random {

namespace {

// Knuth: count uniforms until their product falls below exp(-rate).
double poisson_product(Generator& g, double rate) {
  const double limit = std::exp(-rate);
  double product = 1.0, count = 0;
  while (true) {
    product *= unit_double(g);
    if (product <= limit) return count;
    count += 1;
  }
}

// PTRS of Hörmann, "The transformed rejection method for generating Poisson random variables", 1993. Rates from 10.
double poisson_rejection(Generator& g, double rate) {
  const double root = std::sqrt(rate), log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * root;
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = unit_double(g) - 0.5, v = unit_double(g);
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double log_accept = std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b);
    if (log_accept <= -rate + k * log_rate - std::lgamma(k + 1)) return k;
  }
}

// Sums geometric gaps between successes; for count * prob below 10.
double binomial_inversion(Generator& g, double count, double prob) {
  const double log_fail = std::log1p(-prob);
  double position = 0, successes = 0;
  while (true) {
    position += std::ceil(std::log(unit_double(g)) / log_fail);
    if (position > count) return successes;
    successes += 1;
  }
}

// Error of Stirling's formula for log k!.
double stirling_tail(double k) {
  constexpr double kTable[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                               0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                               0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kTable[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// BTRS of Hörmann, "The generation of binomial random variates", 1993; prob <= 0.5, count * prob from 10.
double binomial_rejection(Generator& g, double count, double prob) {
  const double stddev = std::sqrt(count * prob * (1 - prob));
  const double b = 1.15 + 2.53 * stddev;
  const double a = -0.0873 + 0.0248 * b + 0.01 * prob;
  const double c = count * prob + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double odds = prob / (1 - prob);
  const double alpha = (2.83 + 5.1 / b) * stddev;
  const double mode = std::floor((count + 1) * prob);
  while (true) {
    const double u = unit_double(g) - 0.5;
    double v = unit_double(g);
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (k < 0 || k > count) continue;
    if (us >= 0.07 && v <= v_r) return k;
    v = std::log(v * alpha / (a / (us * us) + b));
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) + stirling_tail(mode) +
                         stirling_tail(count - mode) - stirling_tail(k) - stirling_tail(count - k);
    if (v <= bound) return k;
  }
}

}  // namespace

double poisson(Generator& g, double rate) {
  if (rate >= 10) return poisson_rejection(g, rate);
  return rate == 0 ? 0 : poisson_product(g, rate);
}

double binomial(Generator& g, double count, double prob) {
  if (count <= 0 || prob <= 0) return 0;
  if (prob >= 1) return count;
  if (std::isnan(prob) || std::isnan(count)) return std::numeric_limits<double>::quiet_NaN();
  const bool flip = prob > 0.5;
  const double p = flip ? 1.0 - prob : prob;
  const double sample = count * p >= 10.0 ? binomial_rejection(g, count, p) : binomial_inversion(g, count, p);
  return flip ? count - sample : sample;
}

// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000; shapes below 1 are boosted by one.
double standard_gamma(Generator& g, double alpha) {
  double scale = 1.0;
  if (alpha < 1) {
    if (alpha == 0) return 0;
    scale = std::pow(1 - unit_double(g), 1.0 / alpha);
    alpha += 1;
  }
  const double d = alpha - 1.0F / 3.0F;  // a float third, as PyTorch has it
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    double x, y;
    do {
      x = standard_normal(g);
      y = 1.0 + c * x;
    } while (y <= 0);
    const double v = y * y * y, u = 1 - unit_double(g), xx = x * x;
    if (u < 1.0 - 0.0331F * xx * xx) return scale * d * v;
    if (std::log(u) < 0.5 * xx + d * (1.0 - v + std::log(v))) return scale * d * v;
  }
}

}  // namespace flambeau::random
