// UntypedStorage: the bytes behind tensors, as a Python object with the buffer protocol; and tensors over given bytes.
#include <bit>
#include <cstring>
#include <memory>

#include "bindings/python.h"
#include "core/factory.h"

namespace flambeau::python {

namespace {

struct StorageObject {
  PyObject_HEAD Storage* storage;  // owned reference
};

PyTypeObject* storage_type = nullptr;

Storage& storage_of(PyObject* self) { return *reinterpret_cast<StorageObject*>(self)->storage; }

PyObject* wrap_storage(PyTypeObject* type, Ref<Storage> storage) {
  auto* self = reinterpret_cast<StorageObject*>(checked(type->tp_alloc(type, 0)));
  self->storage = storage.release();
  return reinterpret_cast<PyObject*>(self);
}

bool is_storage(PyObject* object) { return PyObject_TypeCheck(object, storage_type) != 0; }

Storage& expect_storage(PyObject* object) {
  check(is_storage(object), ErrorKind::Type, "expected an UntypedStorage, got ", Py_TYPE(object)->tp_name);
  return storage_of(object);
}

Py_buffer get_buffer(PyObject* object, int flags) {
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, flags) != 0) throw_python();
  return view;
}

// UntypedStorage(nbytes=0, device="cpu") or UntypedStorage(bytes-like), which copies.
PyObject* storage_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    PyObject *source = nullptr, *device_object = Py_None;
    static const char* names[] = {"", "device", nullptr};
    if (PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:UntypedStorage", const_cast<char**>(names), &source,
                                    &device_object) == 0) {
      throw_python();
    }
    Device device;
    if (device_object != Py_None)
      check(to_device(device_object, device), ErrorKind::Type, "UntypedStorage: expected a device");
    if (source == nullptr) return wrap_storage(type, Storage::allocate(0, device));
    if (PyLong_Check(source) != 0) {
      const long long bytes = PyLong_AsLongLong(source);
      if (bytes == -1 && PyErr_Occurred() != nullptr) throw_python();
      check(bytes >= 0, "UntypedStorage: expected a size of at least 0, got ", bytes);
      return wrap_storage(type, Storage::allocate(bytes, device));
    }
    Py_buffer view = get_buffer(source, PyBUF_SIMPLE);
    Ref<Storage> storage = Storage::allocate(view.len, Device{});
    if (view.len != 0) std::memcpy(storage->data(), view.buf, static_cast<std::size_t>(view.len));
    PyBuffer_Release(&view);
    return wrap_storage(type, std::move(storage));
  });
}

void storage_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Ref<Storage>::adopt(reinterpret_cast<StorageObject*>(self)->storage).reset();
  type->tp_free(self);
  Py_DECREF(type);
}

Py_ssize_t storage_length(PyObject* self) { return static_cast<Py_ssize_t>(storage_of(self).bytes()); }

int storage_getbuffer(PyObject* self, Py_buffer* view, int flags) {
  Storage& storage = storage_of(self);
  if (storage.device().type == DeviceType::Meta) {
    PyErr_SetString(PyExc_BufferError, "a meta storage has no data");
    return -1;
  }
  const int result = PyBuffer_FillInfo(view, self, storage.data(), static_cast<Py_ssize_t>(storage.bytes()), 0, flags);
  if (result == 0) storage.add_export();  // resizing would pull the memory from under the view
  return result;
}

void storage_releasebuffer(PyObject* self, Py_buffer*) { storage_of(self).drop_export(); }

PyObject* data_ptr(PyObject* self, PyObject*) { return PyLong_FromVoidPtr(storage_of(self).data()); }
PyObject* nbytes(PyObject* self, PyObject*) { return PyLong_FromLongLong(storage_of(self).bytes()); }
PyObject* key(PyObject* self, void*) { return PyLong_FromVoidPtr(&storage_of(self)); }
PyObject* device(PyObject* self, void*) {
  return guarded([&] { return to_python(storage_of(self).device()); });
}
PyObject* resizable(PyObject* self, PyObject*) { return PyBool_FromLong(storage_of(self).resizable() ? 1 : 0); }

