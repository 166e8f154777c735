// The Python types Op and Overload: callables that parse their arguments by schema and run the op without a Python
// frame.
#include <nanobind/stl/string.h>

#include <atomic>

#include "bindings/parse.h"

#include "bindings/rules.h"
#include "core/factory.h"

namespace flambeau::python {
namespace {

constexpr std::size_t kMaxResults = 8;

struct OpObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  OpDef* def;      // lives as long as the process
  PyRules* rules;  // shared by the in-place form
  CallShape* shape;
  PyTypeObject* return_type;  // named tuple, or null
  bool dunder;                // bad arguments give NotImplemented, so that Python tries the other operand
  PyObject* dict;
};
struct OverloadObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* name;
  PyObject* ops;  // tuple of Op
  bool dunder;
  PyObject* dict;
};

PyTypeObject* op_type = nullptr;
PyTypeObject* overload_type = nullptr;
thread_local int torch_function_disabled = 0;
// Modes see every call, whatever its arguments. The number of all threads is looked at first: reading a variable of the
// thread costs more than the whole rest of the check.
std::atomic<int> modes_of_all_threads = 0;
thread_local int modes_of_this_thread = 0;
PyObject* mode_hook = nullptr;  // (function, types, args, kwargs): gives a call to the innermost mode

OpObject* as_op(PyObject* self) { return reinterpret_cast<OpObject*>(self); }
OverloadObject* as_overload(PyObject* self) { return reinterpret_cast<OverloadObject*>(self); }

// ---- named tuples

PyObject* named_tuple_repr(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Object text(PyUnicode_FromFormat("%s(\n", type->tp_name));
  const Object names(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__match_args__"));
  if (!text || !names) return nullptr;
  const Py_ssize_t count = PyTuple_GET_SIZE(self);
  for (Py_ssize_t i = 0; i < count; ++i) {
    text = Object(PyUnicode_FromFormat("%U%U=%R%s", text.get(), PyTuple_GET_ITEM(names.get(), i),
                                       PyTuple_GET_ITEM(self, i), i + 1 < count ? ",\n" : ")"));
    if (!text) return nullptr;
  }
  return text.release();
}

PyTypeObject* make_named_tuple(const char* name, const std::vector<ResultSpec>& results) {
  // The type keeps these pointers for good.
  auto* full_name = new std::string(std::string("torch.return_types.") + name);
  auto* fields = new PyStructSequence_Field[results.size() + 1];
  for (std::size_t i = 0; i < results.size(); ++i) fields[i] = {results[i].name.c_str(), nullptr};
  fields[results.size()] = {nullptr, nullptr};
  PyStructSequence_Desc description{full_name->c_str(), nullptr, fields, static_cast<int>(results.size())};
  PyTypeObject* type = PyStructSequence_NewType(&description);
  if (type == nullptr) throw_python();
  type->tp_repr = named_tuple_repr;
  return type;
}

PyObject* results_to_python(const OpObject& op, Value* results) {
  const std::size_t count = op.def->results.size();
  if (count == 1) [[likely]] {
    if (results[0].tag() == Tag::Tensor) return wrap(results[0].take_tensor());
    return to_python(results[0]);
  }
  if (count == 0) return Py_NewRef(Py_None);
  PyObject* tuple =
      op.return_type != nullptr ? PyStructSequence_New(op.return_type) : PyTuple_New(static_cast<Py_ssize_t>(count));
  if (tuple == nullptr) return nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* item = results[i].tag() == Tag::Tensor ? wrap(results[i].take_tensor()) : to_python(results[i]);
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), item);
  }
  if (PyErr_Occurred() != nullptr) Py_CLEAR(tuple);
  return tuple;
}

// ---- __torch_function__

void collect_overrides(PyObject* object, std::vector<PyObject*>& found, int depth) {
  if ((PyTuple_Check(object) || PyList_Check(object)) && depth < 2) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
      collect_overrides(PySequence_Fast_GET_ITEM(object, i), found, depth + 1);
    }
  } else if (has_torch_function(object)) {
    auto at = found.begin();
    // One object per class; subclasses before their bases, else by position.
    for (PyObject* other : found) {
      if (Py_TYPE(other) == Py_TYPE(object)) return;
    }
    while (at != found.end() && PyType_IsSubtype(Py_TYPE(object), Py_TYPE(*at)) == 0) ++at;
    found.insert(at, object);
  }
}

