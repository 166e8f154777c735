// Tangents of an op's results, from the rule it has for reverse mode.
//
// A rule computes g = J* u, the real adjoint of the op's derivative J, and is linear in u. So J t is the gradient of
// Re <t, J* u> in u, for whatever u: a reverse pass through the rule, exact, for real and complex numbers alike. Two
// kinds of ops need less. Views and other linear ops are applied to the tangent itself (a view of a dual tensor has to
// have a view of its tangent). And where J is diagonal, J t = conj(J* conj(t)): the rule with conj(t) for u.
#include "autograd/forward.h"

#include <unordered_map>

#include "autograd/autocast.h"
#include "autograd/calls.h"
#include "autograd/engine.h"
#include "core/factory.h"

namespace flambeau::autograd {

thread_local constinit Recorded* recorded = nullptr;

namespace {

std::unordered_map<const OpDef*, ForwardKind>& kinds() {
  static auto* table = new std::unordered_map<const OpDef*, ForwardKind>;
  return *table;
}

ForwardKind kind_of(const OpDef& def) {
  const auto found = kinds().find(&def);
  return found == kinds().end() ? ForwardKind::Generic : found->second;
}

// Stands at the end of a rule's edges: they are wanted, and lead nowhere. Its outputs are the arguments' geometries.
class Sink final : public Node {
 public:
  Grads apply(Grads&&) override { return {}; }
  [[nodiscard]] std::string name() const override { return "Tangent"; }
};

// saved_tensors_hooks are for what the user's program saves, not for tangents: a checkpoint counts what it sees.
class NoSavedHooks {
 public:
  NoSavedHooks() noexcept : saved_(active_saved_hooks()) { set_active_saved_hooks(nullptr); }
  ~NoSavedHooks() { set_active_saved_hooks(saved_); }
  NoSavedHooks(const NoSavedHooks&) = delete;
  NoSavedHooks& operator=(const NoSavedHooks&) = delete;
  [[nodiscard]] SavedHooks* outer() const noexcept { return saved_; }

 private:
  SavedHooks* saved_;
};

// One call: the op's tensors, their tangents, and its results.
class ForwardCall {
 public:
  ForwardCall(const OpDef& def, Value* arguments, Value* results)
      : def_(def), arguments_(arguments), results_(results) {}
  bool gather();  // false: nothing has a tangent
  void run(const Out& out);

  const NoSavedHooks no_hooks;

 private:
  void run_primal();
  void run_view();
  void widen_tangent();
  void run_inplace_view();
  [[nodiscard]] bool is_linear() const;
  void run_bilinear();
  void run_rule();
  void run_constant();
  void apply_to_tangents(const OpDef& def, Value* results);
  std::vector<Tensor> elementwise(OpNode& node);
  std::vector<Tensor> by_reverse(OpNode& node);
  Grads apply_rule(OpNode& node, const Grads& cotangents);
  void store(const std::vector<Tensor>& tangents);
  void store_saved(std::size_t nr, const Tensor& tangent);
  Ref<OpNode> make_node(const Rules::Reads& reads);
  [[nodiscard]] bool is_elementwise() const;
  [[nodiscard]] bool is_shared(const Tensor& tangent) const;
  [[nodiscard]] bool is_view_of_argument(const Tensor& output) const;
  [[nodiscard]] bool is_argument(const Tensor& tensor) const;
  void collect_results();

