// Attributes and methods of tensors that are not ops: geometry, dtype, reading values out.
#include "autograd/meta.h"
#include "bindings/python.h"
#include "core/copy.h"
#include "core/factory.h"

namespace flambeau::python {
namespace {

// ---- geometry

PyObject* get_shape(PyObject* self, void*) { return size_tuple(tensor_of(self).sizes()); }
PyObject* get_dtype(PyObject* self, void*) { return to_python(tensor_of(self).dtype()); }
PyObject* get_device(PyObject* self, void*) { return to_python(tensor_of(self).public_device()); }
PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromLongLong(tensor_of(self).dim()); }
PyObject* get_itemsize(PyObject* self, void*) { return PyLong_FromLongLong(tensor_of(self).itemsize()); }
PyObject* get_nbytes(PyObject* self, void*) {
  return PyLong_FromLongLong(tensor_of(self).itemsize() * tensor_of(self).numel());
}
bool has_no_data(PyObject* self) { return tensor_of(self).public_device().type == DeviceType::Meta; }
PyObject* get_is_meta(PyObject* self, void*) { return PyBool_FromLong(static_cast<long>(has_no_data(self))); }
PyObject* get_is_cpu(PyObject* self, void*) { return PyBool_FromLong(static_cast<long>(!has_no_data(self))); }
PyObject* get_is_quantized(PyObject* self, void*) {
  return PyBool_FromLong(static_cast<long>(tensor_of(self).dtype() >= DType::QInt8));
}
PyObject* get_false(PyObject*, void*) { Py_RETURN_FALSE; }

// Whether the tensor has the layout of this name.
PyObject* has_layout(PyObject* self, void* name) {
  if (!tensor_of(self).is_extended()) [[likely]]
    Py_RETURN_FALSE;
  return guarded([&]() -> PyObject* {
    const Object layout(checked(PyObject_GetAttrString(self, "layout")));
    const Object text(checked(PyObject_Str(layout.get())));
    return PyBool_FromLong(PyUnicode_CompareWithASCIIString(text.get(), static_cast<const char*>(name)) == 0 ? 1 : 0);
  });
}

// x.data: the same memory without history; writing through it is not seen by the version check.
PyObject* get_data(PyObject* self, void*) {
  return guarded([&] {
    Tensor data = alias(tensor_of(self));
    data.impl()->untracked_version = true;
    data.impl()->inference = tensor_of(self).impl()->inference;
    return wrap(std::move(data));
  });
}
int set_data(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        check(value != nullptr && is_tensor(value), ErrorKind::Type, "Variable data has to be a tensor, but got ",
              value == nullptr ? "nothing" : Py_TYPE(value)->tp_name);
        const Tensor& target = tensor_of(self);
        const Tensor& source = tensor_of(value);
        check(!target.impl()->requires_grad || is_differentiable(source.dtype()), ErrorKind::Runtime,
              "data set to a tensor that requires gradients must be floating point or complex dtype");
        TensorImpl* impl = target.impl();
        const bool same_kind = impl->dtype == source.dtype() && target.sizes() == source.sizes();
        if (!same_kind) autograd::forget_accumulator(target);  // it checks gradients against the old geometry
        impl->inference = source.impl()->inference;
        impl->storage = source.impl()->storage;
        impl->extension = source.impl()->extension;
        impl->offset = source.offset();
        impl->dtype = source.dtype();
        impl->conj = source.is_conj();
        impl->neg = source.is_neg();
        impl->set_geometry(Dims(source.sizes()), Dims(source.strides()));
        return 0;
      },
      -1);
}

