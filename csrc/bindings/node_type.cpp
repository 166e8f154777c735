// grad_fn objects: one Python type per node name under flambeau._C._Node, made at first use. A node remembers its
// wrapper, so `y.grad_fn is y.grad_fn` holds.
#include "bindings/autograd.h"

#include <structmember.h>  // after Python.h

#include <map>
#include <unordered_map>

#include "autograd/op_node.h"

namespace flambeau::python {

using autograd::Node;

PyTypeObject* node_type = nullptr;

namespace {

struct NodeObject {
  PyObject_HEAD Node* node;  // owned
  PyObject* weakrefs;
};

void node_dealloc(PyObject* self) {
  auto* object = reinterpret_cast<NodeObject*>(self);
  if (object->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  if (object->node != nullptr) {
    object->node->pyobj = nullptr;
    Ref<Node>::adopt(object->node).reset();
  }
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* node_repr(PyObject* self) {
  const Node* node = node_of(self);
  if (node == nullptr) return nullptr;
  const std::string_view full(Py_TYPE(self)->tp_name);
  return PyUnicode_FromFormat("<%s object at %p>", full.data() + full.rfind('.') + 1, static_cast<void*>(self));
}

PyTypeObject* type_named(const std::string& name) {
  static auto* types = new std::map<std::string, PyTypeObject*, std::less<>>;
  if (const auto found = types->find(name); found != types->end()) return found->second;
  auto* type_name = new std::string("flambeau._C." + name);  // has to live as long as the type
  PyType_Slot slots[] = {{0, nullptr}};
  PyType_Spec spec = {type_name->c_str(), sizeof(NodeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  PyObject* made = checked(PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(node_type)));
  auto* type = reinterpret_cast<PyTypeObject*>(made);
  types->emplace(name, type);
  return type;
}

// Runs fn(node) on the node behind `self`, for method and attribute slots.
template <class F>
PyObject* with_node(PyObject* self, F&& fn) {
  Node* node = node_of(self);
  if (node == nullptr) return nullptr;
  return guarded([&] { return fn(*node); });
}

PyObject* node_name(PyObject* self, PyObject*) {
  // The node of a custom Function may be gone before its context, which is what programs hold. The type has its name.
  if (PyType_IsSubtype(Py_TYPE(self), function_base_type) != 0) return PyUnicode_FromString(Py_TYPE(self)->tp_name);
  return with_node(self, [](Node& node) { return PyUnicode_FromString(node.name().c_str()); });
}

PyObject* node_register_hook(PyObject* self, PyObject* hook) {
  return with_node(self, [&](Node& node) { return add_hook(node.more().post_hooks, hook, HookKind::Post); });
}

PyObject* node_register_prehook(PyObject* self, PyObject* hook) {
  return with_node(self, [&](Node& node) { return add_hook(node.more().pre_hooks, hook, HookKind::Pre); });
}

PyObject* node_sequence_nr(PyObject* self, PyObject*) {
  return with_node(self, [](Node& node) { return PyLong_FromUnsignedLongLong(node.sequence_nr); });
}

PyObject* node_set_sequence_nr(PyObject* self, PyObject* value) {
  return with_node(self, [&](Node& node) -> PyObject* {
    node.sequence_nr = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred() != nullptr) throw_python();
    Py_RETURN_NONE;
  });
}

PyObject* node_next_functions(PyObject* self, void*) {
  return with_node(self, [](Node& node) {
    Object tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(node.next_edges.size()))));
    for (std::size_t i = 0; i < node.next_edges.size(); ++i) {
      const autograd::Edge& edge = node.next_edges[i];
      const Object next(wrap_node(edge.node));
      PyObject* pair = checked(Py_BuildValue("(OI)", next.get(), static_cast<unsigned>(edge.input_nr)));
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), pair);
    }
    return tuple.release();
  });
}

