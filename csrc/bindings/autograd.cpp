// Autograd attributes and methods of tensors, and the entry to the engine.
#include "bindings/autograd.h"

#include "autograd/engine.h"
#include "bindings/forward.h"
#include "core/factory.h"

namespace flambeau::python {

namespace {

using autograd::Meta;

const Tensor& self_of(PyObject* self) { return tensor_of(self); }

// ---- attributes ----------------------------------------------------------------------------------------------------

PyObject* get_grad(PyObject* self, void*) {
  const Tensor& tensor = self_of(self);
  const Meta* meta = autograd::meta_of(tensor);
  if (meta != nullptr && meta->grad.defined()) [[likely]]
    return guarded([&] { return wrap(meta->grad); });
  return guarded([&]() -> PyObject* {
    if (meta != nullptr && !meta->retains_grad && !autograd::is_leaf(tensor) &&
        PyErr_WarnEx(
            PyExc_UserWarning,
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't "
            "be populated during autograd.backward(). If you indeed want the .grad field to be populated for a "
            "non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
            "mistake, make sure you access the leaf Tensor instead.",
            1) != 0) {
      throw_python();
    }
    Py_RETURN_NONE;
  });
}

void check_assigned_grad(const Tensor& tensor, const Tensor& grad) {
  check(!grad.is(tensor), "can't assign Variable as its own grad");
  const char* fix = ". Please ensure that the gradient and the tensor ";
  check(grad.dtype() == tensor.dtype(), "attempting to assign a gradient with dtype '", name_of(grad.dtype()),
        "' to a tensor with dtype '", name_of(tensor.dtype()), "'", fix, "have the same dtype");
  check(grad.public_device() == tensor.public_device(), "attempting to assign a gradient with device type '",
        grad.public_device(), "' to a tensor with device type '", tensor.public_device(), "'", fix,
        "are on the same device");
  check(grad.sizes() == tensor.sizes(), "attempting to assign a gradient of size '", grad.sizes(),
        "' to a tensor of size '", tensor.sizes(), "'", fix, "are the same size");
}

int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        const Tensor& tensor = self_of(self);
        if (value == nullptr || value == Py_None) {
          if (Meta* meta = autograd::meta_of(tensor); meta != nullptr) meta->grad.reset();
          return 0;
        }
        check(is_tensor(value), ErrorKind::Type, "assigned grad expected to be a Tensor or None but got grad of type ",
              Py_TYPE(value)->tp_name);
        check_assigned_grad(tensor, tensor_of(value));
        autograd::ensure_meta(tensor).grad = tensor_of(value);
        return 0;
      },
      -1);
}

PyObject* get_grad_fn(PyObject* self, void*) {
  return guarded([&] { return wrap_node(autograd::grad_fn(self_of(self))); });
}

int set_grad_fn(PyObject* self, PyObject* value, void*) {
  if (value != nullptr && value != Py_None) {
    PyErr_SetString(PyExc_RuntimeError, "_grad_fn can be only set to None");
    return -1;
  }
  return guarded(
      [&] {
        autograd::detach_inplace(self_of(self));
        return 0;
      },
      -1);
}

PyObject* get_is_leaf(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(autograd::is_leaf(self_of(self)) ? 1 : 0); });
}

PyObject* get_requires_grad(PyObject* self, void*) {
  return PyBool_FromLong(autograd::requires_grad(self_of(self)) ? 1 : 0);
}

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  if (value == nullptr || !PyBool_Check(value)) {
    PyErr_SetString(PyExc_RuntimeError, "requires_grad must be a bool");
    return -1;
  }
  return guarded(
      [&] {
        autograd::set_requires_grad(self_of(self), value == Py_True);
        return 0;
      },
      -1);
}

PyObject* get_retains_grad(PyObject* self, void*) {
  const Meta* meta = autograd::meta_of(self_of(self));
  return PyBool_FromLong(meta != nullptr && meta->retains_grad ? 1 : 0);
}

PyObject* get_version(PyObject* self, void*) {
  return guarded([&] {
    const Tensor& tensor = self_of(self);
    check(!tensor.impl()->inference, "Inference tensors do not track version counter.");
    return PyLong_FromUnsignedLong(tensor.impl()->untracked_version ? 0 : tensor.storage()->version());
  });
}

PyObject* get_base(PyObject* self, void*) {
  const Meta* meta = autograd::meta_of(self_of(self));
  if (meta == nullptr || !meta->base.defined()) Py_RETURN_NONE;
  return guarded([&] { return wrap(meta->base); });
}

PyObject* get_output_nr(PyObject* self, void*) {
  return guarded([&] {
    const Tensor& tensor = self_of(self);
    const Meta* meta = autograd::grad_fn(tensor) ? autograd::meta_of(tensor) : nullptr;
    return PyLong_FromUnsignedLong(meta != nullptr ? meta->output_nr : 0);
  });
}