PyObject* call_torch_function(PyObject* function, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
  const Object positional(PyTuple_New(nargs));
  const Object named(PyDict_New());
  for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(positional.get(), i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    if (PyDict_SetItem(named.get(), PyTuple_GET_ITEM(kwnames, i), args[nargs + i]) != 0) throw_python();
  }
  std::vector<PyObject*> found;
  for (Py_ssize_t i = 0; i < nargs + keywords; ++i) collect_overrides(args[i], found, 0);
  const Object types(PyTuple_New(static_cast<Py_ssize_t>(found.size())));
  for (std::size_t i = 0; i < found.size(); ++i) {
    PyTuple_SET_ITEM(types.get(), static_cast<Py_ssize_t>(i),
                     Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(found[i]))));
  }
  for (PyObject* object : found) {
    const Object method(
        checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__torch_function__")));
    PyObject* result =
        PyObject_CallFunctionObjArgs(method.get(), function, types.get(), positional.get(), named.get(), nullptr);
    if (result == nullptr) throw_python();
    if (result != Py_NotImplemented) return result;
    Py_DECREF(result);
  }
  const Object text(PyObject_Repr(function));
  fail(ErrorKind::Type, "no implementation found for ", text ? PyUnicode_AsUTF8(text.get()) : "this function",
       " on types that implement __torch_function__");
}

bool mode_active() noexcept {
  return modes_of_all_threads.load(std::memory_order_relaxed) != 0 && modes_of_this_thread > 0 &&
         torch_function_enabled();
}

PyObject* call_mode(PyObject* function, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
  const Object positional(checked(PyTuple_New(nargs))), named(checked(PyDict_New()));
  for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(positional.get(), i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    if (PyDict_SetItem(named.get(), PyTuple_GET_ITEM(kwnames, i), args[nargs + i]) != 0) throw_python();
  }
  std::vector<PyObject*> found;
  for (Py_ssize_t i = 0; i < nargs + keywords; ++i) collect_overrides(args[i], found, 0);
  const Object types(checked(PyTuple_New(static_cast<Py_ssize_t>(found.size()))));
  for (std::size_t i = 0; i < found.size(); ++i) {
    PyTuple_SET_ITEM(types.get(), static_cast<Py_ssize_t>(i),
                     Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(found[i]))));
  }
  PyObject* result =
      PyObject_CallFunctionObjArgs(mode_hook, function, types.get(), positional.get(), named.get(), nullptr);
  if (result == nullptr) throw_python();
  return result;
}

// ---- calls

// Not promote_types() or can_cast(), which only compare dtypes.
bool makes_tensors(const OpDef& def) {
  return !def.results.empty() && (def.results[0].tag == Tag::Tensor || def.results[0].tag == Tag::TensorList);
}

PyObject* run(const OpObject& op, CallFrame& frame) {
  Value results[kMaxResults];
  Out out;
  if (!frame.outs.empty()) {
    out.tensors = frame.outs.data();
    out.count = static_cast<std::int64_t>(frame.outs.size());
  }
  if (frame.extended && makes_tensors(*op.def)) [[unlikely]] {
    run_extended(*op.def, frame, results, out);
  } else {
    call_op(*op.def, frame.values(), results, out);
  }
  if (warnings_pending()) [[unlikely]]
    emit_queued_warnings();
  if (frame.requires_grad) {
    check(is_differentiable(results[0].tensor().dtype()), ErrorKind::Runtime,
          "Only Tensors of floating point and complex dtype can require gradients");
    results[0].tensor().impl()->requires_grad = true;
  }
  return results_to_python(op, results);
}

PyObject* op_call(PyObject* self, PyObject* const* args, std::size_t nargsf, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    const OpObject& op = *as_op(self);
    const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (mode_active()) [[unlikely]]
      return call_mode(self, args, nargs, kwnames);
    CallFrame frame(op.def->parameters.size());
    std::string error;
    const bool fits = parse_call(*op.def, *op.shape, args, nargs, kwnames, frame, &error);
    if (frame.overridden != nullptr) [[unlikely]]
      return call_torch_function(self, args, nargs, kwnames);
    if (!fits) [[unlikely]] {
      if (op.dunder) return Py_NewRef(Py_NotImplemented);
      fail(ErrorKind::Type, error, ". Expected ", op.def->name, signature_of(*op.def), ".");
    }
    return run(op, frame);
  });
}