  const OpDef& def_;
  Value* arguments_;
  Value* results_;
  // Flat over the items of all tensor parameters, as the edges of the op's node.
  std::vector<Tensor> tensors_, tangents_;
  std::vector<std::uint32_t> counts_;  // items per tensor parameter
  std::uint64_t mask_ = 0;             // bit k: the k-th tensor parameter has a tangent
  bool create_graph_ = false;          // tangents shall be differentiable themselves
  std::vector<Tensor> outputs_;        // results, flat; undefined where a result has no derivative
  Ref<OpNode> recorded_;
  Ref<Node> sink_;
};

bool ForwardCall::gather() {
  for (std::size_t k = 0; k < def_.tensor_parameters.size(); ++k) {
    const Value& value = arguments_[def_.tensor_parameters[k]];
    const auto add = [&](const Tensor& tensor) {
      tensors_.push_back(tensor);
      tangents_.push_back(tensor.defined() ? tangent_of(tensor) : Tensor());
      if (tangents_.back().defined()) mask_ |= std::uint64_t{1} << k;
    };
    if (value.tag() == Tag::TensorList) {
      for (const Tensor& tensor : value.tensors()) add(tensor);
      counts_.push_back(static_cast<std::uint32_t>(value.tensors().size()));
    } else {
      add(value.tag() == Tag::Tensor && value.impl() != nullptr ? value.tensor() : Tensor());
      counts_.push_back(1);
    }
  }
  return mask_ != 0;
}

void ForwardCall::run(const Out& out) {
  check(!out.given(), ErrorKind::NotImplemented, "Trying to use forward AD with ", def_.name,
        "_out that does not support it because it is an out= function");
  for (std::size_t i = 0; mode.grad && i < tensors_.size(); ++i) {
    create_graph_ |= (tensors_[i].defined() && requires_grad(tensors_[i])) ||
                     (tangents_[i].defined() && requires_grad(tangents_[i]));
  }
  if (def_.rules == nullptr) return run_constant();
  if (def_.inplace_view) return run_inplace_view();
  if (def_.is_view) return run_view();
  if (is_linear()) return run_view();
  if (kind_of(def_) == ForwardKind::Bilinear && !(tensors_.size() > 2 && tangents_[2].defined())) return run_bilinear();
  run_rule();
}

void ForwardCall::run_primal() {
  Recorded here{&def_, nullptr};
  Recorded* const outer = std::exchange(recorded, &here);
  set_active_saved_hooks(no_hooks.outer());
  try {
    call_op(def_, arguments_, results_);
  } catch (...) {
    recorded = outer;
    throw;  // ~NoSavedHooks puts the hooks back
  }
  set_active_saved_hooks(nullptr);
  recorded = outer;
  recorded_ = std::move(here.node);
}

// An op without derivative. What it wrote in place no longer depends on the inputs.
void ForwardCall::run_constant() {
  const Tensor target = def_.inplace ? tensors_[0] : Tensor();
  const Tensor tangent = def_.inplace ? tangents_[0] : Tensor();
  run_primal();
  if (!tangent.defined()) return;
  if (tangent.sizes() == target.sizes()) {
    update_tangent(target, Tensor());
  } else {
    drop_tangent(target);
  }
}

bool ForwardCall::is_argument(const Tensor& tensor) const {
  for (const Tensor& argument : tensors_) {
    if (argument.is(tensor)) return true;
  }
  return false;
}

void ForwardCall::collect_results() {
  const auto add = [&](const Tensor& tensor) {
    const bool differentiable = tensor.defined() && is_differentiable(tensor.dtype());
    outputs_.push_back(differentiable && (def_.inplace || !is_argument(tensor)) ? tensor : Tensor());
  };
  for (std::size_t i = 0; i < def_.results.size(); ++i) {
    if (results_[i].tag() == Tag::TensorList) {
      for (const Tensor& tensor : results_[i].tensors()) add(tensor);
    } else {
      add(results_[i].impl() != nullptr ? results_[i].tensor() : Tensor());
    }
  }
}

// The op on tangents: zeros stand for tensors without one, indices stay.
void ForwardCall::apply_to_tangents(const OpDef& def, Value* results) {
  InlineValues inputs(def);
  std::vector<std::vector<Tensor>> lists;
  lists.reserve(def.parameters.size());
  std::vector<Tensor> kept;  // what borrowed values point at
  kept.reserve(tensors_.size());
  const auto input = [&](std::size_t at) {
    const Tensor& tensor = tensors_[at];
    if (!tensor.defined() || !is_differentiable(tensor.dtype())) return tensor;
    if (tangents_[at].defined()) return tangents_[at];
    Tensor zero = zeros(tensor.sizes(), tensor.dtype(), tensor.device());
    zero.impl()->wrapped_number = tensor.impl()->wrapped_number;
    return zero;
  };
  for (std::size_t i = 0; i < def.parameters.size(); ++i) inputs[i].alias(arguments_[i]);
  std::size_t at = 0;
  for (std::size_t k = 0; k < def.tensor_parameters.size(); ++k) {
    Value& value = inputs[def.tensor_parameters[k]];
    if (value.tag() == Tag::TensorList) {
      std::vector<Tensor>& list = lists.emplace_back();
      for (std::uint32_t i = 0; i < counts_[k]; ++i) list.push_back(input(at++));
      value.borrow(TensorSpan(list));
    } else {
      if (value.impl() != nullptr) value.borrow(kept.emplace_back(input(at)).impl());
      ++at;
    }
  }
  // The offset is one in the storage: that of the tangent starts elsewhere.
  if (def.name == "as_strided" && inputs[3].tag() == Tag::Int) {
    inputs[3].set(inputs[3].integer() - tensors_[0].offset() + tangents_[0].offset());
  }
  call_op(def, inputs.data(), results);
}

// as_strided reaches beyond its tensor, into the storage: if the tangent's has no such elements, zeros stand there.
void ForwardCall::widen_tangent() {
  const Tensor& primal = tensors_[0];
  const IntSpan sizes = arguments_[1].ints(), strides = arguments_[2].ints();
  const std::int64_t shift = tangents_[0].offset() - primal.offset();
  const std::int64_t first = (arguments_[3].tag() == Tag::Int ? arguments_[3].integer() : primal.offset()) + shift;
  std::int64_t last = first;
  for (std::int64_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
  const auto elements = [](const Tensor& tensor) { return tensor.storage()->bytes() / tensor.itemsize(); };
  if (first >= 0 && last < elements(tangents_[0])) return;
  const GradGuard recording(create_graph_);
  const std::int64_t count = elements(primal);
  const Tensor whole = zeros(IntSpan(&count, 1), tangents_[0].dtype(), primal.device());
  Tensor window = as_strided(whole, primal.sizes(), primal.strides(), primal.offset());
  call("copy_", {window, tangents_[0]});
  set_tangent(primal, window);
  tangents_[0] = std::move(window);
}

void ForwardCall::run_view() {
  run_primal();
  if (def_.name == "as_strided") widen_tangent();
  collect_results();
  constexpr std::size_t kMaxResults = 8;
  Value results[kMaxResults];
  apply_to_tangents(def_, results);
  std::vector<Tensor> tangents;
  for (std::size_t i = 0; i < def_.results.size(); ++i) {
    if (results[i].tag() == Tag::TensorList) {
      for (const Tensor& tensor : results[i].tensors()) tangents.push_back(tensor);
    } else {
      tangents.push_back(results[i].impl() != nullptr ? results[i].tensor() : Tensor());
    }
  }
  store(tangents);
}

// Not cat of floating-point and integer tensors: integers are taken for indices.
bool ForwardCall::is_linear() const {
  if (def_.inplace || kind_of(def_) != ForwardKind::Linear) return false;
  if (counts_[0] == 1) return true;
  for (std::uint32_t i = 0; i < counts_[0]; ++i) {
    if (!is_differentiable(tensors_[i].dtype())) return false;
  }
  return true;
}

// matmul(a, b): matmul(ta, b) + matmul(a, tb). A bias without tangent is left out.
void ForwardCall::run_bilinear() {
  run_primal();
  collect_results();
  const GradGuard recording(create_graph_);
  Tensor sum;
  for (std::size_t k = 0; k < 2; ++k) {
    if (!tangents_[k].defined()) continue;
    InlineValues inputs(def_);
    for (std::size_t i = 0; i < def_.parameters.size(); ++i) inputs[i].alias(arguments_[i]);
    inputs[def_.tensor_parameters[k]].borrow(tangents_[k].impl());
    if (tensors_.size() > 2) inputs[def_.tensor_parameters[2]].clear();
    Value result;
    call_op(def_, inputs.data(), &result);
    const Tensor part = result.take_tensor();
    sum = sum.defined() ? add(sum, part) : part;
  }
  store({sum});
}

// t_(), squeeze_(): another view of the tangent. The tangent itself may be the caller's and keeps its shape.
void ForwardCall::run_inplace_view() {
  const OpDef* functional = find_op(def_.name.substr(0, def_.name.size() - 1));
  internal_assert(functional != nullptr, def_.name.c_str());
  Value result;
  apply_to_tangents(*functional, &result);
  const Tensor target = tensors_[0];
  run_primal();
  set_tangent(target, result.take_tensor());
}

Ref<OpNode> ForwardCall::make_node(const Rules::Reads& reads) {
  auto node = Ref<OpNode>::make(def_, mask_);
  sink_ = Ref<Sink>::make();
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    std::uint32_t nr = 0;
    if (tensors_[i].defined()) {
      nr = sink_->add_output(tensors_[i]);
    } else {
      nr = static_cast<std::uint32_t>(sink_->outputs.size());
      sink_->outputs.emplace_back();
    }
    node->next_edges.push_back(tangents_[i].defined() ? Edge{sink_, nr} : Edge{});
  }
  for (const std::uint32_t count : counts_) node->edge_counts.push_back(count);
  save_arguments(*node, def_, arguments_, reads);
  return node;
}

bool ForwardCall::is_elementwise() const {
  const ForwardKind kind = kind_of(def_);
  if (kind == ForwardKind::Holomorphic) return true;
  if (kind != ForwardKind::Elementwise) return false;
  for (const Tensor& tensor : tensors_) {
    if (tensor.defined() && is_complex(tensor.dtype())) return false;
  }
  return true;
}

void ForwardCall::run_rule() {
  const Rules::Reads reads = def_.rules->reads(mask_);
  const Ref<OpNode> node = make_node(reads);
  if (def_.inplace && create_graph_ && tangents_[0].defined()) {
    tangents_[0] = call("clone", {tangents_[0]});  // it is overwritten, and its old value may be kept for backward
  }
  run_primal();
  collect_results();
  for (const Tensor& output : outputs_) {
    if (!output.defined() || has_kernels(output.dtype())) continue;
    fail(ErrorKind::NotImplemented, "Trying to use forward AD with ", def_.name, " that does not support it for ",
         torch_name_of(output.dtype()), ". Compute in complex64.");
  }
  // Results are saved with the history they have: the node is not theirs.
  save_results(*node, results_, reads, false);
  store(is_elementwise() ? elementwise(*node) : by_reverse(*node));
}

Grads ForwardCall::apply_rule(OpNode& node, const Grads& cotangents) {
  const RunPause outside;  // the rule must not ask what a backward around us wants
  Grads grads(node.next_edges.size());
  def_.rules->apply(node, cotangents, grads);
  return grads;
}

// sum over arguments of conj(rule(conj(tangent)))
std::vector<Tensor> ForwardCall::elementwise(OpNode& node) {
  const GradGuard recording(create_graph_);
  const Tensor& output = outputs_[0];
  if (!output.defined()) return {Tensor()};
  static const OpDef& expand = op_named("expand");
  const auto expanded = [&](Tensor tensor) {
    if (tensor.sizes() == output.sizes()) return tensor;
    Value arguments[2];
    arguments[0].borrow(tensor.impl());
    arguments[1].borrow(output.sizes());
    return call_values(expand, arguments, 2);
  };
  const bool conjugate = is_complex(output.dtype());
  Tensor sum;
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    if (!tangents_[k].defined()) continue;
    Tensor tangent = tangents_[k];
    if (tangent.dtype() != output.dtype()) tangent = cast(tangent, output.dtype());
    tangent = expanded(std::move(tangent));
    Grads cotangents;
    cotangents.push_back(conjugate ? call("conj", {tangent}) : tangent);
    node.needed = std::uint64_t{1} << k;
    Tensor part = std::move(apply_rule(node, cotangents)[k]);
    if (!part.defined()) continue;
    if (conjugate) part = call("conj", {part});
    part = expanded(std::move(part));
    if (part.dtype() != output.dtype()) part = cast(part, output.dtype());
    sum = sum.defined() ? add(sum, part) : part;
  }
  return {sum};
}

std::vector<Tensor> ForwardCall::by_reverse(OpNode& node) {
  Grads cotangents(outputs_.size());
  std::vector<std::size_t> asked;
  Request request;
  request.accumulate = false;
  request.create_graph = request.retain_graph = create_graph_;
  {
    const GradGuard recording(true);
    const Scalar seed(kind_of(def_) == ForwardKind::AtOne ? 1.0 : 0.0);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (!outputs_[i].defined()) continue;
      cotangents[i] = full(outputs_[i].sizes(), seed, outputs_[i].dtype(), outputs_[i].device());
      cotangents[i].impl()->requires_grad = true;
      asked.push_back(i);
      request.inputs.push_back(gradient_edge(cotangents[i]));
    }
    Grads adjoints = apply_rule(node, cotangents);
    for (std::size_t e = 0; e < adjoints.size(); ++e) {
      if (!adjoints[e].defined() || !tangents_[e].defined()) continue;
      const Tensor adjoint = fit_gradient(std::move(adjoints[e]), sink_->outputs[e], node, e);
      if (!requires_grad(adjoint)) continue;  // a constant: no derivative in this argument
      request.roots.push_back(gradient_edge(adjoint));
      request.root_grads.push_back(tangents_[e]);
    }
  }
  std::vector<Tensor> tangents(outputs_.size());
  if (request.roots.empty() || asked.empty()) return tangents;
  const RunPause outside;
  std::vector<Tensor> found = run_backward(std::move(request));
  for (std::size_t i = 0; i < asked.size(); ++i) tangents[asked[i]] = std::move(found[i]);
  return tangents;
}

