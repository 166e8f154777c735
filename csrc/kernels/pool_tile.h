// Row loops of pooling and resampling over contiguous float32 runs, built once per CPU level.
#pragma once

#include <cstdint>

namespace flambeau {

inline constexpr std::int64_t kFewTaps = 64;  // rows that are combined in one pass

// One line of a channels-last result whose pixels are weighted sums of pixels of the lines that begin at `starts`:
//   out[w] = sum over i < lines, k < taps of shares[i] * weight[w][k] * starts[i][index[w][k]],  lines * taps <=
//   kFewTaps
struct ResampleLine {
  const float* const* starts;
  const double* shares;
  std::int64_t lines, taps;
  const std::int64_t* index;  // [out][taps], pixels
  const double* weight;       // [out][taps]
  std::int64_t out, channels;
};

struct PoolTile {
  // best[i] = larger of best[i] and source[i]; a NaN in source wins.
  void (*max_rows)(float* best, const float* source, std::int64_t n) noexcept;
  // The same, and at[i] = first + i * step where source won.
  void (*max_rows_at)(float* best, std::int32_t* at, const float* source, std::int32_t first, std::int32_t step,
                      std::int64_t n) noexcept;
  // out[i] = largest of line[i * stride ... + kernel); may read one vector past the last window.
  void (*max_line)(float* out, const float* line, std::int64_t n, std::int64_t kernel, std::int64_t stride) noexcept;
  void (*add_rows)(float* sums, const float* source, std::int64_t n) noexcept;
  // out[i] = sum over t of weights[t] * rows[t][i]
  void (*weighted_rows)(float* out, const float* const* rows, const float* weights, std::int64_t count,
                        std::int64_t n) noexcept;
  void (*resample_line)(const ResampleLine& line, float* out) noexcept;
  // out[i] = factor * sum over t of rows[t][i]
  void (*mean_rows)(float* out, const float* const* rows, float factor, std::int64_t count, std::int64_t n) noexcept;
  float (*line_sum)(const float* line, std::int64_t n) noexcept;
};
inline constexpr std::int64_t kPoolSlack = 32;  // elements that max_line may read past its last window

struct PoolTileEntry {
  PoolTileEntry(int level, const PoolTile* tile) noexcept;  // level: 0 baseline, 1 avx2, 2 avx512
};
const PoolTile& pool_tile() noexcept;

}  // namespace flambeau
