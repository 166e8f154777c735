// AccumulateGrad: the end of the tape, where cotangents become `.grad` of a leaf.
#pragma once

#include <mutex>

#include "autograd/node.h"

namespace flambeau::autograd {

class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  ~AccumulateGrad() override;
  Grads apply(Grads&& grads) override;
  [[nodiscard]] std::string name() const override { return "torch::autograd::AccumulateGrad"; }
  [[nodiscard]] Tensor variable() const override { return leaf_; }
  void visit(NodeVisitor& visitor) const override { visitor.tensor(leaf_); }

 private:
  void accumulate(Tensor grad);
  Tensor leaf_;
  std::mutex mutex_;  // two threads may add to one leaf: kernels on large tensors run without the GIL
};

// a + b. In place on `a` where nobody else can see it and no history is wanted.
Tensor add_gradients(Tensor a, Tensor b);

}  // namespace flambeau::autograd
