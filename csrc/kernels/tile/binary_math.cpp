// Two operands: atan2, pow, hypot, logaddexp, xlogy, and division with remainder.
#include "kernels/tile/functors.h"
#include "simd/math_inverse.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

template <class F, class T>
void vec2(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  T* y = static_cast<T*>(out[0]);
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  constexpr int step = Vec<T>::size;
  std::int64_t i = 0;
  for (; i + step <= n; i += step) F::call(Vec<T>::load(a + i), Vec<T>::load(b + i)).store(y + i);
  if (i < n) F::call(Vec<T>::load_part(a + i, n - i), Vec<T>::load_part(b + i, n - i)).store_part(y + i, n - i);
}
template <class F, class... Ts>
struct RegisterVec2 {
  [[gnu::always_inline]] explicit RegisterVec2(const char* name) noexcept {
    (TileEntry(name, DTypeOf<Ts>::value, DTypeOf<Ts>::value, &vec2<F, Ts>, kLevel), ...);
  }
};

struct Atan2 {
  template <class T>
  static Vec<T> call(Vec<T> y, Vec<T> x) {
    return atan2(y, x);
  }
};
struct LogAddExp {
  template <class T>
  static Vec<T> call(Vec<T> a, Vec<T> b) {
    // The difference of equal infinities is NaN: there the sum is either of them.
    const Vec<T> high = select((a > b) | (a != a), a, b);
    const Vec<T> y = high + log1p(exp(-abs(a - b)));
    return select((a == b) & (abs(a) == Vec<T>(Constants<T>::kInf)), a, y);
  }
};
struct LogAddExp2 {
  template <class T>
  static Vec<T> call(Vec<T> a, Vec<T> b) {
    const Vec<T> high = select((a > b) | (a != a), a, b);
    const Vec<T> y = fma(log1p(exp2(-abs(a - b))), Vec<T>(T(1.44269504088896340736)), high);
    return select((a == b) & (abs(a) == Vec<T>(Constants<T>::kInf)), a, y);
  }
};
struct Xlogy {
  template <class T>
  static Vec<T> call(Vec<T> x, Vec<T> y) {
    const Vec<T> zero(T(0));
    return select(y != y, y, select(x == zero, zero, x * log(y)));
  }
};
const RegisterVec2<Atan2, float, double> atan2_entry("atan2");
const RegisterVec2<LogAddExp, float, double> logaddexp_entry("logaddexp");
const RegisterVec2<LogAddExp2, float, double> logaddexp2_entry("logaddexp2");
const RegisterVec2<Xlogy, float, double> xlogy_entry("xlogy");

struct Hypot {  // float32 squares cannot overflow in float64
  static float call(float a, float b) {
    const double x = a, y = b;
    const float root = static_cast<float>(__builtin_sqrt(x * x + y * y));
    return (abs1(a) == __builtin_inff()) | (abs1(b) == __builtin_inff()) ? __builtin_inff() : root;
  }
};
const TileEntry hypot_entry("hypot", DType::Float32, DType::Float32, &loop2<Hypot, float>, kLevel);

// a^b as 2^(b log2 a) in float64, which leaves more than float32's digits; odd cases go to libm.
[[gnu::always_inline]] inline Vec<double> pow_positive(Vec<double> a, Vec<double> b) {
  Vec<double> e;
  const Vec<double> y = log_parts(a, e);
  return exp2(b * fma(y, Vec<double>(1.442695040888963407), e));
}
[[gnu::always_inline]] inline bool pow_is_odd(float a, float b) {
  return !(a > 0.0F) | !(a < __builtin_inff()) | !(abs1(b) < __builtin_inff());
}
void pow_f32(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  float* y = static_cast<float*>(out[0]);
  const float* a = static_cast<const float*>(in[0]);
  const float* b = static_cast<const float*>(in[1]);
  constexpr int kChunk = 64;
  for (std::int64_t i = 0; i < n; i += kChunk) {
    const int count = static_cast<int>(n - i < kChunk ? n - i : kChunk);
    float base[kChunk], exponent[kChunk];
    double wide_base[kChunk], wide_exponent[kChunk], result[kChunk];
    for (int j = 0; j < kChunk; ++j) {
      base[j] = j < count ? a[i + j] : 1.0F;
      exponent[j] = j < count ? b[i + j] : 1.0F;
    }
    int any_odd = 0;
    for (int j = 0; j < kChunk; ++j) any_odd |= pow_is_odd(base[j], exponent[j]) ? 1 : 0;
    for (int j = 0; j < kChunk; ++j) wide_base[j] = base[j];
    for (int j = 0; j < kChunk; ++j) wide_exponent[j] = exponent[j];
    for (int j = 0; j < kChunk; j += Vec<double>::size) {
      pow_positive(Vec<double>::load(wide_base + j), Vec<double>::load(wide_exponent + j)).store(result + j);
    }
    if (any_odd != 0) {
      for (int j = 0; j < count; ++j) {
        if (pow_is_odd(base[j], exponent[j])) result[j] = __builtin_powf(base[j], exponent[j]);
      }
    }
    for (int j = 0; j < count; ++j) y[i + j] = static_cast<float>(result[j]);
  }
}
const TileEntry pow_entry("pow", DType::Float32, DType::Float32, &pow_f32, kLevel);