PyGetSetDef attributes[] = {
    {"grad", get_grad, set_grad, "Gradient accumulated by backward(), or None.", nullptr},
    {"_grad", get_grad, set_grad, nullptr, nullptr},
    {"grad_fn", get_grad_fn, nullptr, "The node that computed this tensor; None for leaves.", nullptr},
    {"_grad_fn", get_grad_fn, set_grad_fn, nullptr, nullptr},
    {"is_leaf", get_is_leaf, nullptr, "True if no recorded operation made this tensor.", nullptr},
    {"requires_grad", get_requires_grad, set_requires_grad, "True if operations on this tensor are recorded.", nullptr},
    {"retains_grad", get_retains_grad, nullptr, "True after retain_grad() on a non-leaf.", nullptr},
    {"_version", get_version, nullptr, nullptr, nullptr},
    {"_base", get_base, nullptr, nullptr, nullptr},
    {"output_nr", get_output_nr, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

// ---- hooks and flags -----------------------------------------------------------------------------------------------

PyObject* register_hook(PyObject* self, PyObject* hook) {
  return guarded([&]() -> PyObject* {
    const Tensor& tensor = self_of(self);
    check(autograd::requires_grad(tensor), "cannot register a hook on a tensor that doesn't require gradient");
    const Ref<autograd::Node>& node = autograd::grad_fn(tensor);
    if (!node) return add_hook(autograd::ensure_meta(tensor).more().hooks, hook, HookKind::Tensor);
    auto& hooks = node->more().tensor_hooks;
    std::erase_if(hooks, [](const auto& entry) { return hook_removed(*entry.hook); });
    const auto made = make_hook(hook, HookKind::Tensor);
    hooks.push_back({hook_id(*made), autograd::meta_of(tensor)->output_nr, as_hook(made)});
    return make_handle(made);
  });
}

PyObject* register_post_accumulate_grad_hook(PyObject* self, PyObject* hook) {
  return guarded([&] {
    const Tensor& tensor = self_of(self);
    check(autograd::requires_grad(tensor), "cannot register a hook on a tensor that doesn't require gradient");
    check(autograd::is_leaf(tensor), "post accumulate grad hooks cannot be registered on non-leaf tensors");
    return add_hook(autograd::ensure_meta(tensor).more().post_accumulate_hooks, hook, HookKind::PostAccumulate);
  });
}

PyObject* retain_grad(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    autograd::retain_grad(self_of(self));
    Py_RETURN_NONE;
  });
}

PyObject* requires_grad_inplace(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"requires_grad", nullptr};
  int value = 1;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "|p:requires_grad_", const_cast<char**>(names), &value) == 0)
    return nullptr;
  return guarded([&] {
    autograd::set_requires_grad(self_of(self), value != 0);
    return Py_NewRef(self);
  });
}

PyObject* detach_inplace(PyObject* self, PyObject*) {
  return guarded([&] {
    autograd::detach_inplace(self_of(self));
    return Py_NewRef(self);
  });
}

PyObject* is_view(PyObject* self, PyObject*) { return PyBool_FromLong(autograd::is_view(self_of(self)) ? 1 : 0); }
PyObject* is_inference(PyObject* self, PyObject*) { return PyBool_FromLong(self_of(self).impl()->inference ? 1 : 0); }

// ---- backward ------------------------------------------------------------------------------------------------------

Tensor ones_like(const Tensor& tensor) { return full(tensor.sizes(), Scalar(1.0), tensor.dtype(), tensor.device()); }

void add_root(autograd::Request& request, const Tensor& tensor, Py_ssize_t index, Tensor grad) {
  autograd::Edge edge = autograd::gradient_edge(tensor);
  check(static_cast<bool>(edge.node), "element ", index,
        " of tensors does not require grad and does not have a grad_fn");
  request.roots.push_back(std::move(edge));
  request.root_grads.push_back(std::move(grad));
}

// The usual `loss.backward()`; everything else is autograd.backward in Python.
PyObject* backward(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const Tensor& tensor = self_of(self);
  if (count == 0 && names == nullptr && tensor.numel() == 1 && is_floating(tensor.dtype())) [[likely]] {
    return guarded([&]() -> PyObject* {
      autograd::Request request;
      add_root(request, tensor, 0, ones_like(tensor));
      run_backward(std::move(request));
      Py_RETURN_NONE;
    });
  }
  static PyObject* function = nullptr;
  if (function == nullptr) {
    const Object module(PyImport_ImportModule("flambeau.autograd"));
    function = module ? PyObject_GetAttrString(module.get(), "_tensor_backward") : nullptr;
    if (function == nullptr) return nullptr;
  }
  std::vector<PyObject*> all{self};
  all.insert(all.end(), args, args + count + (names != nullptr ? PyTuple_GET_SIZE(names) : 0));
  return PyObject_Vectorcall(function, all.data(), static_cast<std::size_t>(count + 1), names);
}