// A result that is no view of an argument must not share its tangent with one: either may be changed in place.
bool ForwardCall::is_shared(const Tensor& tangent) const {
  for (const Tensor& other : tangents_) {
    if (other.defined() && other.storage() == tangent.storage()) return true;
  }
  return false;
}

bool ForwardCall::is_view_of_argument(const Tensor& output) const {
  for (const Tensor& tensor : tensors_) {
    if (tensor.defined() && tensor.storage() == output.storage()) return true;
  }
  return false;
}

// Results that the rule has no word about do not depend on the arguments: their tangent is zero.
void ForwardCall::store(const std::vector<Tensor>& tangents) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Tensor& output = outputs_[i];
    if (!output.defined() || (def_.inplace && i != 0)) continue;
    Tensor tangent = i < tangents.size() ? tangents[i] : Tensor();
    if (tangent.defined() && !(tangent.sizes() == output.sizes())) {
      const GradGuard recording(create_graph_);
      Value arguments[2];
      arguments[0].borrow(tangent.impl());
      arguments[1].borrow(output.sizes());
      tangent = call_values(op_named("expand"), arguments, 2);
    }
    if (def_.inplace) {
      update_tangent(output, tangent);
      tangent = tangent_of(output);
    } else {
      if (tangent.defined() && is_shared(tangent) && !is_view_of_argument(output)) {
        const GradGuard recording(create_graph_);
        tangent = call("clone", {tangent});
      }
      if (!tangent.defined()) tangent = zeros(output.sizes(), output.dtype(), output.device());
      set_tangent(output, tangent);
      tangent = tangent_of(output);
    }
    if (recorded_) store_saved(i, tangent);
  }
}

