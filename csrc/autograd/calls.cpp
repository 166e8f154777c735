// Ops the engine calls, looked up once.
#include "autograd/calls.h"

#include "autograd/mode.h"
#include "core/copy.h"
#include "core/factory.h"
#include "core/inline_vec.h"

namespace flambeau::autograd {

const OpDef& op_named(const char* name) {
  const OpDef* def = find_op(name);
  if (def == nullptr) [[unlikely]]
    fail(ErrorKind::Runtime, "internal error: autograd needs the op ", name);
  return *def;
}

Tensor call_values(const OpDef& def, Value* leading, std::size_t count) {
  InlineVec<Value, 6> arguments(def.parameters.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    arguments[i] = i < count ? std::move(leading[i]) : def.parameters[i].default_value.own();
  }
  Value results[4];
  call_op(def, arguments.data(), results);
  return results[0].take_tensor();
}

Tensor without_grad(const char* op, const Tensor& tensor) {
  const GradGuard guard(false);
  return call(op, {tensor});
}

Tensor add(const Tensor& a, const Tensor& b) {
  static const OpDef& def = op_named("add");
  Value arguments[2];
  arguments[0].borrow(a.impl());
  arguments[1].borrow(b.impl());
  return call_values(def, arguments, 2);
}

Tensor sum_to(const Tensor& grad, IntSpan sizes) {
  const std::int64_t lead = grad.dim() - sizes.size();
  Dims dims;
  for (std::int64_t i = 0; i < grad.dim(); ++i) {
    if (i < lead || (sizes[i - lead] == 1 && grad.sizes()[i] != 1)) dims.push_back(i);
  }
  static const OpDef& sum = op_named("sum");
  Value arguments[3];
  arguments[0].borrow(grad.impl());
  arguments[1].borrow(IntSpan(dims));
  arguments[2].set(true);
  Tensor result = dims.empty() ? grad : call_values(sum, arguments, 3);
  if (lead == 0) return result;
  static const OpDef& view = op_named("reshape");
  Value shape[2];
  shape[0].borrow(result.impl());
  shape[1].borrow(sizes);
  return call_values(view, shape, 2);
}

Tensor cast(const Tensor& grad, DType dtype) {
  static const OpDef& to = op_named("to_dtype");
  Value arguments[2];
  arguments[0].borrow(grad.impl());
  arguments[1].set(dtype);
  return call_values(to, arguments, 2);
}

Tensor real_part(const Tensor& grad) { return call("real", {grad}); }

Tensor as_strided(const Tensor& base, IntSpan sizes, IntSpan strides, std::int64_t offset) {
  static const OpDef& def = op_named("as_strided");
  Value arguments[4];
  arguments[0].borrow(base.impl());
  arguments[1].borrow(sizes);
  arguments[2].borrow(strides);
  arguments[3].set(offset);
  return call_values(def, arguments, 4);
}

}  // namespace flambeau::autograd
