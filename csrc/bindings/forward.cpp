// Forward mode as Python sees it: levels, dual tensors, and the jvp of custom Functions.
#include "bindings/forward.h"

#include "autograd/forward.h"
#include "bindings/autograd.h"
#include "core/factory.h"

namespace flambeau::python {

namespace {

bool contains(PyObject* tuple, PyObject* item) {
  for (Py_ssize_t i = 0; tuple != nullptr && i < PyTuple_GET_SIZE(tuple); ++i) {
    if (PyTuple_GET_ITEM(tuple, i) == item) return true;
  }
  return false;
}

bool is_floating_tensor(PyObject* item) { return is_tensor(item) && is_differentiable(tensor_of(item).dtype()); }

// Tangents as jvp takes them: one per argument of forward, zeros for tensors without one if the Function asks for it.
Object jvp_arguments(const JvpCall& call) {
  const Py_ssize_t count = PyTuple_GET_SIZE(call.inputs);
  Object tuple(checked(PyTuple_New(count + 1)));
  PyTuple_SET_ITEM(tuple.get(), 0, Py_NewRef(call.context));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GET_ITEM(call.inputs, i);
    Tensor tangent = call.tangents[static_cast<std::size_t>(i)];
    if (!tangent.defined() && call.materialize && is_floating_tensor(item)) {
      const Tensor& input = tensor_of(item);
      tangent = zeros(input.sizes(), input.dtype(), input.device());
    }
    PyTuple_SET_ITEM(tuple.get(), i + 1, checked(wrap(std::move(tangent))));
  }
  return tuple;
}

bool is_view_of_input(const JvpCall& call, const Tensor& output) {
  if (!autograd::is_view(output)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call.inputs); ++i) {
    PyObject* item = PyTuple_GET_ITEM(call.inputs, i);
    if (is_tensor(item) && tensor_of(item).storage() == output.storage()) return true;
  }
  return false;
}

void set_output(const JvpCall& call, PyObject* output, PyObject* item, const Tensor& tangent) {
  const Tensor& tensor = tensor_of(output);
  if (contains(call.dirty, item)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call.inputs); ++i) {
      const Tensor& given = call.tangents[static_cast<std::size_t>(i)];
      if (PyTuple_GET_ITEM(call.inputs, i) != item || !given.defined()) continue;
      check(given.is(tangent),
            "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
            "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace.");
    }
    return autograd::update_tangent(tensor, tangent);
  }
  check(!is_view_of_input(call, tensor) || autograd::is_view(tangent),
        "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view.");
  autograd::set_tangent(tensor, tangent);
}

// ---- functions of flambeau._C --------------------------------------------------------------------------------------

PyObject* enter_dual_level_py(PyObject*, PyObject*) {
  return guarded([] { return PyLong_FromLongLong(autograd::enter_dual_level()); });
}

PyObject* exit_dual_level_py(PyObject*, PyObject* level) {
  const long long value = PyLong_AsLongLong(level);
  if (value == -1 && PyErr_Occurred() != nullptr) return nullptr;
  return guarded([&]() -> PyObject* {
    autograd::exit_dual_level(value);
    Py_RETURN_NONE;
  });
}

const Tensor& tensor_argument(PyObject* object, const char* op) {
  check(is_tensor(object), ErrorKind::Type, op, ": expected a Tensor, got ", Py_TYPE(object)->tp_name);
  return tensor_of(object);
}

PyObject* make_dual_py(PyObject*, PyObject* args) {
  PyObject *primal = nullptr, *tangent = nullptr;
  if (PyArg_ParseTuple(args, "OO:_make_dual", &primal, &tangent) == 0) return nullptr;
  return guarded([&] {
    return wrap(autograd::make_dual(tensor_argument(primal, "make_dual"), tensor_argument(tangent, "make_dual")));
  });
}

// (primal, tangent or None)
PyObject* unpack_dual_py(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    const Tensor& tensor = tensor_argument(object, "unpack_dual");
    const bool visible = !autograd::forward_paused();
    const Object primal(checked(wrap(autograd::primal_of(tensor))));
    const Object tangent(checked(wrap(visible ? autograd::tangent_of(tensor) : Tensor())));
    return PyTuple_Pack(2, primal.get(), tangent.get());
  });
}

PyObject* is_enabled_py(PyObject*, PyObject*) { return PyBool_FromLong(autograd::forward_paused() ? 0 : 1); }
PyObject* set_enabled_py(PyObject*, PyObject* enabled) {
  const int on = PyObject_IsTrue(enabled);
  if (on < 0) return nullptr;
  autograd::set_forward_paused(on == 0);
  Py_RETURN_NONE;
}

