// Histories and views: who a tensor's gradient goes to, and what in-place operations may do.
#include "autograd/meta.h"

#include <algorithm>

#include "autograd/calls.h"
#include "autograd/copy_slices.h"
#include "core/factory.h"

namespace flambeau::autograd {

namespace {

const Ref<Node> kNoNode;

void drop_retained(Node& node, Meta* meta) {
  if (!node.extras) return;
  auto& retained = node.extras->retain_grad;
  retained.erase(
      std::remove_if(retained.begin(), retained.end(), [&](const auto& entry) { return entry.second == meta; }),
      retained.end());
}

// The tensor's history changes to `node`: a retained gradient is that of the newest value; tensor hooks stay behind.
void replace_grad_fn(Meta& meta, Ref<Node> node, std::uint32_t output_nr) {
  if (meta.retains_grad) [[unlikely]] {
    if (meta.grad_fn) drop_retained(*meta.grad_fn, &meta);
    if (node) node->more().retain_grad.emplace_back(output_nr, &meta);
  }
  meta.grad_fn = std::move(node);
  meta.output_nr = output_nr;
}

// PyTorch's words for a view whose history cannot follow an in-place change. `indirect`: of its base or a sibling.
[[noreturn]] void refuse_view(const Meta& meta, bool indirect) {
  const std::string what = indirect ? "its base or another view of its base has been" : "is being";
  const char* split = " both inside the ";
  const auto ambiguous = [&](const char* where) {
    return concat(
        " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
        "moving both the view and the inplace either",
        split, where,
        " block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be "
        "tracked).");
  };
  if (meta.origin == ViewOrigin::Inference) {
    fail(ErrorKind::Runtime, "A view was created in inference mode and ", what, " modified inplace in normal mode.",
         ambiguous("inference_mode"));
  }
  if (meta.origin == ViewOrigin::NoGrad) {
    fail(ErrorKind::Runtime, "A view was created in no_grad mode and ", what,
         " modified inplace with grad mode enabled.", ambiguous("no_grad"));
  }
  const std::string name = meta.grad_fn ? meta.grad_fn->name() : std::string("a function");
  const std::string head =
      concat("Output ", meta.output_nr, " of ", name, " is a view and ", what, " modified inplace.");
  if (meta.origin == ViewOrigin::MultiOutput) {
    fail(ErrorKind::Runtime, head,
         " This view is the output of a function that returns multiple views. Such functions do not allow the output "
         "views "
         "to be modified inplace. You should replace the inplace operation by an out-of-place one.");
  }
  fail(ErrorKind::Runtime, head,
       " This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
       "logic to "
       "handle view+inplace would override the custom backward associated with the custom Function, leading to "
       "incorrect "
       "gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function.");
}

// Is `view` a strided window of `parent`, or does it look at the bytes in another way?
bool same_interpretation(const Tensor& view, const Tensor& parent) {
  return view.dtype() == parent.dtype() && view.is_conj() == parent.is_conj() && view.is_neg() == parent.is_neg();
}

ViewStep window_step(const Tensor& tensor) {
  ViewStep step{&op_named("as_strided"), std::vector<Value>(4)};
  step.arguments[1].set_int_list({tensor.sizes().begin(), tensor.sizes().end()});
  step.arguments[2].set_int_list({tensor.strides().begin(), tensor.strides().end()});
  step.arguments[3].set(tensor.offset());
  return step;
}

ViewStep op_step(const OpDef& op, const Value* arguments) {
  ViewStep step{&op, std::vector<Value>(op.parameters.size())};
  for (std::size_t i = 1; i < step.arguments.size(); ++i) step.arguments[i] = arguments[i].own();
  return step;
}

}  // namespace

Meta::~Meta() {
  if (retains_grad && grad_fn) drop_retained(*grad_fn, this);
}

Meta& ensure_meta(const Tensor& tensor) {
  TensorImpl* impl = tensor.impl();
  if (impl->autograd == nullptr) impl->autograd = new Meta;
  return *static_cast<Meta*>(impl->autograd);
}

const Ref<Node>& grad_fn(const Tensor& tensor) {
  Meta* meta = meta_of(tensor);
  if (meta == nullptr) return kNoNode;
  if (!meta->base.defined()) [[likely]]
    return meta->grad_fn;
  if (!meta->grad_fn && !requires_grad(meta->base)) return meta->grad_fn;
  const std::uint32_t current = tensor.storage()->version();
  if (meta->attr_version == current) return meta->grad_fn;
  if (meta->origin != ViewOrigin::Default) refuse_view(*meta, true);
  // Something changed the storage since: the view's values come from what the base is now.
  const GradGuard recording(true);
  const Tensor fresh = meta->needs_replay() ? replay(meta->base, meta->rare->steps)
                                            : as_strided(meta->base, tensor.sizes(), tensor.strides(), tensor.offset());
  const Meta* regenerated = meta_of(fresh);
  // Without one the base was detached meanwhile: the view keeps the history it had.
  if (regenerated != nullptr && regenerated->grad_fn) {
    replace_grad_fn(*meta, regenerated->grad_fn, regenerated->output_nr);
  }
  meta->attr_version = current;
  return meta->grad_fn;
}

bool is_leaf(const Tensor& tensor) { return !grad_fn(tensor); }

Edge gradient_edge(const Tensor& tensor) {
  if (const Ref<Node>& node = grad_fn(tensor)) return {node, meta_of(tensor)->output_nr};
  if (tensor.impl()->requires_grad) return {accumulator(tensor), 0};
  if (const Meta* meta = meta_of(tensor); meta != nullptr && meta->base.defined() && requires_grad(meta->base)) {
    return {accumulator(tensor), 0};  // a view of a leaf made without grad mode is a leaf of its own
  }
  return {};
}

void set_history(const Tensor& output, const Ref<Node>& node, std::uint32_t output_nr) {
  replace_grad_fn(ensure_meta(output), node, output_nr);
}

void rebase_history(const Tensor& tensor, const Ref<Node>& node) {
  Meta& meta = ensure_meta(tensor);
  const std::uint32_t output_nr = node->add_output(tensor);
  if (!meta.base.defined()) {
    tensor.impl()->requires_grad = false;
    replace_grad_fn(meta, node, output_nr);
    return;
  }
  Ref<Node> slices = Ref<CopySlices>::make(meta.base, tensor, node);
  Meta& base_meta = ensure_meta(meta.base);
  meta.base.impl()->requires_grad = false;
  replace_grad_fn(base_meta, std::move(slices), 0);
  meta.attr_version = tensor.storage()->version() - 1;  // stale, whatever was asked since the version advanced
  grad_fn(tensor);                                      // regenerates the view's own history from the base
}

void reshape_history(const Tensor& tensor, const Ref<Node>& node) {
  Meta* meta = node ? &ensure_meta(tensor) : meta_of(tensor);
  if (meta == nullptr) return;
  if (meta->base.defined() && meta->needs_replay()) meta->rare->steps.push_back(window_step(tensor));
  if (!node) return;
  replace_grad_fn(*meta, node, node->add_output(tensor));
  tensor.impl()->requires_grad = false;
  meta->attr_version = tensor.storage()->version();
}

void check_inplace(const Tensor& tensor, const char* op, bool records) {
  (void)op;
  const TensorImpl* impl = tensor.impl();
  check(!impl->inference || mode.inference || impl->untracked_version,
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
        "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.");
  if (!records) return;
  if (const Meta* meta = meta_of(tensor); meta != nullptr && meta->base.defined()) {
    if (meta->origin != ViewOrigin::Default) refuse_view(*meta, false);
    check(!requires_grad(tensor) || !is_leaf(meta->base),
          "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  }
  check(!impl->requires_grad, "a leaf Variable that requires grad is being used in an in-place operation.");
}

void make_view(const Tensor& view, const Tensor& base_or_view, const OpDef* op, const Value* arguments,
               ViewOrigin origin) {
  if (base_or_view.impl()->inference) return;
  const Meta* parent = meta_of(base_or_view);
  const bool of_view = parent != nullptr && parent->base.defined();
  Meta& meta = ensure_meta(view);
  meta.base = of_view ? parent->base : base_or_view;
  meta.attr_version = view.storage()->version();
  meta.origin = mode.inference ? ViewOrigin::Inference : !mode.grad ? ViewOrigin::NoGrad : origin;
  if (meta.origin == ViewOrigin::Default && of_view) meta.origin = parent->origin;
  if (of_view) meta.forward_view = parent->forward_view;
  const bool parent_replays = of_view && parent->needs_replay();
  if (!parent_replays && same_interpretation(view, base_or_view)) [[likely]]
    return;
  auto& steps = meta.more().steps;
  if (parent_replays) {
    steps = copy_steps(parent->rare->steps);
  } else if (of_view) {
    steps.push_back(window_step(base_or_view));
  }
  steps.push_back(op_step(*op, arguments));
}

void retain_grad(const Tensor& tensor) {
  check(requires_grad(tensor), "can't retain_grad on Tensor that has requires_grad=False");
  const Ref<Node>& node = grad_fn(tensor);
  if (!node) return;
  Meta& meta = *meta_of(tensor);
  if (meta.retains_grad) return;
  node->more().retain_grad.emplace_back(meta.output_nr, &meta);
  meta.retains_grad = true;
}

void set_requires_grad(const Tensor& tensor, bool value) {
  if (!is_leaf(tensor)) {
    check(value,
          "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
          "subgraph that doesn't require differentiation use var_no_grad = var.detach().");
    return;
  }
  check(!value || is_differentiable(tensor.dtype()),
        "only Tensors of floating point and complex dtype can require gradients");
  check(!value || !tensor.impl()->inference || mode.inference,
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  tensor.impl()->requires_grad = value;
}

void detach_inplace(const Tensor& tensor) {
  Meta* meta = meta_of(tensor);
  if (meta != nullptr && meta->base.defined()) {
    check(meta->origin != ViewOrigin::MultiOutput,
          "This view is the output of a function that returns multiple views. Such functions do not allow the output "
          "views "
          "to be modified inplace. You should replace the inplace operation by an out-of-place one");
    fail(ErrorKind::Runtime,
         "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel "
         "(DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP "
         "buckets, and hence detach_() cannot be called on these gradients. To fix this error, please "
         "refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as a solution.");
  }
  if (meta != nullptr) {
    replace_grad_fn(*meta, nullptr, 0);
    meta->retains_grad = false;
  }
  tensor.impl()->requires_grad = false;
}

}  // namespace flambeau::autograd
