// Box-Muller on blocks of 16 uniforms: u[0..7] give radii sqrt(-2 log(1 - u)), u[8..15] angles 2 pi u; the block
// becomes radius * cos(angle) and radius * sin(angle), times std plus mean. n is a multiple of 16.
#include "simd/loops.h"
#include "simd/math.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

template <class T>
void box_muller_tile(void* const* outputs, const void* const*, std::int64_t n, const void* params) noexcept {
  const T* parameters = static_cast<const T*>(params);
  const Vec<T> mean(parameters[0]), std(parameters[1]);
  T* values = static_cast<T*>(outputs[0]);
  // Radii and angles apart, so that full vectors serve blocks of any width.
  constexpr std::int64_t kHalf = 256;
  T radii[kHalf] = {}, angles[kHalf] = {};
  while (n != 0) {
    const std::int64_t take = n < 2 * kHalf ? n : 2 * kHalf, pairs = take / 2;
    for (std::int64_t block = 0; block < take; block += 16) {
      __builtin_memcpy(radii + block / 2, values + block, 8 * sizeof(T));
      __builtin_memcpy(angles + block / 2, values + block + 8, 8 * sizeof(T));
    }
    for (std::int64_t i = 0; i < pairs; i += Vec<T>::size) {
      // Whole vectors: kHalf is a multiple of any width, and what lies behind the pairs is not written back.
      const Vec<T> u = Vec<T>::load(radii + i), v = Vec<T>::load(angles + i);
      const Vec<T> radius = sqrt(Vec<T>(T(-2)) * log(Vec<T>(T(1)) - u));
      const SinCos<T> both = sincos(v * Vec<T>(T(6.283185307179586477)));
      fma(radius * both.cos, std, mean).store(radii + i);
      fma(radius * both.sin, std, mean).store(angles + i);
    }
    for (std::int64_t block = 0; block < take; block += 16) {
      __builtin_memcpy(values + block, radii + block / 2, 8 * sizeof(T));
      __builtin_memcpy(values + block + 8, angles + block / 2, 8 * sizeof(T));
    }
    values += take;
    n -= take;
  }
}

const TileEntry box_muller_f32("box_muller", DType::Float32, DType::Float32, &box_muller_tile<float>, kLevel);
const TileEntry box_muller_f64("box_muller", DType::Float64, DType::Float64, &box_muller_tile<double>, kLevel);

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
