// SavedTensor: what backward needs of a forward tensor, guarded by the version counter.
#include "autograd/forward.h"
#include "autograd/meta.h"
#include "autograd/node.h"
#include "core/factory.h"

namespace flambeau::autograd {

namespace {

constexpr const char* kReleased =
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward.";

// "Exp" of "ExpBackward0": messages name the forward operation.
std::string forward_name(const Node& node) {
  std::string name = node.name();
  if (const auto at = name.rfind("Backward"); at != std::string::npos && at != 0) name.resize(at);
  return name;
}

}  // namespace

SavedTensor::SavedTensor(const Tensor& tensor, bool is_output) {
  if (!tensor.defined()) return;
  check(
      !tensor.impl()->inference || mode.inference,
      "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
      "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in "
      "autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.");
  version_ = tensor.storage()->version();
  Meta* meta = meta_of(tensor);
  if (meta != nullptr) output_nr_ = meta->output_nr;
  detached_output_ = is_output && meta != nullptr && (meta->grad_fn || meta->base.defined()) && requires_grad(tensor);
  if (SavedHooks* hooks = active_saved_hooks(); hooks != nullptr) [[unlikely]] {
    hooked_ = std::make_shared<Hooked>();
    if (!detached_output_ && requires_grad(tensor)) hooked_->edge = gradient_edge(tensor);
    if (forward_active) [[unlikely]] {
      hooked_->tangent = tangent_of(tensor);
      hooked_->level = dual_level_serial();
    }
    // The hook sees the values only: what it keeps must not keep the graph.
    hooked_->packed = hooks->pack(detached_output_ || hooked_->edge.node ? alias(tensor) : tensor);
    return;
  }
  tensor_ = detached_output_ ? alias(tensor) : tensor;
}

void SavedTensor::set_output_tangent(const Tensor& tangent) {
  if (hooked_ != nullptr) {
    hooked_->tangent = tangent;
    hooked_->level = dual_level_serial();
  } else if (detached_output_) {  // else it is the output itself
    set_tangent(tensor_, tangent);
  }
}

void SavedTensor::reset() noexcept {
  tensor_.reset();
  hooked_.reset();
  released_ = true;
}

void SavedTensor::check_version(const Node* owner) const {
  const std::uint32_t current = tensor_.storage()->version();
  if (current == version_ || tensor_.impl()->untracked_version || tensor_.impl()->inference) [[likely]]
    return;
  const Node* maker = owner;
  if (!detached_output_) {
    const Meta* meta = meta_of(tensor_);
    maker = meta != nullptr ? meta->grad_fn.get() : nullptr;
  }
  std::string origin;
  if (maker != nullptr) origin = concat(", which is output ", output_nr_, " of ", forward_name(*maker), ",");
  const char* hint =
      mode.anomaly ? " Hint: the backtrace further above shows the operation that failed to compute its gradient. The "
                     "variable in "
                     "question was changed in there or anywhere later. Good luck!"
                   : " Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
                     "torch.autograd.set_detect_anomaly(True, check_nan=False).";
  fail(ErrorKind::Runtime,
       "one of the variables needed for gradient computation has been modified by an inplace operation: [torch.",
       torch_name_of(tensor_.dtype()), "Tensor ", tensor_.sizes(), "]", origin, " is at version ", current,
       "; expected version ", version_, " instead.", hint);
}

void fail_released() { fail(ErrorKind::Runtime, kReleased); }

// A saved output of an in-place op on a view hangs under the CopySlices that runs `owner`: its history is a view of
// the whole base as CopySlices leaves it (copy_slices.cpp).
Tensor view_of_outer(const Tensor& data, Node& outer);

Tensor SavedTensor::with_grad_fn(const Tensor& data, Node* owner) const {
  if (owner->extras && owner->extras->outer != nullptr) return view_of_outer(data, *owner->extras->outer);
  Tensor result = alias(data);
  set_history(result, Ref<Node>::share(owner), output_nr_);
  return result;
}

Tensor SavedTensor::unpack(Node* owner, bool with_history) const {
  if (released_) [[unlikely]]
    fail_released();
  if (hooked_ != nullptr) [[unlikely]]
    return unpack_hooked(owner);
  if (!tensor_.defined()) return {};
  check_version(owner);
  if (!detached_output_ || owner == nullptr || !(mode.grad || with_history)) return tensor_;
  Tensor result = with_grad_fn(tensor_, owner);
  if (forward_active) [[unlikely]] {
    if (const Tensor tangent = tangent_of(tensor_); tangent.defined()) set_tangent(result, tangent);
  }
  return result;
}

Tensor SavedTensor::unpack_hooked(Node* owner) const {
  Tensor data = hooked_->packed->unpack();
  if (!data.defined()) return data;
  const bool dual = forward_active && hooked_->tangent.defined() && hooked_->level == dual_level_serial();
  Tensor result = data;
  if (detached_output_) {
    if (owner != nullptr) result = with_grad_fn(data, owner);
  } else if (hooked_->edge.node || dual) {
    result = alias(data);
    // For a saved leaf the edge leads to its AccumulateGrad, so that its gradient goes where the original's goes.
    if (hooked_->edge.node) set_history(result, hooked_->edge.node, hooked_->edge.input_nr);
  }
  if (dual) set_tangent(result, hooked_->tangent);
  return result;
}

}  // namespace flambeau::autograd
