// CopySlices: the history of a base tensor after one of its views was changed in place. The part of the cotangent that
// belongs to the view goes through the in-place operation's node, the rest passes unchanged.
#pragma once

#include "autograd/meta.h"
#include "autograd/node.h"

namespace flambeau::autograd {

class CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const Tensor& view, Ref<Node> inner);
  ~CopySlices() override;
  Grads apply(Grads&& grads) override;
  [[nodiscard]] std::string name() const override { return "torch::autograd::CopySlices"; }
  void release_variables() override;
  void visit(NodeVisitor& visitor) const override { visitor.node(inner_.get()); }

  // The view that the in-place op wrote, of `base_like` (a tensor with the base's geometry). Differentiable.
  [[nodiscard]] Tensor view_of(const Tensor& base_like) const;

  struct Geometry {
    Dims sizes, strides;
    std::int64_t offset = 0;
    DType dtype = DType::Float32;
    [[nodiscard]] bool same_as(const Tensor& tensor) const;
  };
  bool released_ = false;
  Geometry base_, view_;
  std::vector<ViewStep> steps_;  // replaces view_ when the view is not a strided window of the base
  Ref<Node> inner_;
};

// Replays view steps on another tensor of the base's geometry.
Tensor replay(const Tensor& base, const std::vector<ViewStep>& steps);
std::vector<ViewStep> copy_steps(const std::vector<ViewStep>& steps);

}  // namespace flambeau::autograd