PyGetSetDef getset[] = {
    {"shape", get_shape, nullptr, "Sizes, a torch.Size.", nullptr},
    {"dtype", get_dtype, nullptr, "Element type.", nullptr},
    {"device", get_device, nullptr, "Where the data lives.", nullptr},
    {"ndim", get_ndim, nullptr, "Number of dimensions.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes per element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
    {"is_meta", get_is_meta, nullptr, "Whether there is a shape but no data.", nullptr},
    {"is_cpu", get_is_cpu, nullptr, "Whether the data is in main memory.", nullptr},
    {"is_cuda", get_false, nullptr, "False.", nullptr},
    {"is_sparse", has_layout, nullptr, "Whether the layout is sparse_coo.", const_cast<char*>("torch.sparse_coo")},
    {"is_sparse_csr", has_layout, nullptr, "Whether the layout is sparse_csr.", const_cast<char*>("torch.sparse_csr")},
    {"is_quantized", get_is_quantized, nullptr, "Whether elements are integers that stand for real values.", nullptr},
    {"is_nested", get_false, nullptr, "False.", nullptr},
    {"is_mkldnn", get_false, nullptr, "False.", nullptr},
    {"is_mps", get_false, nullptr, "False.", nullptr},
    {"is_xla", get_false, nullptr, "False.", nullptr},
    {"is_ipu", get_false, nullptr, "False.", nullptr},
    {"is_xpu", get_false, nullptr, "False.", nullptr},
    {"data", get_data, set_data, "The values without history; in-place changes are not tracked.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// x.size(), x.size(dim), and the same for stride
PyObject* size_like(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, bool strides) {
  return guarded([&]() -> PyObject* {
    const Tensor& tensor = tensor_of(self);
    const char* name = strides ? "stride" : "size";
    const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
    check(nargs + keywords <= 1, ErrorKind::Type, name, "() takes at most 1 argument, got ", nargs + keywords);
    if (nargs + keywords == 0 || args[0] == Py_None) {
      return strides ? int_tuple(tensor.strides()) : size_tuple(tensor.sizes());
    }
    check(keywords == 0 || PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "dim") == 0, ErrorKind::Type,
          name, "() got an unexpected keyword argument; expected dim");
    std::int64_t dim;
    check(to_int(args[0], dim), ErrorKind::Type, name, "(): argument 'dim' must be int, not ",
          Py_TYPE(args[0])->tp_name);
    check(tensor.dim() != 0, ErrorKind::Index, "Dimension specified as ", dim, " but tensor has no dimensions");
    return PyLong_FromLongLong(strides ? tensor.stride(dim) : tensor.size(dim));
  });
}
PyObject* size(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return size_like(self, args, nargs, kwnames, false);
}
PyObject* stride(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return size_like(self, args, nargs, kwnames, true);
}
PyObject* dim(PyObject* self, PyObject*) { return PyLong_FromLongLong(tensor_of(self).dim()); }
PyObject* numel(PyObject* self, PyObject*) { return PyLong_FromLongLong(tensor_of(self).numel()); }
PyObject* storage_offset(PyObject* self, PyObject*) { return PyLong_FromLongLong(tensor_of(self).offset()); }
// False for sparse tensors, which have neither strides nor one piece of memory.
bool is_strided(PyObject* self) {
  if (!tensor_of(self).is_extended()) [[likely]]
    return true;
  const Object layout(checked(PyObject_GetAttrString(self, "layout")));
  const Object text(checked(PyObject_Str(layout.get())));
  return PyUnicode_CompareWithASCIIString(text.get(), "torch.strided") == 0;
}
PyObject* data_ptr(PyObject* self, PyObject*) {
  return guarded([&] {
    const Tensor& tensor = tensor_of(self);
    check(is_strided(self), ErrorKind::Runtime, "Cannot access data pointer of Tensor that doesn't have storage");
    return PyLong_FromVoidPtr(tensor.numel() == 0 || tensor.is_meta() ? nullptr : tensor.data());
  });
}
PyObject* is_contiguous(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&] {
    MemoryFormat format = MemoryFormat::Contiguous;
    const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
    if (nargs + keywords > 0) {
      check(nargs + keywords == 1 && to_memory_format(args[0], format), ErrorKind::Type,
            "is_contiguous(): argument 'memory_format' must be a torch.memory_format, not ", Py_TYPE(args[0])->tp_name);
    }
    return PyBool_FromLong(tensor_of(self).is_contiguous(format) && is_strided(self) ? 1 : 0);
  });
}
PyObject* is_conj(PyObject* self, PyObject*) { return PyBool_FromLong(tensor_of(self).is_conj()); }
PyObject* is_neg(PyObject* self, PyObject*) { return PyBool_FromLong(tensor_of(self).is_neg()); }
PyObject* is_inference(PyObject* self, PyObject*) { return PyBool_FromLong(tensor_of(self).impl()->inference); }
PyObject* is_floating_point(PyObject* self, PyObject*) { return PyBool_FromLong(is_floating(tensor_of(self).dtype())); }
PyObject* is_complex_method(PyObject* self, PyObject*) { return PyBool_FromLong(is_complex(tensor_of(self).dtype())); }
PyObject* is_signed(PyObject* self, PyObject*) {
  const DType dtype = tensor_of(self).dtype();
  return PyBool_FromLong(dtype != DType::Bool && dtype != DType::UInt8);
}
PyObject* is_same_size(PyObject* self, PyObject* other) {
  if (!is_tensor(other))
    return PyErr_Format(PyExc_TypeError, "is_same_size(): expected a Tensor, got %s", Py_TYPE(other)->tp_name);
  return PyBool_FromLong(tensor_of(self).sizes() == tensor_of(other).sizes());
}
PyObject* is_set_to(PyObject* self, PyObject* other) {
  if (!is_tensor(other))
    return PyErr_Format(PyExc_TypeError, "is_set_to(): expected a Tensor, got %s", Py_TYPE(other)->tp_name);
  const Tensor &a = tensor_of(self), &b = tensor_of(other);
  return PyBool_FromLong(a.storage() == b.storage() && a.offset() == b.offset() && a.sizes() == b.sizes() &&
                         a.strides() == b.strides());
}
PyObject* is_non_overlapping_and_dense(PyObject* self, PyObject*) {
  return PyBool_FromLong(tensor_of(self).is_non_overlapping_and_dense());
}
// Identifies the storage: equal for tensors that alias.
PyObject* storage_key(PyObject* self, PyObject*) { return PyLong_FromVoidPtr(tensor_of(self).storage()); }

