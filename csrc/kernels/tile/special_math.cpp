// erf, erfc, log gamma and pow in float64; the float32 forms are in unary_math.cpp, unary_more.cpp and binary_math.cpp.
#include "kernels/tile/functors.h"
#include "simd/math_special.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

struct Erf {
  static Vec<double> call(Vec<double> x) { return erf(x); }
};
struct Erfc {
  static Vec<double> call(Vec<double> x) { return erfc(x); }
};
const RegisterVec1<Erf, double> erf_entry("erf");
const RegisterVec1<Erfc, double> erfc_entry("erfc");

// `close`: results smaller than this on the negative side, near a zero, go to libm with the infinite and NaN lanes.
[[gnu::always_inline]] inline Vec<double> lgamma_any(Vec<double> x, double close) {
  using V = Vec<double>;
  const auto negative = x < V(0.0), usual = (x > V(0.0)) & (x < V(1e300));
  if (!any(~usual)) [[likely]]
    return lgamma_positive(x);
  // log gamma(x) = log(pi / |sin(pi x)|) - log gamma(1 - x)
  V y = lgamma_positive(select(negative, V(1.0) - x, x));
  const V size = min(V(1e15), abs(x));
  const V sine = sincos((size - round_small(size)) * V(3.14159265358979323846)).sin;
  y = select(negative, V(1.14472988584940017414) - log(abs(sine)) - y, y);
  const auto odd = ~(abs(x) < V(1e300)) | (x == V(0.0)) | (negative & (abs(y) < V(close)));
  if (any(odd)) {
    for (int i = 0; i < V::size; ++i) {
      int sign = 0;
      if (odd[i] != 0) y.v[i] = __builtin_lgamma_r(x[i], &sign);
    }
  }
  return y;
}
struct Lgamma {
  static Vec<double> call(Vec<double> x) { return lgamma_any(x, 0.05); }
};
const RegisterVec1<Lgamma, double> lgamma_entry("lgamma");
void lgamma_f32(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  float* y = static_cast<float*>(out[0]);
  const float* a = static_cast<const float*>(in[0]);
  constexpr int kChunk = 64;
  for (std::int64_t i = 0; i < n; i += kChunk) {
    const int count = static_cast<int>(n - i < kChunk ? n - i : kChunk);
    float narrow[kChunk];
    double wide[kChunk];
    for (int j = 0; j < kChunk; ++j) narrow[j] = j < count ? a[i + j] : 1.0F;
    for (int j = 0; j < kChunk; ++j) wide[j] = narrow[j];
    for (int j = 0; j < kChunk; j += Vec<double>::size) {
      lgamma_any(Vec<double>::load(wide + j), 1e-6).store(wide + j);
    }
    for (int j = 0; j < kChunk; ++j) narrow[j] = static_cast<float>(wide[j]);
    __builtin_memcpy(y + i, narrow, static_cast<std::size_t>(count) * sizeof(float));
  }
}
const TileEntry lgamma_f32_entry("lgamma", DType::Float32, DType::Float32, &lgamma_f32, kLevel);

#if FLAMBEAU_VEC_BYTES >= 32
bool pow_is_odd(double a, double b) {
  return !(a >= Constants<double>::kMinNormal) | !(a < __builtin_inf()) | !(abs1(b) < __builtin_inf());
}
void pow_f64(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  double* y = static_cast<double*>(out[0]);
  const double* a = static_cast<const double*>(in[0]);
  const double* b = static_cast<const double*>(in[1]);
  constexpr int kStep = Vec<double>::size;
  for (std::int64_t i = 0; i < n; i += kStep) {
    const int count = static_cast<int>(n - i < kStep ? n - i : kStep);
    const bool whole = count == kStep;
    const Vec<double> base = whole ? Vec<double>::load(a + i) : Vec<double>::load_part(a + i, count);
    const Vec<double> exponent = whole ? Vec<double>::load(b + i) : Vec<double>::load_part(b + i, count);
    const auto usual = (base >= Vec<double>(Constants<double>::kMinNormal)) & (base < Vec<double>(__builtin_inf())) &
                       (abs(exponent) < Vec<double>(__builtin_inf()));
    Vec<double> power = pow_positive(base, exponent);
    if (any(~usual)) [[unlikely]] {
      for (int j = 0; j < count; ++j) {
        if (pow_is_odd(base[j], exponent[j])) power.v[j] = __builtin_pow(base[j], exponent[j]);
      }
    }
    if (whole) {
      power.store(y + i);
    } else {
      power.store_part(y + i, count);
    }
  }
}
const TileEntry pow_entry("pow", DType::Float64, DType::Float64, &pow_f64, kLevel);
#endif

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