PyObject* overload_call(PyObject* self, PyObject* const* args, std::size_t nargsf, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    const OverloadObject& overload = *as_overload(self);
    const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    const Py_ssize_t count = PyTuple_GET_SIZE(overload.ops);
    if (mode_active()) [[unlikely]]
      return call_mode(self, args, nargs, kwnames);
    // max(x, tensor(1)) compares two tensors: only when nothing else fits does a tensor stand for an int.
    for (const bool exact : {true, false}) {
      for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* candidate = PyTuple_GET_ITEM(overload.ops, i);
        // A Python function at the end takes whatever no schema did.
        if (Py_TYPE(candidate) != op_type) return PyObject_Vectorcall(candidate, args, nargsf, kwnames);
        const OpObject& op = *as_op(candidate);
        CallFrame frame(op.def->parameters.size());
        frame.exact = exact;
        const bool fits = parse_call(*op.def, *op.shape, args, nargs, kwnames, frame, nullptr);
        if (frame.overridden != nullptr) return call_torch_function(self, args, nargs, kwnames);
        if (fits) return run(op, frame);
      }
    }
    if (overload.dunder) return Py_NewRef(Py_NotImplemented);
    std::string got;
    for (Py_ssize_t i = 0; i < nargs; ++i) got += (i != 0 ? ", " : "") + std::string(Py_TYPE(args[i])->tp_name);
    for (Py_ssize_t i = 0; kwnames != nullptr && i < PyTuple_GET_SIZE(kwnames); ++i) {
      got += (got.empty() ? "" : ", ") + std::string(PyUnicode_AsUTF8(PyTuple_GET_ITEM(kwnames, i))) + "=" +
             Py_TYPE(args[nargs + i])->tp_name;
    }
    std::string expected;
    for (Py_ssize_t i = 0; i < count; ++i) {
      expected += "\n * " + signature_of(*as_op(PyTuple_GET_ITEM(overload.ops, i))->def);
    }
    fail(ErrorKind::Type, PyUnicode_AsUTF8(overload.name), "() received an invalid combination of arguments - got (",
         got, "), but expected one of:", expected);
  });
}

PyObject* bind_method(PyObject* self, PyObject* object, PyObject*) {
  return object == nullptr || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

// ---- Op attributes

PyObject* op_repr(PyObject* self) { return PyUnicode_FromFormat("<op %s>", as_op(self)->def->name.c_str()); }

// policy: an AutocastPolicy.
PyObject* op_set_autocast(PyObject* self, PyObject* policy) {
  const long value = PyLong_AsLong(policy);
  if (value == -1 && PyErr_Occurred() != nullptr) return nullptr;
  as_op(self)->def->autocast = static_cast<AutocastPolicy>(value);
  Py_RETURN_NONE;
}

PyObject* op_add_rule(PyObject* self, PyObject* args) {
  PyObject *function, *target, *names;
  if (PyArg_ParseTuple(args, "OOO!", &function, &target, &PyTuple_Type, &names) == 0) return nullptr;
  return guarded([&] {
    OpObject& op = *as_op(self);
    int index = -1;
    if (target != Py_None) {
      const char* name = PyUnicode_AsUTF8(target);
      if (name == nullptr) throw_python();
      for (std::size_t k = 0; k < op.def->tensor_parameters.size(); ++k) {
        if (op.def->parameters[op.def->tensor_parameters[k]].name == name) index = static_cast<int>(k);
      }
      check(index >= 0, ErrorKind::Value, op.def->name, ": no differentiable parameter '", name, "' in ",
            op.def->schema);
    }
    std::vector<std::string> parameters;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i)
      parameters.emplace_back(PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i)));
    op.rules->add(function, index, parameters);
    op.def->rules = op.rules;
    return Py_NewRef(Py_None);
  });
}

OpObject* new_op(OpDef* def, PyRules* rules, CallShape* shape, PyTypeObject* return_type) {
  auto* op = reinterpret_cast<OpObject*>(checked(op_type->tp_alloc(op_type, 0)));
  op->vectorcall = op_call;
  op->def = def;
  op->rules = rules;
  op->shape = shape;
  op->return_type = return_type;
  return op;
}

