// Conversions worth vector code: to and from float32 and float64, and between the widths of integers.
#include "kernels/tile/functors.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

template <class To, class From>
void cast_tile(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  To* __restrict__ y = static_cast<To*>(out[0]);
  const From* __restrict__ x = static_cast<const From*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = convert<To>(x[i]);
}

void half_to_float(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  float* y = static_cast<float*>(out[0]);
  const Half* x = static_cast<const Half*>(in[0]);
  std::int64_t i = 0;
#if FLAMBEAU_VEC_BYTES >= 64
  for (; i + 16 <= n; i += 16) {
    _mm512_storeu_ps(y + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i))));
  }
#elif FLAMBEAU_VEC_BYTES >= 32
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  }
#endif
  for (; i < n; ++i) y[i] = static_cast<float>(x[i]);
}
void float_to_half(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  Half* y = static_cast<Half*>(out[0]);
  const float* x = static_cast<const float*>(in[0]);
  std::int64_t i = 0;
#if FLAMBEAU_VEC_BYTES >= 64
  for (; i + 16 <= n; i += 16) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i),
                        _mm512_cvtps_ph(_mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  }
#elif FLAMBEAU_VEC_BYTES >= 32
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  }
#endif
  for (; i < n; ++i) y[i] = Half(x[i]);
}

constexpr int kLanes = FLAMBEAU_VEC_BYTES / 4;
typedef std::uint32_t Words __attribute__((vector_size(FLAMBEAU_VEC_BYTES)));
typedef std::uint16_t Halves __attribute__((vector_size(FLAMBEAU_VEC_BYTES / 2)));

void bf16_to_float(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  std::uint32_t* y = static_cast<std::uint32_t*>(out[0]);
  const std::uint16_t* x = static_cast<const std::uint16_t*>(in[0]);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Halves halves;
    __builtin_memcpy(&halves, x + i, sizeof(halves));
    const Words words = __builtin_convertvector(halves, Words) << 16;
    __builtin_memcpy(y + i, &words, sizeof(words));
  }
  for (; i < n; ++i) y[i] = std::uint32_t(x[i]) << 16;
}
void float_to_bf16(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  BFloat16* y = static_cast<BFloat16*>(out[0]);
  const float* x = static_cast<const float*>(in[0]);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vec<float> value = Vec<float>::load(x + i);
    const Words word = (Words)value.v;
    const Words rounded = (word + 0x7fffU + ((word >> 16) & 1U)) >> 16, quiet = (word >> 16) | 0x40U;
    const Words chosen = value != value ? quiet : rounded;
    const Halves halves = __builtin_convertvector(chosen, Halves);
    __builtin_memcpy(y + i, &halves, sizeof(halves));
  }
  for (; i < n; ++i) y[i] = BFloat16(x[i]);
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

template <class To, class... From>
struct RegisterCasts {
  [[gnu::always_inline]] explicit RegisterCasts(const char* name) noexcept {
    (TileEntry(name, DTypeOf<From>::value, DTypeOf<To>::value, &cast_tile<To, From>, kLevel), ...);
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
