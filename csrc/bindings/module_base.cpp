// flambeau._C.ModuleBase: the base type of nn.Module. It makes the three things every model does all the time cheap:
// calling a module without hooks, reading a parameter, buffer or submodule as an attribute, and setting a plain
// attribute. Everything else (registration rules, hooks, messages) is Python: flambeau/nn/modules/module.py.
//
// The type adds nothing to the layout of object: subclasses bring their own __dict__, so pickling, copying, assignment
// of
// __class__ and any mix of base classes work as with ordinary Python classes.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <initializer_list>

#include "bindings/module_base.h"

namespace flambeau::python {
namespace {

// Interned names and the Python half, set by configure_modules().
struct Names {
  PyObject *parameters, *buffers, *modules, *non_persistent, *forward, *getattr_name, *getattribute_name;
  PyObject* hooks[4];
} names;
PyObject* tensor_type = nullptr;         // values of this type and modules take the registration path
PyObject* module_class = nullptr;        // nn.Module
PyObject* register_attribute = nullptr;  // f(module, name, value)
PyObject* call_with_hooks = nullptr;     // f(module, args, kwargs)
PyObject* python_getattr = nullptr;      // Module.__getattr__
PyObject* global_hooks = nullptr;        // list of the global hook dicts; any non-empty one disables the fast call

// The instance's __dict__, borrowed; null if there is none yet.
PyObject* dict_of(PyObject* self) {
  PyObject** slot = _PyObject_GetDictPtr(self);
  return slot != nullptr ? *slot : nullptr;
}

// Borrowed; null without an exception if the entry is missing.
PyObject* entry(PyObject* dict, PyObject* name) {
  if (dict == nullptr || !PyDict_Check(dict)) return nullptr;
  return PyDict_GetItemWithError(dict, name);
}

PyObject* module_getattro(PyObject* self, PyObject* name) {
  PyObject* value = _PyObject_GenericGetAttrWithDict(self, name, nullptr, 1);
  if (value != nullptr || PyErr_Occurred() != nullptr) return value;
  PyObject* dict = dict_of(self);
  for (PyObject* table : {names.parameters, names.modules, names.buffers}) {
    value = entry(entry(dict, table), name);
    if (value != nullptr) return Py_NewRef(value);
    if (PyErr_Occurred() != nullptr) return nullptr;
  }
  if (python_getattr == nullptr) return PyObject_GenericGetAttr(self, name);  // before flambeau.nn: raises
  return PyObject_CallFunctionObjArgs(python_getattr, self, name, nullptr);
}

int delete_attribute(PyObject* self, PyObject* name) {
  PyObject* dict = dict_of(self);
  for (PyObject* table_name : {names.parameters, names.buffers, names.modules}) {
    PyObject* table = entry(dict, table_name);
    if (entry(table, name) == nullptr) {
      if (PyErr_Occurred() != nullptr) return -1;
      continue;
    }
    if (table_name == names.buffers) {
      PyObject* persistent = entry(dict, names.non_persistent);
      if (persistent != nullptr && PySet_Check(persistent) && PySet_Discard(persistent, name) < 0) return -1;
    }
    return PyObject_DelItem(table, name);
  }
  return PyObject_GenericSetAttr(self, name, nullptr);
}

// __setattr__ and __delattr__ are methods, not slots: with a slot, object.__setattr__(module, ...), which programs use
// to keep a submodule unregistered, would be refused.
PyObject* module_setattr(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (count != 2 || !PyUnicode_Check(args[0])) {
    PyErr_SetString(PyExc_TypeError, "__setattr__: expected a name and a value");
    return nullptr;
  }
  PyObject *name = args[0], *value = args[1];
  if (tensor_type == nullptr) {  // before flambeau.nn is imported
    if (PyObject_GenericSetAttr(self, name, value) < 0) return nullptr;
    Py_RETURN_NONE;
  }
  bool special = PyObject_TypeCheck(value, reinterpret_cast<PyTypeObject*>(tensor_type)) ||
                 PyObject_TypeCheck(value, module_base_type);
  if (!special) {
    PyObject* dict = dict_of(self);
    for (PyObject* table : {names.parameters, names.modules, names.buffers}) {
      special = entry(entry(dict, table), name) != nullptr;
      if (PyErr_Occurred() != nullptr) return nullptr;
      if (special) break;
    }
  }
  if (special) return PyObject_CallFunctionObjArgs(register_attribute, self, name, value, nullptr);
  if (PyObject_GenericSetAttr(self, name, value) < 0) return nullptr;
  Py_RETURN_NONE;
}

PyObject* module_delattr(PyObject* self, PyObject* name) {
  if (delete_attribute(self, name) < 0) return nullptr;
  Py_RETURN_NONE;
}

// Whether any hook has to run. Hook tables are dicts (or subclasses), made when the first hook is registered.
bool has_hooks(PyObject* self) {
  const Py_ssize_t count = global_hooks != nullptr ? PyList_GET_SIZE(global_hooks) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyDict_GET_SIZE(PyList_GET_ITEM(global_hooks, i)) != 0) return true;
  }
  PyObject* dict = dict_of(self);
  for (PyObject* name : names.hooks) {
    PyObject* table = entry(dict, name);
    if (table != nullptr && (!PyDict_Check(table) || PyDict_GET_SIZE(table) != 0)) return true;
  }
  return false;
}

