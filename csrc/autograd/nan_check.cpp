// Plain loops: anomaly mode is for finding mistakes, not for speed.
#include "autograd/nan_check.h"

#include <cmath>

#include "core/copy.h"

namespace flambeau::autograd {

bool has_nan(const Tensor& tensor) {
  if (tensor.is_meta() || !is_differentiable(tensor.dtype()) || tensor.numel() == 0) return false;
  const DType wide = is_complex(tensor.dtype()) ? DType::Complex128 : DType::Float64;
  const Tensor values = contiguous(to_dtype(tensor, wide));
  const std::int64_t count = values.numel() * (is_complex(wide) ? 2 : 1);
  const auto* data = static_cast<const double*>(values.data());
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::isnan(data[i])) return true;
  }
  return false;
}

}  // namespace flambeau::autograd
