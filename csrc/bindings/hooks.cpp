// Python callables as hooks of tensors and nodes, their handles, and saved_tensors_hooks.
#include "bindings/autograd.h"

#include <structmember.h>  // after Python.h

namespace flambeau::python {

using autograd::Grads;

// Destruction can come from any thread and from C++ code that does not hold the GIL.
class GilHeld {
 public:
  GilHeld() : state_(PyGILState_Ensure()) {}
  ~GilHeld() { PyGILState_Release(state_); }
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;

 private:
  PyGILState_STATE state_;
};

class PyHook final : public autograd::Hook {
 public:
  PyHook(PyObject* callable, HookKind kind, std::int64_t hook_id)
      : id(hook_id), callable_(Object::borrow(callable)), kind_(kind) {
    ++objects_held_by_tape;
  }
  ~PyHook() override { remove(); }
  void before(Grads& grads, int index) override;
  void after(Grads& grad_inputs, const Grads& grad_outputs) override;
  [[nodiscard]] void* callable() const override { return callable_.get(); }
  void remove() {
    if (!callable_) return;
    if (Py_IsInitialized() == 0) return static_cast<void>(callable_.release());
    const GilHeld gil;
    --objects_held_by_tape;
    callable_ = Object();
  }
  const std::int64_t id;

 private:
  Object callable_;
  HookKind kind_;
};

namespace {

std::string callable_name(PyObject* callable) {
  Object name(PyObject_GetAttrString(callable, "__name__"));
  if (!name) {
    PyErr_Clear();
    return Py_TYPE(callable)->tp_name;
  }
  const char* text = PyUnicode_AsUTF8(name.get());
  return text != nullptr ? text : "hook";
}

Tensor hook_result(PyObject* value, const Tensor& original, PyObject* callable) {
  if (value == Py_None) return {};
  check(is_tensor(value), ErrorKind::Type, "expected Variable, but hook returned '", Py_TYPE(value)->tp_name, "'");
  const Tensor& tensor = tensor_of(value);
  if (original.defined()) {
    check(tensor.sizes() == original.sizes(), "hook '", callable_name(callable), "' has changed the size of value");
    check(tensor.dtype() == original.dtype(), "hook '", callable_name(callable),
          "' has changed the type of value (was torch.", torch_name_of(original.dtype()), "Tensor got torch.",
          torch_name_of(tensor.dtype()), "Tensor)");
  }
  return tensor;
}

Object grads_tuple(const Grads& grads) {
  Object tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(grads.size()))));
  for (std::size_t i = 0; i < grads.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), checked(wrap(grads[i])));
  }
  return tuple;
}

// What a node hook returned replaces all cotangents.
void replace_all(Grads& grads, PyObject* value, PyObject* callable) {
  if (value == Py_None) return;
  Object tuple = PyTuple_Check(value) ? Object::borrow(value) : Object(checked(PyTuple_Pack(1, value)));
  check(static_cast<std::size_t>(PyTuple_GET_SIZE(tuple.get())) == grads.size(), "hook '", callable_name(callable),
        "' has returned an incorrect number of values (got ", PyTuple_GET_SIZE(tuple.get()), ", but expected ",
        grads.size(), ")");
  for (std::size_t i = 0; i < grads.size(); ++i) {
    grads[i] = hook_result(PyTuple_GET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i)), grads[i], callable);
  }
}

std::int64_t next_hook_id() {
  static std::int64_t counter = 0;
  return counter++;
}

}  // namespace

void PyHook::before(Grads& grads, int index) {
  if (!callable_) return;
  const GilHeld gil;
  const Object callable = Object::borrow(callable_.get());  // the hook may remove itself
  if (kind_ == HookKind::Pre) {
    const Object arguments = grads_tuple(grads);
    const Object result(checked(PyObject_CallOneArg(callable.get(), arguments.get())));
    return replace_all(grads, result.get(), callable.get());
  }
  Tensor& grad = grads[static_cast<std::size_t>(index)];
  const Object argument(checked(wrap(grad)));
  const Object result(checked(PyObject_CallOneArg(callable.get(), argument.get())));
  if (kind_ == HookKind::PostAccumulate) {
    check(result.get() == Py_None, "Tensor post accumulate grad hooks should return None.");
    return;
  }
  if (Tensor replacement = hook_result(result.get(), grad, callable.get()); replacement.defined()) {
    grad = std::move(replacement);
  }
}

