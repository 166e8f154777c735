// call_op: the eager path of every op.
#include "autograd/autocast.h"
#include "autograd/calls.h"
#include "autograd/forward.h"
#include "autograd/meta.h"
#include "autograd/op_node.h"
#include "core/copy.h"
#include "core/factory.h"

namespace flambeau {

void* (*release_gil)() = nullptr;
void (*acquire_gil)(void*) = nullptr;
void (*extended_kernel)(const OpDef&, const Value*, Value*, const Out&) = nullptr;

namespace {

using autograd::Edge;
using autograd::Node;
using autograd::OpNode;
using Saved = OpNode::Saved;

constexpr std::int64_t kReleaseGilFrom = 1 << 16;  // elements over all tensor arguments

class GilRelease {
 public:
  explicit GilRelease(bool release) : state_(release && release_gil != nullptr ? release_gil() : nullptr) {}
  ~GilRelease() {
    if (state_ != nullptr) acquire_gil(state_);
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  void* state_;
};

// Calls fn(tensor) for every defined tensor among the arguments.
template <class F>
void for_each_tensor(const OpDef& def, const Value* arguments, F&& fn) {
  for (const std::uint16_t index : def.tensor_parameters) {
    const Value& value = arguments[index];
    if (value.tag() == Tag::Tensor) {
      if (value.impl() != nullptr) fn(value.tensor());
    } else if (value.tag() == Tag::TensorList) {
      for (const Tensor& tensor : value.tensors()) {
        if (tensor.defined()) fn(tensor);
      }
    }
  }
}

// Inference tensors never take part in recording, even with their flag set.
bool may_require_grad(const Tensor& tensor) noexcept {
  return !tensor.impl()->inference && (tensor.impl()->requires_grad || tensor.impl()->autograd != nullptr) &&
         autograd::requires_grad(tensor);
}

// Bit k: the k-th tensor parameter wants a gradient.
std::uint64_t needed_gradients(const OpDef& def, const Value* arguments) noexcept {
  std::uint64_t needed = 0;
  for (std::size_t k = 0; k < def.tensor_parameters.size(); ++k) {
    const Value& value = arguments[def.tensor_parameters[k]];
    bool wanted = false;
    if (value.tag() == Tag::Tensor) {
      wanted = value.impl() != nullptr && may_require_grad(value.tensor());
    } else if (value.tag() == Tag::TensorList) {
      for (const Tensor& tensor : value.tensors()) wanted |= tensor.defined() && may_require_grad(tensor);
    }
    if (wanted) needed |= std::uint64_t{1} << k;
  }
  return needed;
}

void add_edges(OpNode& node, const OpDef& def, const Value* arguments) {
  for (std::size_t k = 0; k < def.tensor_parameters.size(); ++k) {
    const Value& value = arguments[def.tensor_parameters[k]];
    if (value.tag() == Tag::TensorList) {
      const TensorSpan tensors = value.tensors();
      for (const Tensor& tensor : tensors) {
        node.next_edges.push_back(tensor.defined() && may_require_grad(tensor) ? autograd::gradient_edge(tensor)
                                                                               : Edge{});
      }
      node.edge_counts.push_back(static_cast<std::uint32_t>(tensors.size()));
    } else {
      const bool wanted = (node.needed >> k & 1U) != 0;
      node.next_edges.push_back(wanted ? autograd::gradient_edge(value.tensor()) : Edge{});
      node.edge_counts.push_back(1);
    }
  }
}

// Geometry without data, for rules that only need the shape or dtype of an argument.
Tensor geometry_of(const Tensor& tensor) {
  static const Ref<Storage>* storage = new Ref<Storage>(Storage::allocate(0, Device{DeviceType::Meta}));
  TensorImpl* impl = TensorImpl::create(*storage, tensor.dtype());
  impl->offset = tensor.offset();  // as_strided's rule reads it
  impl->set_geometry(tensor.sizes(), tensor.strides());
  return Tensor::adopt(impl);
}

// The value before an in-place op, still differentiable.
Tensor copy_with_history(const Tensor& tensor) {
  Tensor copy = tensor.is_extended() ? autograd::without_grad("clone", tensor) : clone(tensor);
  if (Edge edge = autograd::gradient_edge(tensor); edge.node) autograd::set_history(copy, edge.node, edge.input_nr);
  if (autograd::forward_active) [[unlikely]] {
    if (const Tensor tangent = autograd::tangent_of(tensor); tangent.defined()) {
      autograd::set_tangent(copy, call("clone", {tangent}));
    }
  }
  return copy;
}

void save_argument(OpNode& node, std::uint16_t index, const Value& value, bool copy) {
  Saved& saved = node.saved.emplace_back();
  saved.kind = Saved::Kind::Argument;
  saved.index = index;
  if (value.tag() == Tag::Tensor) {
    if (value.impl() == nullptr) return;
    saved.tensor = autograd::SavedTensor(copy ? copy_with_history(value.tensor()) : value.tensor(), false);
  } else if (value.tag() == Tag::TensorList) {
    saved.tensors = std::make_unique<std::vector<autograd::SavedTensor>>();
    for (const Tensor& tensor : value.tensors()) {
      saved.tensors->push_back(tensor.defined() ? autograd::SavedTensor(tensor, false) : autograd::SavedTensor());
    }
  } else {
    saved.value = value.own();
  }
}

bool is_argument(const OpDef& def, const Value* arguments, const Tensor& tensor) noexcept {
  bool found = false;
  for_each_tensor(def, arguments, [&](const Tensor& argument) { found |= argument.is(tensor); });
  return found;
}

// Also true of the arguments themselves. detach() of a normal tensor gives a normal one, in inference mode too.
bool shares_memory(const OpDef& def, const Value* arguments, const Tensor& tensor) noexcept {
  bool found = false;
  for_each_tensor(def, arguments, [&](const Tensor& argument) { found |= argument.storage() == tensor.storage(); });
  return found;
}

template <class F>
void for_each_result(const OpDef& def, Value* results, F&& fn) {
  std::uint32_t nr = 0;
  for (std::size_t i = 0; i < def.results.size(); ++i) {
    if (results[i].tag() == Tag::TensorList) {
      for (const Tensor& tensor : results[i].tensors()) fn(tensor, nr++);
    } else if (results[i].tag() == Tag::Tensor) {
      if (results[i].impl() != nullptr) fn(results[i].tensor(), nr);
      ++nr;
    }
  }
}

// Result written into given tensors for kernels that cannot do it themselves.
void copy_to_out(const OpDef& def, Value* results, const Out& out) {
  for (std::int64_t i = 0; i < out.count; ++i) {
    const Tensor made = results[i].take_tensor();
    const Tensor target = output(def.name.c_str(), out, i, made.sizes(), made.dtype(), made.device());
    if (!target.is_meta()) copy_into(target, made);
    results[i].set(target);
  }
}

void run_on_one_device(const OpDef& def, const Value* arguments, Value* results, const Out& out);

// result_type() reads no values.
bool compares_dtypes(const OpDef& def) noexcept { return !def.results.empty() && def.results[0].tag == Tag::DType; }

bool any_extended(const OpDef& def, const Value* arguments, const Out& out) noexcept {
  bool found = false;
  for_each_tensor(def, arguments, [&](const Tensor& tensor) { found |= tensor.is_extended(); });
  for (std::int64_t i = 0; i < out.count; ++i) found |= out[i].is_extended();
  return found;
}

void run_kernel(const OpDef& def, const Value* arguments, Value* results, const Out& out) {
  std::int64_t elements = 0;
  bool meta = false, real = false;
  for_each_tensor(def, arguments, [&](const Tensor& tensor) {
    elements += tensor.numel();
    (tensor.is_meta() ? meta : real) = true;
  });
  for (std::int64_t i = 0; i < out.count; ++i) (out[i].is_meta() ? meta : real) = true;
  if (meta && !compares_dtypes(def)) [[unlikely]] {
    if (any_extended(def, arguments, out)) return extended_kernel(def, arguments, results, out);
    if (real) return run_on_one_device(def, arguments, results, out);
  }
  const GilRelease release(elements >= kReleaseGilFrom && !def.is_view);
  const KernelDef& kernel = *def.kernel;
  if (def.inplace && !def.own_inplace_kernel) {
    const Tensor& target = arguments[0].tensor();
    const Out inplace{&target, 1, true};
    kernel.boxed(kernel, arguments, results, kernel.takes_out ? inplace : Out{});
    if (!kernel.takes_out) copy_to_out(def, results, inplace);
  } else {
    kernel.boxed(kernel, arguments, results, kernel.takes_out ? out : Out{});
    // A kernel may take `out` for the in-place form only and return a new tensor.
    if (out.given() && (!kernel.takes_out || !results[0].tensor().is(out[0]))) copy_to_out(def, results, out);
  }
}

// These look at the geometry of an argument only, or know both devices.
bool allows_two_devices(const std::string& name) {
  for (const char* known : {"copy_", "to_other", "type_as", "expand_as", "view_as", "reshape_as", "resize_as_"}) {
    if (name == known) return true;
  }
  return false;
}

// Arguments on cpu and meta: numbers (0-d tensors) and indices of a meta tensor become meta, anything else is an error,
// so that no kernel ever reads the data that a meta tensor does not have.
void run_on_one_device(const OpDef& def, const Value* arguments, Value* results, const Out& out) {
  if (def.name == "copy_") {
    check(arguments[0].tensor().is_meta(), ErrorKind::NotImplemented, "Cannot copy out of meta tensor; no data!");
    results[0].set(Tensor(arguments[0].tensor()));
    return;
  }
  InlineValues on_meta(def);
  std::vector<std::vector<Tensor>> lists;
  lists.reserve(def.parameters.size());
  auto convert = [&](const Tensor& tensor, bool written) -> Tensor {
    if (!tensor.defined() || tensor.is_meta() || allows_two_devices(def.name)) return tensor;
    const bool index =
        is_integral(tensor.dtype(), false) && arguments[0].impl() != nullptr && arguments[0].tensor().is_meta();
    check((tensor.dim() == 0 || index) && !written, ErrorKind::Runtime, def.name,
          ": Expected all tensors to be on the same device, but found at least two devices, cpu and meta!");
    Tensor copy = empty(tensor.sizes(), tensor.dtype(), Device{DeviceType::Meta});
    copy.impl()->wrapped_number = tensor.impl()->wrapped_number;
    return copy;
  };
  for (std::int64_t i = 0; i < out.count; ++i) convert(out[i], true);
  for (std::size_t i = 0; i < def.parameters.size(); ++i) {
    const bool written = def.parameters[i].mutated || (def.inplace && i == 0);
    if (arguments[i].tag() == Tag::Tensor && arguments[i].impl() != nullptr) {
      on_meta[i].set(convert(arguments[i].tensor(), written));
    } else if (arguments[i].tag() == Tag::TensorList) {
      std::vector<Tensor>& list = lists.emplace_back();
      for (const Tensor& tensor : arguments[i].tensors()) list.push_back(convert(tensor, written));
      on_meta[i].borrow(TensorSpan(list));
    } else {
      on_meta[i].alias(arguments[i]);
    }
  }
  const KernelDef& kernel = *def.kernel;
  const bool inplace = def.inplace && !def.own_inplace_kernel;
  const Out target = inplace ? Out{&arguments[0].tensor(), 1, true} : out;
  kernel.boxed(kernel, on_meta.data(), results, kernel.takes_out ? target : Out{});
  if (target.given() && (!kernel.takes_out || !results[0].tensor().is(target[0]))) copy_to_out(def, results, target);
}

bool is_lazy(const Tensor& tensor) noexcept { return tensor.is_conj() || tensor.is_neg(); }

// Runs the kernel on arguments without lazy conj and neg bits.
void run_resolved(const OpDef& def, const Value* arguments, Value* results, const Out& out) {
  bool lazy = false;
  if (!def.handles_lazy_bits) {
    for_each_tensor(def, arguments, [&](const Tensor& tensor) { lazy |= is_lazy(tensor); });
  }
  if (!lazy) [[likely]]
    return run_kernel(def, arguments, results, out);
  InlineValues resolved(def);
  std::vector<std::vector<Tensor>> lists;  // what the borrowed lists point at
  lists.reserve(def.parameters.size());
  for (std::size_t i = 0; i < def.parameters.size(); ++i) {
    const bool is_target = def.inplace && i == 0 && !def.own_inplace_kernel;
    if (arguments[i].tag() == Tag::Tensor && arguments[i].impl() != nullptr &&
        (is_target || !def.parameters[i].mutated)) {
      resolved[i].set(resolve(arguments[i].tensor()));
    } else if (arguments[i].tag() == Tag::TensorList) {
      std::vector<Tensor>& list = lists.emplace_back();
      for (const Tensor& tensor : arguments[i].tensors()) list.push_back(tensor.defined() ? resolve(tensor) : tensor);
      resolved[i].borrow(TensorSpan(list));
    } else {
      resolved[i].alias(arguments[i]);
    }
  }
  // A lazy destination gets a plain result copied in: kernels write values as they are stored.
  const bool to_lazy = def.inplace && !def.own_inplace_kernel && is_lazy(arguments[0].tensor());
  if (!to_lazy) {
    if (def.inplace && !def.own_inplace_kernel) resolved[0].alias(arguments[0]);
    return run_kernel(def, resolved.data(), results, out);
  }
  const Out inplace{&arguments[0].tensor(), 1, true};
  def.kernel->boxed(*def.kernel, resolved.data(), results, Out{});
  copy_to_out(def, results, inplace);
}

void check_out(const OpDef& def, const Value* arguments, const Out& out) {
  for (std::int64_t i = 1; i < out.count; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      check(!out[i].is(out[j]), ErrorKind::Runtime, def.name,
            "(): expected different tensors in out=, got one tensor for results ", j, " and ", i, ".");
    }
  }
  if (!autograd::mode.grad) return;
  bool wanted = false;
  for_each_tensor(def, arguments, [&](const Tensor& tensor) { wanted |= may_require_grad(tensor); });
  const char* blame = "one of the arguments requires grad";
  for (std::int64_t i = 0; i < out.count; ++i) wanted |= may_require_grad(out[i]);
  check(!wanted, ErrorKind::Runtime, def.name,
        "(): functions with out=... arguments don't support automatic "
        "differentiation, but ",
        blame, ".");
}

void check_inference(const OpDef& def, const Value* arguments, const Rules::Reads& reads) {
  for (std::uint64_t left = reads.arguments; left != 0; left &= left - 1) {
    const auto index = static_cast<std::size_t>(__builtin_ctzll(left));
    const Value& value = arguments[index];
    if (value.impl() != nullptr && value.impl()->inference) {
      fail(ErrorKind::Runtime, def.name, ": Inference tensors cannot be saved for backward, and argument '",
           def.parameters[index].name,
           "' is one. To work around you can make a clone to get a normal tensor and use it "
           "in autograd: ",
           def.parameters[index].name, ".clone(); or compute under no_grad.");
    }
  }
}

autograd::ViewOrigin view_origin(const OpDef& def) {
  if (autograd::mode.inference) return autograd::ViewOrigin::Inference;
  if (!autograd::mode.grad) return autograd::ViewOrigin::NoGrad;
  return def.results.size() > 1 || def.results[0].tag == Tag::TensorList ? autograd::ViewOrigin::MultiOutput
                                                                         : autograd::ViewOrigin::Default;
}

void track_views(const OpDef& def, const Value* arguments, Value* results) {
  const Tensor* source = nullptr;
  for (std::size_t i = 0; i < def.parameters.size() && source == nullptr; ++i) {
    if (def.parameters[i].aliased && arguments[i].impl() != nullptr) source = &arguments[i].tensor();
  }
  if (source == nullptr) return;
  for_each_result(def, results, [&](const Tensor& result, std::uint32_t) {
    if (result.storage() != source->storage() || result.is(*source)) return;
    if (source->impl()->inference) {
      result.impl()->inference = true;
      return;
    }
    autograd::make_view(result, *source, &def, arguments, view_origin(def));
  });
}

Ref<OpNode> start_node(const OpDef& def, const Value* arguments, std::uint64_t needed, const Rules::Reads& reads) {
  check_inference(def, arguments, reads);
  auto node = Ref<OpNode>::make(def, needed);
  add_edges(*node, def, arguments);
  save_arguments(*node, def, arguments, reads);
  if (autograd::recorded != nullptr && autograd::recorded->def == &def && !autograd::recorded->node) [[unlikely]]
    autograd::recorded->node = node;
  return node;
}

void finish_node(const OpDef& def, const Value* arguments, Value* results, const Ref<OpNode>& node,
                 const Rules::Reads& reads) {
  bool any = false;
  for_each_result(def, results, [&](const Tensor& result, std::uint32_t nr) {
    // Every result has an entry, so that rules find cotangents by result number.
    while (node->outputs.size() < nr) node->outputs.emplace_back();
    node->add_output(result);
    if (!is_differentiable(result.dtype()) || is_argument(def, arguments, result)) return;
    autograd::set_history(result, Ref<Node>(node), nr);
    any = true;
  });
  if (any) save_results(*node, results, reads);
}

// Other arguments written in place (running statistics) advance their versions too.
void bump_mutated(const OpDef& def, const Value* arguments, std::size_t from) {
  if (!def.mutates) [[likely]]
    return;
  for (std::size_t i = from; i < def.parameters.size(); ++i) {
    if (def.parameters[i].mutated && arguments[i].impl() != nullptr) autograd::bump_version(arguments[i].tensor());
  }
}

void call_inplace(const OpDef& def, Value* arguments, Value* results) {
  const Tensor& target = arguments[0].tensor();
  check(target.defined(), ErrorKind::Type, def.name, ": expected a Tensor to write to, got None");
  const std::uint64_t needed =
      autograd::mode.grad && is_differentiable(target.dtype()) ? needed_gradients(def, arguments) : 0;
  autograd::check_inplace(target, def.name.c_str(), needed != 0);
  if (needed == 0 || def.rules == nullptr) {
    run_resolved(def, arguments, results, {});
    bump_mutated(def, arguments, 0);
    results[0].set(Tensor(target));
    if (def.inplace_view) autograd::reshape_history(target, nullptr);
    return;
  }
  const Rules::Reads reads = def.rules->reads(needed);
  const Ref<OpNode> node = start_node(def, arguments, needed, reads);
  run_resolved(def, arguments, results, {});
  bump_mutated(def, arguments, 0);
  results[0].set(Tensor(target));
  if (def.inplace_view) {
    autograd::reshape_history(target, Ref<Node>(node));
  } else {
    autograd::rebase_history(target, Ref<Node>(node));
  }
  save_results(*node, results, reads);
}

// Results made in inference mode. Ops that may return a view (reshape, to, contiguous) may as well have made a copy.
void mark_inference(const OpDef& def, const Value* arguments, Value* results) {
  if (results[0].tag() == Tag::Tensor && def.results.size() == 1) [[likely]] {
    TensorImpl* impl = results[0].impl();
    if (impl == nullptr || impl->inference) return;
    if (impl->storage->use_count() == 1) {  // nobody else has this memory
      impl->inference = true;
      return;
    }
  }
  for_each_result(def, results, [&](const Tensor& result, std::uint32_t) {
    if (!shares_memory(def, arguments, result)) result.impl()->inference = true;
  });
}

}  // namespace

Tensor call_extended(const char* op, std::initializer_list<Tensor> tensors) {
  const OpDef& def = *find_op(op);
  InlineValues arguments(def);
  std::size_t count = 0;
  for (const Tensor& tensor : tensors) arguments[count++].borrow(tensor.impl());
  Value result;
  extended_kernel(def, arguments.data(), &result, Out{});
  return result.take_tensor();
}

void autograd::save_arguments(OpNode& node, const OpDef& def, const Value* arguments, const Rules::Reads& reads) {
  for (std::uint64_t left = reads.arguments; left != 0; left &= left - 1) {
    const auto index = static_cast<std::uint16_t>(__builtin_ctzll(left));
    // An in-place op overwrites what the rule wants to read: keep a copy. Also of x in x.mul_(x); keeping x itself
    // would make a cycle of x and its new history.
    const bool written =
        def.inplace && arguments[index].impl() != nullptr && arguments[index].impl() == arguments[0].impl();
    save_argument(node, index, arguments[index], written);
  }
  for (std::uint64_t left = reads.metas; left != 0; left &= left - 1) {
    const auto index = static_cast<std::uint16_t>(__builtin_ctzll(left));
    Saved& saved = node.saved.emplace_back();
    saved.kind = Saved::Kind::Meta;
    saved.index = index;
    const Value& value = arguments[index];
    if (value.tag() == Tag::Tensor && value.impl() != nullptr) {
      saved.value.set(geometry_of(value.tensor()));
    } else if (value.tag() == Tag::TensorList) {
      std::vector<Tensor> items;
      for (const Tensor& tensor : value.tensors()) items.push_back(tensor.defined() ? geometry_of(tensor) : Tensor());
      saved.value.set(std::move(items));
    }
  }
}

void autograd::save_results(OpNode& node, const Value* results, const Rules::Reads& reads, bool owned) {
  for (std::uint32_t left = reads.results; left != 0; left &= left - 1) {
    const auto index = static_cast<std::uint16_t>(__builtin_ctz(left));
    Saved& saved = node.saved.emplace_back();
    saved.kind = Saved::Kind::Result;
    saved.index = index;
    if (results[index].tag() == Tag::TensorList) {
      saved.tensors = std::make_unique<std::vector<autograd::SavedTensor>>();
      for (const Tensor& tensor : results[index].tensors()) saved.tensors->emplace_back(tensor, owned);
    } else if (results[index].impl() != nullptr) {
      saved.tensor = autograd::SavedTensor(results[index].tensor(), owned);
    }
  }
}

void call_op(const OpDef& def, Value* arguments, Value* results, const Out& out) {
  if (autograd::forward_active && autograd::call_forward(def, arguments, results, out)) [[unlikely]]
    return;
  if (def.inplace) return call_inplace(def, arguments, results);
  if (out.given()) [[unlikely]] {
    check_out(def, arguments, out);
    for (std::int64_t i = 0; i < out.count; ++i) autograd::check_inplace(out[i], def.name.c_str(), false);
    run_resolved(def, arguments, results, out);
    for (std::int64_t i = 0; i < out.count; ++i) autograd::bump_version(out[i]);
    return;
  }
  if (autograd::mode.autocast && def.autocast != AutocastPolicy::None) [[unlikely]]
    return autograd::call_autocast(def, arguments, results);
  const std::uint64_t needed = autograd::mode.grad && def.rules != nullptr ? needed_gradients(def, arguments) : 0;
  if (needed == 0) {
    run_resolved(def, arguments, results, out);
    bump_mutated(def, arguments, 0);
    if (def.is_view) track_views(def, arguments, results);
    if (autograd::mode.inference) mark_inference(def, arguments, results);
    return;
  }
  const Rules::Reads reads = def.rules->reads(needed);
  const Ref<OpNode> node = start_node(def, arguments, needed, reads);
  run_resolved(def, arguments, results, out);
  bump_mutated(def, arguments, 0);
  if (def.is_view) track_views(def, arguments, results);
  finish_node(def, arguments, results, node, reads);
}

}  // namespace flambeau