PyObject* node_metadata(PyObject* self, void*) {
  return with_node(self, [](Node& node) {
    auto& metadata = node.more().metadata;
    if (metadata == nullptr) {
      ++objects_held_by_tape;
      metadata = std::shared_ptr<void>(checked(PyDict_New()), [](void* dict) {
        const PyGILState_STATE state = PyGILState_Ensure();
        --objects_held_by_tape;
        Py_DECREF(static_cast<PyObject*>(dict));
        PyGILState_Release(state);
      });
    }
    return Py_NewRef(static_cast<PyObject*>(metadata.get()));
  });
}

PyObject* node_requires_grad(PyObject* self, void*) {
  return with_node(self, [](Node&) { return Py_NewRef(Py_True); });
}

PyObject* node_variable(PyObject* self, void*) {
  return with_node(self, [](Node& node) -> PyObject* {
    Tensor leaf = node.variable();
    if (leaf.defined()) return wrap(std::move(leaf));
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute 'variable'", node.name().c_str());
    return nullptr;
  });
}

PyObject* saved_to_python(const autograd::OpNode::Saved& saved, Node& node) {
  if (saved.tensors) {
    Object tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(saved.tensors->size()))));
    for (std::size_t i = 0; i < saved.tensors->size(); ++i) {
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), checked(wrap((*saved.tensors)[i].unpack(&node, true))));
    }
    return tuple.release();
  }
  if (saved.value.is_none()) return wrap(saved.tensor.unpack(&node, true));
  return to_python(saved.value);
}

// _saved_<argument> and _saved_result: what the op kept. `self` is PyTorch's name of the first argument.
PyObject* node_getattro(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found != nullptr || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return found;
  const char* text = PyUnicode_AsUTF8(name);
  auto* node = dynamic_cast<autograd::OpNode*>(node_of(self));
  if (text == nullptr || node == nullptr || std::string_view(text).substr(0, 7) != "_saved_") return nullptr;
  std::string_view wanted(text + 7);
  return guarded([&]() -> PyObject* {
    for (const autograd::OpNode::Saved& saved : node->saved) {
      const bool result = saved.kind == autograd::OpNode::Saved::Kind::Result;
      std::string_view actual = result ? std::string_view(node->def->results[saved.index].name)
                                       : std::string_view(node->def->parameters[saved.index].name);
      if (result && actual.empty()) actual = "result";
      if (actual != wanted && !(wanted == "self" && !result && saved.index == 0)) continue;
      PyErr_Clear();
      return saved_to_python(saved, *node);
    }
    return nullptr;  // the AttributeError is still set
  });
}

// The usual names, and _saved_<argument> of what is saved.
PyObject* node_dir(PyObject* self, PyObject*) {
  return with_node(self, [&](Node& node) {
    Object names(checked(PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyBaseObject_Type), "__dir__", "O", self)));
    const auto* op = dynamic_cast<autograd::OpNode*>(&node);
    if (op == nullptr) return names.release();
    for (const autograd::OpNode::Saved& saved : op->saved) {
      if (saved.kind == autograd::OpNode::Saved::Kind::Meta) continue;
      const bool result = saved.kind == autograd::OpNode::Saved::Kind::Result;
      std::string name = result ? op->def->results[saved.index].name : op->def->parameters[saved.index].name;
      if (name.empty()) name = "result";
      if (!result && saved.index == 0) name = "self";
      const Object text(checked(PyUnicode_FromString(("_saved_" + name).c_str())));
      if (PyList_Append(names.get(), text.get()) != 0) throw_python();
    }
    return names.release();
  });
}

PyMemberDef node_members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(NodeObject, weakrefs), READONLY, nullptr},
                              {nullptr, 0, 0, 0, nullptr}};

}  // namespace