PyObject* resize(PyObject* self, PyObject* size) {
  return guarded([&] {
    const long long bytes = PyLong_AsLongLong(size);
    if (bytes == -1 && PyErr_Occurred() != nullptr) throw_python();
    check(bytes >= 0, "UntypedStorage.resize_: expected a size of at least 0, got ", bytes);
    storage_of(self).resize(bytes);
    return Py_NewRef(self);
  });
}

PyMethodDef methods[] = {{"data_ptr", data_ptr, METH_NOARGS, "Address of the first byte."},
                         {"nbytes", nbytes, METH_NOARGS, "Size in bytes."},
                         {"size", nbytes, METH_NOARGS, "Size in bytes."},
                         {"resizable", resizable, METH_NOARGS, "Whether the memory belongs to Flambeau's allocator."},
                         {"resize_", resize, METH_O, "Change the size; keeps the common prefix."},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef properties[] = {
    {"device", device, nullptr, "Where the bytes are.", nullptr},
    {"_cdata", key, nullptr, "Equal for two objects exactly when they are the same storage.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>("The bytes that one or more tensors share.")},
                       {Py_tp_new, reinterpret_cast<void*>(&storage_new)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(&storage_dealloc)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, properties},
                       {Py_sq_length, reinterpret_cast<void*>(&storage_length)},
                       {Py_bf_getbuffer, reinterpret_cast<void*>(&storage_getbuffer)},
                       {Py_bf_releasebuffer, reinterpret_cast<void*>(&storage_releasebuffer)},
                       {0, nullptr}};
PyType_Spec spec = {"flambeau._C.StorageBase", sizeof(StorageObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                    slots};

// _storage_of(tensor, type): the tensor's storage as an object of `type`
PyObject* tensor_storage(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *object = nullptr, *type = nullptr;
    if (PyArg_ParseTuple(args, "OO:_storage_of", &object, &type) == 0) throw_python();
    check(is_tensor(object), ErrorKind::Type, "expected a Tensor, got ", Py_TYPE(object)->tp_name);
    check(PyType_Check(type) != 0 && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), storage_type) != 0,
          ErrorKind::Type, "expected a storage type");
    return wrap_storage(reinterpret_cast<PyTypeObject*>(type), Ref<Storage>(tensor_of(object).impl()->storage));
  });
}

Dims to_dims(PyObject* sequence) {
  const Object fast(checked(PySequence_Fast(sequence, "expected a sequence of ints")));
  Dims dims;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    const long long value = PyLong_AsLongLong(PySequence_Fast_GET_ITEM(fast.get(), i));
    if (value == -1 && PyErr_Occurred() != nullptr) throw_python();
    dims.push_back(value);
  }
  return dims;
}

// _tensor_over(storage, dtype, offset, size, stride): a tensor on a storage, checked to lie within it
PyObject* tensor_over(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *object, *dtype_object, *size_object, *stride_object;
    long long offset = 0;
    if (PyArg_ParseTuple(args, "OOLOO:_tensor_over", &object, &dtype_object, &offset, &size_object, &stride_object) ==
        0) {
      throw_python();
    }
    Storage& storage = expect_storage(object);
    DType dtype;
    check(to_dtype(dtype_object, dtype) && has_kernels(dtype), ErrorKind::Type,
          "expected a dtype of strided tensors, got ", Py_TYPE(dtype_object)->tp_name);
    const Dims sizes = to_dims(size_object), strides = to_dims(stride_object);
    check(sizes.size() == strides.size() && sizes.size() <= kMaxDims,
          "tensor from storage: expected as many strides as sizes (at most ", kMaxDims, "), got sizes ", sizes,
          " and strides ", strides);
    const std::int64_t numel = checked_numel(sizes);
    std::int64_t last = offset, bytes = 0;
    bool bad = offset < 0;
    for (std::int64_t i = 0; i < sizes.size(); ++i) {
      std::int64_t reach = 0;
      bad = bad || sizes[i] < 0 || strides[i] < 0 || __builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) ||
            (numel != 0 && __builtin_add_overflow(last, reach, &last));
    }
    bad = bad || __builtin_add_overflow(last, numel == 0 ? 0 : 1, &last) ||
          __builtin_mul_overflow(last, itemsize(dtype), &bytes) || (numel != 0 && bytes > storage.bytes());
    check(!bad, "setStorage: sizes ", sizes, ", strides ", strides, ", storage offset ", offset, " and itemsize ",
          itemsize(dtype), " are out of bounds for storage of size ", storage.bytes());
    TensorImpl* impl = TensorImpl::create(Ref<Storage>::share(&storage), dtype);
    impl->offset = offset;
    impl->set_geometry(sizes, strides);
    return wrap(Tensor::adopt(impl));
  });
}