// Remainder of float32 division: below 2^29 the quotient times b is exact in float64; beyond, libm.
struct Division {
  double quotient, rest;  // rounded towards zero, sign of a
  bool exact;
};
[[gnu::always_inline]] inline Division divide(float a, float b) {
  const double x = a, y = b;
  double quotient = trunc1(x / y), rest = x - quotient * y;
  // The rounded x / y may have reached the next integer.
  const bool over = (rest < 0) != (x < 0) && rest != 0;
  const double step = (x < 0) != (y < 0) ? -1.0 : 1.0;
  quotient = over ? quotient - step : quotient;
  rest = over ? rest + step * y : rest;
  return {quotient, rest, abs1(quotient) < 0x1p29};
}
struct Fmod {
  [[gnu::always_inline]] static float fast(const Division& d, float a, float) {
    return d.rest == 0 ? __builtin_copysignf(0.0F, a) : static_cast<float>(d.rest);
  }
  static float slow(float a, float b) { return __builtin_fmodf(a, b); }
};
struct Remainder {
  [[gnu::always_inline]] static float fast(const Division& d, float a, float b) {
    const double y = b;
    const double moved = d.rest * y < 0 ? d.rest + y : d.rest;  // opposite signs
    const float result = static_cast<float>(moved);
    return d.rest == 0 ? __builtin_copysignf(0.0F, a) : result;
  }
  static float slow(float a, float b) {
    const float mod = __builtin_fmodf(a, b);
    return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod;
  }
};
struct FloorDivide {
  [[gnu::always_inline]] static float fast(const Division& d, float a, float b) {
    const double y = b;
    const float floored = static_cast<float>(d.rest * y < 0 ? d.quotient - 1 : d.quotient);
    return floored == 0 ? __builtin_copysignf(0.0F, a / b) : floored;
  }
  static float slow(float a, float b) {
    if (b == 0) return a / b;
    const float mod = __builtin_fmodf(a, b);
    float quotient = (a - mod) / b;
    if (mod != 0 && (b < 0) != (mod < 0)) quotient -= 1;
    if (quotient == 0) return __builtin_copysignf(0.0F, a / b);
    const float whole = floor1(quotient);
    return quotient - whole > 0.5F ? whole + 1 : whole;
  }
};
template <class F>
void division_f32(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  float* y = static_cast<float*>(out[0]);
  const float* a = static_cast<const float*>(in[0]);
  const float* b = static_cast<const float*>(in[1]);
  constexpr std::int64_t kChunk = 64;
  for (std::int64_t i = 0; i < n; i += kChunk) {
    const std::int64_t count = n - i < kChunk ? n - i : kChunk;
    float result[kChunk];
    int inexact = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      const Division d = divide(a[i + j], b[i + j]);
      result[j] = F::fast(d, a[i + j], b[i + j]);
      inexact |= d.exact ? 0 : 1;  // NaN and zero divisors too
    }
    if (inexact != 0) {
      for (std::int64_t j = 0; j < count; ++j) result[j] = F::slow(a[i + j], b[i + j]);
    }
    __builtin_memcpy(y + i, result, static_cast<std::size_t>(count) * sizeof(float));
  }
}
const TileEntry fmod_entry("fmod", DType::Float32, DType::Float32, &division_f32<Fmod>, kLevel);
const TileEntry remainder_entry("remainder", DType::Float32, DType::Float32, &division_f32<Remainder>, kLevel);
const TileEntry floor_entry("div_floor", DType::Float32, DType::Float32, &division_f32<FloorDivide>, kLevel);

