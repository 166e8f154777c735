// Uniform floats from raw mt19937 words, whole blocks at a time.
#include "kernels/random_uniform.h"
#include "simd/vec.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

// out[i] = from + u * width with u = low 24 bits of the tempered word / 2^24, rounded once; what comes out as `to`
// becomes `from`. in: n raw words of the state.
void uniform_tile(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const UniformRange& range = *static_cast<const UniformRange*>(params);
  float* __restrict to = static_cast<float*>(out[0]);
  const std::uint32_t* __restrict words = static_cast<const std::uint32_t*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint32_t y = words[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    y ^= y >> 18;
    const float unit = static_cast<float>(static_cast<std::int32_t>(y & 0xffffffU)) * 0x1p-24F;
    const float value = __builtin_fmaf(unit, range.width, range.from);
    to[i] = value == range.to ? range.from : value;
  }
}
const TileEntry uniform_entry("random_uniform", DType::Float32, DType::Float32, &uniform_tile, kLevel);

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
