// What the creation kernels share: default dtypes, the destination.
#pragma once

#include <optional>

#include "core/factory.h"
#include "kernels/shape.h"

namespace flambeau {

// dtype argument, else that of out=, else the default float dtype.
inline DType creation_dtype(std::optional<DType> dtype, const Out& out) {
  return dtype ? *dtype : out.given() ? out[0].dtype() : default_dtype();
}
inline Device creation_device(std::optional<Device> device, const Out& out) {
  return device ? *device : out.given() ? out[0].device() : Device{};
}
inline Tensor created(Tensor tensor, bool requires_grad, const char* op) {
  if (requires_grad) {
    check(is_differentiable(tensor.dtype()), ErrorKind::Runtime,
          "Only Tensors of floating point and complex dtype can require gradients (", op, ", dtype ",
          name_of(tensor.dtype()), ")");
    tensor.impl()->requires_grad = true;
  }
  return tensor;
}
// The tensor a creation op of row-major layout fills: out= (resized) or a new one.
inline Tensor destination(const char* op, IntSpan size, std::optional<DType> dtype, std::optional<Device> device,
                          const Out& out) {
  check_sizes_nonnegative(size, op);
  const DType type = creation_dtype(dtype, out);
  if (out.given()) {
    check(!dtype || *dtype == out[0].dtype(), ErrorKind::Runtime, op, ": dtype ", name_of(type),
          " does not match dtype of out parameter (", name_of(out[0].dtype()), ")");
    return output(op, out, 0, size, type, creation_device(device, out));
  }
  return empty(size, type, device.value_or(Device{}));
}

}  // namespace flambeau
