// Convolution without a library: problem description and the plain kernels. conv.cpp chooses between these and oneDNN.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace flambeau {

// Always three spatial dims; missing leading ones have size 1.
struct ConvProblem {
  std::int64_t batch = 1, in_channels = 1, out_channels = 1, groups = 1;
  std::int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1},
               padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};
  [[nodiscard]] std::int64_t in_size() const { return in[0] * in[1] * in[2]; }
  [[nodiscard]] std::int64_t out_size() const { return out[0] * out[1] * out[2]; }
  [[nodiscard]] std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  // Every output position reads exactly one input position, in order.
  [[nodiscard]] bool pointwise() const {
    for (int d = 0; d < 3; ++d) {
      if (kernel[d] != 1 || stride[d] != 1 || padding[d] != 0) return false;
    }
    return true;
  }
  [[nodiscard]] bool depthwise() const {
    return groups > 1 && groups == in_channels && in[0] == 1 && kernel[0] == 1 && padding[0] == 0;
  }
};

// Through patches (im2col) and a matrix product, for every dtype but bool and half types. All tensors contiguous:
// input (n, c, d, h, w), weight (out, in / groups, kd, kh, kw). bias may be null.
void conv_forward_patches(DType dtype, const ConvProblem& conv, const void* input, const void* weight, const void* bias,
                          void* output);
void conv_input_patches(DType dtype, const ConvProblem& conv, const void* grad, const void* weight, void* grad_input);
void conv_weight_patches(DType dtype, const ConvProblem& conv, const void* grad, const void* input, void* grad_weight);

// One input channel per group, 1-d or 2-d, float32. Same layouts.
void depthwise_forward(const ConvProblem& conv, const float* input, const float* weight, const float* bias,
                       float* output);
void depthwise_input(const ConvProblem& conv, const float* grad, const float* weight, float* grad_input);
void depthwise_weight(const ConvProblem& conv, const float* grad, const float* input, float* grad_weight);

// Per-level row kernels (tile/depthwise.cpp).
struct DepthwiseTile {
  // out[i] = bias + sum over t of weights[t] * taps[t][i]. Taps may be read up to kDepthwiseSlack past n.
  void (*row)(float* out, const float* const* taps, const float* weights, std::int64_t count, std::int64_t n,
              float bias) noexcept;
  // sums[t * kDepthwiseSlack + lane] += grad[i] * taps[t][i]; grad is zero past n up to the next vector.
  void (*dots)(float* sums, const float* grad, const float* const* taps, std::int64_t count, std::int64_t n) noexcept;
};
inline constexpr std::int64_t kDepthwiseSlack = 16;
struct DepthwiseTileEntry {
  DepthwiseTileEntry(int level, const DepthwiseTile* tile) noexcept;
};

}  // namespace flambeau
