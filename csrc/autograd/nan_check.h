// Anomaly mode: does a cotangent hold a NaN?
#pragma once

#include "core/tensor.h"

namespace flambeau::autograd {

bool has_nan(const Tensor& tensor);

}  // namespace flambeau::autograd
