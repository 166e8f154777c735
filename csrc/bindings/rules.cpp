#include "bindings/rules.h"

#include "autograd/autocast.h"
#include "autograd/engine.h"
#include "autograd/op_node.h"
#include "core/inline_vec.h"

namespace flambeau::python {
namespace {

using autograd::Grads;
using autograd::OpNode;
using Saved = OpNode::Saved;

bool ends_with(const std::string& text, std::string_view tail) {
  return text.size() > tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

PyObject* tuple_of(std::size_t count, auto&& item) {
  PyObject* tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (std::size_t i = 0; i < count; ++i) PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), item(i));
  return tuple;
}

// First edge of the k-th differentiable parameter.
std::size_t edge_offset(const OpNode& node, std::size_t k) {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < k; ++i) offset += node.edge_counts[i];
  return offset;
}

void store_one(OpNode& node, std::size_t edge, PyObject* object, Grads& grads_out) {
  if (object == Py_None || !node.wants(edge)) return;
  check(is_tensor(object), ErrorKind::Type, node.name(), ": expected the gradient rule to return Tensor or None, got ",
        Py_TYPE(object)->tp_name);
  grads_out[edge] = tensor_of(object);
}

// The cotangent of one differentiable parameter: a tensor, or a sequence of them for Tensor[].
void store(OpNode& node, std::size_t k, PyObject* object, Grads& grads_out) {
  const std::size_t offset = edge_offset(node, k);
  const bool is_list = node.def->parameters[node.def->tensor_parameters[k]].tag == Tag::TensorList;
  if (!is_list) return store_one(node, offset, object, grads_out);
  if (object == Py_None) return;
  const Object items(
      checked(PySequence_Fast(object, "the gradient rule of a Tensor[] argument has to return a sequence")));
  const auto count = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(items.get()));
  check(count == node.edge_counts[k], ErrorKind::Runtime, node.name(), ": expected ", node.edge_counts[k],
        " gradients, got ", count);
  for (std::size_t i = 0; i < count; ++i) {
    store_one(node, offset + i, PySequence_Fast_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i)), grads_out);
  }
}

// Gradients wanted at recording, without those that the running grad() or backward(inputs=) has no use for.
std::uint64_t needed_now(const OpNode& node) {
  if (!autograd::current_run_is_selective()) [[likely]]
    return node.needed;
  std::uint64_t needed = 0;
  for (std::size_t k = 0; k < node.edge_counts.size(); ++k) {
    const std::size_t offset = edge_offset(node, k);
    bool wanted = false;
    for (std::size_t i = 0; i < node.edge_counts[k]; ++i) wanted |= autograd::task_wants(node, offset + i);
    if (wanted) needed |= std::uint64_t{1} << k;
  }
  return needed & node.needed;
}

}  // namespace

PyRules::Source PyRules::find_source(const std::string& name) const {
  using Kind = Source::Kind;
  if (name == "grad") return {Kind::Grad, 0};
  if (name == "grads") return {Kind::Grads, 0};
  if (name == "needs") return {Kind::Needs, 0};
  if (name == "result" || name == "results") return {Kind::Result, 0};
  for (std::uint16_t i = 0; i < def_.parameters.size(); ++i) {
    if (def_.parameters[i].name == name) return {Kind::Argument, i};
    if (ends_with(name, "_meta") && def_.parameters[i].name == name.substr(0, name.size() - 5)) return {Kind::Meta, i};
  }
  for (std::uint16_t i = 0; i < def_.results.size(); ++i) {
    if (def_.results[i].name.empty()) continue;
    if (def_.results[i].name == name) return {Kind::Result, i};
    if (name == "grad_" + def_.results[i].name) return {Kind::Grad, i};
  }
  fail(ErrorKind::Value, def_.name, ": the gradient rule asks for '", name,
       "', which is no argument, result, '<argument>_meta', 'grad', 'grad_<result>' or 'needs' of ", def_.schema);
}

void PyRules::add(PyObject* function, int target, const std::vector<std::string>& parameters) {
  Rule rule{Py_NewRef(function), target, {}, {}};
  for (const std::string& name : parameters) {
    const Source source = find_source(name);
    rule.sources.push_back(source);
    switch (source.kind) {
      case Source::Kind::Argument: rule.reads.arguments |= std::uint64_t{1} << source.index; break;
      case Source::Kind::Meta: rule.reads.metas |= std::uint64_t{1} << source.index; break;
      case Source::Kind::Result: rule.reads.results |= std::uint32_t{1} << source.index; break;
      default: break;
    }
  }
  rules_.push_back(std::move(rule));
}

