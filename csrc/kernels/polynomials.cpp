// Orthogonal polynomials of torch.special and their derivatives in x, by their three-term recurrences. Inputs: x and
// the degree n (rounded towards zero).
#include <cmath>
#include <cstdint>

#include "kernels/pointwise.h"
#include "kernels/scalar_tiles.h"
#include "kernels/taylor.h"

namespace flambeau {
namespace {

using namespace scalar_tiles;
using special::Real;

// p_{k+1} = (a x + b) p_k - c p_{k-1}, p_0 = 1, p_1 = first[0] x + first[1].
struct Family {
  Real first[2];
  void (*step)(Real k, Real& a, Real& b, Real& c);
  bool (*outside)(Real x, Real n);  // x is beyond all zeros of the polynomials up to degree n
};
void chebyshev_step(Real, Real& a, Real& b, Real& c) { a = 2, b = 0, c = 1; }
void hermite_h_step(Real k, Real& a, Real& b, Real& c) { a = 2, b = 0, c = 2 * k; }
void hermite_he_step(Real k, Real& a, Real& b, Real& c) { a = 1, b = 0, c = k; }
void laguerre_step(Real k, Real& a, Real& b, Real& c) { a = -1 / (k + 1), b = (2 * k + 1) / (k + 1), c = k / (k + 1); }
void legendre_step(Real k, Real& a, Real& b, Real& c) { a = (2 * k + 1) / (k + 1), b = 0, c = k / (k + 1); }
bool outside_unit(Real x, Real) { return std::fabs(x) > 1; }
bool outside_hermite(Real x, Real n) { return x * x > 4 * n + 4; }
bool outside_laguerre(Real x, Real n) { return x < 0 || x > 4 * n + 4; }

enum Kind : std::uint8_t { kT, kU, kV, kW, kShiftedT, kShiftedU, kShiftedV, kShiftedW, kH, kHe, kL, kP };
constexpr Family kFamilies[] = {
    {{1, 0}, &chebyshev_step, &outside_unit},     {{2, 0}, &chebyshev_step, &outside_unit},
    {{2, -1}, &chebyshev_step, &outside_unit},    {{2, 1}, &chebyshev_step, &outside_unit},
    {{2, 0}, &hermite_h_step, &outside_hermite},  {{1, 0}, &hermite_he_step, &outside_hermite},
    {{-1, 1}, &laguerre_step, &outside_laguerre}, {{1, 0}, &legendre_step, &outside_unit},
};

// Powers of two taken out of the running pair keep the sign of what overflows: without them large degrees end in
// inf - inf.
constexpr Real kLarge = 0x1p+500L;
constexpr int kLargeExponent = 500, kHopeless = 100;
// A recurrence of more steps has no correct digit left, and would run for minutes or years.
constexpr double kMaxDegree = 0x1p24;

template <class J>
J recur(const Family& family, const J& x, double degree) {
  const Real point = special::value_of(x), kNan = std::nan("");
  if (std::isnan(degree) || std::isnan(point)) return J(kNan);
  if (degree < 1) return J(degree > -1 ? 1 : 0);
  const bool outside = family.outside(point, degree);
  if (std::isinf(point))
    return family.first[0] * point < 0 && std::fmod(std::trunc(degree), 2) != 0 ? J(-HUGE_VALL) : J(HUGE_VALL);
  if (degree > kMaxDegree && !outside) return J(kNan);
  J before(1), now = J(family.first[0]) * x + J(family.first[1]);
  int scaled = 0;
  for (double k = 1; k + 1 <= degree; ++k) {
    Real a, b, c;
    family.step(k, a, b, c);
    const J next = (J(a) * x + J(b)) * now - J(c) * before;
    before = now;
    now = next;
    if (!(special::size_of(now) > kLarge)) {
      if (outside && k > kMaxDegree) return J(kNan);
      continue;
    }
    // One step may multiply by more than kLarge.
    for (const J shrink(1 / kLarge); special::size_of(now) > kLarge && scaled < 2 * kHopeless; ++scaled) {
      now = now * shrink;
      before = before * shrink;
    }
    if (scaled < kHopeless || !outside) continue;
    // Beyond the zeros the sign alternates with the degree or not at all, and the value only grows.
    const bool flips = (special::value_of(now) < 0) != (special::value_of(before) < 0);
    return now * J(flips && std::fmod(std::trunc(degree) - (k + 1), 2) != 0 ? -HUGE_VALL : HUGE_VALL);
  }
  return scaled == 0 ? now : now * J(std::scalbn(Real(1), scaled * kLargeExponent));
}

template <class J>
J polynomial(Kind kind, J x, double degree) {
  if (kind >= kShiftedT && kind <= kShiftedW) return recur(kFamilies[kind - kShiftedT], J(2) * x - J(1), degree);
  return recur(kFamilies[kind < kShiftedT ? kind : kind - 4], x, degree);
}

// Chebyshev polynomials of high degree by their trigonometric forms.
constexpr double kTrigonometric = 64;
Real chebyshev(int kind, Real x, double degree) {
  const Real n = std::trunc(degree), angle = std::acos(x);
  const bool odd = std::fmod(n, 2) != 0;
  if (x == 1) return kind == kU ? n + 1 : kind == kW ? 2 * n + 1 : 1;
  if (x == -1) return (kind == kU ? n + 1 : kind == kV ? 2 * n + 1 : 1) * (odd ? -1 : 1);
  switch (kind) {
    case kT: return std::cos(n * angle);
    case kU: return std::sin((n + 1) * angle) / std::sin(angle);
    case kV: return std::cos((n + 0.5L) * angle) / std::cos(angle / 2);
    default: return std::sin((n + 0.5L) * angle) / std::sin(angle / 2);
  }
}

template <Kind kKind>
double value(double x, double n) {
  if constexpr (kKind <= kShiftedW) {
    const Real point = kKind >= kShiftedT ? 2 * static_cast<Real>(x) - 1 : static_cast<Real>(x);
    if (n > kTrigonometric && std::isfinite(n) && std::fabs(point) <= 1) {
      return static_cast<double>(chebyshev(kKind % 4, point, n));
    }
  }
  return static_cast<double>(polynomial(kKind, Real(x), n));
}
// params: {order} of the derivative in x
template <Kind kKind>
double slope(double x, double n, const void* params) {
  const auto order = static_cast<int>(*static_cast<const std::int64_t*>(params));
  return special::derivative(order, x, [n](auto t) { return polynomial(kKind, t, n); });
}

template <Kind kKind>
struct Entry {
  Map2<&value<kKind>, double> plain;
  Map2p<&slope<kKind>, double> derived;
  Entry(const char* name, const char* derivative_name) noexcept : plain(name), derived(derivative_name) {}
};
const Entry<kT> t_entry("chebyshev_t", "chebyshev_t_derivative");
const Entry<kU> u_entry("chebyshev_u", "chebyshev_u_derivative");
const Entry<kV> v_entry("chebyshev_v", "chebyshev_v_derivative");
const Entry<kW> w_entry("chebyshev_w", "chebyshev_w_derivative");
const Entry<kShiftedT> shifted_t_entry("shifted_chebyshev_t", "shifted_chebyshev_t_derivative");
const Entry<kShiftedU> shifted_u_entry("shifted_chebyshev_u", "shifted_chebyshev_u_derivative");
const Entry<kShiftedV> shifted_v_entry("shifted_chebyshev_v", "shifted_chebyshev_v_derivative");
const Entry<kShiftedW> shifted_w_entry("shifted_chebyshev_w", "shifted_chebyshev_w_derivative");
const Entry<kH> h_entry("hermite_h", "hermite_h_derivative");
const Entry<kHe> he_entry("hermite_he", "hermite_he_derivative");
const Entry<kL> l_entry("laguerre_l", "laguerre_l_derivative");
const Entry<kP> p_entry("legendre_p", "legendre_p_derivative");

constexpr Tiles kDerivatives[] = {
    Tiles("chebyshev_t_derivative"),         Tiles("chebyshev_u_derivative"),
    Tiles("chebyshev_v_derivative"),         Tiles("chebyshev_w_derivative"),
    Tiles("shifted_chebyshev_t_derivative"), Tiles("shifted_chebyshev_u_derivative"),
    Tiles("shifted_chebyshev_v_derivative"), Tiles("shifted_chebyshev_w_derivative"),
    Tiles("hermite_h_derivative"),           Tiles("hermite_he_derivative"),
    Tiles("laguerre_l_derivative"),          Tiles("legendre_p_derivative"),
};
// The order-th derivative in `input` of the polynomial number `kind`, counted as in kDerivatives.
Tensor polynomial_derivative(std::int64_t kind, std::int64_t order, const Tensor& input, const Tensor& n) {
  check(kind >= 0 && kind <= kP, "polynomial_derivative: expected kind in [0, 11], got ", kind);
  check(order >= 0 && order <= 4, "polynomial_derivative: expected order in [0, 4], got ", order,
        ". Higher derivatives are not available.");
  const DType dtype = to_float_type(input.dtype());
  check(!is_complex(dtype), "polynomial_derivative: expected real input, got ", torch_name_of(input.dtype()), ".");
  return elementwise("polynomial_derivative", {&input, &n}, kDerivatives[kind][dtype], dtype, &order, Out{});
}
const Kernel derivative_kernel("polynomial_derivative", &polynomial_derivative);

}  // namespace
}  // namespace flambeau
