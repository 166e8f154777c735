// DLPack: zero-copy exchange with NumPy and others, in both capsule forms. The structs are the standard's C ABI
// (https://dmlc.github.io/dlpack, versions 0.8 and 1.0).
#include <memory>

#include "bindings/python.h"
#include "core/copy.h"
#include "core/factory.h"

namespace flambeau::python {

namespace {

struct DLDevice {
  std::int32_t type, id;
};
struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};
struct DLVersion {
  std::uint32_t major, minor;
};
struct DLManagedTensorVersioned {
  DLVersion version;
  void* context;
  void (*deleter)(DLManagedTensorVersioned*);
  std::uint64_t flags;
  DLTensor tensor;
};
constexpr std::uint64_t kReadOnly = 1, kCopied = 2;
constexpr std::int32_t kCpu = 1;
enum Code : std::uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kComplex = 5, kBool = 6 };

[[noreturn]] void buffer_error(const std::string& message) {
  PyErr_SetString(PyExc_BufferError, message.c_str());
  throw_python();
}

DLDataType to_dl(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(itemsize(dtype) * 8);
  if (dtype == DType::Bool) return {kBool, bits, 1};
  if (dtype == DType::UInt8) return {kUInt, bits, 1};
  if (dtype == DType::BFloat16) return {kBFloat, bits, 1};
  if (is_complex(dtype)) return {kComplex, bits, 1};
  return {is_floating(dtype) ? kFloat : kInt, bits, 1};
}

DType from_dl(DLDataType type) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const DLDataType candidate = to_dl(dtype);
    if (type.lanes == 1 && candidate.code == type.code && candidate.bits == type.bits) return dtype;
  }
  buffer_error(concat("from_dlpack: expected a dtype that Flambeau has, got DLPack code ", int{type.code}, " with ",
                      int{type.bits}, " bits and ", int{type.lanes}, " lanes"));
}

// What an exported capsule owns: the memory, and the shape arrays that the struct points at.
template <class Managed>
struct Exported {
  Managed managed;
  Ref<Storage> storage;  // not the tensor, whose memory x.data = y replaces
  Dims shape, strides;
};

template <class Managed>
void delete_exported(Managed* managed) {
  auto* exported = static_cast<Exported<Managed>*>(managed->context);
  exported->storage->drop_export();
  delete exported;
}

template <class Managed>
inline constexpr const char* kName = std::is_same_v<Managed, DLManagedTensor> ? "dltensor" : "dltensor_versioned";
template <class Managed>
inline constexpr const char* kUsedName =
    std::is_same_v<Managed, DLManagedTensor> ? "used_dltensor" : "used_dltensor_versioned";

// A capsule that nobody consumed still owns the export.
template <class Managed>
void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kName<Managed>) == 0) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName<Managed>));
  if (managed->deleter != nullptr) managed->deleter(managed);
}

template <class Managed>
PyObject* export_capsule(const Tensor& tensor, bool copied) {
  auto owner = std::make_unique<Exported<Managed>>();
  owner->storage = tensor.impl()->storage;
  owner->shape = tensor.sizes();
  owner->strides = tensor.strides();
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (owner->shape[i] < 2) owner->strides[i] = 1;  // consumers reject odd strides even where they mean nothing
  }
  DLTensor& dl = owner->managed.tensor;
  dl.data = tensor.numel() == 0 ? nullptr : tensor.data();
  dl.device = {kCpu, 0};
  dl.ndim = static_cast<std::int32_t>(tensor.dim());
  dl.dtype = to_dl(tensor.dtype());
  dl.shape = owner->shape.data();
  dl.strides = owner->strides.data();
  dl.byte_offset = 0;
  owner->managed.context = owner.get();
  owner->managed.deleter = &delete_exported<Managed>;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    owner->managed.version = {1, 0};
    owner->managed.flags = copied ? kCopied : 0;
  }
  PyObject* capsule = checked(PyCapsule_New(&owner->managed, kName<Managed>, &destroy_capsule<Managed>));
  owner.release()->storage->add_export();  // resizing would move the memory
  return capsule;
}

// to_dlpack(tensor, versioned, copied)
PyObject* to_dlpack(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject* object = nullptr;
    int versioned = 0, copied = 0;
    if (PyArg_ParseTuple(args, "Opp:to_dlpack", &object, &versioned, &copied) == 0) throw_python();
    check(is_tensor(object), ErrorKind::Type, "to_dlpack: expected a Tensor, got ", Py_TYPE(object)->tp_name);
    const Tensor& tensor = tensor_of(object);
    if (tensor.is_meta()) buffer_error("Cannot pack tensors on meta");
    if (tensor.is_conj()) buffer_error("Can't export tensors with the conjugate bit set");
    const Tensor plain = tensor.is_neg() ? resolve(tensor) : tensor;
    return versioned != 0 ? export_capsule<DLManagedTensorVersioned>(plain, copied != 0)
                          : export_capsule<DLManagedTensor>(plain, copied != 0);
  });
}