// A leaf or non-leaf tensor as what a gradient is asked for.
autograd::Edge input_edge(PyObject* object, bool accumulate) {
  check(is_tensor(object), ErrorKind::Type, "inputs: expected tensors, got ", Py_TYPE(object)->tp_name);
  const Tensor& tensor = tensor_of(object);
  if (accumulate && !autograd::is_leaf(tensor)) autograd::retain_grad(tensor);
  autograd::Edge edge = autograd::gradient_edge(tensor);
  check(static_cast<bool>(edge.node), "One of the differentiated Tensors does not require grad");
  return edge;
}

// tensors and grads are tuples; a root may also be a (node, output number) pair.
void add_roots(autograd::Request& request, PyObject* tensors, PyObject* grads) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i) {
    PyObject* item = PyTuple_GET_ITEM(tensors, i);
    PyObject* grad = PyTuple_GET_ITEM(grads, i);
    Tensor cotangent = grad == Py_None ? Tensor() : tensor_of(grad);
    if (is_tensor(item)) {
      if (!cotangent.defined()) cotangent = ones_like(tensor_of(item));
      add_root(request, tensor_of(item), i, std::move(cotangent));
    } else {
      autograd::Node* node = node_of(PyTuple_GET_ITEM(item, 0));
      if (node == nullptr) throw_python();
      request.roots.push_back({Ref<autograd::Node>::share(node),
                               static_cast<std::uint32_t>(PyLong_AsUnsignedLong(PyTuple_GET_ITEM(item, 1)))});
      request.root_grads.push_back(std::move(cotangent));
    }
  }
}

autograd::Edge edge_of(PyObject* item, bool accumulate) {
  if (!PyTuple_Check(item)) return input_edge(item, accumulate);
  autograd::Node* node = node_of(PyTuple_GET_ITEM(item, 0));
  if (node == nullptr) throw_python();
  return {Ref<autograd::Node>::share(node),
          static_cast<std::uint32_t>(PyLong_AsUnsignedLong(PyTuple_GET_ITEM(item, 1)))};
}

// _run_backward(tensors, grad_tensors, retain_graph, create_graph, inputs, allow_unused, accumulate)
PyObject* run_backward_py(PyObject*, PyObject* args) {
  PyObject *tensors = nullptr, *grads = nullptr, *inputs = nullptr;
  int retain_graph = 0, create_graph = 0, allow_unused = 0, accumulate = 0;
  if (PyArg_ParseTuple(args, "O!O!ppO!pp", &PyTuple_Type, &tensors, &PyTuple_Type, &grads, &retain_graph, &create_graph,
                       &PyTuple_Type, &inputs, &allow_unused, &accumulate) == 0) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    check(PyTuple_GET_SIZE(tensors) == PyTuple_GET_SIZE(grads), "got ", PyTuple_GET_SIZE(tensors), " tensors and ",
          PyTuple_GET_SIZE(grads), " gradients");
    autograd::Request request;
    request.retain_graph = retain_graph != 0;
    request.create_graph = create_graph != 0;
    request.accumulate = accumulate != 0;
    add_roots(request, tensors, grads);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inputs); ++i) {
      request.inputs.push_back(edge_of(PyTuple_GET_ITEM(inputs, i), request.accumulate));
    }
    const std::vector<Tensor> found = run_backward(std::move(request));
    Object result(checked(PyTuple_New(static_cast<Py_ssize_t>(found.size()))));
    for (std::size_t i = 0; i < found.size(); ++i) {
      check(allow_unused != 0 || found[i].defined(), "The differentiated Tensor at index ", i,
            " appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.");
      PyTuple_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i), checked(wrap(found[i])));
    }
    emit_queued_warnings();
    return result.release();
  });
}

PyObject* queue_callback_py(PyObject*, PyObject* callback) {
  return guarded([&]() -> PyObject* {
    auto held = std::shared_ptr<PyObject>(Py_NewRef(callback), [](PyObject* object) { Py_DECREF(object); });
    autograd::queue_callback([held] { const Object result(checked(PyObject_CallNoArgs(held.get()))); });
    Py_RETURN_NONE;
  });
}

