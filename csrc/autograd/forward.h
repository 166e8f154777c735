// Forward-mode differentiation: tangents of tensors, and the op calls that propagate them.
//
// A tensor's tangent lives beside its gradient, in its autograd state, and ends with the dual level it was set in. A
// view of a dual tensor has a view of the tangent. Tangents of an op's results come from its reverse rule
// (forward_op.cpp), so that no op needs a second rule.
#pragma once

#include <memory>

#include "autograd/meta.h"
#include "autograd/op_node.h"

namespace flambeau::autograd {

// Ops look at arguments' tangents only while this is set: the one cost of forward mode for programs without it.
extern bool forward_active;

std::uint64_t dual_level_serial() noexcept;  // tells levels apart that are entered one after another
std::int64_t enter_dual_level();             // the new level; RuntimeError inside another one: levels do not nest
void exit_dual_level(std::int64_t level);

// Ops called in its scope do not propagate tangents.
class ForwardPause {
 public:
  explicit ForwardPause(bool paused = true) noexcept;
  ~ForwardPause();
  ForwardPause(const ForwardPause&) = delete;
  ForwardPause& operator=(const ForwardPause&) = delete;

 private:
  bool saved_;
};
[[nodiscard]] bool forward_paused() noexcept;
void set_forward_paused(bool paused) noexcept;

// The tangent, undefined if there is none: its own, or for a view a view of its base's.
Tensor tangent_of(const Tensor& tensor);
// Makes `value` the tangent, in a copy with the tensor's strides if it has others, so that views of both agree.
void set_tangent(const Tensor& tensor, const Tensor& value);
// After an in-place op: writes the tangent that views of the tensor share, zeros if `value` is undefined.
void update_tangent(const Tensor& tensor, const Tensor& value);
void drop_tangent(const Tensor& tensor) noexcept;

Tensor make_dual(const Tensor& primal, const Tensor& tangent);  // a view of primal
Tensor primal_of(const Tensor& tensor);                         // a view without tangent

// How an op's tangents are computed; what is not listed goes through two reverse passes.
enum class ForwardKind : std::uint8_t {
  Generic,
  AtOne,        // generic, for rules that take a logarithm of the cotangent: linear, but not at zero
  Linear,       // in all its tensors together: the op itself, on tangents
  Bilinear,     // in its first two tensors, plus an optional third: the op itself, one tangent at a time
  Elementwise,  // result elements depend on the matching elements only: the reverse rule, for real tensors
  Holomorphic,  // likewise, and complex differentiable in each argument: the reverse rule for all
};
void set_forward_kind(const OpDef& def, ForwardKind kind);

// Runs the op with tangents if any argument has one; false if there are none and nothing was done.
bool call_forward(const OpDef& def, Value* arguments, Value* results, const Out& out);

// While call_forward runs `def`: the node that was recorded for it, whose saved results get tangents later.
struct Recorded {
  const OpDef* def;
  Ref<OpNode> node;
};
extern thread_local constinit Recorded* recorded;

}  // namespace flambeau::autograd
