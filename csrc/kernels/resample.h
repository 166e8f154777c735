// Interpolation along axes: every output position is a weighted sum of a few input positions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace flambeau {

struct ResampleAxis {
  std::int64_t in = 1, out = 1, taps = 1;
  std::vector<std::int64_t> index;  // [out][taps]; unused taps repeat a valid position with weight 0
  std::vector<double> weight;       // [out][taps]
  [[nodiscard]] bool identity() const;
};

enum class ResampleMode { Nearest, NearestExact, Linear, Cubic };

// scale 0: from the sizes. `wide`: positions are computed in double (float64 tensors), else in float, as PyTorch does.
ResampleAxis resample_axis(ResampleMode mode, std::int64_t in, std::int64_t out, bool align_corners, double scale,
                           bool antialias, bool wide);

// Planes of bytes, by two axes, in integer arithmetic.
void resample_bytes(const ResampleAxis& y, const ResampleAxis& x, const std::uint8_t* input, std::uint8_t* output,
                    std::int64_t planes);

}  // namespace flambeau