// int32 division by way of float64, where every quotient is exact enough to truncate. params: the zero-divisor flag.
enum class Round { Trunc, Floor, Fmod, Remainder };
template <Round kRound>
void division_i32(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  i32* y = static_cast<i32*>(out[0]);
  const i32* a = static_cast<const i32*>(in[0]);
  const i32* b = static_cast<const i32*>(in[1]);
  int zero = 0;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    const i32 x = a[i], d = b[i];
    zero |= d == 0 ? 1 : 0;
    const double exact = static_cast<double>(x) / static_cast<double>(d == 0 ? 1 : d);
    const double whole = kRound == Round::Floor || kRound == Round::Remainder ? floor1(exact) : trunc1(exact);
    const i32 quotient =
        static_cast<i32>(static_cast<std::uint32_t>(static_cast<i64>(whole)));  // wraps for INT_MIN / -1
    if constexpr (kRound == Round::Trunc || kRound == Round::Floor) {
      y[i] = quotient;
    } else {
      y[i] = sub(x, mul(quotient, d));
    }
  }
  if (zero != 0) __atomic_store_n(static_cast<int*>(const_cast<void*>(params)), 1, __ATOMIC_RELAXED);
}

// int64: likewise while both operands fit float64's 53 bits; chunks with larger ones divide one by one.
template <Round kRound>
[[gnu::always_inline]] inline i64 divide_one(i64 x, i64 d) {
  if (d == 0) return 0;
  if (d == -1) return kRound == Round::Trunc || kRound == Round::Floor ? sub(i64(0), x) : 0;
  const i64 quotient = x / d, rest = x % d;
  const bool down = rest != 0 && (x < 0) != (d < 0);
  switch (kRound) {
    case Round::Trunc: return quotient;
    case Round::Floor: return down ? quotient - 1 : quotient;
    case Round::Fmod: return rest;
    default: return down ? rest + d : rest;
  }
}
template <Round kRound>
void division_i64(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  i64* y = static_cast<i64*>(out[0]);
  const i64* a = static_cast<const i64*>(in[0]);
  const i64* b = static_cast<const i64*>(in[1]);
  constexpr std::int64_t kChunk = 64;
  constexpr i64 kExact = i64(1) << 52;
  i64 zero = 0;
  for (std::int64_t i = 0; i < n; i += kChunk) {
    const std::int64_t count = n - i < kChunk ? n - i : kChunk;
    i64 wide = 0, result[kChunk];
    for (std::int64_t j = 0; j < count; ++j) {
      const i64 x = a[i + j], d = b[i + j];
      zero |= d == 0 ? 1 : 0;
      wide |= (x >= kExact) | (x <= -kExact) | (d >= kExact) | (d <= -kExact) ? 1 : 0;
    }
    if (wide != 0 || count < 8) {
      for (std::int64_t j = 0; j < count; ++j) result[j] = divide_one<kRound>(a[i + j], b[i + j]);
    } else {
      for (std::int64_t j = 0; j < count; ++j) {
        const double x = static_cast<double>(a[i + j]), d = static_cast<double>(b[i + j] == 0 ? 1 : b[i + j]);
        const double exact = x / d;
        const double whole = kRound == Round::Floor || kRound == Round::Remainder ? floor1(exact) : trunc1(exact);
        // Products of the exact quotient stay within 53 bits of x, so the rest is exact too.
        result[j] = static_cast<i64>(kRound == Round::Trunc || kRound == Round::Floor ? whole : x - whole * d);
      }
    }
    __builtin_memcpy(y + i, result, static_cast<std::size_t>(count) * sizeof(i64));
  }
  if (zero != 0) __atomic_store_n(static_cast<int*>(const_cast<void*>(params)), 1, __ATOMIC_RELAXED);
}
const TileEntry trunc_i64("div_trunc", DType::Int64, DType::Int64, &division_i64<Round::Trunc>, kLevel);
const TileEntry floor_i64("div_floor", DType::Int64, DType::Int64, &division_i64<Round::Floor>, kLevel);
const TileEntry fmod_i64("fmod", DType::Int64, DType::Int64, &division_i64<Round::Fmod>, kLevel);
const TileEntry remainder_i64("remainder", DType::Int64, DType::Int64, &division_i64<Round::Remainder>, kLevel);
const TileEntry trunc_i32("div_trunc", DType::Int32, DType::Int32, &division_i32<Round::Trunc>, kLevel);
const TileEntry floor_i32("div_floor", DType::Int32, DType::Int32, &division_i32<Round::Floor>, kLevel);
const TileEntry fmod_i32("fmod", DType::Int32, DType::Int32, &division_i32<Round::Fmod>, kLevel);
const TileEntry remainder_i32("remainder", DType::Int32, DType::Int32, &division_i32<Round::Remainder>, kLevel);

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
