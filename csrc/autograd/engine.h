// Reverse pass over the tape, on the calling thread: nodes run in reverse topological order, later recorded first.
#pragma once

#include "autograd/node.h"

namespace flambeau::autograd {

struct Request {
  std::vector<Edge> roots;
  Grads root_grads;
  bool retain_graph = false;
  bool create_graph = false;
  bool accumulate = true;    // into .grad of leaves; else only `inputs`
  std::vector<Edge> inputs;  // autograd.grad, or backward(inputs=)
};
// Cotangents of request.inputs (undefined where unreachable); empty for plain backward.
std::vector<Tensor> run_backward(Request&& request);

// Sum over broadcast dims, cast, complex -> real: makes `grad` fit `meta`, or RuntimeError naming the node.
Tensor fit_gradient(Tensor grad, const Metadata& meta, const Node& from, std::size_t index);
// Like node.wants(input), but also false when the running backward(inputs=) or grad() does not lead through that edge.
bool task_wants(const Node& node, std::size_t input);
bool will_execute(Node& node);            // does the current run of this thread reach the node, and need it?
std::uint64_t current_run_id() noexcept;  // 0 outside
// Rules applied and backwards started in its scope know nothing of the running one.
class RunPause {
 public:
  RunPause() noexcept;
  ~RunPause();
  RunPause(const RunPause&) = delete;
  RunPause& operator=(const RunPause&) = delete;

 private:
  void* saved_;
};
bool current_run_is_selective() noexcept;             // grad() or backward(inputs=)
void queue_callback(std::function<void()> callback);  // runs at the end of the current backward

}  // namespace flambeau::autograd
