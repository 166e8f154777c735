// Pooling windows: which input positions each output position reads, per axis, after clipping to the input.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace flambeau {

struct PoolAxis {
  std::int64_t in = 1, out = 1, step = 1;            // step: dilation
  std::int64_t kernel = 0, stride = 1, padding = 0;  // of fixed windows; kernel 0: adaptive
  std::vector<std::int64_t> begin, end;              // clipped to the input
  std::vector<std::int64_t> extent;                  // positions counted when padding counts
};

PoolAxis fixed_axis(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                    std::int64_t dilation);
PoolAxis adaptive_axis(std::int64_t in, std::int64_t out);

struct PoolProblem {
  std::int64_t batch = 1, channels = 1;
  PoolAxis axis[3];  // depth, height, width; missing leading ones have one position
  bool channels_last = false;
  bool count_include_pad = false;
  std::int64_t divisor_override = 0;
  [[nodiscard]] std::int64_t in_size() const { return axis[0].in * axis[1].in * axis[2].in; }
  [[nodiscard]] std::int64_t out_size() const { return axis[0].out * axis[1].out * axis[2].out; }
};

// Tensors dense in the problem's layout. indices (int64, into the input plane) may be undefined.
void max_pool_forward(const PoolProblem& p, const Tensor& input, const Tensor& output, const Tensor& indices);
// grad_input, zeroed: the cotangent of each window goes to its largest element, found again here.
void max_pool_backward(const PoolProblem& p, const Tensor& grad, const Tensor& input, const Tensor& grad_input);
void avg_pool_forward(const PoolProblem& p, const Tensor& input, const Tensor& output);
void avg_pool_backward(const PoolProblem& p, const Tensor& grad, const Tensor& grad_input);

}  // namespace flambeau
