// Grad, inference and anomaly mode: switches, and a guard type that no_grad and its relatives subclass in Python.
#include "bindings/autograd.h"

namespace flambeau::python {

namespace {

using autograd::mode;

// What a guard sets on entry. Restored on exit; one guard object may be entered again while active.
enum class Action : std::uint8_t { Grad, Inference };

struct GuardObject {
  PyObject_HEAD
  Action action;
  bool value;
  std::uint8_t depth;
  std::uint64_t saved;  // two bits per level: requested, inference
};

constexpr std::uint8_t kMaxDepth = 32;

int guard_init(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"action", "value", nullptr};
  int action = 0, value = 0;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "ip", const_cast<char**>(names), &action, &value) == 0) return -1;
  auto* guard = reinterpret_cast<GuardObject*>(self);
  guard->action = static_cast<Action>(action);
  guard->value = value != 0;
  return 0;
}

PyObject* guard_enter(PyObject* self, PyObject*) {
  auto* guard = reinterpret_cast<GuardObject*>(self);
  if (guard->depth == kMaxDepth) {
    PyErr_SetString(PyExc_RuntimeError, "grad mode: one guard object is entered too often; make a new one");
    return nullptr;
  }
  guard->saved = guard->saved << 2U | (mode.requested ? 1U : 0U) | (mode.inference ? 2U : 0U);
  ++guard->depth;
  if (guard->action == Action::Grad) {
    mode.set_grad(guard->value);
  } else {
    mode.set_inference(guard->value);
  }
  Py_RETURN_NONE;
}

PyObject* guard_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  auto* guard = reinterpret_cast<GuardObject*>(self);
  if (guard->depth == 0) {
    PyErr_SetString(PyExc_RuntimeError, "grad mode: left a guard that was not entered");
    return nullptr;
  }
  mode.inference = (guard->saved & 2U) != 0;
  mode.set_grad((guard->saved & 1U) != 0);
  guard->saved >>= 2U;
  --guard->depth;
  Py_RETURN_NONE;
}

void guard_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef guard_methods[] = {
    {"__enter__", guard_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(guard_exit)), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot guard_slots[] = {{Py_tp_init, reinterpret_cast<void*>(guard_init)},
                             {Py_tp_dealloc, reinterpret_cast<void*>(guard_dealloc)},
                             {Py_tp_methods, guard_methods},
                             {0, nullptr}};
PyType_Spec guard_spec = {"flambeau._C._ModeGuard", sizeof(GuardObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                          guard_slots};

// no_grad() and enable_grad() take nothing: their own type skips the argument parsing.
template <bool kValue>
int fixed_init(PyObject* self, PyObject*, PyObject*) {
  auto* guard = reinterpret_cast<GuardObject*>(self);
  guard->action = Action::Grad;
  guard->value = kValue;
  return 0;
}
PyType_Slot no_grad_slots[] = {{Py_tp_init, reinterpret_cast<void*>(&fixed_init<false>)}, {0, nullptr}};
PyType_Spec no_grad_spec = {"flambeau._C._NoGradGuard", sizeof(GuardObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                            no_grad_slots};
PyType_Slot enable_grad_slots[] = {{Py_tp_init, reinterpret_cast<void*>(&fixed_init<true>)}, {0, nullptr}};
PyType_Spec enable_grad_spec = {"flambeau._C._EnableGradGuard", sizeof(GuardObject), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, enable_grad_slots};

PyObject* is_grad_enabled(PyObject*, PyObject*) { return PyBool_FromLong(mode.requested ? 1 : 0); }
PyObject* is_inference_mode_enabled(PyObject*, PyObject*) { return PyBool_FromLong(mode.inference ? 1 : 0); }
PyObject* is_anomaly_enabled(PyObject*, PyObject*) { return PyBool_FromLong(mode.anomaly ? 1 : 0); }
PyObject* is_anomaly_check_nan_enabled(PyObject*, PyObject*) { return PyBool_FromLong(mode.check_nan ? 1 : 0); }

PyObject* set_grad_mode(PyObject*, PyObject* value) {
  if (!PyBool_Check(value)) {
    PyErr_Format(PyExc_TypeError, "set_grad_enabled: expected mode to be a bool, got %s", Py_TYPE(value)->tp_name);
    return nullptr;
  }
  mode.set_grad(value == Py_True);
  Py_RETURN_NONE;
}

PyObject* set_anomaly(PyObject*, PyObject* args) {
  int enabled = 0, check_nan = 1;
  if (PyArg_ParseTuple(args, "p|p", &enabled, &check_nan) == 0) return nullptr;
  mode.anomaly = enabled != 0;
  mode.check_nan = check_nan != 0;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, "True if operations are being recorded for backward."},
    {"is_inference_mode_enabled", is_inference_mode_enabled, METH_NOARGS, "True inside inference_mode()."},
    {"is_anomaly_enabled", is_anomaly_enabled, METH_NOARGS, "True inside detect_anomaly()."},
    {"is_anomaly_check_nan_enabled", is_anomaly_check_nan_enabled, METH_NOARGS,
     "True if anomaly mode looks for NaN in gradients."},
    {"_set_grad_enabled", set_grad_mode, METH_O, nullptr},
    {"_set_anomaly_enabled", set_anomaly, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// The user's stack without the library's own frames, through flambeau.autograd.anomaly_mode.
std::string capture_stack() {
  if (PyGILState_Check() == 0) return {};
  const Object module(PyImport_ImportModule("flambeau.autograd.anomaly_mode"));
  const Object text(module ? PyObject_CallMethod(module.get(), "_format_user_stack", nullptr) : nullptr);
  const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (utf8 == nullptr) {
    PyErr_Clear();
    return {};
  }
  return utf8;
}

// One warning per node of the chain of parents: in double backward each was made while the next one was evaluated.
void report_anomaly(const autograd::Node& node) {
  // An exception may be pending as a C++ object only; the Python error indicator is free here.
  const autograd::Node* current = &node;
  bool first = true;
  while (current != nullptr && current->extras) {
    const std::string& stack = current->extras->traceback;
    const std::string name = current->name();
    const std::string message =
        stack.empty() ? "Error detected in " + name + ". No forward pass information available. Enable detect anomaly during "
                        "forward pass for more information."
        : first ? "Error detected in " + name + ". Traceback of forward call that caused the error:\n" + stack
                : "\n\nPrevious calculation was induced by " + name + ". Traceback of forward call that induced the previous "
                  "calculation:\n" + stack;
    if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) != 0) throw_python();
    first = false;
    current = current->extras->parent.get();
  }
}

}  // namespace

void bind_grad_mode(nb::module_& m) {
  PyTypeObject* guard = make_type(m, guard_spec);
  make_type(m, no_grad_spec, guard);
  make_type(m, enable_grad_spec, guard);
  if (PyModule_AddFunctions(m.ptr(), functions) != 0) throw_python();
  autograd::anomaly_callbacks.capture = &capture_stack;
  autograd::anomaly_callbacks.report = &report_anomaly;
}

}  // namespace flambeau::python
