// Grad, inference and anomaly mode: switches, and a guard type that no_grad and its relatives subclass in Python.
#include "bindings/autograd.h"

namespace flambeau::python {

namespace {

using autograd::mode;

// What a guard switches. `SetGrad` does so when it is made, so that it works as a plain function call too.
enum class Action : std::uint8_t { NoGrad, EnableGrad, SetGrad, Inference };

struct GuardObject {
  PyObject_HEAD Action action;
  bool value;
  bool before;          // SetGrad: what it replaced
  std::uint8_t depth;   // one guard object may be entered again while active
  std::uint64_t saved;  // two bits per level: requested, inference
};
GuardObject* as_guard(PyObject* self) { return reinterpret_cast<GuardObject*>(self); }

constexpr std::uint8_t kMaxDepth = 32;

// One optional argument. A function in its place is `@no_grad` or `@inference_mode` without parentheses.
template <Action kAction>
PyObject* guard_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* argument = nullptr;
  if (PyTuple_GET_SIZE(args) != 0 || kwargs != nullptr) {
    static const char* names[] = {"mode", nullptr};
    if (PyArg_ParseTupleAndKeywords(args, kwargs, "|O", const_cast<char**>(names), &argument) == 0) return nullptr;
  }
  constexpr bool takes_mode = kAction == Action::SetGrad || kAction == Action::Inference;
  const bool decorates = kAction != Action::SetGrad && argument != nullptr && PyCallable_Check(argument) != 0;
  if (kAction == Action::SetGrad && argument == nullptr) {
    PyErr_SetString(PyExc_TypeError, "set_grad_enabled: expected one argument, mode");
    return nullptr;
  }
  if (takes_mode && argument != nullptr && !decorates && !PyBool_Check(argument)) {
    PyErr_Format(PyExc_TypeError, "%s: expected mode to be a bool, got %s",
                 kAction == Action::SetGrad ? "set_grad_enabled" : "inference_mode", Py_TYPE(argument)->tp_name);
    return nullptr;
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  GuardObject* guard = as_guard(self);
  guard->action = kAction;
  guard->value = kAction != Action::NoGrad;
  if (takes_mode && argument != nullptr && !decorates) guard->value = argument == Py_True;
  if (kAction == Action::SetGrad) {
    guard->before = mode.requested;
    mode.set_grad(guard->value);
  }
  if (!decorates) return self;
  PyObject* wrapped = PyObject_CallOneArg(self, argument);
  Py_DECREF(self);
  return wrapped;
}

PyObject* guard_enter(PyObject* self, PyObject*) {
  GuardObject* guard = as_guard(self);
  if (guard->depth == kMaxDepth) {
    PyErr_SetString(PyExc_RuntimeError, "grad mode: one guard object is entered too often; make a new one");
    return nullptr;
  }
  const bool requested = guard->action == Action::SetGrad && guard->depth == 0 ? guard->before : mode.requested;
  guard->saved = guard->saved << 2U | (requested ? 1U : 0U) | (mode.inference ? 2U : 0U);
  ++guard->depth;
  if (guard->action == Action::Inference) {
    mode.set_inference(guard->value);
  } else {
    mode.set_grad(guard->value);
  }
  Py_RETURN_NONE;
}

PyObject* guard_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  GuardObject* guard = as_guard(self);
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

// SetGrad used as a decorator: making the guard must not have changed the mode.
PyObject* guard_undo(PyObject* self, PyObject*) {
  if (as_guard(self)->action == Action::SetGrad) mode.set_grad(as_guard(self)->before);
  Py_RETURN_NONE;
}

PyObject* guard_mode(PyObject* self, void*) { return PyBool_FromLong(as_guard(self)->value ? 1 : 0); }

void guard_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

int guard_init(PyObject*, PyObject*, PyObject*) { return 0; }

PyMethodDef guard_methods[] = {
    {"__enter__", guard_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(guard_exit)), METH_FASTCALL, nullptr},
    {"_undo", guard_undo, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef guard_getset[] = {{"mode", guard_mode, nullptr, nullptr, nullptr},
                              {nullptr, nullptr, nullptr, nullptr, nullptr}};

template <Action kAction>
void add_guard(nb::module_& m, const char* name) {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(&guard_new<kAction>)},
                         {Py_tp_init, reinterpret_cast<void*>(guard_init)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(guard_dealloc)},
                         {Py_tp_methods, guard_methods},
                         {Py_tp_getset, guard_getset},
                         {0, nullptr}};
  PyType_Spec spec = {name, sizeof(GuardObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  make_type(m, spec);
}

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
  while (current != nullptr) {
    const auto* extras = current->extras.get();
    const std::string stack = extras != nullptr ? extras->traceback : std::string();
    const std::string name = current->name();
    const std::string message =
        stack.empty() ? "Error detected in " + name +
                            ". No forward pass information available. Enable detect anomaly during "
                            "forward pass for more information."
        : first       ? "Error detected in " + name + ". Traceback of forward call that caused the error:\n" + stack
                      : "\n\nPrevious calculation was induced by " + name +
                            ". Traceback of forward call that induced the previous "
                            "calculation:\n" +
                            stack;
    if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) != 0) throw_python();
    first = false;
    current = extras != nullptr ? extras->parent.get() : nullptr;
  }
}

}  // namespace

void bind_grad_mode(nb::module_& m) {
  add_guard<Action::NoGrad>(m, "flambeau._C._NoGrad");
  add_guard<Action::EnableGrad>(m, "flambeau._C._EnableGrad");
  add_guard<Action::SetGrad>(m, "flambeau._C._SetGradEnabled");
  add_guard<Action::Inference>(m, "flambeau._C._InferenceMode");
  if (PyModule_AddFunctions(m.ptr(), functions) != 0) throw_python();
  autograd::anomaly_callbacks.capture = &capture_stack;
  autograd::anomaly_callbacks.report = &report_anomaly;
}

}  // namespace flambeau::python
