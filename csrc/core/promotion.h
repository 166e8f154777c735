// PyTorch's type promotion: dimension tensors beat 0-d tensors beat wrapped numbers within one category
// (bool < integer < floating < complex).
#pragma once

#include "core/tensor.h"

namespace flambeau {

DType promote_types(DType a, DType b);
class PromotionState {
 public:
  void add(const Tensor& tensor);
  [[nodiscard]] DType result() const;

 private:
  DType dims_ = DType::Bool, zero_ = DType::Bool, number_ = DType::Bool;
  bool has_dims_ = false, has_zero_ = false, has_number_ = false;
};
DType result_type(const Tensor& a, const Tensor& b);
DType result_type(TensorSpan tensors);
// result_type, then integers and bool -> the default float dtype (division, exp, mean ...).
DType to_float_type(DType dtype);

}  // namespace flambeau
