// Autograd state of a tensor: gradient, history, view bookkeeping, hooks. And the functions over it.
#pragma once

#include "autograd/mode.h"
#include "autograd/node.h"
#include "core/op.h"
#include "core/pool.h"

namespace flambeau::autograd {

// How a view was made from its base, kept when as_strided on the base cannot express it (dtype changes, conj, neg).
struct ViewStep {
  const OpDef* op;
  std::vector<Value> arguments;  // arguments[0] is replaced by the previous tensor in the chain
};

enum class ViewOrigin : std::uint8_t { Default, NoGrad, MultiOutput, Inference, CustomFunction };

struct Meta final : AutogradMeta {
  ~Meta() override;
  static void* operator new(std::size_t) { return ObjectPool<Meta>::take(); }
  static void operator delete(void* block) { ObjectPool<Meta>::give(block); }
  Tensor grad;
  Ref<Node> grad_fn;            // null for leaves
  Node* accumulator = nullptr;  // weak: AccumulateGrad of this leaf, while alive
  Tensor base;                  // root of the view chain; undefined for non-views
  std::uint32_t output_nr = 0;
  std::uint32_t attr_version = 0;  // views: storage version that grad_fn belongs to; older: regenerate from base
  bool retains_grad = false;
  ViewOrigin origin = ViewOrigin::Default;
  bool forward_view = true;  // views: of the base's tangent too (make_dual's result has its own)

  struct Rare {
    // Replay from the base when its dtype or lazy bits differ from the view's; empty: as_strided expresses the view.
    std::vector<ViewStep> steps;
    std::shared_ptr<Tensor> tangent;  // forward mode (forward.h); undefined once its level has ended
    std::vector<std::pair<std::int64_t, std::shared_ptr<Hook>>> hooks;  // leaf tensor hooks
    std::vector<std::pair<std::int64_t, std::shared_ptr<Hook>>> post_accumulate_hooks;
  };
  std::unique_ptr<Rare> rare;
  Rare& more() {
    if (!rare) rare = std::make_unique<Rare>();
    return *rare;
  }
  [[nodiscard]] bool needs_replay() const noexcept { return rare && !rare->steps.empty(); }
};

inline Meta* meta_of(const Tensor& tensor) noexcept { return static_cast<Meta*>(tensor.impl()->autograd); }
Meta& ensure_meta(const Tensor& tensor);
// Leaf flag, or a history; a view asks its base too, because the base may have got a history by an in-place op.
inline bool requires_grad(const Tensor& tensor) noexcept {
  if (tensor.impl()->requires_grad) return true;
  const Meta* meta = meta_of(tensor);
  if (meta == nullptr) return false;
  return meta->grad_fn || (meta->base.defined() && requires_grad(meta->base));
}
inline bool is_view(const Tensor& tensor) noexcept {
  const Meta* meta = meta_of(tensor);
  return meta != nullptr && meta->base.defined();
}
bool is_leaf(const Tensor& tensor);
const Ref<Node>& grad_fn(const Tensor& tensor);        // regenerated for views whose base was changed in place
Edge gradient_edge(const Tensor& tensor);              // grad_fn, or the leaf's AccumulateGrad; null edge otherwise
Ref<Node> accumulator(const Tensor& leaf);             // made when there is none
void forget_accumulator(const Tensor& leaf) noexcept;  // after `.data =` changed shape or dtype
void set_history(const Tensor& output, const Ref<Node>& node, std::uint32_t output_nr);  // node->outputs has its entry
// After an in-place op: makes `node` the history, through CopySlices on the base when `tensor` is a view. Adds the
// node's output entry. bump_version() comes first.
void rebase_history(const Tensor& tensor, const Ref<Node>& node);
// After an in-place op that changed only the geometry (t_, squeeze_): the tensor's own history, never its base's.
void reshape_history(const Tensor& tensor, const Ref<Node>& node);  // node may be null: nothing was recorded
// Before an in-place op: the leaf, view-origin and inference rules, as PyTorch's errors. `records`: grad mode is on
// and some differentiable argument requires grad.
void check_inplace(const Tensor& tensor, const char* op, bool records);
// Bookkeeping of a new alias. `origin`: what the op is; no_grad and inference mode are seen here.
void make_view(const Tensor& view, const Tensor& base_or_view, const OpDef* op, const Value* arguments,
               ViewOrigin origin = ViewOrigin::Default);
inline void bump_version(const Tensor& tensor) noexcept {  // honours .data's untracked alias
  const TensorImpl* impl = tensor.impl();
  if (!impl->inference && !impl->untracked_version) impl->storage->bump_version();
}
void retain_grad(const Tensor& tensor);                    // RuntimeError without requires_grad; nothing for leaves
void set_requires_grad(const Tensor& tensor, bool value);  // checks as Tensor.requires_grad_()
void detach_inplace(const Tensor& tensor);                 // Tensor.detach_(): RuntimeError for views

}  // namespace flambeau::autograd
