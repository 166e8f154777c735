// The tape as Python sees it: shared by the bindings of nodes, hooks, tensors' autograd attributes and custom
// Functions.
#pragma once

#include "autograd/meta.h"
#include "autograd/node.h"
#include "bindings/python.h"

namespace flambeau::python {

// ---- hooks (hooks.cpp) ---------------------------------------------------------------------------------------------

enum class HookKind : std::uint8_t { Tensor, Pre, Post, PostAccumulate };
class PyHook;
std::shared_ptr<PyHook> make_hook(PyObject* callable, HookKind kind);
std::shared_ptr<autograd::Hook> as_hook(const std::shared_ptr<PyHook>& hook);
std::int64_t hook_id(const PyHook& hook);
bool hook_removed(const autograd::Hook& hook);
PyObject* make_handle(const std::shared_ptr<PyHook>& hook);  // with remove(), id, and the context manager protocol

// Appends to a list of hooks, leaving out those removed meanwhile.
template <class Hooks>
PyObject* add_hook(Hooks& hooks, PyObject* callable, HookKind kind) {
  std::erase_if(hooks, [](const auto& entry) { return hook_removed(*entry.second); });
  const auto hook = make_hook(callable, kind);
  hooks.emplace_back(hook_id(*hook), as_hook(hook));
  return make_handle(hook);
}

// ---- nodes (node_type.cpp) -----------------------------------------------------------------------------------------

extern PyTypeObject* node_type;                        // flambeau._C._Node
PyObject* wrap_node(const Ref<autograd::Node>& node);  // new reference; None for null; the same object each time
autograd::Node* node_of(PyObject* object);             // of a grad_fn (either kind), null with TypeError set otherwise
extern PyMethodDef node_methods[];
extern PyGetSetDef node_getset[];
// For garbage collection: visits the Python objects that only `tensor` keeps alive through its history and hooks.
int visit_autograd(const Tensor& tensor, visitproc visit, void* arg);

// ---- custom functions (function.cpp) -------------------------------------------------------------------------------

extern PyTypeObject* function_base_type;           // flambeau._C._FunctionBase
autograd::Node* function_node(PyObject* context);  // null once the node is gone

// ---- binders, called by module.cpp after bind_tensor ---------------------------------------------------------------

void bind_autograd(nb::module_& m);  // everything below
void bind_hooks(nb::module_& m);
void bind_nodes(nb::module_& m);
void bind_grad_mode(nb::module_& m);
void bind_function(nb::module_& m);
void bind_tensor_autograd(nb::module_& m);

// Adds methods and attributes to a finished type.
void add_to_type(PyTypeObject* type, PyMethodDef* methods, PyGetSetDef* getset);
// A heap type from a spec; also put into the module.
PyTypeObject* make_type(nb::module_& m, PyType_Spec& spec, PyTypeObject* base = nullptr);

}  // namespace flambeau::python
