// flambeau.Generator: the Python type of random number generators, and their state as PyTorch's 5056-byte tensor.
#include <cstring>
#include <random>

#include "bindings/python.h"
#include "core/factory.h"

namespace flambeau::python {

namespace {

// Byte layout of PyTorch's CPU generator state: the Torch7 structure, then the cached float32 normal.
struct State {
  std::uint64_t initial_seed;
  std::int32_t left;  // draws until the next block update, plus one
  std::int32_t seeded;
  std::uint64_t next;  // position in the block
  std::uint64_t words[Generator::kN];
  double normal_x, normal_y, normal_rho;
  std::int32_t normal_is_valid, padding;
  float float_normal;
  std::uint8_t float_normal_is_valid, more_padding[3];
};
constexpr std::size_t kSize = 5056, kLegacySize = 5048;
static_assert(sizeof(State) == kSize);

Generator& generator_of(PyObject* self) { return *reinterpret_cast<GeneratorObject*>(self)->generator; }

Tensor get_state(Generator& g) {
  Tensor result = empty({static_cast<std::int64_t>(kSize)}, DType::UInt8);
  const std::lock_guard lock(g.mutex);
  State state{};
  state.initial_seed = g.initial_seed();
  const bool fresh = g.position() == Generator::kFresh;
  state.left = fresh ? 1 : Generator::kN + 1 - g.position();
  state.next = fresh ? 0 : static_cast<std::uint64_t>(g.position());
  state.seeded = 1;
  std::copy(g.words().begin(), g.words().end(), state.words);
  state.normal_is_valid = g.has_normal_double ? 1 : 0;
  state.normal_y = g.has_normal_double ? g.normal_double : 0;
  state.float_normal_is_valid = g.has_normal_float ? 1 : 0;
  state.float_normal = g.has_normal_float ? g.normal_float : 0;
  std::memcpy(result.data(), &state, kSize);
  return result;
}

void set_state(Generator& g, const Tensor& tensor) {
  check(tensor.dtype() == DType::UInt8 && !tensor.is_meta(), ErrorKind::Type, "RNG state must be a torch.ByteTensor");
  const auto size = static_cast<std::size_t>(tensor.numel());
  check(size == kSize || size == kLegacySize, "Expected a CPUGeneratorImplState of size ", kSize,
        " but found the input RNG state size to be ", size);
  check(tensor.is_contiguous(), ErrorKind::Type, "RNG state must be a contiguous torch.ByteTensor");
  State state{};
  std::memcpy(&state, tensor.data(), size);
  const bool fresh = state.left == 1 && state.next == 0;
  check(state.seeded == 1 && state.left > 0 && state.left <= Generator::kN && state.next <= Generator::kN &&
            (fresh || state.left == Generator::kN + 1 - static_cast<std::int64_t>(state.next)),
        "Invalid mt19937 state");
  const std::lock_guard lock(g.mutex);
  g.set_initial_seed(state.initial_seed);
  for (std::size_t i = 0; i < Generator::kN; ++i) g.words()[i] = static_cast<std::uint32_t>(state.words[i]);
  g.position() = fresh ? Generator::kFresh : static_cast<int>(state.next);
  g.has_normal_double = state.normal_is_valid != 0;
  g.normal_double = state.normal_y;
  if (size == kLegacySize && g.has_normal_double) {  // Torch7 kept the pair's polar form
    g.normal_double = state.normal_rho * std::sin(2.0 * 3.14159265358979323846 * state.normal_x);
  }
  g.has_normal_float = size == kSize && state.float_normal_is_valid != 0;
  g.normal_float = state.float_normal;
}

PyObject* wrap_generator(PyTypeObject* type, Generator* generator) {
  auto* self = reinterpret_cast<GeneratorObject*>(type->tp_alloc(type, 0));
  if (self == nullptr) throw_python();
  self->generator = generator;
  return reinterpret_cast<PyObject*>(self);
}

PyObject* generator_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    PyObject* object = Py_None;
    static const char* names[] = {"device", nullptr};
    if (PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", const_cast<char**>(names), &object) == 0)
      throw_python();
    Device device;
    if (object != Py_None) {
      check(to_device(object, device), ErrorKind::Type,
            "Generator: expected device to be a torch.device or a string, got ", Py_TYPE(object)->tp_name);
    }
    check(device.type == DeviceType::CPU, "Generator: expected device cpu, got ", device);
    return wrap_generator(type, new Generator);
  });
}

void generator_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Generator* generator = reinterpret_cast<GeneratorObject*>(self)->generator;
  if (generator != &default_generator()) delete generator;
  type->tp_free(self);
  Py_DECREF(type);
}

