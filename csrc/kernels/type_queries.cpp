// Questions about dtypes: promote_types, result_type, can_cast.
#include "core/factory.h"
#include "core/promotion.h"

namespace flambeau {
namespace {

DType promote_types_op(DType type1, DType type2) { return promote_types(type1, type2); }

// Kernels, which have no complex32, never see it as the type of a result; programs do.
bool gives_half_pairs(const Tensor& half, const Tensor& scalar) {
  return half.dtype() == DType::Float16 && half.dim() != 0 && scalar.dim() == 0 && is_complex(scalar.dtype());
}

DType result_type_op(const Tensor& tensor1, const Tensor& tensor2) {
  if (gives_half_pairs(tensor1, tensor2) || gives_half_pairs(tensor2, tensor1)) return DType::Complex32;
  return result_type(tensor1, tensor2);
}

DType result_type_number(const Scalar& number, const Tensor& tensor) {
  if (number.is_complex() && tensor.dtype() == DType::Float16) return DType::Complex32;
  return result_type(wrapped_number(number), tensor);
}

DType result_type_numbers(const Scalar& number1, const Scalar& number2) {
  return result_type(wrapped_number(number1), wrapped_number(number2));
}

bool can_cast_op(DType from, DType to) { return can_cast(from, to); }

const Kernel kernels[] = {
    {"promote_types", &promote_types_op},
    {"result_type", &result_type_op},
    {"result_type_number", &result_type_number},
    {"result_type_numbers", &result_type_numbers},
    {"can_cast", &can_cast_op},
};

}  // namespace
}  // namespace flambeau
