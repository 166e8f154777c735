// Vec<float> from and to one vector's worth of float16 and bfloat16.
#pragma once

#include "simd/vec.h"

namespace flambeau::FLAMBEAU_ISA {

using HalfWords = std::uint16_t __attribute__((vector_size(FLAMBEAU_VEC_BYTES / 2)));
using FloatWords = std::uint32_t __attribute__((vector_size(FLAMBEAU_VEC_BYTES)));

[[gnu::always_inline]] inline Vec<float> load_half(const Half* p) {
#if FLAMBEAU_VEC_BYTES == 64
  return (Vec<float>::Raw)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
#elif FLAMBEAU_VEC_BYTES == 32
  return (Vec<float>::Raw)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#else
  Vec<float> x;
  for (int i = 0; i < Vec<float>::size; ++i) x.v[i] = static_cast<float>(p[i]);
  return x;
#endif
}
[[gnu::always_inline]] inline void store_half(Vec<float> x, Half* p) {
#if FLAMBEAU_VEC_BYTES == 64
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph((__m512)x.v, _MM_FROUND_TO_NEAREST_INT));
#elif FLAMBEAU_VEC_BYTES == 32
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph((__m256)x.v, _MM_FROUND_TO_NEAREST_INT));
#else
  for (int i = 0; i < Vec<float>::size; ++i) p[i] = Half(x.v[i]);
#endif
}

[[gnu::always_inline]] inline Vec<float> load_bf16(const BFloat16* p) {
  HalfWords halves;
  __builtin_memcpy(&halves, p, sizeof(halves));
  return (Vec<float>::Raw)(__builtin_convertvector(halves, FloatWords) << 16);
}
// Round to nearest even; NaN becomes quiet.
[[gnu::always_inline]] inline void store_bf16(Vec<float> x, BFloat16* p) {
  const FloatWords word = (FloatWords)x.v;
  const FloatWords rounded = (word + 0x7fffU + ((word >> 16) & 1U)) >> 16, quiet = (word >> 16) | 0x40U;
  const FloatWords chosen = x != x ? quiet : rounded;
  const HalfWords halves = __builtin_convertvector(chosen, HalfWords);
  __builtin_memcpy(p, &halves, sizeof(halves));
}

}  // namespace flambeau::FLAMBEAU_ISA