// The tape keeps an alias of a result without its history; a backward inside this level needs its tangent.
void ForwardCall::store_saved(std::size_t nr, const Tensor& tangent) {
  std::size_t first = 0;  // number of the first tensor of each result
  for (std::size_t i = 0; i < def_.results.size(); ++i) {
    const std::size_t count = results_[i].tag() == Tag::TensorList ? results_[i].tensors().size() : 1;
    for (OpNode::Saved& saved : recorded_->saved) {
      if (saved.kind != OpNode::Saved::Kind::Result || saved.index != i || nr < first || nr >= first + count) continue;
      (saved.tensors ? (*saved.tensors)[nr - first] : saved.tensor).set_output_tangent(tangent);
    }
    first += count;
  }
}

}  // namespace

void set_forward_kind(const OpDef& def, ForwardKind kind) { kinds()[&def] = kind; }

bool call_forward(const OpDef& def, Value* arguments, Value* results, const Out& out) {
  if (forward_paused() || mode.inference) return false;
  // Autocast first: it calls the op again, on casts that have tangents.
  if (mode.autocast && def.autocast != AutocastPolicy::None && !def.inplace && !out.given()) return false;
  ForwardCall call(def, arguments, results);
  if (!call.gather()) {
    for (std::int64_t i = 0; i < out.count; ++i) {
      check(!tangent_of(out[i]).defined(), ErrorKind::NotImplemented, "Trying to use forward AD with ", def.name,
            "_out that does not support it because it is an out= function");
    }
    return false;
  }
  const ForwardPause pause;
  const NoAutocast plain;
  call.run(out);
  return true;
}

}  // namespace flambeau::autograd