// (grad_fn or AccumulateGrad, output number) of a tensor
PyObject* gradient_edge_py(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    check(is_tensor(object), ErrorKind::Type, "get_gradient_edge: expected a Tensor, got ", Py_TYPE(object)->tp_name);
    const autograd::Edge edge = autograd::gradient_edge(tensor_of(object));
    check(static_cast<bool>(edge.node),
          "It is not possible to get the gradient edge of a Tensor that does not require gradients");
    const Object node(wrap_node(edge.node));
    return checked(Py_BuildValue("(OI)", node.get(), static_cast<unsigned>(edge.input_nr)));
  });
}

PyObject* increment_version(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    check(is_tensor(object), ErrorKind::Type, "increment_version: expected a Tensor, got ", Py_TYPE(object)->tp_name);
    check(!tensor_of(object).impl()->inference, "Inference tensors do not track version counter.");
    autograd::bump_version(tensor_of(object));
    Py_RETURN_NONE;
  });
}

// _as_subclass(tensor, cls): a view of the tensor, with its history, as an instance of cls.
PyObject* as_subclass(PyObject*, PyObject* args) {
  PyObject *object = nullptr, *cls = nullptr;
  if (PyArg_ParseTuple(args, "OO!", &object, &PyType_Type, &cls) == 0) return nullptr;
  return guarded([&]() -> PyObject* {
    auto* type = reinterpret_cast<PyTypeObject*>(cls);
    check(is_tensor(object), ErrorKind::Type, "as_subclass: expected a Tensor, got ", Py_TYPE(object)->tp_name);
    check(PyType_IsSubtype(type, tensor_base_type) != 0, ErrorKind::Type,
          "as_subclass: expected a subclass of Tensor, got ", type->tp_name);
    return wrap_as(call("alias", {tensor_of(object)}), type);
  });
}

PyObject* current_node(PyObject*, PyObject*) {
  return guarded([&] { return wrap_node(Ref<autograd::Node>::share(autograd::evaluating_node())); });
}

PyObject* will_execute_py(PyObject*, PyObject* object) {
  autograd::Node* node = node_of(object);
  if (node == nullptr) return nullptr;
  return PyBool_FromLong(autograd::will_execute(*node) ? 1 : 0);
}
PyObject* is_selective_py(PyObject*, PyObject*) {
  return PyBool_FromLong(autograd::current_run_is_selective() ? 1 : 0);
}
PyObject* current_run_py(PyObject*, PyObject*) { return PyLong_FromUnsignedLongLong(autograd::current_run_id()); }

PyCFunction as_function(PyObject* (*function)(PyObject*, PyObject*, PyObject*)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
PyCFunction as_function(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"backward", as_function(backward), METH_FASTCALL | METH_KEYWORDS,
     "backward(gradient=None, retain_graph=None, create_graph=False, inputs=None)\n--\n\n"
     "Add the gradient of this tensor to `.grad` of the leaves it was computed from."},
    {"register_hook", register_hook, METH_O,
     "Call hook(grad) when the gradient of this tensor is known; what it returns replaces it."},
    {"register_post_accumulate_grad_hook", register_post_accumulate_grad_hook, METH_O,
     "Call hook(tensor) after a gradient was accumulated into .grad of this leaf."},
    {"retain_grad", retain_grad, METH_NOARGS, "Keep the gradient of this non-leaf in .grad."},
    {"requires_grad_", as_function(requires_grad_inplace), METH_VARARGS | METH_KEYWORDS,
     "requires_grad_(requires_grad=True)\n--\n\nSwitch recording of operations on this leaf; returns it."},
    {"detach_", detach_inplace, METH_NOARGS, "Cut this tensor off its history; returns it."},
    {"_is_view", is_view, METH_NOARGS, nullptr},
    {"is_inference", is_inference, METH_NOARGS, "True if made in inference mode."},
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef functions[] = {
    {"_run_backward", run_backward_py, METH_VARARGS, nullptr},
    {"_queue_backward_callback", queue_callback_py, METH_O, nullptr},
    {"_gradient_edge", gradient_edge_py, METH_O, nullptr},
    {"_as_subclass", as_subclass, METH_VARARGS, nullptr},
    {"_increment_version", increment_version, METH_O, nullptr},
    {"_will_engine_execute", will_execute_py, METH_O, nullptr},
    {"_current_backward_is_selective", is_selective_py, METH_NOARGS, nullptr},
    {"_current_backward_id", current_run_py, METH_NOARGS, nullptr},
    {"_current_autograd_node", current_node, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void bind_tensor_autograd(nb::module_& m) {
  add_to_type(tensor_base_type, methods, attributes);
  if (PyModule_AddFunctions(m.ptr(), functions) != 0) throw_python();
}

void bind_autograd(nb::module_& m) {
  bind_hooks(m);
  bind_nodes(m);
  bind_grad_mode(m);
  bind_function(m);
  bind_forward(m);
  bind_tensor_autograd(m);
}

}  // namespace flambeau::python
