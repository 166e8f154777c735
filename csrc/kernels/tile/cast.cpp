// Conversions worth vector code: to and from float32 and float64, and between the widths of integers.
#include "kernels/tile/functors.h"
#include "simd/half.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

template <class To, class From>
void cast_tile(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  To* __restrict__ y = static_cast<To*>(out[0]);
  const From* __restrict__ x = static_cast<const From*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = convert<To>(x[i]);
}

template <class To, class From, class Move>
[[gnu::always_inline]] inline void by_vectors(void* const* out, const void* const* in, std::int64_t n, Move move) {
  To* y = static_cast<To*>(out[0]);
  const From* x = static_cast<const From*>(in[0]);
  std::int64_t i = 0;
  // Asking further ahead than the hardware does: a page's end stops it.
  for (; i + Vec<float>::size <= n; i += Vec<float>::size) {
    __builtin_prefetch(x + i + 1024);
    __builtin_prefetch(y + i + 1024, 1);
    move(x + i, y + i);
  }
  for (; i < n; ++i) y[i] = convert<To>(x[i]);
}
void half_to_float(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  by_vectors<float, Half>(out, in, n, [](const Half* x, float* y) { load_half(x).store(y); });
}
void float_to_half(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  by_vectors<Half, float>(out, in, n, [](const float* x, Half* y) { store_half(Vec<float>::load(x), y); });
}
void bf16_to_float(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  by_vectors<float, BFloat16>(out, in, n, [](const BFloat16* x, float* y) { load_bf16(x).store(y); });
}
void float_to_bf16(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  by_vectors<BFloat16, float>(out, in, n, [](const float* x, BFloat16* y) { store_bf16(Vec<float>::load(x), y); });
}

// Truncation by the hardware's conversion: out of range gives the lowest integer, as convert() defines it.
template <class To, class Wide, class From>
void truncate_tile(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  To* y = static_cast<To*>(out[0]);
  const From* x = static_cast<const From*>(in[0]);
  constexpr int step = Vec<From>::size;
  typedef Wide Whole __attribute__((vector_size(step * sizeof(Wide))));
  std::int64_t i = 0;
  for (; i + step <= n; i += step) {
    const Whole whole = __builtin_convertvector(Vec<From>::load(x + i).v, Whole);
    for (int j = 0; j < step; ++j) y[i + j] = static_cast<To>(whole[j]);
  }
  for (; i < n; ++i) y[i] = convert<To>(x[i]);
}
const TileEntry float_i32("cast_int32", DType::Float32, DType::Int32, &truncate_tile<i32, i32, float>, kLevel);
const TileEntry float_i8("cast_int8", DType::Float32, DType::Int8, &truncate_tile<i8, i32, float>, kLevel);
const TileEntry float_i16("cast_int16", DType::Float32, DType::Int16, &truncate_tile<i16, i32, float>, kLevel);
const TileEntry float_u8("cast_uint8", DType::Float32, DType::UInt8, &truncate_tile<u8, i32, float>, kLevel);
#if FLAMBEAU_VEC_BYTES == 64
const TileEntry float_i64("cast_int64", DType::Float32, DType::Int64, &truncate_tile<i64, i64, float>, kLevel);
const TileEntry double_i64("cast_int64", DType::Float64, DType::Int64, &truncate_tile<i64, i64, double>, kLevel);
#endif

const TileEntry half_float("cast_float32", DType::Float16, DType::Float32, &half_to_float, kLevel);
const TileEntry float_half("cast_float16", DType::Float32, DType::Float16, &float_to_half, kLevel);
const TileEntry bf16_float("cast_float32", DType::BFloat16, DType::Float32, &bf16_to_float, kLevel);
const TileEntry float_bf16("cast_bfloat16", DType::Float32, DType::BFloat16, &float_to_bf16, kLevel);

// One value repeated (in[0] points at it).
template <class T>
void fill_tile(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  T* y = static_cast<T*>(out[0]);
  const T value = *static_cast<const T*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = value;
}
const TileEntry fill1("fill", DType::UInt8, DType::UInt8, &fill_tile<u8>, kLevel);
const TileEntry fill2("fill", DType::Int16, DType::Int16, &fill_tile<i16>, kLevel);
const TileEntry fill4("fill", DType::Int32, DType::Int32, &fill_tile<i32>, kLevel);
const TileEntry fill8("fill", DType::Int64, DType::Int64, &fill_tile<i64>, kLevel);

template <class T>
struct Bytes {
  using type = T;
};
template <>
struct Bytes<bool> {
  using type = u8;
};
template <class To, class... From>
struct RegisterCasts {
  [[gnu::always_inline]] explicit RegisterCasts(const char* name) noexcept {
    // bool is read as the bytes 0 and 1.
    (TileEntry(name, DTypeOf<From>::value, DTypeOf<To>::value, &cast_tile<To, typename Bytes<From>::type>, kLevel),
     ...);
  }
};
const RegisterCasts<float, bool, u8, i8, i16, i32, i64, double> to_float("cast_float32");
const RegisterCasts<double, bool, u8, i8, i16, i32, i64, float> to_double("cast_float64");
const RegisterCasts<i64, bool, u8, i8, i16, i32> to_i64("cast_int64");
const RegisterCasts<i32, bool, u8, i8, i16, i64> to_i32("cast_int32");
const RegisterCasts<bool, u8, i64, i32, float, double> to_bool("cast_bool");
const RegisterCasts<u8, bool, i32, i64> to_u8("cast_uint8");
const RegisterCasts<c64, float> to_c64("cast_complex64");

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
