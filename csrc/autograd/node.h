// The tape: nodes, edges, saved tensors. A Node computes cotangents of an operation's inputs from those of its outputs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/inline_vec.h"
#include "core/tensor.h"

namespace flambeau::autograd {

class Node;
struct Meta;
using Grads = InlineVec<Tensor, 3>;  // an undefined Tensor is a zero cotangent

struct Edge {
  Ref<Node> node;              // null: nobody wants this cotangent
  std::uint32_t input_nr = 0;  // which output of the forward operation this is for `node`
};

// Geometry of one forward output: cotangents are checked against it, summed over broadcast dims and cast.
struct Metadata {
  Dims sizes;
  DType dtype = DType::Float32;
  Device device;
};

// A Python callable held by C++ (hooks); implemented in the bindings, which take the GIL.
class Hook {
 public:
  virtual ~Hook() = default;
  // Tensor hook: may replace grads[index]. Node pre-hook (index -1): may replace all.
  virtual void before(Grads& grads, int index) = 0;
  // Node post-hook: may replace the cotangents of the inputs.
  virtual void after(Grads& grad_inputs, const Grads& grad_outputs) = 0;
  [[nodiscard]] virtual void* callable() const = 0;  // borrowed PyObject*, for garbage collection
};

// What a node keeps alive, for the garbage collector.
class NodeVisitor {
 public:
  virtual ~NodeVisitor() = default;
  virtual void tensor(const Tensor& tensor) = 0;
  virtual void node(Node* node) = 0;
};

class Node : public Counted {
 public:
  explicit Node(std::uint64_t sequence_nr);
  Node();  // takes the next sequence number of this thread
  virtual ~Node() = default;
  // Without recursion: a graph of 100,000 nodes must not overflow the stack.
  static void destroy(Node* node) noexcept;

  // May move from grads. Must return next_edges.size() cotangents.
  virtual Grads apply(Grads&& grads) = 0;
  [[nodiscard]] virtual std::string name() const = 0;  // "MulBackward0"
  virtual void release_variables() {}                  // drop saved tensors after backward without retain_graph
  [[nodiscard]] virtual Tensor variable() const { return {}; }            // AccumulateGrad only
  [[nodiscard]] virtual void* python_context() const { return nullptr; }  // custom Function: borrowed PyObject*

  // Tensors and nodes it holds besides next_edges, one call per reference.
  virtual void visit(NodeVisitor& /*visitor*/) const {}

  [[nodiscard]] bool wants(std::size_t input) const { return static_cast<bool>(next_edges[input].node); }

  // Appends the geometry of one more forward output and returns its number.
  std::uint32_t add_output(const Tensor& tensor);

  InlineVec<Edge, 2> next_edges;   // one per differentiable forward input
  InlineVec<Metadata, 1> outputs;  // one per forward output
  std::uint64_t sequence_nr;
  bool skip_undefined = true;  // apply() is not called when every cotangent is undefined
  // Scratch of the one run that holds the right to stamp nodes (engine.cpp): which slot this node has in that run.
  std::uint32_t engine_slot = 0;
  std::uint64_t engine_run = 0;

  // Rare things live behind one pointer.
  struct Extras {
    // Keyed by handle id, in order of registration.
    std::vector<std::pair<std::int64_t, std::shared_ptr<Hook>>> pre_hooks, post_hooks;
    struct TensorHook {
      std::int64_t id;
      std::uint32_t output;
      std::shared_ptr<Hook> hook;
    };
    std::vector<TensorHook> tensor_hooks;                      // run before pre_hooks
    std::vector<std::pair<std::uint32_t, Meta*>> retain_grad;  // borrowed: the Meta removes itself when it dies
    std::string traceback;                                     // anomaly mode: where the forward ran
    Ref<Node> parent;                                          // anomaly mode, double backward
    std::shared_ptr<void> metadata;                            // grad_fn.metadata, a Python dict
    Node* outer = nullptr;                                     // borrowed: the CopySlices that runs this node
  };
  std::unique_ptr<Extras> extras;
  Extras& more() {
    if (!extras) extras = std::make_unique<Extras>();
    return *extras;
  }
  void* pyobj = nullptr;  // borrowed Python wrapper (tensor.grad_fn), so that identity holds; cleared by its dealloc
};

// saved_tensors_hooks: what `pack` made of a saved tensor.
class Packed {
 public:
  virtual ~Packed() = default;
  [[nodiscard]] virtual Tensor unpack() = 0;
};
class SavedHooks {
 public:
  virtual ~SavedHooks() = default;
  virtual std::unique_ptr<Packed> pack(const Tensor& tensor) = 0;
};
// RuntimeError: a second backward through a graph that was not retained.
[[noreturn]] void fail_released();
// The innermost active pair of this thread, or null. Borrowed.
SavedHooks* active_saved_hooks() noexcept;
void set_active_saved_hooks(SavedHooks* hooks) noexcept;

// A tensor kept for backward. Outputs of the node itself are kept without their grad_fn (that would be a cycle), so
// the history of an output has to be set before it is saved.
class SavedTensor {
 public:
  SavedTensor() = default;
  SavedTensor(const Tensor& tensor, bool is_output);
  // RuntimeError if the tensor was modified in place since, or released. `owner` becomes the grad_fn of a saved output
  // (with grad mode off only if `with_history`).
  [[nodiscard]] Tensor unpack(Node* owner, bool with_history = false) const;
  void reset() noexcept;
  [[nodiscard]] bool defined() const noexcept { return tensor_.defined() || hooked_ != nullptr; }
  // The tangent of a saved output, which is known only after it was saved.
  void set_output_tangent(const Tensor& tangent);
  void visit(NodeVisitor& visitor) const {
    if (tensor_.defined()) visitor.tensor(tensor_);
  }

 private:
  // With saved_tensors_hooks: the packed object and what the unpacked tensor has to be given back.
  struct Hooked {
    std::unique_ptr<Packed> packed;
    Edge edge;                // grad_fn of a saved non-leaf, accumulator of a saved leaf
    Tensor tangent;           // forward mode
    std::uint64_t level = 0;  // the dual level that the tangent belongs to
  };
  [[nodiscard]] Tensor unpack_hooked(Node* owner) const;
  [[nodiscard]] Tensor with_grad_fn(const Tensor& data, Node* owner) const;
  void check_version(const Node* owner) const;

  Tensor tensor_;
  std::shared_ptr<Hooked> hooked_;
  std::uint32_t version_ = 0;
  std::uint32_t output_nr_ = 0;
  bool detached_output_ = false;  // tensor_ is an alias of the output without its history
  bool released_ = false;
};

// Anomaly mode; the bindings set these. `capture` returns the Python stack of the forward call.
struct AnomalyCallbacks {
  std::string (*capture)() = nullptr;
  void (*report)(const Node& node) = nullptr;  // warns with the stored traceback of `node` and of its parents
};
extern AnomalyCallbacks anomaly_callbacks;
Node* evaluating_node() noexcept;  // whose apply() runs on this thread
void set_evaluating_node(Node* node) noexcept;

std::uint64_t next_sequence_nr() noexcept;

}  // namespace flambeau::autograd
