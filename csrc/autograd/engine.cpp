// The reverse pass. Per run: count the edges into every reachable node, then pop ready nodes from a heap, newest first.
//
// A node's slot (its pending cotangents) is found through a stamp inside the node. Only one run at a time may stamp:
// a reentrant run, or one on another thread, finds its slots through a map instead.
#include "autograd/engine.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "autograd/accumulate.h"
#include "autograd/calls.h"
#include "autograd/forward.h"
#include "autograd/meta.h"
#include "autograd/nan_check.h"
#include "core/copy.h"

namespace flambeau::autograd {

namespace {

struct Capture {
  std::uint32_t input_nr;
  std::uint32_t result;  // index into the run's results
};

struct Slot {
  Node* node = nullptr;
  std::uint32_t dependencies = 0;
  bool needed = true;  // leads to something that was asked for
  Grads inputs;
};

// Slots and stacks keep their memory between runs.
struct Scratch {
  std::vector<Slot> slots;
  std::vector<Node*> stack;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> heap;  // sequence number, slot
};

std::atomic<bool> stamps_taken{false};
std::uint64_t stamp_counter = 0;  // of the run that holds the stamps
Scratch shared_scratch;           // likewise

std::atomic<std::uint64_t> run_counter{0};

class Run;
thread_local constinit Run* current_run = nullptr;

bool all_undefined(const Grads& grads) {
  for (const Tensor& grad : grads) {
    if (grad.defined()) return false;
  }
  return true;
}

class Run {
 public:
  explicit Run(Request& request)
      : request_(request),
        stamping_(!stamps_taken.exchange(true, std::memory_order_acquire)),
        scratch_(stamping_ ? shared_scratch : own_scratch_),
        outer_run_(current_run),
        outer_node_(evaluating_node()) {
    if (stamping_) stamp_ = ++stamp_counter;
    current_run = this;
  }
  ~Run() {
    for (Slot& slot : scratch_.slots) slot.inputs.clear();
    scratch_.slots.clear();
    scratch_.stack.clear();
    scratch_.heap.clear();
    current_run = outer_run_;
    set_evaluating_node(outer_node_);
    if (stamping_) stamps_taken.store(false, std::memory_order_release);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  std::vector<Tensor> execute();
  // Does the cotangent of this node's outputs matter to what was asked for?
  bool is_wanted(Node& node) {
    if (!selective_) [[likely]]
      return true;
    if (!reaches(node)) return true;  // below a CopySlices: it decides
    const std::uint32_t index = find(&node);
    return scratch_.slots[index].needed || captures_.count(index) != 0;
  }
  bool reaches(Node& node) const { return stamping_ ? node.engine_run == stamp_ : map_.find(&node) != map_.end(); }
  [[nodiscard]] bool selective() const noexcept { return selective_; }
  std::vector<std::function<void()>> callbacks;
  const std::uint64_t id = ++run_counter;

 private:
  std::uint32_t find(Node* node);  // slot of a node, made at the first visit
  void count_dependencies();
  void mark_needed();
  void seed();
  void run_node(Node& node, std::uint32_t index);
  void run_tensor_hooks(Node& node, Grads& inputs);
  void capture(std::uint32_t index, const Grads& inputs);
  Grads evaluate(Node& node, Grads&& inputs);
  void deliver(Node& node, Grads& outputs);
  void send(const Edge& edge, Tensor&& grad);
  void push(std::uint32_t index);
  std::uint32_t pop();

  Request& request_;
  const bool stamping_;
  std::uint64_t stamp_ = 0;
  Scratch own_scratch_;
  Scratch& scratch_;
  std::unordered_map<Node*, std::uint32_t> map_;
  std::unordered_map<std::uint32_t, std::vector<Capture>> captures_;
  bool selective_ = false;  // only some nodes are needed
  std::vector<Tensor> results_;
  Run* outer_run_;
  Node* outer_node_;
};

std::uint32_t Run::find(Node* node) {
  if (stamping_) [[likely]] {
    if (node->engine_run == stamp_) [[likely]]
      return node->engine_slot;
    node->engine_run = stamp_;
    node->engine_slot = static_cast<std::uint32_t>(scratch_.slots.size());
  } else {
    const auto [at, fresh] = map_.try_emplace(node, static_cast<std::uint32_t>(scratch_.slots.size()));
    if (!fresh) return at->second;
  }
  const auto index = static_cast<std::uint32_t>(scratch_.slots.size());
  scratch_.slots.emplace_back().node = node;
  scratch_.stack.push_back(node);
  return index;
}

void Run::count_dependencies() {
  for (const Edge& root : request_.roots) ++scratch_.slots[find(root.node.get())].dependencies;
  while (!scratch_.stack.empty()) {
    Node* node = scratch_.stack.back();
    scratch_.stack.pop_back();
    for (const Edge& edge : node->next_edges) {
      if (edge.node) {
        const std::uint32_t index = find(edge.node.get());
        ++scratch_.slots[index].dependencies;
      }
    }
  }
}

// Post-order over the graph: a node is needed if it is an input itself or an edge of it leads to one.
void Run::mark_needed() {
  selective_ = true;
  for (Slot& slot : scratch_.slots) slot.needed = false;
  if (!request_.accumulate) results_.resize(request_.inputs.size());
  std::vector<bool> wanted(scratch_.slots.size(), false);
  const std::size_t known = scratch_.slots.size();
  for (std::size_t i = 0; i < request_.inputs.size(); ++i) {
    const Edge& input = request_.inputs[i];
    const std::uint32_t index = find(input.node.get());
    if (index >= known) continue;  // not reachable from the roots: stays undefined
    if (request_.accumulate) {
      scratch_.slots[index].needed = true;
    } else {
      captures_[index].push_back({input.input_nr, static_cast<std::uint32_t>(i)});
      wanted[index] = true;
    }
  }
  std::vector<std::pair<std::uint32_t, std::size_t>> path;  // slot, next edge to look at
  std::vector<bool> visited(scratch_.slots.size(), false);
  for (const Edge& root : request_.roots) {
    path.emplace_back(find(root.node.get()), 0);
    while (!path.empty()) {
      auto& [index, next] = path.back();
      Node& node = *scratch_.slots[index].node;
      visited[index] = true;
      if (next == node.next_edges.size()) {
        for (const Edge& edge : node.next_edges) {
          if (!edge.node) continue;
          const std::uint32_t child = find(edge.node.get());
          if (scratch_.slots[child].needed || wanted[child]) scratch_.slots[index].needed = true;
        }
        path.pop_back();
        continue;
      }
      const Edge& edge = node.next_edges[next++];
      if (!edge.node) continue;
      if (const std::uint32_t child = find(edge.node.get()); !visited[child]) path.emplace_back(child, 0);
    }
  }
  scratch_.stack.clear();
}

void Run::push(std::uint32_t index) {
  scratch_.heap.emplace_back(scratch_.slots[index].node->sequence_nr, index);
  std::push_heap(scratch_.heap.begin(), scratch_.heap.end());
}

std::uint32_t Run::pop() {
  std::pop_heap(scratch_.heap.begin(), scratch_.heap.end());
  const std::uint32_t index = scratch_.heap.back().second;
  scratch_.heap.pop_back();
  return index;
}

void Run::send(const Edge& edge, Tensor&& grad) {
  const std::uint32_t index = find(edge.node.get());
  Slot& slot = scratch_.slots[index];
  if (slot.inputs.empty()) slot.inputs.resize(slot.node->outputs.size());
  if (grad.defined()) {
    Tensor& sum = slot.inputs[edge.input_nr];
    // add_gradients may run Python (hooks of other threads, allocation of slots): work on a local.
    if (sum.defined()) {
      Tensor total = add_gradients(std::move(sum), std::move(grad));
      scratch_.slots[index].inputs[edge.input_nr] = std::move(total);
    } else {
      sum = std::move(grad);
    }
  }
  if (--scratch_.slots[index].dependencies == 0) push(index);
}

void Run::seed() {
  for (std::size_t i = 0; i < request_.roots.size(); ++i) {
    const Edge& root = request_.roots[i];
    Tensor grad = std::move(request_.root_grads[i]);
    if (grad.defined()) grad = fit_gradient(std::move(grad), root.node->outputs[root.input_nr], *root.node, i);
    send(root, std::move(grad));
  }
}

void Run::run_tensor_hooks(Node& node, Grads& inputs) {
  if (const Tensor leaf = node.variable(); leaf.defined()) {
    const Meta* meta = meta_of(leaf);
    if (meta == nullptr || !meta->rare) return;
    const auto hooks = meta->rare->hooks;  // copies: a hook may remove itself
    for (const auto& entry : hooks) entry.second->before(inputs, 0);
    return;
  }
  if (!node.extras) [[likely]]
    return;
  if (!node.extras->tensor_hooks.empty()) {
    const auto hooks = node.extras->tensor_hooks;
    for (const auto& entry : hooks) entry.hook->before(inputs, static_cast<int>(entry.output));
  }
  for (const auto& [output, meta] : node.extras->retain_grad) {
    const Tensor& grad = inputs[output];
    if (!grad.defined()) continue;
    if (!meta->grad.defined()) {
      meta->grad = mode.grad || forward_active || grad.is_extended()
                       ? call("clone", {grad})
                       : clone(grad);  // what flows on must not see changes of .grad
    } else {
      meta->grad = add(meta->grad, grad);
    }
  }
}

void Run::capture(std::uint32_t index, const Grads& inputs) {
  const auto at = captures_.find(index);
  if (at == captures_.end()) return;
  for (const Capture& one : at->second) results_[one.result] = inputs[one.input_nr];
}

Grads Run::evaluate(Node& node, Grads&& inputs) {
  if (node.extras && !node.extras->pre_hooks.empty()) [[unlikely]] {
    const auto hooks = node.extras->pre_hooks;
    for (const auto& entry : hooks) entry.second->before(inputs, -1);
  }
  const bool post = node.extras && !node.extras->post_hooks.empty();
  Grads kept;
  if (post) [[unlikely]]
    kept = inputs;
  Grads outputs;
  if (node.skip_undefined && all_undefined(inputs)) {
    outputs.resize(node.next_edges.size());
  } else {
    set_evaluating_node(&node);
    try {
      outputs = node.apply(std::move(inputs));
    } catch (...) {
      if (mode.anomaly && anomaly_callbacks.report != nullptr) anomaly_callbacks.report(node);
      throw;
    }
  }
  if (post) [[unlikely]] {
    const auto hooks = node.extras->post_hooks;
    for (const auto& entry : hooks) entry.second->after(outputs, kept);
  }
  return outputs;
}

void Run::deliver(Node& node, Grads& outputs) {
  check(outputs.size() >= node.next_edges.size(), "Function ", node.name(),
        " returned an invalid number of gradients - got ", outputs.size(), ", but expected ", node.next_edges.size());
  for (std::size_t i = 0; i < node.next_edges.size(); ++i) {
    const Edge& edge = node.next_edges[i];
    if (!edge.node || !is_wanted(*edge.node)) continue;
    Tensor grad = std::move(outputs[i]);
    if (grad.defined()) {
      if (mode.anomaly && mode.check_nan && has_nan(grad)) [[unlikely]] {
        if (anomaly_callbacks.report != nullptr) anomaly_callbacks.report(node);
        fail(ErrorKind::Runtime, "Function '", node.name(), "' returned nan values in its ", i, "th output.");
      }
      grad = fit_gradient(std::move(grad), edge.node->outputs[edge.input_nr], node, i);
    }
    send(edge, std::move(grad));
  }
}

void Run::run_node(Node& node, std::uint32_t index) {
  Grads inputs = std::move(scratch_.slots[index].inputs);
  run_tensor_hooks(node, inputs);
  if (selective_) {
    capture(index, inputs);
    if (!scratch_.slots[index].needed) return;
  }
  Grads outputs = evaluate(node, std::move(inputs));
  if (!request_.retain_graph) node.release_variables();
  deliver(node, outputs);
}

std::vector<Tensor> Run::execute() {
  count_dependencies();
  if (!request_.inputs.empty()) mark_needed();
  const GradGuard guard(request_.create_graph);
  seed();
  while (!scratch_.heap.empty()) {
    const std::uint32_t index = pop();
    run_node(*scratch_.slots[index].node, index);
  }
  set_evaluating_node(outer_node_);
  for (std::size_t i = 0; i < callbacks.size(); ++i) {  // a callback may queue another
    const auto callback = std::move(callbacks[i]);
    callback();
  }
  return std::move(results_);
}

[[noreturn]] void refuse_gradient(const Node& from, std::size_t index, const std::string& got) {
  fail(ErrorKind::Runtime, "Function ", from.name(), " returned an invalid gradient at index ", index, " - ", got);
}

bool expandable(IntSpan small, IntSpan large) {
  if (small.size() > large.size()) return false;
  const std::int64_t lead = large.size() - small.size();
  for (std::int64_t i = 0; i < small.size(); ++i) {
    if (small[i] != 1 && small[i] != large[lead + i]) return false;
  }
  return true;
}

}  // namespace

Tensor fit_gradient(Tensor grad, const Metadata& meta, const Node& from, std::size_t index) {
  if (!(grad.sizes() == IntSpan(meta.sizes))) {
    if (!expandable(meta.sizes, grad.sizes())) {
      refuse_gradient(from, index, concat("got ", grad.sizes(), " but expected shape compatible with ", meta.sizes));
    }
    grad = sum_to(grad, meta.sizes);
  }
  if (grad.dtype() != meta.dtype) [[unlikely]] {
    if (is_complex(grad.dtype()) && !is_complex(meta.dtype)) grad = real_part(grad);
    if (grad.dtype() != meta.dtype) grad = cast(grad, meta.dtype);
  }
  if (!(grad.public_device() == meta.device)) {
    refuse_gradient(from, index, concat("expected device ", meta.device, " but got ", grad.public_device()));
  }
  return grad;
}

std::vector<Tensor> run_backward(Request&& request) {
  Run run(request);
  return run.execute();
}

RunPause::RunPause() noexcept : saved_(current_run) { current_run = nullptr; }
RunPause::~RunPause() { current_run = static_cast<Run*>(saved_); }

bool task_wants(const Node& node, std::size_t input) {
  Node* next = node.next_edges[input].node.get();
  return next != nullptr && (current_run == nullptr || current_run->is_wanted(*next));
}

bool will_execute(Node& node) {
  return current_run != nullptr && current_run->reaches(node) && current_run->is_wanted(node);
}

std::uint64_t current_run_id() noexcept { return current_run != nullptr ? current_run->id : 0; }

bool current_run_is_selective() noexcept { return current_run != nullptr && current_run->selective(); }

void queue_callback(std::function<void()> callback) {
  check(current_run != nullptr, "Final callbacks can only be installed during backward pass.");
  current_run->callbacks.push_back(std::move(callback));
}

}  // namespace flambeau::autograd