PyMethodDef node_methods[] = {
    {"name", node_name, METH_NOARGS, "Name of the node, as in \"MulBackward0\"."},
    {"register_hook", node_register_hook, METH_O,
     "Call hook(grad_inputs, grad_outputs) after the node ran; what it returns replaces grad_inputs."},
    {"register_prehook", node_register_prehook, METH_O,
     "Call hook(grad_outputs) before the node runs; what it returns replaces grad_outputs."},
    {"_sequence_nr", node_sequence_nr, METH_NOARGS, nullptr},
    {"_set_sequence_nr", node_set_sequence_nr, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef node_getset[] = {
    {"next_functions", node_next_functions, nullptr, "(node, input number) of each differentiable input.", nullptr},
    {"metadata", node_metadata, nullptr, "A dict for the user.", nullptr},
    {"requires_grad", node_requires_grad, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

namespace {
PyMethodDef plain_node_methods[] = {{"__dir__", node_dir, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyGetSetDef plain_node_getset[] = {
    {"variable", node_variable, nullptr, "The leaf of an AccumulateGrad.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot node_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)},
                            {Py_tp_repr, reinterpret_cast<void*>(node_repr)},
                            {Py_tp_getattro, reinterpret_cast<void*>(node_getattro)},
                            {Py_tp_methods, node_methods},
                            {Py_tp_getset, node_getset},
                            {Py_tp_members, node_members},
                            {0, nullptr}};
PyType_Spec node_spec = {"flambeau._C._Node", sizeof(NodeObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, node_slots};
}  // namespace

Node* node_of(PyObject* object) {
  if (PyType_IsSubtype(Py_TYPE(object), node_type) != 0) return reinterpret_cast<NodeObject*>(object)->node;
  if (PyType_IsSubtype(Py_TYPE(object), function_base_type) != 0) {
    Node* node = function_node(object);
    if (node == nullptr) {
      PyErr_SetString(PyExc_RuntimeError,
                      "this attribute is only available on the grad_fn of a custom Function while its output is alive");
    }
    return node;
  }
  PyErr_Format(PyExc_TypeError, "expected a grad_fn, got %s", Py_TYPE(object)->tp_name);
  return nullptr;
}

PyObject* wrap_node(const Ref<Node>& node) {
  if (!node) Py_RETURN_NONE;
  if (void* context = node->python_context(); context != nullptr) return Py_NewRef(static_cast<PyObject*>(context));
  if (node->pyobj != nullptr) return Py_NewRef(static_cast<PyObject*>(node->pyobj));
  std::string name = node->name();
  name.erase(0, name.rfind(':') + 1);  // "torch::autograd::AccumulateGrad" is the name() of the type AccumulateGrad
  PyTypeObject* type = type_named(name);
  PyObject* self = checked(type->tp_alloc(type, 0));
  reinterpret_cast<NodeObject*>(self)->node = Ref<Node>(node).release();
  node->pyobj = self;
  return self;
}

// ---- garbage collection --------------------------------------------------------------------------------------------

namespace {

// Walks what only the given tensor keeps alive: tape, saved tensors, gradients; and visits the Python objects on the
// way. A thing is walked into when all its references were met on the walk: then it dies with the tensor.
class Walk final : public autograd::NodeVisitor {
 public:
  Walk(visitproc visit_object, void* arg) : visit_(visit_object), arg_(arg) {}

  int run(TensorImpl* root) {
    into(*root);
    while (stop_ == 0 && !(nodes_.empty() && tensors_.empty())) {
      if (!nodes_.empty()) {
        into(*pop(nodes_));
      } else {
        into(*pop(tensors_));
      }
    }
    return stop_;
  }
  void tensor(const Tensor& held) override {
    if (!held.defined() || !complete(held.impl())) return;
    TensorImpl* impl = held.impl();
    if (impl->pyobj == nullptr) {
      tensors_.push_back(impl);
    } else if (impl->owns_pyobj) {
      object(impl->pyobj);  // its own traversal goes on from there
    }
  }
  void node(Node* held) override {
    if (held != nullptr && complete(held)) nodes_.push_back(held);
  }

 private:
  template <class T>
  bool complete(T* thing) {
    const std::int64_t uses = thing->use_count();
    return uses == 1 || ++seen_[thing] == uses;
  }
  template <class T>
  static T* pop(std::vector<T*>& stack) {
    T* top = stack.back();
    stack.pop_back();
    return top;
  }
  void object(void* held) {
    if (stop_ == 0 && held != nullptr) stop_ = visit_(static_cast<PyObject*>(held), arg_);
  }
  template <class Hooks>
  void hooks(const Hooks& list) {
    for (const auto& entry : list) object(entry.second->callable());
  }
  void into(TensorImpl& impl) {
    auto* meta = static_cast<autograd::Meta*>(impl.autograd);
    if (meta == nullptr) return;
    tensor(meta->grad);
    tensor(meta->base);
    node(meta->grad_fn.get());
    if (!meta->rare) return;
    if (meta->rare->tangent != nullptr) tensor(*meta->rare->tangent);
    hooks(meta->rare->hooks);
    hooks(meta->rare->post_accumulate_hooks);
  }
  void into(Node& held) {
    object(held.python_context());
    held.visit(*this);
    for (const autograd::Edge& edge : held.next_edges) node(edge.node.get());
    if (!held.extras) return;
    hooks(held.extras->pre_hooks);
    hooks(held.extras->post_hooks);
    for (const auto& entry : held.extras->tensor_hooks) object(entry.hook->callable());
    object(held.extras->metadata.get());
  }

  visitproc visit_;
  void* arg_;
  int stop_ = 0;
  std::unordered_map<void*, std::int64_t> seen_;
  std::vector<Node*> nodes_;
  std::vector<TensorImpl*> tensors_;
};

}  // namespace

int visit_autograd(const Tensor& tensor, visitproc visit, void* arg) {
  if (tensor.impl()->autograd == nullptr || objects_held_by_tape == 0) return 0;
  return Walk(visit, arg).run(tensor.impl());
}

// The tensor is garbage: what it alone holds goes.
void drop_autograd(const Tensor& tensor) {
  autograd::Meta* meta = autograd::meta_of(tensor);
  if (meta == nullptr) return;
  const Tensor grad = std::move(meta->grad);
  const std::unique_ptr<autograd::Meta::Rare> rare = meta->needs_replay() ? nullptr : std::move(meta->rare);
}

// ---- types ---------------------------------------------------------------------------------------------------------

void add_to_type(PyTypeObject* type, PyMethodDef* methods, PyGetSetDef* getset) {
  for (; methods != nullptr && methods->ml_name != nullptr; ++methods) {
    const Object method(checked(PyDescr_NewMethod(type, methods)));
    if (PyDict_SetItemString(type->tp_dict, methods->ml_name, method.get()) != 0) throw_python();
  }
  for (; getset != nullptr && getset->name != nullptr; ++getset) {
    const Object attribute(checked(PyDescr_NewGetSet(type, getset)));
    if (PyDict_SetItemString(type->tp_dict, getset->name, attribute.get()) != 0) throw_python();
  }
  PyType_Modified(type);
}

PyTypeObject* make_type(nb::module_& m, PyType_Spec& spec, PyTypeObject* base) {
  PyObject* type = checked(PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(base)));
  const std::string_view full(spec.name);
  const std::string name(full.substr(full.rfind('.') + 1));
  if (PyModule_AddObjectRef(m.ptr(), name.c_str(), type) != 0) throw_python();
  return reinterpret_cast<PyTypeObject*>(type);
}

void bind_nodes(nb::module_& m) {
  node_type = make_type(m, node_spec);
  add_to_type(node_type, plain_node_methods, plain_node_getset);
  traverse_autograd = &visit_autograd;
  clear_autograd = &drop_autograd;
}

}  // namespace flambeau::python
