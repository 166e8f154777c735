// The native base type of nn.Module; see module_base.cpp.
#pragma once

#include <Python.h>

namespace flambeau::python {

extern PyTypeObject* module_base_type;

// Adds ModuleBase, configure_modules and adopt_module_class to the extension module; -1 with a Python error on failure.
int init_module_base(PyObject* extension);

}  // namespace flambeau::python
