// Between Python objects and core values. Everything in csrc/bindings includes this first.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>
#include <structmember.h>

#include <exception>
#include <string>
#include <utility>

#include "core/op.h"
#include "core/tensor.h"

namespace flambeau::python {

namespace nb = nanobind;

// A Python exception on its way through C++ frames (a gradient rule or a hook raised). Holds the exception.
class PythonError : public std::exception {
 public:
  PythonError();  // takes the current Python error
  ~PythonError() override;
  PythonError(const PythonError& other) noexcept;
  PythonError& operator=(const PythonError&) = delete;
  [[nodiscard]] const char* what() const noexcept override { return "a Python exception"; }
  void restore() const noexcept;  // sets the Python error again

 private:
  PyObject* value_ = nullptr;
};
// Turns the exception being handled into a Python error. Call inside catch (...).
void set_python_error() noexcept;
[[noreturn]] void throw_python();  // throws PythonError from the current Python error

// Runs fn() and turns C++ exceptions into Python errors; `failure` is what a C slot returns on error.
template <class F, class R = std::invoke_result_t<F>>
R guarded(F&& fn, R failure) noexcept {
  try {
    return fn();
  } catch (...) {
    set_python_error();
    return failure;
  }
}
template <class F>
PyObject* guarded(F&& fn) noexcept {
  return guarded(std::forward<F>(fn), static_cast<PyObject*>(nullptr));
}
// Null from the C API becomes PythonError.
inline PyObject* checked(PyObject* object) {
  if (object == nullptr) throw_python();
  return object;
}

// Owned reference.
class Object {
 public:
  Object() noexcept = default;
  explicit Object(PyObject* owned) noexcept : ptr_(owned) {}
  static Object borrow(PyObject* borrowed) noexcept { return Object(Py_XNewRef(borrowed)); }
  Object(Object&& other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {}
  Object& operator=(Object&& other) noexcept {
    std::swap(ptr_, other.ptr_);
    return *this;
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { Py_XDECREF(ptr_); }
  [[nodiscard]] PyObject* get() const noexcept { return ptr_; }
  [[nodiscard]] PyObject* release() noexcept { return std::exchange(ptr_, nullptr); }
  explicit operator bool() const noexcept { return ptr_ != nullptr; }

 private:
  PyObject* ptr_ = nullptr;
};

// ---- tensors -------------------------------------------------------------------------------------------------------

struct TensorObject {
  PyObject_HEAD TensorImpl* impl;  // owned, unless impl->owns_pyobj: then the impl owns this object
  PyObject* dict;
  PyObject* weakrefs;
};

extern PyTypeObject* tensor_base_type;  // flambeau._C.TensorBase
extern PyTypeObject* tensor_type;       // flambeau.Tensor: what results are
extern PyTypeObject* parameter_type;    // flambeau.nn.Parameter, once imported

inline bool is_tensor(PyObject* object) noexcept {
  PyTypeObject* type = Py_TYPE(object);
  return type == tensor_type || type == parameter_type || PyType_IsSubtype(type, tensor_base_type) != 0;
}
// The tensor inside a Python tensor, no reference taken. Check is_tensor() first.
inline const Tensor& tensor_of(PyObject* object) noexcept {
  return *reinterpret_cast<const Tensor*>(&reinterpret_cast<TensorObject*>(object)->impl);
}
// New reference: the existing Python object of this tensor, or a new one of class flambeau.Tensor; None if undefined.
PyObject* wrap(Tensor tensor);
PyObject* wrap_as(Tensor tensor, PyTypeObject* type);  // of a subclass; the tensor must not have an object yet

// Garbage collection of cycles through autograd state (hooks, custom Function contexts), set by
// csrc/bindings/autograd.cpp. Called only when the Python object is the tensor's sole owner. Python objects that only
// C++ keeps alive (hooks, Function contexts, objects owned by their tensors). While there are none, the collector need
// not walk the tape.
extern std::int64_t objects_held_by_tape;
extern int (*traverse_autograd)(const Tensor& tensor, visitproc visit, void* arg);
extern void (*clear_autograd)(const Tensor& tensor);

// ---- other values --------------------------------------------------------------------------------------------------

PyObject* to_python(const Value& value);  // new reference
PyObject* to_python(const Scalar& scalar);
PyObject* to_python(DType dtype);  // new reference to the singleton
PyObject* to_python(Device device);
PyObject* to_python(MemoryFormat format);
PyObject* size_tuple(IntSpan sizes);  // torch.Size
PyObject* int_tuple(IntSpan values);  // plain tuple
// False (no Python error set) if the object is not one.
bool to_dtype(PyObject* object, DType& dtype);     // dtype, or the types bool, int, float, complex
bool to_device(PyObject* object, Device& device);  // device or str; throws Error for an unknown device string
// Of this thread: the DeviceType of tensors that are created without a device; -1 while none is set.
inline constinit thread_local std::int8_t default_device = -1;
bool to_memory_format(PyObject* object, MemoryFormat& format);
bool is_layout(PyObject* object, bool& strided);
bool to_int(PyObject* object, std::int64_t& value);  // int, __index__, one-element integer tensor; not bool, not float
bool to_double(PyObject* object, double& value);
bool to_scalar(PyObject* object, Scalar& value);  // bool, int, float, complex, NumPy scalars, 0-d tensors
bool is_number(PyObject* object) noexcept;        // what may stand for a Tensor parameter
extern PyTypeObject* generator_type;              // flambeau.Generator (csrc/bindings/generator.cpp)
struct GeneratorObject {
  PyObject_HEAD Generator* generator;
};

// ---- ops -----------------------------------------------------------------------------------------------------------

// Calls a registered op with Python arguments, as Python code would.
PyObject* call_python_op(const char* name, std::initializer_list<PyObject*> arguments);
// The values of an extended tensor in strided memory, for the method `reader` that wants to read them; others as they
// are.
Tensor strided_form(const Tensor& tensor, const char* reader);
void emit_queued_warnings();  // throws PythonError when warnings are errors

// One binder per file, called by module.cpp.
void bind_errors(nb::module_& m);
void bind_types(nb::module_& m);
void bind_autocast(nb::module_& m);
void bind_tensor(nb::module_& m);
void bind_tensor_methods(nb::module_& m);
void bind_ops(nb::module_& m);
void bind_numpy(nb::module_& m);
void bind_generator(nb::module_& m);
void bind_dlpack(nb::module_& m);
void bind_storage(nb::module_& m);
void bind_extension(nb::module_& m);

}  // namespace flambeau::python
