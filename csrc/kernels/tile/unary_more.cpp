// Less frequent functions of one operand that vectorise well: erfc, sinc, replacement and rounding with parameters,
// phase.
#include "kernels/tile/functors.h"
#include "simd/math_inverse.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

// erfc(z) = 2 t P(t) exp(-z^2), t = 1 / (1 + p z), for z >= 0 (the form of A&S 7.1.26; P of degree 9, 1e-8 relative).
struct Erfc {
  static Vec<float> call(Vec<float> x) {
    constexpr float kTail[] = {3.02626972e-2F,  -1.69183207e-1F, 3.39115656e-1F, -3.14699126e-1F, 2.80272364e-1F,
                               -4.15573377e-2F, 1.0883697e-1F,   8.15089725e-2F, 9.30624804e-2F,  9.238053e-2F};
    const Vec<float> one(1.0F), z = min(Vec<float>(11.0F), abs(x)), t = one / fma(z, Vec<float>(0.3275911F), one);
    // exp(-z^2) needs all digits of z^2: the rounded square and what it lost.
    const Vec<float> high = from_bits<float>(bits(z) & ~0xfff);
    const Vec<float> bell = exp(-high * high) * exp(-(z - high) * (z + high));
    const Vec<float> tail = Vec<float>(2.0F) * t * poly(t, kTail) * bell;
    // Near 0 the alternating terms of P would cost digits.
    const Vec<float> outer = select(x < Vec<float>(0.0F), Vec<float>(2.0F) - tail, tail);
    return select(x != x, x, select(abs(x) < Vec<float>(0.5F), one - erf(x), outer));
  }
};

struct Sinc {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    // sin(pi x) of x reduced to [-1, 1], which is exact: integers give 0, and nothing is lost to pi x.
    const Vec<T> half = x * constant<T>(0.5), limit(Constants<T>::kMagic * T(0.25));
    const Vec<T> turns = select(abs(half) < limit, round_small(half), half);
    const Vec<T> part = x - (turns + turns);
    const Vec<T> s = sincos(part * constant<T>(3.14159265358979323846)).sin;
    const Vec<T> angle = x * constant<T>(3.14159265358979323846);
    const Vec<T> whole = select(abs(part) == constant<T>(1), constant<T>(0), s);
    return select(x == constant<T>(0), constant<T>(1), whole / angle);
  }
};

// params: {nan, +inf, -inf}
template <class T>
struct NanToNum {
  T nan, high, low;
  explicit NanToNum(const void* params)
      : nan(static_cast<T>(static_cast<const double*>(params)[0])),
        high(static_cast<T>(static_cast<const double*>(params)[1])),
        low(static_cast<T>(static_cast<const double*>(params)[2])) {}
  T operator()(T x) const {
    const T inf = T(__builtin_inf());
    T y = x == inf ? high : x;
    y = x == -inf ? low : y;
    return x != x ? nan : y;
  }
};
// params: {10^|decimals|, decimals < 0}
template <class T>
struct RoundDecimals {
  T up, down;
  explicit RoundDecimals(const void* params) {
    const double* p = static_cast<const double*>(params);
    up = static_cast<T>(p[1] != 0 ? 1 : p[0]);
    down = static_cast<T>(p[1] != 0 ? p[0] : 1);
  }
  // x * 1 and x / 1 are exact: one formula for both signs of decimals.
  T operator()(T x) const { return rint1(x / down * up) / up * down; }
};
struct Phase {
  template <class T>
  static T call(T x) {
    const T y = x < T(0) ? T(3.14159265358979323846) : T(0);
    return x != x ? x : y;
  }
};
template <class T>
void complex_phase(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  T* y = static_cast<T*>(out[0]);
  const Complex<T>* z = static_cast<const Complex<T>*>(in[0]);
  constexpr std::int64_t kChunk = 64;
  for (std::int64_t i = 0; i < n; i += kChunk) {
    const std::int64_t count = n - i < kChunk ? n - i : kChunk;
    T re[kChunk] = {}, im[kChunk] = {}, angle[kChunk];
    for (std::int64_t j = 0; j < count; ++j) {
      re[j] = z[i + j].re;
      im[j] = z[i + j].im;
    }
    for (std::int64_t j = 0; j < kChunk; j += Vec<T>::size) {
      atan2(Vec<T>::load(im + j), Vec<T>::load(re + j)).store(angle + j);
    }
    __builtin_memcpy(y + i, angle, static_cast<std::size_t>(count) * sizeof(T));
  }
}

// The neighbour of a towards b: one step of the bit pattern, which is ordered like the magnitude.
struct NextAfter {
  static float call(float a, float b) {
    i32 word;
    __builtin_memcpy(&word, &a, 4);
    const bool away = (a < b) == (a > 0);
    i32 next = away ? word + 1 : word - 1;
    const i32 smallest = b < 0 ? static_cast<i32>(0x80000001U) : 1;
    next = a == 0 ? smallest : next;
    float result;
    __builtin_memcpy(&result, &next, 4);
    result = a == b ? b : result;
    return (a != a) | (b != b) ? a + b : result;
  }
};

const RegisterVec1<Erfc, float> erfc_entry("erfc");
const RegisterVec1<Sinc, float, double> sinc_entry("sinc");
const Register1p<NanToNum, float, double> nan_to_num_entry("nan_to_num");
const Register1p<RoundDecimals, float, double> round_entry("round_decimals");
const Register1<Phase, float, double> angle_entry("angle");
const TileEntry angle_c64("angle", DType::Complex64, DType::Float32, &complex_phase<float>, kLevel);
const TileEntry angle_c128("angle", DType::Complex128, DType::Float64, &complex_phase<double>, kLevel);
const Register2<NextAfter, float> nextafter_entry("nextafter");

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