// The in-place form: same kernel, same rules, writes its first parameter.
PyObject* op_make_inplace(PyObject* self, PyObject*) {
  return guarded([&] {
    const OpObject& op = *as_op(self);
    auto* def = new OpDef;
    parse_schema(op.def->schema, *def);
    def->name += "_";
    def->kernel = op.def->kernel;
    def->non_differentiable = op.def->non_differentiable;
    def->handles_lazy_bits = op.def->handles_lazy_bits;
    def->inplace_view = def->is_view;  // t_(), squeeze_(): new geometry, same values
    def->is_view = false;
    check(!def->parameters.empty() && def->parameters[0].tag == Tag::Tensor, ErrorKind::Value, def->name,
          ": only an op whose first parameter is a Tensor has an in-place form");
    def->parameters[0].mutated = true;
    def->inplace = true;
    for (ResultSpec& result : def->results) result.aliases = true;
    register_op(def);
    auto* rules = new PyRules(*def);
    OpObject* made = new_op(def, rules, new CallShape(make_call_shape(*def, false)), nullptr);
    def->pyobj = made;
    return reinterpret_cast<PyObject*>(made);
  });
}

PyObject* op_as_dunder(PyObject* self, PyObject*) {
  return guarded([&] {
    const OpObject& op = *as_op(self);
    OpObject* made = new_op(op.def, op.rules, op.shape, op.return_type);
    made->dunder = true;
    Py_XINCREF(op.dict);
    made->dict = op.dict;
    return reinterpret_cast<PyObject*>(made);
  });
}

PyObject* op_parameters(PyObject* self, void*) {
  const OpDef& def = *as_op(self)->def;
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(def.parameters.size()));
  for (std::size_t i = 0; tuple != nullptr && i < def.parameters.size(); ++i) {
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), PyUnicode_FromString(def.parameters[i].name.c_str()));
  }
  return tuple;
}

// Pickled and deep-copied by name, like functions; from the table of ops where no module has that name (add_).
PyObject* op_reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    Object name(checked(PyUnicode_FromString(as_op(self)->def->name.c_str())));
    const Object module_name(checked(PyObject_GetAttrString(self, "__module__")));
    const Object module(PyImport_GetModule(module_name.get()));
    const Object found(module ? PyObject_GetAttr(module.get(), name.get()) : nullptr);
    if (found.get() == self) return name.release();
    PyErr_Clear();
    const Object registry(checked(PyImport_ImportModule("flambeau.ops.registry")));
    return checked(Py_BuildValue("N(O)", checked(PyObject_GetAttrString(registry.get(), "op_named")), name.get()));
  });
}
PyObject* overload_reduce(PyObject* self, PyObject*) { return Py_NewRef(as_overload(self)->name); }