// ---- values out

void check_readable(const Tensor& tensor, const char* op) {
  check(!tensor.is_meta(), ErrorKind::Runtime, op,
        "(): Tensor.item() cannot be called on meta tensors: they have no data");
}

PyObject* item_method(PyObject* self, PyObject*) {
  return guarded([&] {
    const Tensor& tensor = tensor_of(self);
    check(tensor.numel() == 1, ErrorKind::Runtime, "a Tensor with ", tensor.numel(),
          " elements cannot be converted to Scalar");
    const Tensor values = strided_form(tensor, "item");
    check_readable(values, "item");
    return to_python(item(values));
  });
}

template <class T>
PyObject* element(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return PyBool_FromLong(value);
  } else if constexpr (std::is_integral_v<T>) {
    return PyLong_FromLongLong(value);
  } else if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>) {
    return PyComplex_FromDoubles(value.re, value.im);
  } else {
    return PyFloat_FromDouble(convert<double>(value));
  }
}

template <class T>
PyObject* nested_list(const T* data, const Tensor& tensor, std::int64_t dim) {
  if (dim == tensor.dim()) {
    // Memory that nobody has written yet need not hold a valid bool.
    if constexpr (std::is_same_v<T, bool>) return element(*reinterpret_cast<const std::uint8_t*>(data) != 0);
    return element(*data);
  }
  const std::int64_t count = tensor.sizes()[dim], step = tensor.strides()[dim];
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(count));
  for (std::int64_t i = 0; list != nullptr && i < count; ++i) {
    PyObject* entry = nested_list(data + i * step, tensor, dim + 1);
    if (entry == nullptr) {
      Py_CLEAR(list);
    } else {
      PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), entry);
    }
  }
  return list;
}

PyObject* tolist(PyObject* self, PyObject*) {
  return guarded([&] {
    const Tensor tensor = resolve(strided_form(tensor_of(self), "tolist"));
    check_readable(tensor, "tolist");
    return dispatch_all(tensor.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      return nested_list(tensor.data<T>(), tensor, 0);
    });
  });
}

Scalar single_value(PyObject* self, const char* what) {
  const Tensor tensor = strided_form(tensor_of(self), what);
  if (tensor.numel() != 1) {
    fail(ErrorKind::Value, "only one element tensors can be converted to Python scalars, got one of ", tensor.numel(),
         " elements (", what, ")");
  }
  check_readable(tensor, what);
  return item(tensor);
}