PyObject* call_forward(PyObject* self, PyObject* args, PyObject* kwargs) {
  // `forward` set on the instance shadows the method, as with any attribute lookup.
  PyObject* own = entry(dict_of(self), names.forward);
  PyObject* method = own == nullptr ? _PyType_Lookup(Py_TYPE(self), names.forward) : nullptr;
  const Py_ssize_t positional = PyTuple_GET_SIZE(args);
  constexpr Py_ssize_t kInline = 8;
  const bool plain = method != nullptr && PyFunction_Check(method) && positional < kInline;
  if (!plain) {
    PyObject* forward = PyObject_GetAttr(self, names.forward);
    if (forward == nullptr) return nullptr;
    PyObject* result = PyObject_Call(forward, args, kwargs);
    Py_DECREF(forward);
    return result;
  }
  PyObject* stack[kInline];
  stack[0] = self;
  for (Py_ssize_t i = 0; i < positional; ++i) stack[i + 1] = PyTuple_GET_ITEM(args, i);
  Py_INCREF(method);
  PyObject* result = PyObject_VectorcallDict(method, stack, static_cast<std::size_t>(positional) + 1, kwargs);
  Py_DECREF(method);
  return result;
}

PyObject* module_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (call_with_hooks == nullptr || !has_hooks(self)) return call_forward(self, args, kwargs);
  PyObject* keywords = kwargs != nullptr ? Py_NewRef(kwargs) : PyDict_New();
  if (keywords == nullptr) return nullptr;
  PyObject* result = PyObject_CallFunctionObjArgs(call_with_hooks, self, args, keywords, nullptr);
  Py_DECREF(keywords);
  return result;
}

// A class statement that inherits Module.__getattr__ gets Python's generic attribute hook; put the fast one back unless
// the class (or one of its bases) overrides attribute lookup. Later assignments to those names undo this by themselves.
PyObject* adopt_module_class(PyObject*, PyObject* cls) {
  if (!PyType_Check(cls)) {
    PyErr_SetString(PyExc_TypeError, "adopt_module_class: expected a class");
    return nullptr;
  }
  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  if (PyType_IsSubtype(type, module_base_type) && _PyType_Lookup(type, names.getattr_name) == python_getattr &&
      _PyType_Lookup(type, names.getattribute_name) == _PyType_Lookup(module_base_type, names.getattribute_name)) {
    type->tp_getattro = module_getattro;
    PyType_Modified(type);
  }
  Py_RETURN_NONE;
}