void PyHook::after(Grads& grad_inputs, const Grads& grad_outputs) {
  if (!callable_) return;
  const GilHeld gil;
  const Object callable = Object::borrow(callable_.get());
  const Object inputs = grads_tuple(grad_inputs), outputs = grads_tuple(grad_outputs);
  const Object result(checked(PyObject_CallFunctionObjArgs(callable.get(), inputs.get(), outputs.get(), nullptr)));
  replace_all(grad_inputs, result.get(), callable.get());
}

std::shared_ptr<PyHook> make_hook(PyObject* callable, HookKind kind) {
  check(PyCallable_Check(callable) != 0, ErrorKind::Type, "hook: expected a callable, got ",
        Py_TYPE(callable)->tp_name);
  return std::make_shared<PyHook>(callable, kind, next_hook_id());
}
std::shared_ptr<autograd::Hook> as_hook(const std::shared_ptr<PyHook>& hook) { return hook; }
std::int64_t hook_id(const PyHook& hook) { return hook.id; }
bool hook_removed(const autograd::Hook& hook) { return hook.callable() == nullptr; }

// ---- handles -------------------------------------------------------------------------------------------------------

namespace {

PyTypeObject* handle_type = nullptr;

// Weak: a handle that outlives the tensor must not keep what the hook closes over.
struct HandleObject {
  PyObject_HEAD std::weak_ptr<PyHook> hook;
  std::int64_t id;
  PyObject* weakrefs;
};

void handle_dealloc(PyObject* self) {
  auto* handle = reinterpret_cast<HandleObject*>(self);
  if (handle->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  handle->hook.~weak_ptr();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* handle_remove(PyObject* self, PyObject*) {
  if (const auto hook = reinterpret_cast<HandleObject*>(self)->hook.lock()) hook->remove();
  Py_RETURN_NONE;
}
PyObject* handle_enter(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* handle_exit(PyObject* self, PyObject*) { return handle_remove(self, nullptr); }
PyObject* handle_id(PyObject* self, void*) { return PyLong_FromLongLong(reinterpret_cast<HandleObject*>(self)->id); }

PyMethodDef handle_methods[] = {
    {"remove", handle_remove, METH_NOARGS, "Unregister the hook; calling it twice is harmless."},
    {"__enter__", handle_enter, METH_NOARGS, nullptr},
    {"__exit__", handle_exit, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef handle_getset[] = {{"id", handle_id, nullptr, nullptr, nullptr},
                               {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef handle_members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(HandleObject, weakrefs), READONLY, nullptr},
                                {nullptr, 0, 0, 0, nullptr}};

PyType_Slot handle_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(handle_dealloc)},
                              {Py_tp_methods, handle_methods},
                              {Py_tp_getset, handle_getset},
                              {Py_tp_members, handle_members},
                              {Py_tp_doc, const_cast<char*>("What register_hook returns: remove() unregisters.")},
                              {0, nullptr}};
PyType_Spec handle_spec = {"flambeau._C.HookHandle", sizeof(HandleObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, handle_slots};

}  // namespace

PyObject* make_handle(const std::shared_ptr<PyHook>& hook) {
  PyObject* self = checked(handle_type->tp_alloc(handle_type, 0));
  auto* handle = reinterpret_cast<HandleObject*>(self);
  new (&handle->hook) std::weak_ptr<PyHook>(hook);
  handle->id = hook->id;
  return self;
}

// ---- saved_tensors_hooks -------------------------------------------------------------------------------------------

namespace {

class PyPacked final : public autograd::Packed {
 public:
  PyPacked(Object value, PyObject* unpack) : value_(std::move(value)), unpack_(Object::borrow(unpack)) {}
  ~PyPacked() override {
    const GilHeld gil;
    value_ = Object();
    unpack_ = Object();
  }
  Tensor unpack() override {
    const GilHeld gil;
    const Object result(checked(PyObject_CallOneArg(unpack_.get(), value_.get())));
    check(is_tensor(result.get()), ErrorKind::Type,
          "Output of saved tensor unpack_hook expected to be a Tensor but got result of type ",
          Py_TYPE(result.get())->tp_name);
    return tensor_of(result.get());
  }

 private:
  Object value_, unpack_;
};

class PySavedHooks final : public autograd::SavedHooks {
 public:
  PySavedHooks(PyObject* pack, PyObject* unpack) : pack_(Object::borrow(pack)), unpack_(Object::borrow(unpack)) {}
  std::unique_ptr<autograd::Packed> pack(const Tensor& tensor) override {
    const GilHeld gil;
    const autograd::GradGuard no_grad(false);
    const std::uint32_t version = tensor.storage()->version();
    const Object argument(checked(wrap(tensor)));
    Object packed(checked(PyObject_CallOneArg(pack_.get(), argument.get())));
    check(tensor.storage()->version() == version,
          "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be "
          "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you "
          "need to "
          "perform in-place operations on the input to a pack hook.");
    return std::make_unique<PyPacked>(std::move(packed), unpack_.get());
  }

 private:
  Object pack_, unpack_;
};

struct SavedHooksStack {
  std::vector<std::unique_ptr<PySavedHooks>> hooks;
  std::string disabled;  // why they are switched off; empty: allowed
};
thread_local SavedHooksStack saved_stack;

PyObject* push_saved_hooks(PyObject*, PyObject* args) {
  PyObject *pack = nullptr, *unpack = nullptr;
  if (PyArg_ParseTuple(args, "OO", &pack, &unpack) == 0) return nullptr;
  return guarded([&]() -> PyObject* {
    check(saved_stack.disabled.empty(), saved_stack.disabled.c_str());
    saved_stack.hooks.push_back(std::make_unique<PySavedHooks>(pack, unpack));
    autograd::set_active_saved_hooks(saved_stack.hooks.back().get());
    Py_RETURN_NONE;
  });
}

PyObject* pop_saved_hooks(PyObject*, PyObject*) {
  if (saved_stack.hooks.empty()) {
    PyErr_SetString(PyExc_RuntimeError, "saved_tensors_hooks: nothing to pop");
    return nullptr;
  }
  const auto top = std::move(saved_stack.hooks.back());
  saved_stack.hooks.pop_back();
  autograd::set_active_saved_hooks(saved_stack.hooks.empty() ? nullptr : saved_stack.hooks.back().get());
  Py_RETURN_NONE;
}

// _disable_saved_tensors_hooks(message or None) -> the previous message or None
PyObject* disable_saved_hooks(PyObject*, PyObject* message) {
  std::string fresh;
  if (message != Py_None) {
    const char* text = PyUnicode_AsUTF8(message);
    if (text == nullptr) return nullptr;
    fresh = text;
    if (!saved_stack.hooks.empty()) {
      PyErr_SetString(PyExc_RuntimeError, text);
      return nullptr;
    }
  }
  const std::string previous = std::exchange(saved_stack.disabled, fresh);
  if (previous.empty()) Py_RETURN_NONE;
  return PyUnicode_FromString(previous.c_str());
}

PyMethodDef saved_functions[] = {
    {"_push_saved_tensors_hooks", push_saved_hooks, METH_VARARGS, nullptr},
    {"_pop_saved_tensors_hooks", pop_saved_hooks, METH_NOARGS, nullptr},
    {"_disable_saved_tensors_hooks", disable_saved_hooks, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void bind_hooks(nb::module_& m) {
  handle_type = make_type(m, handle_spec);
  if (PyModule_AddFunctions(m.ptr(), saved_functions) != 0) throw_python();
}

}  // namespace flambeau::python
