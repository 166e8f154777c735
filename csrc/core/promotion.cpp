#include "core/promotion.h"

#include <utility>

#include "core/factory.h"

namespace flambeau {
namespace {

// bool < integer < floating < complex
int category(DType dtype) {
  if (dtype == DType::Bool) return 0;
  if (dtype <= DType::Int64) return 1;
  return is_complex(dtype) ? 3 : 2;
}

// PyTorch's lattice within and across categories, rows and columns in DType order.
DType promote_slow(DType a, DType b) {
  if (a > b) std::swap(a, b);
  if (a == DType::Bool) return b;
  if (category(b) >= 2) {
    if (category(a) == 1) return b;
    if (is_complex(b)) { return a == DType::Float64 || a == DType::Complex128 ? DType::Complex128 : b; }
    if (a == DType::Float16 && b == DType::BFloat16) return DType::Float32;
    return b;
  }
  if (a == DType::UInt8) return b == DType::Int8 ? DType::Int16 : b;
  return b;
}

struct Table {
  DType entries[kNumDTypes][kNumDTypes];
  Table() {
    for (int a = 0; a < kNumDTypes; ++a) {
      for (int b = 0; b < kNumDTypes; ++b) { entries[a][b] = a == b ? DType(a) : promote_slow(DType(a), DType(b)); }
    }
  }
};
const Table table;

DType combine(DType higher, DType lower, bool has_higher) {
  if (!has_higher) return lower;
  // A complex operand of lower rank makes the result complex, in the precision of the higher one.
  if (is_complex(lower) && is_floating(higher) && higher != DType::Float16) return to_complex(higher);
  if (category(lower) > category(higher)) return promote_types(higher, lower);
  return higher;
}

}  // namespace

DType promote_types(DType a, DType b) {
  if (has_kernels(a) && has_kernels(b)) [[likely]]
    return table.entries[int(a)][int(b)];
  if (a == b) return a;
  check(is_complex(a) || is_complex(b), ErrorKind::Runtime, "promoteTypes with quantized numbers is not handled yet");
  // complex32 is the complex partner of float16.
  const DType other = a == DType::Complex32 ? b : a;
  check(has_kernels(other), ErrorKind::Runtime, "promoteTypes with quantized numbers is not handled yet");
  if (is_integral(other, true) || other == DType::Float16) return DType::Complex32;
  return is_complex(other) ? other : to_complex(other);
}

void PromotionState::add(const Tensor& tensor) {
  DType dtype = tensor.dtype();
  if (tensor.impl()->wrapped_number) {
    // A Python float or complex stands for the default dtype, not for its own double precision.
    if (is_floating(dtype)) dtype = default_dtype();
    if (is_complex(dtype)) dtype = to_complex(default_dtype());
    number_ = has_number_ ? promote_types(number_, dtype) : dtype;
    has_number_ = true;
  } else if (tensor.dim() == 0) {
    zero_ = has_zero_ ? promote_types(zero_, dtype) : dtype;
    has_zero_ = true;
  } else {
    dims_ = has_dims_ ? promote_types(dims_, dtype) : dtype;
    has_dims_ = true;
  }
}

DType PromotionState::result() const {
  if (!has_number_) {
    if (!has_zero_) return dims_;
    return combine(dims_, zero_, has_dims_);
  }
  DType lower = has_zero_ ? combine(zero_, number_, true) : number_;
  if (!has_zero_ && !has_dims_) return number_;
  return has_dims_ ? combine(dims_, lower, true) : lower;
}

DType result_type(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype() && !a.impl()->wrapped_number && !b.impl()->wrapped_number) return a.dtype();
  PromotionState state;
  state.add(a);
  state.add(b);
  return state.result();
}

DType result_type(TensorSpan tensors) {
  PromotionState state;
  for (const Tensor& tensor : tensors) state.add(tensor);
  return state.result();
}

DType to_float_type(DType dtype) { return is_integral(dtype, true) ? default_dtype() : dtype; }

}  // namespace flambeau