PyObject* configure_modules(PyObject*, PyObject* args) {
  PyObject *cls, *tensor, *setter, *caller, *hooks;
  if (PyArg_ParseTuple(args, "OOOOO!", &cls, &tensor, &setter, &caller, &PyList_Type, &hooks) == 0) return nullptr;
  if (PyType_Check(cls) == 0 || PyType_Check(tensor) == 0 || PyCallable_Check(setter) == 0 ||
      PyCallable_Check(caller) == 0) {
    PyErr_SetString(PyExc_TypeError, "configure_modules: expected two classes and two functions");
    return nullptr;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(hooks); ++i) {
    if (!PyDict_Check(PyList_GET_ITEM(hooks, i))) {
      PyErr_SetString(PyExc_TypeError, "configure_modules: expected a list of dicts");
      return nullptr;
    }
  }
  PyObject* getattr = _PyType_Lookup(reinterpret_cast<PyTypeObject*>(cls), names.getattr_name);
  module_class = Py_NewRef(cls);
  tensor_type = Py_NewRef(tensor);
  register_attribute = Py_NewRef(setter);
  call_with_hooks = Py_NewRef(caller);
  global_hooks = Py_NewRef(hooks);
  python_getattr = Py_XNewRef(getattr);
  return adopt_module_class(nullptr, cls);
}

PyMethodDef methods[] = {
    {"__setattr__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&module_setattr)), METH_FASTCALL,
     "Register parameters, buffers and modules; set anything else as an ordinary attribute."},
    {"__delattr__", module_delattr, METH_O, "Delete a parameter, buffer, module or ordinary attribute."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("Base type of nn.Module.")},
    {Py_tp_methods, methods},
    {Py_tp_call, reinterpret_cast<void*>(&module_call)},
    {0, nullptr},
};
PyType_Spec spec = {"flambeau._C.ModuleBase", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
// `__torch_function__ = _disabled_torch_function_impl`: ops take instances of the class as plain tensors. The parser
// looks for this function by name; called directly, it just calls.
PyObject* disabled_torch_function_impl(PyObject*, PyObject* args) {
  PyObject *function, *types, *positional = nullptr, *keywords = nullptr;
  if (PyArg_ParseTuple(args, "OO|OO", &function, &types, &positional, &keywords) == 0) return nullptr;
  PyObject* tuple = positional == nullptr ? PyTuple_New(0) : PySequence_Tuple(positional);
  if (tuple == nullptr) return nullptr;
  PyObject* result = PyObject_Call(function, tuple, keywords == Py_None ? nullptr : keywords);
  Py_DECREF(tuple);
  return result;
}

PyMethodDef functions[] = {
    {"_disabled_torch_function_impl", disabled_torch_function_impl, METH_VARARGS, "(function, types, args, kwargs)"},
    {"configure_modules", configure_modules, METH_VARARGS, "configure_modules(cls, tensor, setter, caller, hooks)"},
    {"adopt_module_class", adopt_module_class, METH_O, "adopt_module_class(cls)"},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyTypeObject* module_base_type = nullptr;

int init_module_base(PyObject* extension) {
  names.parameters = PyUnicode_InternFromString("_parameters");
  names.buffers = PyUnicode_InternFromString("_buffers");
  names.modules = PyUnicode_InternFromString("_modules");
  names.non_persistent = PyUnicode_InternFromString("_non_persistent_buffers_set");
  names.forward = PyUnicode_InternFromString("forward");
  names.getattr_name = PyUnicode_InternFromString("__getattr__");
  names.getattribute_name = PyUnicode_InternFromString("__getattribute__");
  const char* hooks[4] = {"_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"};
  for (int i = 0; i < 4; ++i) names.hooks[i] = PyUnicode_InternFromString(hooks[i]);
  module_base_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (module_base_type == nullptr) return -1;
  if (PyModule_AddObjectRef(extension, "ModuleBase", reinterpret_cast<PyObject*>(module_base_type)) < 0) return -1;
  return PyModule_AddFunctions(extension, functions);
}

}  // namespace flambeau::python
