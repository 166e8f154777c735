// Autograd state of a tensor: gradient, history, view bookkeeping, hooks. And the functions over it.
#pragma once

#include "autograd/mode.h"
#include "autograd/node.h"
#include "core/op.h"

namespace flambeau::autograd {

// How a view was made from its base, kept when as_strided on the base cannot express it (dtype changes, conj, neg).
struct ViewStep {
  const OpDef* op;
  std::vector<Value> arguments;  // arguments[0] is replaced by the previous tensor in the chain
};

enum class ViewOrigin : std::uint8_t { Default, NoGrad, MultiOutput, Inference, CustomFunction };

struct Meta final : AutogradMeta {
  ~Meta() override;
  Tensor grad;
  Ref<Node> grad_fn;             // null for leaves
  std::uint32_t output_nr = 0;
  Node* accumulator = nullptr;   // weak: AccumulateGrad of this leaf, while alive
  bool retains_grad = false;
  // Views
  Tensor base;                   // root of the view chain; undefined for non-views
  std::vector<ViewStep> steps;   // empty: as_strided expresses the view
  bool needs_replay = false;     // dtype or lazy bits differ from base's: replay `steps`
  std::uint32_t attr_version = 0;  // storage version that grad_fn belongs to; older: regenerate from base
  ViewOrigin origin = ViewOrigin::Default;
  std::vector<std::pair<std::int64_t, std::shared_ptr<Hook>>> hooks;           // leaf tensor hooks
  std::vector<std::pair<std::int64_t, std::shared_ptr<Hook>>> post_accumulate_hooks;
};

Meta* meta_of(const Tensor& tensor) noexcept;      // null if it has none
Meta& ensure_meta(const Tensor& tensor);
bool requires_grad(const Tensor& tensor) noexcept;  // leaf flag, or has a history (views of in-place-changed bases too)
bool is_leaf(const Tensor& tensor) noexcept;
bool is_view(const Tensor& tensor) noexcept;
const Ref<Node>& grad_fn(const Tensor& tensor);      // regenerated for views whose base was changed in place
Edge gradient_edge(const Tensor& tensor);            // grad_fn, or the leaf's AccumulateGrad; null edge otherwise
void set_history(const Tensor& output, const Ref<Node>& node, std::uint32_t output_nr);  // and adds node->outputs entry
// After an in-place op: set_history, through CopySlices on the base when `tensor` is a view.
void rebase_history(const Tensor& tensor, const Ref<Node>& node);
// Before an in-place op: the leaf, view-origin and inference rules, as PyTorch's errors.
void check_inplace(const Tensor& tensor, const char* op);
void make_view(const Tensor& view, const Tensor& base_or_view, const OpDef* op, const Value* arguments, ViewOrigin origin);
void bump_version(const Tensor& tensor) noexcept;    // honours .data's untracked alias

}  // namespace flambeau::autograd
