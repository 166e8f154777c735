// Rows of a depthwise convolution: weighted sums of shifted rows, and dot products with them.
#include "kernels/conv.h"

#pragma GCC optimize("fp-contract=fast")

namespace flambeau::FLAMBEAU_ISA {
namespace {

constexpr int kBytes = FLAMBEAU_VEC_BYTES;
constexpr std::int64_t W = kBytes / 4;
typedef float V __attribute__((vector_size(kBytes)));
typedef float Loose __attribute__((vector_size(kBytes), aligned(4), may_alias));

inline V load(const float* p) { return *reinterpret_cast<const Loose*>(p); }
inline void store(float* p, V v) { *reinterpret_cast<Loose*>(p) = v; }

template <int N>
inline void block(float* out, const float* const* taps, const float* weights, std::int64_t count, std::int64_t i,
                  float bias) {
  V acc[N];
#pragma GCC unroll 4
  for (int v = 0; v < N; ++v) acc[v] = V{} + bias;
  for (std::int64_t t = 0; t < count; ++t) {
    const float* tap = taps[t] + i;
    const float weight = weights[t];
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) acc[v] += weight * load(tap + v * W);
  }
#pragma GCC unroll 4
  for (int v = 0; v < N; ++v) store(out + v * W, acc[v]);
}

void row(float* out, const float* const* taps, const float* weights, std::int64_t count, std::int64_t n,
         float bias) noexcept {
  std::int64_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W) block<4>(out + i, taps, weights, count, i, bias);
  for (; i + W <= n; i += W) block<1>(out + i, taps, weights, count, i, bias);
  if (i < n) {
    alignas(64) float edge[W];
    block<1>(edge, taps, weights, count, i, bias);
    for (std::int64_t lane = 0; i + lane < n; ++lane) out[i + lane] = edge[lane];
  }
}

void dots(float* sums, const float* grad, const float* const* taps, std::int64_t count, std::int64_t n) noexcept {
  for (std::int64_t t = 0; t < count; ++t) {
    V acc = load(sums + t * kDepthwiseSlack);
    const float* tap = taps[t];
    for (std::int64_t i = 0; i < n; i += W) acc += load(grad + i) * load(tap + i);
    store(sums + t * kDepthwiseSlack, acc);
  }
}

constexpr DepthwiseTile kTile{&row, &dots};
constexpr int kLevel = kBytes >= 64 ? 2 : kBytes >= 32 ? 1 : 0;
const DepthwiseTileEntry entry(kLevel, &kTile);

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
