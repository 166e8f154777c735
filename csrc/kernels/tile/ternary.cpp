// Three operands: where, clamp, lerp, addcmul, addcdiv.
#include "kernels/tile/functors.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

// params: the factor, in the tile's dtype. out = a + value * b * c
template <class T>
struct AddCMul {
  T value;
  explicit AddCMul(const void* params) : value(*static_cast<const T*>(params)) {}
  T operator()(T a, T b, T c) const { return add(a, mul(mul(value, b), c)); }
};
template <class T>
struct AddCDiv {
  T value;
  explicit AddCDiv(const void* params) : value(*static_cast<const T*>(params)) {}
  T operator()(T a, T b, T c) const { return a + value * b / c; }
};
// Towards the nearer end, so that weight 1 gives exactly `end`.
template <class T>
struct Lerp {
  explicit Lerp(const void*) {}
  T operator()(T start, T end, T weight) const {
    if constexpr (kIsComplex<T>) {
      const auto square = weight.re * weight.re + weight.im * weight.im;
      return square < decltype(square)(0.25) ? start + weight * (end - start) : end - (end - start) * (T(1) - weight);
    } else {
      const T low = start + weight * (end - start), high = end - (end - start) * (T(1) - weight);
      return abs1(weight) < T(0.5) ? low : high;
    }
  }
};
// NaN in any operand wins; where the bounds cross, the upper one does.
template <class T>
[[gnu::always_inline]] inline T clamp_low(T x, T low) {
  return (x < low) | (low != low) ? low : x;
}
template <class T>
[[gnu::always_inline]] inline T clamp_high(T x, T high) {
  return (x > high) | (high != high) ? high : x;
}
template <class T>
struct Clamp3 {
  explicit Clamp3(const void*) {}
  T operator()(T x, T low, T high) const { return x != x ? x : clamp_high(clamp_low(x, low), high); }
};
// params: {low, high}
template <class T>
struct Clamp {
  T low, high;
  explicit Clamp(const void* params) : low(static_cast<const T*>(params)[0]), high(static_cast<const T*>(params)[1]) {}
  T operator()(T x) const { return clamp_high(clamp_low(x, low), high); }
};
template <class T>
struct ClampMin {
  T low;
  explicit ClampMin(const void* params) : low(*static_cast<const T*>(params)) {}
  T operator()(T x) const { return clamp_low(x, low); }
};
template <class T>
struct ClampMax {
  T high;
  explicit ClampMax(const void* params) : high(*static_cast<const T*>(params)) {}
  T operator()(T x) const { return clamp_high(x, high); }
};

// Inputs: condition as T (the engine converts bool), yes, no. Only moves bits.
template <class T>
void where_tile(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  T* y = static_cast<T*>(out[0]);
  const u8* condition = static_cast<const u8*>(in[0]);
  const T* yes = static_cast<const T*>(in[1]);
  const T* no = static_cast<const T*>(in[2]);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = condition[i] != 0 ? yes[i] : no[i];
}
const TileEntry where1("where", DType::UInt8, DType::UInt8, &where_tile<u8>, kLevel);
const TileEntry where2("where", DType::Int16, DType::Int16, &where_tile<i16>, kLevel);
const TileEntry where4("where", DType::Float32, DType::Float32, &where_tile<float>, kLevel);
const TileEntry where8("where", DType::Float64, DType::Float64, &where_tile<double>, kLevel);
const TileEntry where16("where", DType::Complex128, DType::Complex128, &where_tile<c128>, kLevel);

const Register3p<AddCMul, i64, float, double, c64, c128> addcmul_entry("addcmul");
const Register3p<AddCDiv, float, double, c64, c128> addcdiv_entry("addcdiv");
const Register3p<Lerp, float, double, c64, c128> lerp_entry("lerp");
const Register3p<Clamp3, u8, i8, i16, i32, i64, float, double> clamp3_entry("clamp_tensor");
const Register1p<Clamp, u8, i8, i16, i32, i64, float, double> clamp_entry("clamp");
const Register1p<ClampMin, u8, i8, i16, i32, i64, float, double> clamp_min_entry("clamp_min");
const Register1p<ClampMax, u8, i8, i16, i32, i64, float, double> clamp_max_entry("clamp_max");

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
