#include "autograd/op_node.h"

#include <cctype>
#include <string_view>

namespace flambeau::autograd {
namespace {

// Ops whose node PyTorch calls something else; programs and people read these names.
struct Renamed {
  std::string_view op;
  const char* node;
};
constexpr Renamed kRenamed[] = {
    {"_batch_norm", "NativeBatchNorm0"},
    {"bfloat16", "ToCopy0"},
    {"chunk", "Split0"},
    {"clamp", "Clamp1"},
    {"conv1d", "Convolution0"},
    {"conv2d", "Convolution0"},
    {"conv3d", "Convolution0"},
    {"conv_transpose1d", "Convolution0"},
    {"conv_transpose2d", "Convolution0"},
    {"conv_transpose3d", "Convolution0"},
    {"copy", "Copy0"},
    {"cross_entropy", "NllLoss0"},
    {"double", "ToCopy0"},
    {"dropout_with_mask", "Mul0"},
    {"elu_scaled", "Elu0"},
    {"fill_tensor", "Fill1"},
    {"flatten", "View0"},
    {"float", "ToCopy0"},
    {"group_norm", "NativeGroupNorm0"},
    {"half", "ToCopy0"},
    {"layer_norm", "NativeLayerNorm0"},
    {"lerp_scalar", "Lerp0"},
    {"lerp_tensor", "Lerp1"},
    {"masked_fill_tensor", "MaskedFill0"},
    {"matrix_transpose", "Transpose0"},
    {"max_all", "Max1"},
    {"max_dim", "Max0"},
    {"max_pool1d", "MaxPool2DWithIndices0"},
    {"max_pool2d", "MaxPool2DWithIndices0"},
    {"max_pool3d", "MaxPool3DWithIndices0"},
    {"min_all", "Min1"},
    {"min_dim", "Min0"},
    {"movedim", "Permute0"},
    {"narrow", "Slice0"},
    {"numpy_T", "Permute0"},
    {"pow_scalar", "Pow0"},
    {"prelu_broadcast", "PreluKernel0"},
    {"prod_all", "Prod0"},
    {"prod_dim", "Prod1"},
    {"rdiv", "Div0"},
    {"real", "Select0"},
    {"reshape", "View0"},
    {"rpow", "Pow2"},
    {"rsub", "Rsub1"},
    {"scatter_value", "Scatter1"},
    {"square", "Pow0"},
    {"squeeze_all", "Squeeze0"},
    {"squeeze_dims", "Squeeze1"},
    {"std_correction", "Std0"},
    {"to", "ToCopy0"},
    {"to_dtype", "ToCopy0"},
    {"to_other", "ToCopy0"},
    {"var_correction", "Var0"},
    {"vector_norm", "LinalgVectorNorm0"},
    {"where_self", "Where0"},
};

// "Mm0" -> "MmBackward0"
std::string with_backward(std::string name) { return name.insert(name.size() - 1, "Backward"); }

// "mul" -> "MulBackward0", "avg_pool2d" -> "AvgPool2DBackward0", "add_" -> "AddBackward0"
std::string backward_name(std::string_view op) {
  std::string name;
  bool upper = true;
  for (char c : op) {
    if (c == '_') {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = std::isdigit(static_cast<unsigned char>(c)) != 0;
  }
  return name + "Backward0";
}

// Was a value other than None saved for this parameter?
bool given(const OpNode& node, std::string_view parameter) {
  for (const OpNode::Saved& item : node.saved) {
    if (item.kind == OpNode::Saved::Kind::Argument && node.def->parameters[item.index].name == parameter) {
      return item.tensor.defined() || !item.value.is_none();
    }
  }
  return false;
}

}  // namespace

Grads OpNode::apply(Grads&& grads) {
  if (released) [[unlikely]]
    fail_released();
  Grads out(next_edges.size());
  def->rules->apply(*this, grads, out);
  return out;
}

std::string OpNode::name() const {
  std::string_view op = def->name;
  if (op.size() > 1 && op.back() == '_') op.remove_suffix(1);
  // One op here, several in PyTorch.
  if (op == "sum" || op == "mean")
    return with_backward((op == "sum" ? "Sum" : "Mean") + std::string(given(*this, "dim") ? "1" : "0"));
  if (op == "linear") return with_backward(edge_counts.size() > 2 && next_edges[2].node ? "Addmm0" : "Mm0");
  if (op == "matmul" && !outputs.empty()) {
    const std::int64_t rank = outputs[0].sizes.size();
    return with_backward(rank == 0 ? "Dot0" : rank == 1 ? "Mv0" : rank == 2 ? "Mm0" : "Bmm0");
  }
  for (const Renamed& renamed : kRenamed) {
    if (renamed.op == op) return with_backward(renamed.node);
  }
  return backward_name(op);
}

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
