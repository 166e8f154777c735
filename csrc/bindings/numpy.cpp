// NumPy arrays and tensors share memory both ways. NumPy's C API is used through its stable function table, loaded on
// the first call: no header at build time, no import of NumPy before it is needed.
#include "autograd/meta.h"
#include "autograd/mode.h"
#include "bindings/python.h"
#include "core/copy.h"
#include "core/factory.h"

namespace flambeau::python {
namespace {

// Layouts that NumPy's ABI has kept since 1.7 (and through 2.x).
struct ArrayObject {
  PyObject_HEAD char* data;
  int nd;
  Py_ssize_t* dimensions;
  Py_ssize_t* strides;
  PyObject* base;
  struct DescrObject* descr;
  int flags;
};
struct DescrObject {
  PyObject_HEAD PyTypeObject* typeobj;
  char kind, type, byteorder, former_flags;
  int type_num;
};
constexpr int kWriteable = 0x0400;

struct NumpyApi {
  PyTypeObject* array_type;
  PyObject* (*new_array)(PyTypeObject*, int, const Py_ssize_t*, int, const Py_ssize_t*, void*, int, int, PyObject*);
  int (*set_base)(PyObject*, PyObject*);
};

const NumpyApi& numpy() {
  static const NumpyApi api = [] {
    Object module(PyImport_ImportModule("numpy._core._multiarray_umath"));
    if (!module) {
      PyErr_Clear();
      module = Object(checked(PyImport_ImportModule("numpy.core._multiarray_umath")));
    }
    const Object capsule(checked(PyObject_GetAttrString(module.get(), "_ARRAY_API")));
    auto** table = static_cast<void**>(PyCapsule_GetPointer(capsule.get(), nullptr));
    if (table == nullptr) throw_python();
    NumpyApi loaded;
    loaded.array_type = static_cast<PyTypeObject*>(table[2]);
    loaded.new_array = reinterpret_cast<decltype(loaded.new_array)>(table[93]);
    loaded.set_base = reinterpret_cast<decltype(loaded.set_base)>(table[282]);
    return loaded;
  }();
  return api;
}

// NumPy's type numbers by DType; -1: none (bfloat16).
constexpr int kTypeNumbers[kNumDTypes] = {0, 2, 1, 3, 5, 7, 23, -1, 11, 12, 14, 15};

bool dtype_of_array(const DescrObject& descr, DType& dtype) {
  int number = descr.type_num;
  if (number == 9) number = 7;  // long long
  for (int i = 0; i < kNumDTypes; ++i) {
    if (kTypeNumbers[i] == number) {
      dtype = static_cast<DType>(i);
      return true;
    }
  }
  return false;
}

void release_array(void* context) noexcept {
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(static_cast<PyObject*>(context));
  PyGILState_Release(state);
}

PyObject* from_numpy(PyObject*, PyObject* object) {
  return guarded([&] {
    check(PyObject_TypeCheck(object, numpy().array_type), ErrorKind::Type, "expected np.ndarray (got ",
          Py_TYPE(object)->tp_name, ")");
    const auto& array = *reinterpret_cast<ArrayObject*>(object);
    DType dtype;
    if (!dtype_of_array(*array.descr, dtype)) {
      fail(ErrorKind::Type, "can't convert np.ndarray of type ", array.descr->typeobj->tp_name,
           ". The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, "
           "int8, "
           "uint8, and bool.");
    }
    check(array.descr->byteorder != '>', ErrorKind::Value,
          "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
          "currently not supported.");
    check(array.nd <= kMaxDims, ErrorKind::Value, "from_numpy: expected at most 64 dimensions, got ", array.nd);
    const std::int64_t size = itemsize(dtype);
    Dims sizes, strides;
    std::int64_t extent = 1;
    for (int d = 0; d < array.nd; ++d) {
      sizes.push_back(array.dimensions[d]);
      check(array.strides[d] >= 0, ErrorKind::Value,
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().)");
      check(array.strides[d] % size == 0, ErrorKind::Value,
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "
            "memory.");
      strides.push_back(array.strides[d] / size);
      extent += (sizes[d] - 1) * strides[d];
      if (sizes[d] == 0) extent = 0;
    }
    for (std::int64_t d : sizes) {
      if (d == 0) extent = 0;
    }
    if ((array.flags & kWriteable) == 0 &&
        PyErr_WarnEx(
            PyExc_UserWarning,
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This "
            "means writing to this tensor will result in undefined behavior. You may want to copy the array to "
            "protect its data or make it writable before converting it to a tensor. This type of warning will "
            "be suppressed for the rest of this program.",
            1) != 0) {
      throw_python();
    }
    TensorImpl* impl =
        TensorImpl::create(Storage::wrap(array.data, extent * size, &release_array, Py_NewRef(object)), dtype);
    impl->set_geometry(sizes, strides);
    return wrap(Tensor::adopt(impl));
  });
}

// x.numpy(force=False)
PyObject* to_numpy(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&] {
    const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
    check(nargs + keywords <= 1, ErrorKind::Type, "numpy() takes at most 1 argument, force");
    bool force = false;
    if (nargs + keywords == 1) {
      check(PyBool_Check(args[0]), ErrorKind::Type, "numpy(): argument 'force' must be bool, not ",
            Py_TYPE(args[0])->tp_name);
      force = args[0] == Py_True;
    }
    Tensor tensor = strided_form(tensor_of(self), "numpy");
    check(!tensor.is_meta(), ErrorKind::Type, "can't convert meta device type tensor to numpy: it has no data.");
    if (force) {
      tensor = resolve(tensor);
    } else {
      check(!autograd::requires_grad(tensor) || !autograd::mode.grad, ErrorKind::Runtime,
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
      check(!tensor.is_conj(), ErrorKind::Runtime,
            "Can't call numpy() on Tensor that has conjugate bit set. Use tensor.resolve_conj().numpy() instead.");
      check(!tensor.is_neg(), ErrorKind::Runtime,
            "Can't call numpy() on Tensor that has negative bit set. Use tensor.resolve_neg().numpy() instead.");
    }
    const int number = kTypeNumbers[static_cast<int>(tensor.dtype())];
    check(number >= 0, ErrorKind::Type, "Got unsupported ScalarType BFloat16");
    check(tensor.dim() <= 64, ErrorKind::Value, "numpy(): too many dimensions");
    Py_ssize_t sizes[kMaxDims], strides[kMaxDims];
    for (std::int64_t d = 0; d < tensor.dim(); ++d) {
      sizes[d] = tensor.sizes()[d];
      strides[d] = tensor.strides()[d] * tensor.itemsize();
    }
    PyObject* array = checked(numpy().new_array(numpy().array_type, static_cast<int>(tensor.dim()), sizes, number,
                                                strides, tensor.data(), 0, kWriteable, nullptr));
    // The array keeps the storage itself, not the tensor: x.data = y gives the tensor another one. While the array
    // lives, the storage is not resized, which would move the memory.
    PyObject* owner = checked(PyCapsule_New(tensor.storage(), nullptr, [](PyObject* capsule) {
      auto* storage = static_cast<Storage*>(PyCapsule_GetPointer(capsule, nullptr));
      storage->drop_export();
      Ref<Storage>::adopt(storage).reset();
    }));
    tensor.storage()->retain();
    tensor.storage()->add_export();
    if (numpy().set_base(array, owner) != 0) throw_python();  // steals owner
    return array;
  });
}

PyMethodDef numpy_method = {"numpy", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(to_numpy)),
                            METH_FASTCALL | METH_KEYWORDS, "numpy(force=False): a NumPy array over the same memory."};
PyMethodDef from_numpy_function = {"from_numpy", from_numpy, METH_O,
                                   "from_numpy(ndarray): a tensor over the memory of a NumPy array."};

}  // namespace

void bind_numpy(nb::module_& m) {
  nb::setattr(nb::handle(reinterpret_cast<PyObject*>(tensor_base_type)), "numpy",
              nb::steal(checked(PyDescr_NewMethod(tensor_base_type, &numpy_method))));
  m.attr("from_numpy") = nb::steal(checked(PyCFunction_New(&from_numpy_function, nullptr)));
}

}  // namespace flambeau::python
