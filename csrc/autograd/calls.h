// Differentiable calls of registered ops from C++, for what the engine itself computes. They record if grad mode is on.
#pragma once

#include "core/op.h"

namespace flambeau::autograd {

// The registered op; an internal error if there is none.
const OpDef& op_named(const char* name);
// Leading arguments as given, the others at their defaults; first result.
Tensor call_values(const OpDef& def, Value* leading, std::size_t count);

// One-argument call that records nothing.
Tensor without_grad(const char* op, const Tensor& tensor);
Tensor add(const Tensor& a, const Tensor& b);
Tensor sum_to(const Tensor& grad, IntSpan sizes);  // over the broadcast dims
Tensor cast(const Tensor& grad, DType dtype);
Tensor real_part(const Tensor& grad);
Tensor as_strided(const Tensor& base, IntSpan sizes, IntSpan strides, std::int64_t offset);

}  // namespace flambeau::autograd
