// x[...] and x[...] = value, from Python index objects (csrc/bindings/indexing.cpp).
#pragma once

#include <Python.h>

namespace flambeau::python {

PyObject* tensor_subscript(PyObject* self, PyObject* index);
int tensor_assign_subscript(PyObject* self, PyObject* index, PyObject* value);  // value null: del x[...], a TypeError

}  // namespace flambeau::python
