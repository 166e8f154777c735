// Transposes of blocks of 4-byte elements: dst[i + j * dst_stride] = src[i * src_stride + j].
// Whole squares of one vector's width go through registers, log2(width) rounds of interleaving; edges are scalar.
#include "core/transpose.h"
#include "simd/vec.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

using V = Vec<float>::Mask;  // int32 lanes: bits are only moved
constexpr int kWidth = Vec<float>::size;

template <int kStart>
[[gnu::always_inline]] inline V interleave(V a, V b) {  // a[s], b[s], a[s + 1], b[s + 1] ...
  V order{};
  for (int i = 0; i < kWidth; ++i) order[i] = kStart + i / 2 + (i % 2) * kWidth;
  return __builtin_shuffle(a, b, order);
}

[[gnu::always_inline]] inline void square(std::int32_t* dst, std::int64_t dst_stride, const std::int32_t* src,
                                          std::int64_t src_stride) {
  V rows[kWidth], next[kWidth];
  for (int i = 0; i < kWidth; ++i) __builtin_memcpy(&rows[i], src + i * src_stride, sizeof(V));
  for (int round = kWidth; round > 1; round /= 2) {
    for (int i = 0; i < kWidth / 2; ++i) {
      next[2 * i] = interleave<0>(rows[i], rows[i + kWidth / 2]);
      next[2 * i + 1] = interleave<kWidth / 2>(rows[i], rows[i + kWidth / 2]);
    }
    for (int i = 0; i < kWidth; ++i) rows[i] = next[i];
  }
  for (int i = 0; i < kWidth; ++i) __builtin_memcpy(dst + i * dst_stride, &rows[i], sizeof(V));
}

void transpose(void* const* out, const void* const* in, std::int64_t, const void* params) noexcept {
  const TransposeBlock& block = *static_cast<const TransposeBlock*>(params);
  std::int32_t* dst = static_cast<std::int32_t*>(out[0]);
  const std::int32_t* src = static_cast<const std::int32_t*>(in[0]);
  const std::int64_t whole_n = block.n / kWidth * kWidth, whole_m = block.m / kWidth * kWidth;
  for (std::int64_t j = 0; j < whole_m; j += kWidth) {
    for (std::int64_t i = 0; i < whole_n; i += kWidth) {
      square(dst + i + j * block.dst_stride, block.dst_stride, src + i * block.src_stride + j, block.src_stride);
    }
  }
  for (std::int64_t j = 0; j < block.m; ++j) {
    for (std::int64_t i = j < whole_m ? whole_n : 0; i < block.n; ++i) {
      dst[i + j * block.dst_stride] = src[i * block.src_stride + j];
    }
  }
}
const TileEntry transpose_entry("transpose", DType::Int32, DType::Int32, &transpose, kLevel);

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
