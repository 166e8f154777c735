// Switches of autocast; flambeau.amp builds its context managers on them.
#include "autograd/autocast.h"

#include "autograd/mode.h"
#include "bindings/python.h"

namespace flambeau::python {
namespace {

using autograd::autocast;
using autograd::mode;

PyObject* is_enabled(PyObject*, PyObject*) { return PyBool_FromLong(mode.autocast ? 1 : 0); }
PyObject* set_enabled(PyObject*, PyObject* enabled) {
  mode.autocast = enabled == Py_True;
  Py_RETURN_NONE;
}
PyObject* get_dtype(PyObject*, PyObject*) { return to_python(autocast.dtype); }
PyObject* set_dtype(PyObject*, PyObject* dtype) {
  return guarded([&] {
    DType chosen{};
    check(to_dtype(dtype, chosen), ErrorKind::Type, "set_autocast_dtype: expected a dtype, got ",
          Py_TYPE(dtype)->tp_name);
    autocast.dtype = chosen;
    return Py_NewRef(Py_None);
  });
}
PyObject* is_cache_enabled(PyObject*, PyObject*) { return PyBool_FromLong(autocast.cache_enabled ? 1 : 0); }
PyObject* set_cache_enabled(PyObject*, PyObject* enabled) {
  autocast.cache_enabled = enabled == Py_True;
  Py_RETURN_NONE;
}
PyObject* change_nesting(PyObject*, PyObject* by) {
  const long step = PyLong_AsLong(by);
  if (step == -1 && PyErr_Occurred() != nullptr) return nullptr;
  autocast.nesting += static_cast<int>(step);
  return PyLong_FromLong(autocast.nesting);
}
PyObject* clear_cache(PyObject*, PyObject*) {
  autograd::clear_autocast_cache();
  Py_RETURN_NONE;
}
// (tensor, dtype) for composite ops, which cast by themselves; other objects pass through.
PyObject* cast_argument(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    DType dtype{};
    check(count == 2 && to_dtype(args[1], dtype), ErrorKind::Type,
          "_autocast_argument: expected an object and a dtype");
    if (!is_tensor(args[0])) return Py_NewRef(args[0]);
    const Tensor& tensor = tensor_of(args[0]);
    Tensor changed = autograd::autocast_tensor(tensor, dtype);
    return changed.is(tensor) ? Py_NewRef(args[0]) : wrap(std::move(changed));
  });
}

PyMethodDef functions[] = {
    {"_autocast_enabled", is_enabled, METH_NOARGS, nullptr},
    {"_set_autocast_enabled", set_enabled, METH_O, nullptr},
    {"_autocast_dtype", get_dtype, METH_NOARGS, nullptr},
    {"_set_autocast_dtype", set_dtype, METH_O, nullptr},
    {"_autocast_cache_enabled", is_cache_enabled, METH_NOARGS, nullptr},
    {"_set_autocast_cache_enabled", set_cache_enabled, METH_O, nullptr},
    {"_autocast_nesting", change_nesting, METH_O, "Add to the number of active regions; return it."},
    {"_clear_autocast_cache", clear_cache, METH_NOARGS, nullptr},
    {"_autocast_argument", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(cast_argument)), METH_FASTCALL,
     nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void bind_autocast(nb::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), functions) != 0) throw_python();
}

}  // namespace flambeau::python