// _set_forward_kind(op name, "linear" | "bilinear" | "elementwise" | "holomorphic" | "at_one")
PyObject* set_forward_kind_py(PyObject*, PyObject* args) {
  const char *name = nullptr, *kind = nullptr;
  if (PyArg_ParseTuple(args, "ss:_set_forward_kind", &name, &kind) == 0) return nullptr;
  return guarded([&]() -> PyObject* {
    const OpDef* def = find_op(name);
    check(def != nullptr, ErrorKind::Value, "_set_forward_kind: there is no op '", name, "'");
    using autograd::ForwardKind;
    const std::string_view wanted = kind;
    autograd::set_forward_kind(*def, wanted == "linear"        ? ForwardKind::Linear
                                     : wanted == "bilinear"    ? ForwardKind::Bilinear
                                     : wanted == "elementwise" ? ForwardKind::Elementwise
                                     : wanted == "at_one"      ? ForwardKind::AtOne
                                                               : ForwardKind::Holomorphic);
    Py_RETURN_NONE;
  });
}

PyObject* is_active_py(PyObject*, PyObject*) { return PyBool_FromLong(autograd::forward_active ? 1 : 0); }

// _records_derivatives(): does what is computed now need derivatives, in either mode? Gradient rules that have a faster
// way without ask this.
PyObject* records_derivatives_py(PyObject*, PyObject*) {
  const bool forward = autograd::forward_active && !autograd::forward_paused() && !autograd::mode.inference;
  return PyBool_FromLong(forward || autograd::mode.grad ? 1 : 0);
}

// _is_differentiated(tensor): does somebody want derivatives in it, in either mode?
PyObject* is_differentiated_py(PyObject*, PyObject* object) {
  return guarded([&] {
    const Tensor& tensor = tensor_argument(object, "_is_differentiated");
    const bool dual = autograd::forward_active && !autograd::forward_paused() && autograd::tangent_of(tensor).defined();
    return PyBool_FromLong(dual || autograd::requires_grad(tensor) ? 1 : 0);
  });
}

PyMethodDef functions[] = {
    {"_enter_dual_level", enter_dual_level_py, METH_NOARGS, nullptr},
    {"_exit_dual_level", exit_dual_level_py, METH_O, nullptr},
    {"_is_dual_level_active", is_active_py, METH_NOARGS, nullptr},
    {"_records_derivatives", records_derivatives_py, METH_NOARGS, nullptr},
    {"_is_differentiated", is_differentiated_py, METH_O, nullptr},
    {"_make_dual", make_dual_py, METH_VARARGS, nullptr},
    {"_unpack_dual", unpack_dual_py, METH_O, nullptr},
    {"_is_fwd_grad_enabled", is_enabled_py, METH_NOARGS, nullptr},
    {"_set_fwd_grad_enabled", set_enabled_py, METH_O, nullptr},
    {"_set_forward_kind", set_forward_kind_py, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

std::vector<Tensor> input_tangents(PyObject* inputs) {
  std::vector<Tensor> tangents;
  if (!autograd::forward_active || autograd::forward_paused() || autograd::mode.inference) return tangents;
  bool any = false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inputs); ++i) {
    PyObject* item = PyTuple_GET_ITEM(inputs, i);
    tangents.push_back(is_tensor(item) ? autograd::tangent_of(tensor_of(item)) : Tensor());
    any |= tangents.back().defined();
  }
  if (!any) tangents.clear();
  return tangents;
}

void apply_jvp(const JvpCall& call) {
  const autograd::ForwardPause pause;
  const Object arguments = jvp_arguments(call);
  const Object derived(checked(PyObject_GetAttrString(call.cls, "_jvp_from_backward")));
  Object function(checked(PyObject_GetAttrString(call.cls, "jvp")));
  Object value;
  if (derived.get() == Py_True) {
    const Object module(checked(PyImport_ImportModule("flambeau.autograd.function")));
    function = Object(checked(PyObject_GetAttrString(module.get(), "_derived_jvp")));
    const Object tangents(checked(PyTuple_GetSlice(arguments.get(), 1, PyTuple_GET_SIZE(arguments.get()))));
    value =
        Object(checked(PyObject_CallFunctionObjArgs(function.get(), call.cls, call.inputs, tangents.get(), nullptr)));
  } else {
    value = Object(checked(PyObject_Call(function.get(), arguments.get(), nullptr)));
  }
  const Object found =
      PyTuple_Check(value.get()) ? Object::borrow(value.get()) : Object(checked(PyTuple_Pack(1, value.get())));
  const Py_ssize_t count = PyTuple_GET_SIZE(call.outputs);
  check(PyTuple_GET_SIZE(found.get()) == count,
        "Function's jvp returned an invalid number of forward gradients (expected ", count, " but got ",
        PyTuple_GET_SIZE(found.get()), ")");
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* output = PyTuple_GET_ITEM(call.outputs, i);
    PyObject* item = PyTuple_GET_ITEM(call.returned, i);
    PyObject* tangent = PyTuple_GET_ITEM(found.get(), i);
    if (tangent == Py_None) continue;
    check(is_tensor(tangent), "expected Variable or None (got ", Py_TYPE(tangent)->tp_name, ") for grad output ", i,
          ".");
    check(is_floating_tensor(output) && !contains(call.non_differentiable, item),
          "Function's jvp returned a gradient at position ", i,
          ", but  the corresponding forward output is not a differentiable Tensor.You should return None at that "
          "position instead.");
    set_output(call, output, item, tensor_of(tangent));
  }
}

void bind_forward(nb::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), functions) != 0) throw_python();
}

}  // namespace flambeau::python
