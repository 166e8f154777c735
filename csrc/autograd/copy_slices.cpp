// The cotangent of a base, cut at the window that an in-place op wrote.
#include "autograd/copy_slices.h"

#include "autograd/calls.h"
#include "autograd/forward.h"
#include "core/copy.h"
#include "core/factory.h"

namespace flambeau::autograd {

namespace {

CopySlices::Geometry geometry_of(const Tensor& tensor) {
  return {Dims(tensor.sizes()), Dims(tensor.strides()), tensor.offset(), tensor.dtype()};
}

// A row-major or dense copy of `grad` with the base's strides, so that the view's window can be cut out of it.
Tensor copy_with_geometry(const Tensor& grad, const CopySlices::Geometry& geometry) {
  Tensor result = empty_strided(geometry.sizes, geometry.strides, grad.dtype(), grad.device());
  if (mode.grad || forward_active) return call("copy_", {result, grad});
  copy_into(result, grad);
  return result;
}

}  // namespace

bool CopySlices::Geometry::same_as(const Tensor& tensor) const {
  return sizes == Dims(tensor.sizes()) && strides == Dims(tensor.strides()) && offset == tensor.offset();
}

std::vector<ViewStep> copy_steps(const std::vector<ViewStep>& steps) {
  std::vector<ViewStep> copies;
  copies.reserve(steps.size());
  for (const ViewStep& step : steps) {
    ViewStep& copy = copies.emplace_back(ViewStep{step.op, {}});
    for (const Value& value : step.arguments) copy.arguments.push_back(value.own());
  }
  return copies;
}

Tensor replay(const Tensor& base, const std::vector<ViewStep>& steps) {
  Tensor current = base;
  for (const ViewStep& step : steps) {
    std::vector<Value> arguments;
    for (const Value& value : step.arguments) arguments.push_back(value.own());
    arguments[0].borrow(current.impl());
    Tensor next = call_values(*step.op, arguments.data(), arguments.size());
    current = std::move(next);
  }
  return current;
}

CopySlices::CopySlices(const Tensor& base, const Tensor& view, Ref<Node> inner)
    : base_(geometry_of(base)), view_(geometry_of(view)), inner_(std::move(inner)) {
  if (const Meta* meta = meta_of(view); meta != nullptr && meta->needs_replay()) steps_ = copy_steps(meta->rare->steps);
  add_output(base);
  next_edges.push_back(gradient_edge(base));
  for (std::size_t i = 1; i < inner_->next_edges.size(); ++i) next_edges.push_back(inner_->next_edges[i]);
  inner_->more().outer = this;
}

CopySlices::~CopySlices() {
  if (inner_ && inner_->extras) inner_->extras->outer = nullptr;
}

void CopySlices::release_variables() {
  inner_->release_variables();
  released_ = true;  // as in PyTorch, whether or not the inner node had saved something
}

Tensor CopySlices::view_of(const Tensor& base_like) const {
  if (!steps_.empty()) return replay(base_like, steps_);
  return as_strided(base_like, view_.sizes, view_.strides, base_like.offset() + view_.offset - base_.offset);
}

Grads CopySlices::apply(Grads&& grads) {
  Grads out(next_edges.size());
  if (!grads[0].defined()) return out;
  if (released_) fail_released();
  Tensor result = copy_with_geometry(grads[0], base_);
  Tensor window = view_of(result);
  Grads inner_grads;
  inner_grads.push_back(mode.grad || forward_active ? call("clone", {window}) : clone(window));
  Grads inner_out = inner_->apply(std::move(inner_grads));
  for (std::size_t i = 1; i < out.size(); ++i) out[i] = std::move(inner_out[i]);
  if (!wants(0)) return out;
  Tensor through = std::move(inner_out[0]);
  if (!through.defined()) through = zeros(window.sizes(), window.dtype(), window.device());
  if (mode.grad || forward_active) {
    call("copy_", {window, through});
  } else {
    copy_into(window, through);
  }
  out[0] = std::move(result);
  return out;
}

// For SavedTensor: `data` (an alias of the view as it was saved) with the history that the in-place op gave it.
Tensor view_of_outer(const Tensor& data, Node& outer) {
  auto& slices = static_cast<CopySlices&>(outer);
  Tensor base = alias(data, slices.base_.sizes, slices.base_.strides, slices.base_.offset);
  base.impl()->dtype = slices.base_.dtype;  // the base is no view: its bits are plain
  base.impl()->conj = base.impl()->neg = false;
  set_history(base, Ref<Node>::share(&outer), 0);
  const GradGuard recording(true);
  return slices.view_of(base);
}

}  // namespace flambeau::autograd
