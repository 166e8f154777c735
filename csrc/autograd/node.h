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
using Grads = InlineVec<Tensor, 3>;  // an undefined Tensor is a zero cotangent

struct Edge {
  Ref<Node> node;               // null: nobody wants this cotangent
  std::uint32_t input_nr = 0;   // which output of the forward operation this is for `node`
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

class Node : public Counted {
 public:
  explicit Node(std::uint64_t sequence_nr);
  Node();  // takes the next sequence number of this thread
  virtual ~Node() = default;
  // Without recursion: a graph of 100,000 nodes must not overflow the stack.
  static void destroy(Node* node) noexcept;

  // May move from grads. Must return next_edges.size() cotangents.
  virtual Grads apply(Grads&& grads) = 0;
  [[nodiscard]] virtual std::string name() const = 0;   // "MulBackward0"
  virtual void release_variables() {}                    // drop saved tensors after backward without retain_graph
  [[nodiscard]] virtual Tensor variable() const { return {}; }  // AccumulateGrad only
  [[nodiscard]] virtual void* python_context() const { return nullptr; }  // custom Function: borrowed PyObject*

  [[nodiscard]] bool wants(std::size_t input) const { return static_cast<bool>(next_edges[input].node); }

  InlineVec<Edge, 2> next_edges;       // one per differentiable forward input
  InlineVec<Metadata, 1> outputs;      // one per forward output
  std::uint64_t sequence_nr;

  // Rare things live behind one pointer.
  struct Extras {
    // Keyed by handle id, in order of registration.
    std::vector<std::pair<std::int64_t, std::shared_ptr<Hook>>> pre_hooks, post_hooks;
    struct TensorHook { std::int64_t id; std::uint32_t output; std::shared_ptr<Hook> hook; };
    std::vector<TensorHook> tensor_hooks;                   // run before pre_hooks
    std::vector<std::pair<std::uint32_t, TensorImpl*>> retain_grad;  // borrowed: cleared when the tensor dies
    std::string traceback;                                   // anomaly mode: where the forward ran
    Ref<Node> parent;                                        // anomaly mode, double backward
  };
  std::unique_ptr<Extras> extras;
  Extras& more() {
    if (!extras) extras = std::make_unique<Extras>();
    return *extras;
  }
  void* pyobj = nullptr;  // borrowed Python wrapper (tensor.grad_fn), so that identity holds; cleared by its dealloc
};

// A tensor kept for backward. Outputs of the node itself are kept without their grad_fn (that would be a cycle).
class SavedTensor {
 public:
  SavedTensor() = default;
  SavedTensor(const Tensor& tensor, bool is_output);
  // RuntimeError if the tensor was modified in place since, or released. `owner` becomes the grad_fn of a saved output.
  [[nodiscard]] Tensor unpack(Node* owner) const;
  void reset() { tensor_.reset(); released_ = true; }
  [[nodiscard]] bool defined() const { return tensor_.defined(); }

 private:
  Tensor tensor_;
  std::uint32_t version_ = 0;
  std::uint32_t output_nr_ = 0;
  bool is_output_ = false;
  bool was_leaf_ = false;
  bool released_ = false;
  std::shared_ptr<void> packed_;  // saved_tensors_hooks: what pack returned (a PyObject holder)
};

std::uint64_t next_sequence_nr() noexcept;

}  // namespace flambeau::autograd