// Seeds are 64 bits; negative ones wrap.
std::uint64_t to_seed(PyObject* object) {
  check(PyLong_Check(object) != 0 && !PyBool_Check(object), "manual_seed expected a long, but got ",
        Py_TYPE(object)->tp_name);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) return static_cast<std::uint64_t>(value);
  if (overflow > 0) {
    const unsigned long long wide = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred() == nullptr) return wide;
    PyErr_Clear();
  }
  fail(ErrorKind::Value, "Overflow when unpacking long long: expected a seed of at most 64 bits");
}

PyObject* manual_seed(PyObject* self, PyObject* seed) {
  return guarded([&] {
    const std::uint64_t value = to_seed(seed);
    Generator& g = generator_of(self);
    const std::lock_guard lock(g.mutex);
    g.manual_seed(value);
    return Py_NewRef(self);
  });
}

PyObject* seed(PyObject* self, PyObject*) {
  return guarded([&] {
    std::random_device source;
    const std::uint64_t value = (std::uint64_t{source()} << 32) | source();
    Generator& g = generator_of(self);
    const std::lock_guard lock(g.mutex);
    g.manual_seed(value);
    return checked(PyLong_FromUnsignedLongLong(value));
  });
}

PyObject* initial_seed(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLongLong(generator_of(self).initial_seed());
}

PyObject* get_state(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(get_state(generator_of(self))); });
}

PyObject* set_state(PyObject* self, PyObject* state) {
  return guarded([&] {
    check(is_tensor(state), ErrorKind::Type, "expected a torch.ByteTensor, but got ", Py_TYPE(state)->tp_name);
    set_state(generator_of(self), tensor_of(state));
    return Py_NewRef(self);
  });
}

PyObject* clone_state(PyObject* self, PyObject*) {
  return guarded([&] {
    auto copy = std::make_unique<Generator>();
    Generator& g = generator_of(self);
    const std::lock_guard lock(g.mutex);
    copy->copy_state(g);
    return wrap_generator(Py_TYPE(self), copy.release());
  });
}

PyObject* unsupported(PyObject*, PyObject*) {
  PyErr_SetString(PyExc_NotImplementedError, "Generator: states cannot be shared between CPU generators");
  return nullptr;
}

PyObject* no_offset(PyObject*, PyObject*) {
  PyErr_SetString(PyExc_RuntimeError, "CPU Generator does not use offset");
  return nullptr;
}

PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const Object device(to_python(Device{})), state(wrap(get_state(generator_of(self))));
    return checked(Py_BuildValue("O(O)(KOO)", Py_TYPE(self), device.get(),
                                 static_cast<unsigned long long>(generator_of(self).initial_seed()), Py_None,
                                 state.get()));
  });
}

PyObject* setstate(PyObject* self, PyObject* state) {
  return guarded([&] {
    check(PyTuple_Check(state) != 0 && PyTuple_GET_SIZE(state) == 3 && is_tensor(PyTuple_GET_ITEM(state, 2)),
          ErrorKind::Type, "Generator.__setstate__: expected (initial_seed, offset, state)");
    set_state(generator_of(self), tensor_of(PyTuple_GET_ITEM(state, 2)));
    return Py_NewRef(Py_None);
  });
}

PyObject* device(PyObject*, void*) {
  return guarded([] { return to_python(Device{}); });
}

PyMethodDef methods[] = {
    {"manual_seed", manual_seed, METH_O, "Set the seed (64 bits; negative ones wrap) and return the generator."},
    {"seed", seed, METH_NOARGS, "Seed from the operating system and return the seed."},
    {"initial_seed", initial_seed, METH_NOARGS, "The seed that was set last."},
    {"get_state", get_state, METH_NOARGS, "The state as a uint8 tensor of 5056 elements, in PyTorch's layout."},
    {"set_state", set_state, METH_O, "Continue from a state that get_state() returned, here or in PyTorch."},
    {"clone_state", clone_state, METH_NOARGS, "A generator with the same state that continues on its own."},
    {"graphsafe_get_state", unsupported, METH_NOARGS, nullptr},
    {"graphsafe_set_state", unsupported, METH_O, nullptr},
    {"get_offset", no_offset, METH_NOARGS, nullptr},
    {"set_offset", no_offset, METH_O, nullptr},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"__setstate__", setstate, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {{"device", device, nullptr, "Where it draws: always cpu.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("Source of random numbers: the Mersenne Twister, with PyTorch's CPU state.")},
    {Py_tp_new, reinterpret_cast<void*>(&generator_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(&generator_dealloc)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, nullptr}};
PyType_Spec spec = {"flambeau._C.Generator", sizeof(GeneratorObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                    slots};

}  // namespace

PyTypeObject* generator_type = nullptr;

void bind_generator(nb::module_& m) {
  generator_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  m.attr("Generator") = nb::borrow(reinterpret_cast<PyObject*>(generator_type));
  m.attr("default_generator") = nb::steal(wrap_generator(generator_type, &default_generator()));
}

}  // namespace flambeau::python
