// Row loops of pooling and resampling, float32: see kernels/pool_tile.h.
#include "kernels/pool_tile.h"

#include "simd/vec.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

using V = Vec<float>;
constexpr int W = V::size;
typedef std::int32_t Ints __attribute__((vector_size(FLAMBEAU_VEC_BYTES)));

// A later NaN wins, as in PyTorch.
[[gnu::always_inline]] inline V::Mask wins(V value, V best) { return (value > best) | (value != value); }
inline bool wins(float value, float best) { return value > best || value != value; }

void max_rows(float* best, const float* source, std::int64_t n) noexcept {
  std::int64_t i = 0;
  for (; i + W <= n; i += W) {
    const V value = V::load(source + i), old = V::load(best + i);
    select(wins(value, old), value, old).store(best + i);
  }
  for (; i < n; ++i) best[i] = wins(source[i], best[i]) ? source[i] : best[i];
}

void max_rows_at(float* best, std::int32_t* at, const float* source, std::int32_t first, std::int32_t step,
                 std::int64_t n) noexcept {
  std::int64_t i = 0;
  Ints ramp;
  for (int lane = 0; lane < W; ++lane) ramp[lane] = first + lane * step;
  for (; i + W <= n; i += W) {
    const V value = V::load(source + i), old = V::load(best + i);
    const V::Mask mask = wins(value, old);
    select(mask, value, old).store(best + i);
    Ints where;
    __builtin_memcpy(&where, at + i, sizeof(where));
    where = mask ? ramp : where;
    __builtin_memcpy(at + i, &where, sizeof(where));
    ramp += W * step;
  }
  for (; i < n; ++i) {
    if (!wins(source[i], best[i])) continue;
    best[i] = source[i];
    at[i] = first + static_cast<std::int32_t>(i) * step;
  }
}

template <int kStride>
[[gnu::always_inline]] inline V strided_load(const float* p) {
  if constexpr (kStride == 1) return V::load(p);
  V::Raw a = V::load(p).v, b = V::load(p + W).v;
  Ints even;
  for (int lane = 0; lane < W; ++lane) even[lane] = 2 * lane;
  return V(__builtin_shuffle(a, b, even));
}

template <int kStride>
void max_line_of(float* out, const float* line, std::int64_t n, std::int64_t kernel) {
  std::int64_t i = 0;
  for (; i + W <= n; i += W) {
    const float* p = line + i * kStride;
    V best = strided_load<kStride>(p);
    for (std::int64_t k = 1; k < kernel; ++k) {
      const V value = strided_load<kStride>(p + k);
      best = select(wins(value, best), value, best);
    }
    best.store(out + i);
  }
  for (; i < n; ++i) {
    float best = line[i * kStride];
    for (std::int64_t k = 1; k < kernel; ++k) best = wins(line[i * kStride + k], best) ? line[i * kStride + k] : best;
    out[i] = best;
  }
}

void max_line(float* out, const float* line, std::int64_t n, std::int64_t kernel, std::int64_t stride) noexcept {
  if (stride == 1) return max_line_of<1>(out, line, n, kernel);
  if (stride == 2) return max_line_of<2>(out, line, n, kernel);
  for (std::int64_t i = 0; i < n; ++i) {
    float best = line[i * stride];
    for (std::int64_t k = 1; k < kernel; ++k) best = wins(line[i * stride + k], best) ? line[i * stride + k] : best;
    out[i] = best;
  }
}

void add_rows(float* sums, const float* source, std::int64_t n) noexcept {
  std::int64_t i = 0;
  for (; i + W <= n; i += W) (V::load(sums + i) + V::load(source + i)).store(sums + i);
  for (; i < n; ++i) sums[i] += source[i];
}

// kCount 0: any number of rows.
template <int kCount>
void weighted_rows_of(float* out, const float* const* rows, const float* weights, std::int64_t given, std::int64_t n) {
  const std::int64_t count = kCount != 0 ? kCount : given;
  std::int64_t i = 0;
  for (; i + W <= n; i += W) {
    V sum = V(weights[0]) * V::load(rows[0] + i);
    for (std::int64_t t = 1; t < count; ++t) sum = sum + V(weights[t]) * V::load(rows[t] + i);
    sum.store(out + i);
  }
  for (; i < n; ++i) {
    float sum = weights[0] * rows[0][i];
    for (std::int64_t t = 1; t < count; ++t) sum += weights[t] * rows[t][i];
    out[i] = sum;
  }
}

void weighted_rows(float* out, const float* const* rows, const float* weights, std::int64_t count,
                   std::int64_t n) noexcept {
  if (count == 4) return weighted_rows_of<4>(out, rows, weights, count, n);
  weighted_rows_of<0>(out, rows, weights, count, n);
}

template <int kCount>
void mean_rows_of(float* out, const float* const* rows, float factor, std::int64_t given, std::int64_t n) {
  const std::int64_t count = kCount != 0 ? kCount : given;
  std::int64_t i = 0;
  for (; i + W <= n; i += W) {
    V sum = V::load(rows[0] + i);
    for (std::int64_t t = 1; t < count; ++t) sum = sum + V::load(rows[t] + i);
    (sum * V(factor)).store(out + i);
  }
  for (; i < n; ++i) {
    float sum = rows[0][i];
    for (std::int64_t t = 1; t < count; ++t) sum += rows[t][i];
    out[i] = sum * factor;
  }
}

void mean_rows(float* out, const float* const* rows, float factor, std::int64_t count, std::int64_t n) noexcept {
  if (count == 4) return mean_rows_of<4>(out, rows, factor, count, n);
  mean_rows_of<0>(out, rows, factor, count, n);
}

constexpr PoolTile kTile{&max_rows, &max_rows_at, &max_line, &add_rows, &weighted_rows, &mean_rows};
const PoolTileEntry entry(static_cast<int>(kLevel), &kTile);

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
