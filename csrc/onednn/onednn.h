// Our interface to oneDNN. Every call answers whether it did the work: false when the library is switched off
// (FLAMBEAU_ONEDNN=0) or does not support the case; the caller then runs its plain kernel.
#pragma once

#include "core/dtype.h"
#include "kernels/gemm.h"

namespace flambeau::onednn {

bool enabled() noexcept;

// bfloat16 with float32 accumulation, where the machine has instructions for it.
bool gemm(const Gemm<BFloat16>& args);

struct Convolution {
  DType dtype;
  std::int64_t spatial;  // 1, 2 or 3; the arrays below use that many
  std::int64_t batch, in_channels, out_channels, groups;
  std::int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
  std::int64_t weight_strides[5];  // of (out_channels, in_channels / groups, kernel...)
  bool channels_last;              // of input and output
};

// Input and output dense in their layout; weight of any strides. A null bias is none.
bool conv_forward(const Convolution& conv, const void* input, const void* weight, const void* bias, void* output);
bool conv_backward_input(const Convolution& conv, const void* grad, const void* weight, void* grad_input);
bool conv_backward_weight(const Convolution& conv, const void* grad, const void* input, void* grad_weight);

}  // namespace flambeau::onednn
