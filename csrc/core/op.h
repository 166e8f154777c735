// OpDef: one operator: parsed schema, kernel, gradient rules. call_op() is the eager path: lazy bits, inference-mode
// and in-place rules, recording on the tape, kernel. No Python here: the bindings parse Python arguments into Values
// first.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/inline_vec.h"
#include "core/kernel.h"

namespace flambeau {

namespace autograd {
class OpNode;
}

// "Tensor(a!) self", "int[2]? stride=None", "*, Scalar alpha=1"
struct Parameter {
  std::string name;
  Tag tag = Tag::None;
  bool optional = false;        // T?: None is accepted
  bool optional_items = false;  // Tensor?[]
  bool keyword_only = false;
  bool has_default = false;
  Value default_value;
  std::int64_t fixed_size = 0;  // int[2]: one int is repeated
  bool varargs = false;         // int[*]: f(1, 2, 3) is f((1, 2, 3))
  bool mutated = false;         // Tensor(a!)
  bool only_tensor = false;     // OnlyTensor: a number does not stand for a tensor here
  bool aliased = false;         // Tensor(a): a result may be a view of it
};

struct ResultSpec {
  std::string name;  // for named tuples; may be empty
  Tag tag = Tag::Tensor;
  bool aliases = false;  // view of the aliased parameter (Tensor(a)), or the mutated one itself (Tensor(a!))
};

struct OpDef;

// Gradient rules, written in Python; the bindings implement this.
class Rules {
 public:
  virtual ~Rules() = default;
  // Which arguments (by parameter index) and results the rules for the needed gradients read. Called while recording:
  // `needed[k]` says whether the k-th differentiable parameter wants a gradient.
  struct Reads {
    std::uint64_t arguments = 0;  // bit per parameter: save the value
    std::uint64_t metas = 0;      // bit per parameter: save only sizes, strides, dtype, device
    std::uint32_t results = 0;    // bit per result
  };
  [[nodiscard]] virtual Reads reads(std::uint64_t needed) const = 0;
  // Cotangents of the needed differentiable parameters from those of the results.
  virtual void apply(autograd::OpNode& node, const InlineVec<Tensor, 3>& grads_in,
                     InlineVec<Tensor, 3>& grads_out) const = 0;
};

// What autocast casts floating point arguments to.
enum class AutocastPolicy : std::uint8_t { None, Lower, Float32, Promote };

struct OpDef {
  std::string name;  // "add", or "add_" for the in-place form
  std::string schema;
  std::vector<Parameter> parameters;
  std::vector<ResultSpec> results;  // one TensorList entry for "-> Tensor[]"
  const KernelDef* kernel = nullptr;
  const Rules* rules = nullptr;
  std::string non_differentiable;  // the stated reason, when there are no rules
  bool inplace = false;            // writes its first parameter and returns it
  bool inplace_view = false;       // inplace, and only the geometry changes
  bool mutates = false;            // some parameter is written in place
  bool is_view = false;            // some result aliases a parameter: view bookkeeping applies
  bool handles_lazy_bits = false;  // kernel understands conj and neg bits (views, copies); else they are resolved first
  AutocastPolicy autocast = AutocastPolicy::None;
  bool own_inplace_kernel = false;               // inplace, and the kernel writes the argument itself ("fill_")
  std::vector<std::uint16_t> tensor_parameters;  // indices of Tensor, Tensor? and Tensor[] parameters
  void* pyobj = nullptr;                         // borrowed: the Python Op
};

// "name(Tensor input, *, float eps=1e-5) -> Tensor"; ValueError that points at the fault.
void parse_schema(std::string_view schema, OpDef& def);

// Runs the op on `arguments` (def.parameters.size() of them, defaults filled in). `results` has def.results.size()
// slots. With out.given(): out= call. In-place ops take their destination from arguments[0].
void call_op(const OpDef& def, Value* arguments, Value* results, const Out& out = {});

// The arguments of one call, defaults in place, on the stack for ops of up to twelve parameters.
class InlineValues {
 public:
  explicit InlineValues(const OpDef& def) {
    const std::size_t count = def.parameters.size();
    if (count > kInline) heap_ = std::make_unique<Value[]>(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (def.parameters[i].has_default) data()[i].alias(def.parameters[i].default_value);
    }
  }
  Value* data() noexcept { return heap_ ? heap_.get() : inline_; }
  Value& operator[](std::size_t i) noexcept { return data()[i]; }

 private:
  static constexpr std::size_t kInline = 12;
  Value inline_[kInline];
  std::unique_ptr<Value[]> heap_;
};

// Kernels on large tensors run without the GIL; the bindings set these two.
extern void* (*release_gil)();
extern void (*acquire_gil)(void* state);

// In place of the kernel when an argument is extended (tensor.h); set by the bindings.
extern void (*extended_kernel)(const OpDef& def, const Value* arguments, Value* results, const Out& out);

// For kernels of strided tensors whose result is extended: the extended form of the op, arguments after `tensors` at
// their defaults.
Tensor call_extended(const char* op, std::initializer_list<Tensor> tensors);

// Registry, so that C++ (engine, VM) can call a differentiable op by name.
void register_op(OpDef* def);
const OpDef* find_op(std::string_view name);
// Convenience for the engine: a differentiable call of a registered op.
Tensor call(const char* op, std::initializer_list<Tensor> tensors);

}  // namespace flambeau
