// C++ exceptions to Python ones. The classes of our own are made here and re-exported by flambeau/errors.py.
#include "bindings/python.h"
#include "core/factory.h"

namespace flambeau::python {
namespace {

PyObject* shape_error = nullptr;
PyObject* dtype_error = nullptr;
PyObject* grad_error = nullptr;
PyObject* linalg_error = nullptr;

PyObject* class_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Type: return PyExc_TypeError;
    case ErrorKind::Value: return PyExc_ValueError;
    case ErrorKind::Index: return PyExc_IndexError;
    case ErrorKind::NotImplemented: return PyExc_NotImplementedError;
    case ErrorKind::Memory: return PyExc_MemoryError;
    case ErrorKind::Overflow: return PyExc_OverflowError;
    case ErrorKind::LinAlg: return linalg_error;
    case ErrorKind::Shape: return shape_error;
    case ErrorKind::Dtype: return dtype_error;
    case ErrorKind::Grad: return grad_error;
    default: return PyExc_RuntimeError;
  }
}

}  // namespace

PythonError::PythonError() {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  value_ = value;
}
PythonError::PythonError(const PythonError& other) noexcept : value_(Py_XNewRef(other.value_)) {}
PythonError::~PythonError() {
  if (value_ == nullptr) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(value_);
  PyGILState_Release(state);
}
void PythonError::restore() const noexcept {
  if (value_ == nullptr) {
    PyErr_SetString(PyExc_SystemError, "internal error: an exception without a Python error");
  } else {
    PyErr_Restore(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(value_))), Py_NewRef(value_),
                  PyException_GetTraceback(value_));
  }
}

void throw_python() { throw PythonError(); }

void set_python_error() noexcept {
  try {
    throw;
  } catch (const PythonError& error) { error.restore(); } catch (const Error& error) {
    PyErr_SetString(class_of(error.kind()), error.what());
  } catch (nb::python_error& error) { error.restore(); } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) { PyErr_SetString(PyExc_RuntimeError, error.what()); } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "internal error: unknown C++ exception");
  }
}

void emit_queued_warnings() {
  for (const std::string& warning : take_queued_warnings()) {
    if (PyErr_WarnEx(PyExc_UserWarning, warning.c_str(), 1) != 0) throw_python();
  }
}

void bind_errors(nb::module_& m) {
  auto make = [&](const char* name, PyObject* base, const char* doc) {
    PyObject* cls = PyErr_NewExceptionWithDoc((std::string("flambeau.errors.") + name).c_str(), doc, base, nullptr);
    m.attr(name) = nb::handle(cls);
    return cls;
  };
  shape_error = make("ShapeError", PyExc_RuntimeError, "Shapes that do not fit together.");
  dtype_error = make("DtypeError", PyExc_RuntimeError, "A dtype that the operation does not take.");
  grad_error = make("GradError", PyExc_RuntimeError, "Misuse of automatic differentiation.");
  linalg_error = make("LinAlgError", PyExc_RuntimeError, "A matrix that the factorisation cannot handle.");
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const PythonError& e) { e.restore(); } catch (const Error& e) {
      PyErr_SetString(class_of(e.kind()), e.what());
    }
  });
}

}  // namespace flambeau::python
