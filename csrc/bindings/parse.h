// Python call arguments -> Values, driven by an op's schema.
#pragma once

#include <array>

#include "bindings/python.h"
#include "core/inline_vec.h"

namespace flambeau::python {

// Interned keyword names of one op, and what its calls accept beyond the schema.
struct CallShape {
  std::vector<PyObject*> names;  // interned, one per parameter
  std::size_t positional = 0;    // leading parameters that may be given by position
  bool takes_out = false;        // accepts out=
  bool is_factory = false;       // has a device parameter: requires_grad=, layout=, pin_memory= and names= are accepted
  bool single_list = false;      // the last positional parameter is int[*]
  std::int8_t created_on = -1;   // index of the device parameter of an op without tensors, which default_device fills
};

// One call: the argument Values and the memory they borrow from. Lives on the C stack.
class CallFrame {
 public:
  explicit CallFrame(std::size_t count) : count_(count) {
    data_ = count <= kInline ? reinterpret_cast<Value*>(inline_) : std::allocator<Value>().allocate(count);
    for (std::size_t i = 0; i < count; ++i) new (data_ + i) Value();
  }
  ~CallFrame() {
    for (std::size_t i = 0; i < count_; ++i) data_[i].~Value();
    if (count_ > kInline) std::allocator<Value>().deallocate(data_, count_);
  }
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;
  Value* values() noexcept { return data_; }
  Value& operator[](std::size_t i) noexcept { return data_[i]; }

  InlineVec<Tensor, 2> outs;       // out=
  bool requires_grad = false;      // of a factory call
  bool exact = false;              // a tensor does not stand for an int: the other overloads come first
  PyObject* overridden = nullptr;  // borrowed: an argument whose class has a __torch_function__ of its own

  // What no kernel knows: a dtype without kernels, or a layout= that is not strided. The call goes to run_extended().
  bool extended = false;
  PyObject* layout = nullptr;   // borrowed
  bool complex_scalar = false;  // a complex number, or a complex tensor without dims, beside other tensors

  // Memory for lists. Dims keeps six ints inline; the deque-like list of them never moves elements.
  Dims& fresh_ints() { return *ints_.emplace_back(std::make_unique<Dims>()); }
  InlineVec<std::unique_ptr<Dims>, 3> ints_;
  InlineVec<std::unique_ptr<std::vector<Tensor>>, 1> tensors_;
  InlineVec<std::unique_ptr<std::vector<double>>, 1> floats_;
  InlineVec<std::unique_ptr<std::vector<Scalar>>, 1> scalars_;
  InlineVec<std::unique_ptr<bool[]>, 1> bools_;

 private:
  static constexpr std::size_t kInline = 10;
  std::size_t count_;
  Value* data_;
  alignas(Value) unsigned char inline_[kInline * sizeof(Value)];
};

CallShape make_call_shape(const OpDef& def, bool takes_out);

// False when the arguments do not fit the schema; `error` (if not null) then gets PyTorch-like words. Conversions that
// fail inside Python throw PythonError.
bool parse_call(const OpDef& def, const CallShape& shape, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                CallFrame& frame, std::string* error);

// Calls the Python form of an op (extension.cpp), with autograd as it is.
void run_extended(const OpDef& def, CallFrame& frame, Value* results, const Out& out);

// "(Tensor input, *, Scalar alpha=1)": for messages.
std::string signature_of(const OpDef& def);

// True for tensors of a class that overrides __torch_function__ (and for other objects that define it).
bool has_torch_function(PyObject* object) noexcept;
bool torch_function_enabled() noexcept;  // of this thread; op_type.cpp

}  // namespace flambeau::python