Rules::Reads PyRules::reads(std::uint64_t needed) const {
  Reads all;
  for (const Rule& rule : rules_) {
    if (!active(rule, needed)) continue;
    all.arguments |= rule.reads.arguments;
    all.metas |= rule.reads.metas;
    all.results |= rule.reads.results;
  }
  return all;
}

Object PyRules::evaluate(const Source& source, OpNode& node, const Grads& grads_in, std::uint64_t needed) const {
  using Kind = Source::Kind;
  auto grad = [&](std::size_t i) -> PyObject* {
    return i < grads_in.size() ? checked(wrap(grads_in[i])) : Py_NewRef(Py_None);
  };
  auto unpack = [&](const Saved& saved) -> PyObject* {
    if (saved.tensors) {
      return tuple_of(saved.tensors->size(), [&](std::size_t i) {
        const autograd::SavedTensor& item = (*saved.tensors)[i];
        return item.defined() ? checked(wrap(item.unpack(&node))) : Py_NewRef(Py_None);
      });
    }
    if (saved.tensor.defined()) return checked(wrap(saved.tensor.unpack(&node)));
    return checked(to_python(saved.value));
  };
  switch (source.kind) {
    case Kind::Grad: {
      // Several tensors under one result name ("-> Tensor[]") come as a tuple.
      if (def_.results[source.index].tag == Tag::TensorList) return Object(tuple_of(grads_in.size(), grad));
      return Object(grad(source.index));
    }
    case Kind::Grads: return Object(tuple_of(grads_in.size(), grad));
    case Kind::Needs:
      return Object(tuple_of(def_.tensor_parameters.size(),
                             [&](std::size_t k) { return PyBool_FromLong(static_cast<long>(needed >> k & 1U)); }));
    case Kind::Argument:
    case Kind::Meta:
    case Kind::Result: {
      const Saved::Kind kind = source.kind == Kind::Argument ? Saved::Kind::Argument
                               : source.kind == Kind::Meta   ? Saved::Kind::Meta
                                                             : Saved::Kind::Result;
      const Saved* saved = node.find(kind, source.index);
      return saved == nullptr ? Object::borrow(Py_None) : Object(unpack(*saved));
    }
  }
  return Object::borrow(Py_None);
}

void PyRules::apply(OpNode& node, const Grads& grads_in, Grads& grads_out) const {
  // Forward chose the dtypes; rules keep them, whatever region backward() is called in.
  const autograd::NoAutocast no_autocast;
  const std::uint64_t needed = needed_now(node);
  for (const Rule& rule : rules_) {
    if (!active(rule, needed)) continue;
    InlineVec<Object, 6> held;
    InlineVec<PyObject*, 7> args;
    args.push_back(nullptr);  // room for PY_VECTORCALL_ARGUMENTS_OFFSET
    for (const Source& source : rule.sources)
      args.push_back(held.emplace_back(evaluate(source, node, grads_in, needed)).get());
    const Object result(PyObject_Vectorcall(rule.function, args.data() + 1,
                                            rule.sources.size() | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
    if (!result) throw_python();
    const std::size_t count = def_.tensor_parameters.size();
    if (rule.target >= 0) {
      store(node, static_cast<std::size_t>(rule.target), result.get(), grads_out);
    } else if (count == 1) {
      const bool is_list = def_.parameters[def_.tensor_parameters[0]].tag == Tag::TensorList;
      const bool wrapped = !is_list && PyTuple_Check(result.get()) && PyTuple_GET_SIZE(result.get()) == 1;
      store(node, 0, wrapped ? PyTuple_GET_ITEM(result.get(), 0) : result.get(), grads_out);
    } else {
      check(PyTuple_Check(result.get()) && PyTuple_GET_SIZE(result.get()) == static_cast<Py_ssize_t>(count),
            ErrorKind::Runtime, node.name(), ": expected the gradient rule to return a tuple of ", count, " entries");
      for (std::size_t k = 0; k < count; ++k) {
        store(node, k, PyTuple_GET_ITEM(result.get(), static_cast<Py_ssize_t>(k)), grads_out);
      }
    }
  }
}

}  // namespace flambeau::python
