// Row loops of pooling and resampling, float32: see kernels/pool_tile.h.
#include "kernels/pool_tile.h"

#include "kernels/tile/fused.h"

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

// out[i] = combine(vector of rows[t][i], t) summed over t. kCount rows at a time, their pointers in registers; 0: any
// number.
template <int kCount, class Term>
[[gnu::always_inline]] inline void sum_of_rows(float* out, const float* const* rows, std::int64_t given, std::int64_t n,
                                               float factor, Term term) {
  const std::int64_t count = kCount != 0 ? kCount : given;
  const float* pointers[kCount != 0 ? kCount : 1];
  const float* const* row = rows;
  if constexpr (kCount != 0) {
#pragma GCC unroll 4
    for (int t = 0; t < kCount; ++t) pointers[t] = rows[t];
    row = pointers;
  }
  std::int64_t i = 0;
  for (; i + W <= n; i += W) {
    V sum = term(V::load(row[0] + i), 0);
#pragma GCC unroll 4
    for (std::int64_t t = 1; t < count; ++t) sum = sum + term(V::load(row[t] + i), t);
    // The rows are short pieces of long lines: asking ahead is worth a third of the time.
    if constexpr (kCount != 0) {
#pragma GCC unroll 4
      for (int t = 0; t < kCount; ++t) __builtin_prefetch(row[t] + i + 1024);
    }
    (sum * V(factor)).store(out + i);
  }
  for (; i < n; ++i) {
    float sum = term(row[0][i], 0);
    for (std::int64_t t = 1; t < count; ++t) sum += term(row[t][i], t);
    out[i] = sum * factor;
  }
}

// kCount 0: any number of taps.
template <int kCount>
[[gnu::always_inline]] inline void weighted_rows_of(float* out, const float* const* rows, const float* weights,
                                                    std::int64_t count, std::int64_t n) {
  if constexpr (kCount == 0) {
    sum_of_rows<0>(out, rows, count, n, 1.0F,
                   [=](auto value, std::int64_t t) { return decltype(value)(weights[t]) * value; });
  } else {
    V w[kCount];
#pragma GCC unroll 4
    for (int t = 0; t < kCount; ++t) w[t] = V(weights[t]);
    std::int64_t i = 0;
    for (; i + W <= n; i += W) {
      V sum = w[0] * V::load(rows[0] + i);
#pragma GCC unroll 4
      for (int t = 1; t < kCount; ++t) sum = fma(w[t], V::load(rows[t] + i), sum);
      sum.store(out + i);
    }
    for (; i < n; ++i) {
      float sum = weights[0] * rows[0][i];
      for (int t = 1; t < kCount; ++t) sum = fused(weights[t], rows[t][i], sum);
      out[i] = sum;
    }
  }
}

void weighted_rows(float* out, const float* const* rows, const float* weights, std::int64_t count,
                   std::int64_t n) noexcept {
  if (count == 2) return weighted_rows_of<2>(out, rows, weights, count, n);
  if (count == 4) return weighted_rows_of<4>(out, rows, weights, count, n);
  weighted_rows_of<0>(out, rows, weights, count, n);
}

template <int kLines, int kTaps>
void resample_line_of(const ResampleLine& line, float* out) {
  const std::int64_t lines = kLines != 0 ? kLines : line.lines, taps = kTaps != 0 ? kTaps : line.taps;
  const std::int64_t* index = line.index;
  const double* weight = line.weight;
  for (std::int64_t w = 0; w < line.out; ++w, index += taps, weight += taps, out += line.channels) {
    const float* rows[kFewTaps];
    float weights[kFewTaps];
#pragma GCC unroll 2
    for (std::int64_t i = 0; i < lines; ++i) {
#pragma GCC unroll 2
      for (std::int64_t k = 0; k < taps; ++k) {
        rows[i * taps + k] = line.starts[i] + index[k] * line.channels;
        weights[i * taps + k] = static_cast<float>(line.shares[i] * weight[k]);
      }
    }
    weighted_rows_of<kLines * kTaps>(out, rows, weights, lines * taps, line.channels);
  }
}

void resample_line(const ResampleLine& line, float* out) noexcept {
  if (line.lines == 2 && line.taps == 2) return resample_line_of<2, 2>(line, out);
  resample_line_of<0, 0>(line, out);
}

void mean_rows(float* out, const float* const* rows, float factor, std::int64_t count, std::int64_t n) noexcept {
  const auto same = [](auto value, std::int64_t) { return value; };
  if (count == 4) return sum_of_rows<4>(out, rows, count, n, factor, same);
  sum_of_rows<0>(out, rows, count, n, factor, same);
}

// Lanes i and i + half, half the width first.
template <int kHalf>
[[gnu::always_inline]] inline float fold(V sum) {
  if constexpr (kHalf == 0) {
    return sum[0];
  } else {
    V::Mask order;
    for (int lane = 0; lane < W; ++lane) order[lane] = (lane + kHalf) % W;
    return fold<kHalf / 2>(sum + V(__builtin_shuffle(sum.v, order)));
  }
}

// Sixteen sums on every CPU level, so that they come out the same.
float line_sum(const float* line, std::int64_t n) noexcept {
  constexpr int lanes = 16, vectors = lanes / W;
  V sums[vectors];
  for (int v = 0; v < vectors; ++v) sums[v] = V(0.0F);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (int v = 0; v < vectors; ++v) sums[v] = sums[v] + V::load(line + i + v * W);
  }
  float rest = 0;
  for (; i < n; ++i) rest += line[i];
  for (int half = vectors / 2; half > 0; half /= 2) {
    for (int v = 0; v < half; ++v) sums[v] = sums[v] + sums[v + half];
  }
  return fold<W / 2>(sums[0]) + rest;
}

constexpr PoolTile kTile{&max_rows,      &max_rows_at,   &max_line,  &add_rows,
                         &weighted_rows, &resample_line, &mean_rows, &line_sum};
const PoolTileEntry entry(static_cast<int>(kLevel), &kTile);

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