// _storage_over(buffer, offset, nbytes, type): storage on the memory of a buffer object (a mapped file), kept alive by
// it
PyObject* storage_over(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *object, *type;
    long long offset = 0, bytes = 0;
    if (PyArg_ParseTuple(args, "OLLO:_storage_over", &object, &offset, &bytes, &type) == 0) throw_python();
    check(PyType_Check(type) != 0 && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), storage_type) != 0,
          ErrorKind::Type, "expected a storage type");
    auto view = std::make_unique<Py_buffer>(get_buffer(object, PyBUF_WRITABLE));
    if (offset < 0 || bytes < 0 || offset > view->len || bytes > view->len - offset) {
      const auto length = view->len;
      PyBuffer_Release(view.get());
      fail(ErrorKind::Value, "expected offset and size within a buffer of ", length, " bytes, got ", offset, " and ",
           bytes);
    }
    void* data = static_cast<char*>(view->buf) + offset;
    auto release = [](void* context) noexcept {
      const PyGILState_STATE gil = PyGILState_Ensure();
      auto* owned = static_cast<Py_buffer*>(context);
      PyBuffer_Release(owned);
      delete owned;
      PyGILState_Release(gil);
    };
    return wrap_storage(reinterpret_cast<PyTypeObject*>(type), Storage::wrap(data, bytes, release, view.release()));
  });
}

// _storage_swap(a, b): exchange the memory under two storages, for everything that aliases them
PyObject* storage_swap(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *a, *b;
    if (PyArg_ParseTuple(args, "OO:_storage_swap", &a, &b) == 0) throw_python();
    expect_storage(a).swap_memory(expect_storage(b));
    return Py_NewRef(Py_None);
  });
}

// _storage_at(cdata, type): the storage with this _cdata, or None if its destruction is under way. The caller knows
// that it was not freed: an object that the storage owns still exists.
PyObject* storage_at(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *address, *type;
    if (PyArg_ParseTuple(args, "OO:_storage_at", &address, &type) == 0) throw_python();
    check(PyType_Check(type) != 0 && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), storage_type) != 0,
          ErrorKind::Type, "expected a storage type");
    auto* storage = static_cast<Storage*>(PyLong_AsVoidPtr(address));
    if (storage == nullptr && PyErr_Occurred() != nullptr) throw_python();
    if (storage == nullptr || !storage->retain_if_alive()) return Py_NewRef(Py_None);
    return wrap_storage(reinterpret_cast<PyTypeObject*>(type), Ref<Storage>::adopt(storage));
  });
}

PyMethodDef functions[] = {
    {"_storage_of", tensor_storage, METH_VARARGS, nullptr}, {"_tensor_over", tensor_over, METH_VARARGS, nullptr},
    {"_storage_over", storage_over, METH_VARARGS, nullptr}, {"_storage_swap", storage_swap, METH_VARARGS, nullptr},
    {"_storage_at", storage_at, METH_VARARGS, nullptr},     {nullptr, nullptr, 0, nullptr}};

}  // namespace

void bind_storage(nb::module_& m) {
  storage_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  m.attr("StorageBase") = nb::borrow(reinterpret_cast<PyObject*>(storage_type));
  if (PyModule_AddFunctions(m.ptr(), functions) != 0) throw_python();
}

}  // namespace flambeau::python