PyObject* to_float(PyObject* self) {
  return guarded([&] {
    const Scalar value = single_value(self, "float");
    check(!value.is_complex() || value.imag() == 0, ErrorKind::Runtime,
          "value cannot be converted to type double without overflow");
    return PyFloat_FromDouble(value.to_double());
  });
}
PyObject* to_integer(PyObject* self) {
  return guarded([&] {
    const Scalar value = single_value(self, "int");
    if (value.is_integral(true)) return PyLong_FromLongLong(value.to_int());
    check(!value.is_complex() || value.imag() == 0, ErrorKind::Runtime,
          "value cannot be converted to type int64_t without overflow");
    return PyLong_FromDouble(value.to_double());  // OverflowError / ValueError for inf and nan
  });
}
PyObject* to_index(PyObject* self) {
  return guarded([&] {
    const Tensor& tensor = tensor_of(self);
    check(tensor.numel() == 1 && is_integral(tensor.dtype(), true), ErrorKind::Type,
          "only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(single_value(self, "index").to_int());
  });
}
int to_truth(PyObject* self) {
  return guarded(
      [&] {
        const Tensor& tensor = tensor_of(self);
        check(tensor.numel() != 0, ErrorKind::Runtime, "Boolean value of Tensor with no values is ambiguous");
        check(tensor.numel() == 1, ErrorKind::Runtime, "Boolean value of Tensor with more than one value is ambiguous");
        return single_value(self, "bool").to_bool() ? 1 : 0;
      },
      -1);
}
PyObject* to_complex_number(PyObject* self, PyObject*) {
  return guarded([&] {
    const c128 value = single_value(self, "complex").to_complex();
    return PyComplex_FromDoubles(value.re, value.im);
  });
}
PyObject* dunder_float(PyObject* self, PyObject*) { return to_float(self); }
PyObject* dunder_int(PyObject* self, PyObject*) { return to_integer(self); }
PyObject* dunder_index(PyObject* self, PyObject*) { return to_index(self); }
PyObject* dunder_bool(PyObject* self, PyObject*) {
  const int truth = to_truth(self);
  return truth < 0 ? nullptr : PyBool_FromLong(truth);
}

PyMethodDef methods[] = {
    {"size", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(size)), METH_FASTCALL | METH_KEYWORDS,
     "size(dim=None): sizes, or one of them."},
    {"stride", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(stride)), METH_FASTCALL | METH_KEYWORDS,
     "stride(dim=None): steps in elements, or one of them."},
    {"dim", dim, METH_NOARGS, "Number of dimensions."},
    {"ndimension", dim, METH_NOARGS, "Number of dimensions."},
    {"numel", numel, METH_NOARGS, "Number of elements."},
    {"nelement", numel, METH_NOARGS, "Number of elements."},
    {"element_size", [](PyObject* s, PyObject*) { return get_itemsize(s, nullptr); }, METH_NOARGS,
     "Bytes per element."},
    {"storage_offset", storage_offset, METH_NOARGS, "Offset of the first element in the storage, in elements."},
    {"data_ptr", data_ptr, METH_NOARGS, "Address of the first element."},
    {"is_contiguous", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(is_contiguous)),
     METH_FASTCALL | METH_KEYWORDS, "is_contiguous(memory_format=contiguous_format)"},
    {"is_conj", is_conj, METH_NOARGS, "Whether values are lazily conjugated."},
    {"is_neg", is_neg, METH_NOARGS, "Whether values are lazily negated."},
    {"is_inference", is_inference, METH_NOARGS, "Whether this was made in inference mode."},
    {"is_floating_point", is_floating_point, METH_NOARGS, "Whether the dtype is real floating point."},
    {"is_complex", is_complex_method, METH_NOARGS, "Whether the dtype is complex."},
    {"is_signed", is_signed, METH_NOARGS, "Whether the dtype has negative values."},
    {"is_same_size", is_same_size, METH_O, "Whether `other` has the same sizes."},
    {"is_set_to", is_set_to, METH_O, "Whether `other` is the same view of the same storage."},
    {"_is_non_overlapping_and_dense", is_non_overlapping_and_dense, METH_NOARGS, nullptr},
    {"_storage_key", storage_key, METH_NOARGS, "Identifies the storage."},
    {"item", item_method, METH_NOARGS, "The value of a one-element tensor as a Python number."},
    {"tolist", tolist, METH_NOARGS, "Nested lists of Python numbers."},
    {"__float__", dunder_float, METH_NOARGS, nullptr},
    {"__int__", dunder_int, METH_NOARGS, nullptr},
    {"__index__", dunder_index, METH_NOARGS, nullptr},
    {"__bool__", dunder_bool, METH_NOARGS, nullptr},
    {"__complex__", to_complex_number, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void bind_tensor_methods(nb::module_&) {
  const nb::handle type(reinterpret_cast<PyObject*>(tensor_base_type));
  for (PyGetSetDef* def = getset; def->name != nullptr; ++def) {
    nb::setattr(type, def->name, nb::steal(checked(PyDescr_NewGetSet(tensor_base_type, def))));
  }
  for (PyMethodDef* def = methods; def->ml_name != nullptr; ++def) {
    nb::setattr(type, def->ml_name, nb::steal(checked(PyDescr_NewMethod(tensor_base_type, def))));
  }
}

}  // namespace flambeau::python