// Bytes from the first to the last element; checks what an untrusted producer may get wrong.
std::int64_t checked_extent(const DLTensor& dl, IntSpan sizes, IntSpan strides, DType dtype) {
  std::int64_t last = 0, bytes = 0;
  bool bad = false;
  for (std::int64_t i = 0; i < sizes.size(); ++i) {
    std::int64_t reach = 0;
    bad = bad || strides[i] < 0 || __builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) ||
          __builtin_add_overflow(last, reach, &last);
  }
  bad = bad || __builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, itemsize(dtype), &bytes);
  if (bad) buffer_error(concat("from_dlpack: expected non-negative strides, got ", strides, " for sizes ", sizes));
  if (dl.data == nullptr) buffer_error("from_dlpack: expected data for a non-empty array, got a null pointer");
  return bytes;
}

template <class Managed>
Tensor import_managed(Managed* managed) {
  const DLTensor& dl = managed->tensor;
  if (dl.device.type != kCpu)
    buffer_error(concat("from_dlpack: expected a CPU array, got device type ", dl.device.type));
  if (dl.ndim < 0 || dl.ndim > kMaxDims)
    buffer_error(concat("from_dlpack: expected at most ", kMaxDims, " dims, got ", dl.ndim));
  const DType dtype = from_dl(dl.dtype);
  const Dims sizes(IntSpan(dl.shape, dl.ndim));
  for (std::int64_t size : sizes) {
    if (size < 0) buffer_error(concat("from_dlpack: expected non-negative sizes, got ", sizes));
  }
  const std::int64_t numel = checked_numel(sizes);
  const Dims strides = dl.strides != nullptr ? Dims(IntSpan(dl.strides, dl.ndim)) : contiguous_strides(sizes);
  auto release = [](void* context) noexcept {
    auto* owner = static_cast<Managed*>(context);
    const PyGILState_STATE gil = PyGILState_Ensure();  // the producer's deleter may be Python's
    if (owner->deleter != nullptr) owner->deleter(owner);
    PyGILState_Release(gil);
  };
  if (numel == 0) {
    Tensor result = empty(sizes, dtype);
    if (managed->deleter != nullptr) managed->deleter(managed);
    return result;
  }
  const std::int64_t bytes = checked_extent(dl, sizes, strides, dtype);
  void* data = static_cast<char*>(dl.data) + dl.byte_offset;
  if (reinterpret_cast<std::uintptr_t>(data) %
          static_cast<std::uintptr_t>(std::min<std::int64_t>(itemsize(dtype), 8)) !=
      0) {
    buffer_error("from_dlpack: expected data aligned to its element size");
  }
  TensorImpl* impl = TensorImpl::create(Storage::wrap(data, bytes, release, managed), dtype);
  impl->set_geometry(sizes, strides);
  return Tensor::adopt(impl);
}

template <class Managed>
PyObject* consume(PyObject* capsule, int copy) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName<Managed>));
  bool read_only = false;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    if (managed->version.major > 1) {
      buffer_error(concat("from_dlpack: expected DLPack version 1, got ", managed->version.major));
    }
    read_only = (managed->flags & kReadOnly) != 0;
  }
  // A tensor has no read-only state: writing through one would change (or crash on) memory its owner protects.
  if (read_only && copy == 0)
    buffer_error("from_dlpack: expected a writable array with copy=False, got a read-only one");
  const Tensor imported = import_managed(managed);
  PyCapsule_SetName(capsule, kUsedName<Managed>);  // from here on the storage owns it
  return wrap(copy == 1 || read_only ? clone(imported) : imported);
}

// from_dlpack(capsule, copy): copy is -1 (if needed), 0 (never) or 1 (always)
PyObject* from_dlpack(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject* capsule = nullptr;
    int copy = -1;
    if (PyArg_ParseTuple(args, "Oi:from_dlpack", &capsule, &copy) == 0) throw_python();
    if (PyCapsule_IsValid(capsule, kName<DLManagedTensorVersioned>) != 0) {
      return consume<DLManagedTensorVersioned>(capsule, copy);
    }
    check(
        PyCapsule_IsValid(capsule, kName<DLManagedTensor>) != 0,
        "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might "
        "have already constructed a tensor from it once.");
    return consume<DLManagedTensor>(capsule, copy);
  });
}

PyMethodDef functions[] = {
    {"_to_dlpack", to_dlpack, METH_VARARGS, "Capsule over a tensor's memory: (tensor, versioned, copied)."},
    {"_from_dlpack", from_dlpack, METH_VARARGS, "Tensor over a capsule's memory: (capsule, copy)."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void bind_dlpack(nb::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), functions) != 0) throw_python();
}

}  // namespace flambeau::python