PyMethodDef op_methods[] = {
    {"__reduce__", op_reduce, METH_NOARGS, nullptr},
    {"_add_rule", op_add_rule, METH_VARARGS, "_add_rule(function, parameter name or None, names of its parameters)"},
    {"_set_autocast", op_set_autocast, METH_O, "_set_autocast(policy): 1 lower, 2 float32, 3 promote"},
    {"_make_inplace", op_make_inplace, METH_NOARGS, "The op that writes its result into its first argument."},
    {"_as_dunder", op_as_dunder, METH_NOARGS, "The same op for use as an operator method."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef op_getset[] = {
    {"__name__", [](PyObject* s, void*) { return PyUnicode_FromString(as_op(s)->def->name.c_str()); }, nullptr, nullptr,
     nullptr},
    {"__qualname__", [](PyObject* s, void*) { return PyUnicode_FromString(as_op(s)->def->name.c_str()); }, nullptr,
     nullptr, nullptr},
    {"name", [](PyObject* s, void*) { return PyUnicode_FromString(as_op(s)->def->name.c_str()); }, nullptr,
     "Name of the op and of its kernel.", nullptr},
    {"schema", [](PyObject* s, void*) { return PyUnicode_FromString(as_op(s)->def->schema.c_str()); }, nullptr,
     "Declaration.", nullptr},
    {"parameters", op_parameters, nullptr, "Names of the parameters.", nullptr},
    {"has_rules", [](PyObject* s, void*) { return PyBool_FromLong(as_op(s)->def->rules != nullptr); }, nullptr,
     "Whether gradient rules exist.", nullptr},
    {"takes_out", [](PyObject* s, void*) { return PyBool_FromLong(as_op(s)->shape->takes_out); }, nullptr,
     "Whether out= is accepted.", nullptr},
    {"return_type",
     [](PyObject* s, void*) {
       auto* type = reinterpret_cast<PyObject*>(as_op(s)->return_type);
       return Py_NewRef(type == nullptr ? Py_None : type);
     },
     nullptr, "Named tuple of the results, or None.", nullptr},
    {"non_differentiable",
     [](PyObject* s, void*) { return PyUnicode_FromString(as_op(s)->def->non_differentiable.c_str()); }, nullptr,
     "Stated reason for having no gradient.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef op_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(OpObject, vectorcall), READONLY, nullptr},
                            {"__dictoffset__", T_PYSSIZET, offsetof(OpObject, dict), READONLY, nullptr},
                            {nullptr, 0, 0, 0, nullptr}};
PyType_Slot op_slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                          {Py_tp_descr_get, reinterpret_cast<void*>(bind_method)},
                          {Py_tp_repr, reinterpret_cast<void*>(op_repr)},
                          {Py_tp_methods, op_methods},
                          {Py_tp_getset, op_getset},
                          {Py_tp_members, op_members},
                          {Py_tp_doc, const_cast<char*>("A native operator.")},
                          {0, nullptr}};
PyType_Spec op_spec = {
    "flambeau._C.Op", sizeof(OpObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    op_slots};

PyObject* overload_repr(PyObject* self) { return PyUnicode_FromFormat("<op %U>", as_overload(self)->name); }
PyObject* overload_as_dunder(PyObject* self, PyObject*) {
  auto* made = reinterpret_cast<OverloadObject*>(overload_type->tp_alloc(overload_type, 0));
  if (made == nullptr) return nullptr;
  made->vectorcall = overload_call;
  made->name = Py_NewRef(as_overload(self)->name);
  made->ops = Py_NewRef(as_overload(self)->ops);
  made->dunder = true;
  return reinterpret_cast<PyObject*>(made);
}
PyMethodDef overload_methods[] = {
    {"__reduce__", overload_reduce, METH_NOARGS, nullptr},
    {"_as_dunder", overload_as_dunder, METH_NOARGS, "The same overloads for use as an operator method."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef overload_getset[] = {
    {"__name__", [](PyObject* s, void*) { return Py_NewRef(as_overload(s)->name); }, nullptr, nullptr, nullptr},
    {"__qualname__", [](PyObject* s, void*) { return Py_NewRef(as_overload(s)->name); }, nullptr, nullptr, nullptr},
    {"name", [](PyObject* s, void*) { return Py_NewRef(as_overload(s)->name); }, nullptr, "Public name.", nullptr},
    {"ops", [](PyObject* s, void*) { return Py_NewRef(as_overload(s)->ops); }, nullptr, "The ops tried, in order.",
     nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef overload_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OverloadObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(OverloadObject, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot overload_slots[] = {
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(bind_method)},
    {Py_tp_repr, reinterpret_cast<void*>(overload_repr)},
    {Py_tp_methods, overload_methods},
    {Py_tp_getset, overload_getset},
    {Py_tp_members, overload_members},
    {Py_tp_doc, const_cast<char*>("Several ops under one name; the first that fits is called.")},
    {0, nullptr}};
PyType_Spec overload_spec = {
    "flambeau._C.Overload", sizeof(OverloadObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    overload_slots};

nb::object make_op(const std::string& schema, bool takes_out, const std::string& return_type,
                   const std::string& non_differentiable, bool handles_lazy_bits) {
  auto* def = new OpDef;  // kernels, tape and programs point at it: never freed
  parse_schema(schema, *def);
  check(def->results.size() <= kMaxResults && def->parameters.size() <= 64, ErrorKind::Value,
        "schema: too many parameters or results");
  def->kernel = find_kernel(def->name);
  check(def->kernel != nullptr, ErrorKind::Runtime, "op '", def->name, "' has no kernel");
  def->own_inplace_kernel = def->inplace;
  def->handles_lazy_bits = handles_lazy_bits;
  def->non_differentiable = non_differentiable;
  const KernelDef& kernel = *def->kernel;
  bool match = kernel.parameters.size() == def->parameters.size();
  for (std::size_t i = 0; match && i < kernel.parameters.size(); ++i) {
    match = kernel.parameters[i] == def->parameters[i].tag &&
            (kernel.optional[i] || !def->parameters[i].optional || def->parameters[i].tag == Tag::Tensor);
  }
  if (!match) {
    std::string types;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      types += std::string(i != 0 ? ", " : "") + name_of(kernel.parameters[i]) + (kernel.optional[i] ? "?" : "");
    }
    fail(ErrorKind::Runtime, "op '", def->name, "': the kernel takes (", types, "), the schema is ", schema);
  }
  const int count = static_cast<int>(def->results.size());
  const bool list = count == 1 && def->results[0].tag == Tag::TensorList;
  check(kernel.result_count == (list ? -1 : count), ErrorKind::Runtime, "op '", def->name, "': the kernel gives ",
        kernel.result_count, " results, the schema is ", schema);
  register_op(def);
  PyTypeObject* named = return_type.empty() ? nullptr : make_named_tuple(return_type.c_str(), def->results);
  OpObject* op = new_op(def, new PyRules(*def), new CallShape(make_call_shape(*def, takes_out)), named);
  def->pyobj = op;
  return nb::steal(reinterpret_cast<PyObject*>(op));
}

nb::object make_overload(nb::str name, nb::tuple ops) {
  for (std::size_t i = 0; i < ops.size(); ++i) {
    PyObject* op = ops[i].ptr();
    const bool last = i + 1 == ops.size();
    check(Py_TYPE(op) == op_type || (last && PyCallable_Check(op) != 0), ErrorKind::Type,
          "overload: expected ops, and at most one function at the end, got ", Py_TYPE(op)->tp_name);
  }
  auto* made = reinterpret_cast<OverloadObject*>(checked(overload_type->tp_alloc(overload_type, 0)));
  made->vectorcall = overload_call;
  made->name = name.inc_ref().ptr();
  made->ops = ops.inc_ref().ptr();
  return nb::steal(reinterpret_cast<PyObject*>(made));
}

}  // namespace

bool torch_function_enabled() noexcept { return torch_function_disabled == 0; }

PyObject* call_python_op(const char* name, std::initializer_list<PyObject*> arguments) {
  const OpDef* def = find_op(name);
  internal_assert(def != nullptr && def->pyobj != nullptr, name);
  return PyObject_Vectorcall(static_cast<PyObject*>(def->pyobj), arguments.begin(), arguments.size(), nullptr);
}

void bind_ops(nb::module_& m) {
  op_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&op_spec)));
  overload_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&overload_spec)));
  m.attr("Op") = nb::handle(reinterpret_cast<PyObject*>(op_type));
  m.attr("Overload") = nb::handle(reinterpret_cast<PyObject*>(overload_type));
  m.def("_make_op", &make_op, nb::arg("schema"), nb::arg("out"), nb::arg("return_type"), nb::arg("non_differentiable"),
        nb::arg("handles_lazy_bits"),
        "Declare a native op; RuntimeError if no kernel of that name and signature exists.");
  m.def("_make_overload", &make_overload, nb::arg("name"), nb::arg("ops"));
  m.def(
      "_kernel_names",
      [] {
        nb::list names;
        for (const KernelDef* def : all_kernels()) names.append(def->name);
        return names;
      },
      "Names of every registered kernel.");
  m.def("_set_torch_function_mode_hook", [](nb::object hook) { mode_hook = hook.release().ptr(); });
  m.def("_count_torch_function_modes", [](int change) {
    modes_of_all_threads += change;
    modes_of_this_thread += change;
  });
  m.def("_torch_function_enabled", [] { return torch_function_enabled(); });
  m.def("_disable_torch_function", [](bool disable) { torch_function_disabled += disable ? 1 : -1; });
  release_gil = []() -> void* { return PyEval_SaveThread(); };
  acquire_gil = [](void* state) { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); };
}

}  // namespace flambeau::python
