// OpNode: the tape node of a native op; its rules (Python) read what was saved here.
#pragma once

#include "autograd/node.h"
#include "core/op.h"
#include "core/pool.h"

namespace flambeau::autograd {

class OpNode final : public Node {
 public:
  OpNode(const OpDef& op, std::uint64_t needed_mask) : def(&op), needed(needed_mask) {}
  static void* operator new(std::size_t) { return ObjectPool<OpNode>::take(); }
  static void operator delete(void* block) { ObjectPool<OpNode>::give(block); }
  Grads apply(Grads&& grads) override;
  [[nodiscard]] std::string name() const override;
  void release_variables() override;
  void visit(NodeVisitor& visitor) const override;

  // One per saved thing, in the order of Rules::Reads: arguments, metas, results.
  struct Saved {
    enum class Kind : std::uint8_t { Argument, Meta, Result } kind;
    std::uint16_t index;                                // parameter or result
    SavedTensor tensor;                                 // Tensor arguments and results
    std::unique_ptr<std::vector<SavedTensor>> tensors;  // Tensor[] arguments
    Value value;                                        // everything else (owned); metas: a meta tensor
  };
  [[nodiscard]] const Saved* find(Saved::Kind kind, std::size_t index) const;

  const OpDef* def;
  std::uint64_t needed;  // bit per differentiable parameter
  InlineVec<Saved, 2> saved;
  // Number of edges that each differentiable parameter takes (a Tensor[] takes as many as it has items).
  InlineVec<std::uint32_t, 2> edge_counts;
  bool released = false;
};

// Keep for `node` what its rules read: arguments before the kernel runs, results after. `owned`: the results have this
// node as their history.
void save_arguments(OpNode& node, const OpDef& def, const Value* arguments, const Rules::Reads& reads);
void save_results(OpNode& node, const Value* results, const Rules::Reads& reads, bool owned = true);

}  // namespace flambeau::autograd
