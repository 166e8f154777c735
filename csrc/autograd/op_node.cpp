#include "autograd/op_node.h"

namespace flambeau::autograd {
namespace {

// "mul" -> "MulBackward0", "batch_norm" -> "BatchNormBackward0", "add_" -> "AddBackward0"
std::string backward_name(const std::string& op) {
  std::string name;
  bool upper = true;
  for (char c : op) {
    if (c == '_') {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return name + "Backward0";
}

}  // namespace

Grads OpNode::apply(Grads&& grads) {
  if (released) [[unlikely]] fail_released();
  Grads out(next_edges.size());
  def->rules->apply(*this, grads, out);
  return out;
}

std::string OpNode::name() const { return backward_name(def->name); }

void OpNode::release_variables() {
  // Rules that read no tensors may run again, as in PyTorch.
  for (Saved& item : saved) {
    if (item.kind == Saved::Kind::Meta || (!item.tensor.defined() && !item.tensors)) continue;
    item.tensor.reset();
    item.tensors.reset();
    released = true;
  }
}

void OpNode::visit(NodeVisitor& visitor) const {
  for (const Saved& item : saved) {
    item.tensor.visit(visitor);
    if (!item.tensors) continue;
    for (const SavedTensor& tensor : *item.tensors) tensor.visit(visitor);
  }
}

const OpNode::Saved* OpNode::find(Saved::Kind kind, std::size_t index) const {
  for (const Saved& item : saved) {
    if (item.kind == kind && item.index == index) return &item;
  }
  return nullptr;
}

}  // namespace flambeau::autograd
