// Nodes: construction, iterative destruction, and the thread-local state of the tape.
#include "autograd/node.h"

#include <utility>

#include "autograd/mode.h"

namespace flambeau::autograd {

thread_local constinit Mode mode;
AnomalyCallbacks anomaly_callbacks;

namespace {

thread_local constinit std::uint64_t sequence_counter = 0;
thread_local constinit Node* evaluating = nullptr;
thread_local constinit SavedHooks* saved_hooks = nullptr;

// Nodes waiting for destruction, linked through `pyobj` (null by then: a Python wrapper would hold a reference).
struct Graveyard {
  bool digging = false;
  Node* first = nullptr;
};
thread_local constinit Graveyard graveyard;

void record_origin(Node& node) {
  if (anomaly_callbacks.capture != nullptr) node.more().traceback = anomaly_callbacks.capture();
  if (evaluating != nullptr) node.more().parent = Ref<Node>::share(evaluating);
}

}  // namespace

std::uint64_t next_sequence_nr() noexcept { return sequence_counter++; }
Node* evaluating_node() noexcept { return evaluating; }
void set_evaluating_node(Node* node) noexcept { evaluating = node; }
SavedHooks* active_saved_hooks() noexcept { return saved_hooks; }
void set_active_saved_hooks(SavedHooks* hooks) noexcept { saved_hooks = hooks; }

Node::Node(std::uint64_t sequence_number) : sequence_nr(sequence_number) {
  if (mode.anomaly) [[unlikely]]
    record_origin(*this);
}

Node::Node() : Node(next_sequence_nr()) {}

std::uint32_t Node::add_output(const Tensor& tensor) {
  Metadata& metadata = outputs.emplace_back();
  metadata.sizes = Dims(tensor.sizes());
  metadata.dtype = tensor.dtype();
  metadata.device = tensor.public_device();
  return static_cast<std::uint32_t>(outputs.size() - 1);
}

// Deleting a node drops its edges and saved tensors, and those may hold the last reference to other nodes. Every path
// back to here only queues, so the stack stays flat however long the chain is.
void Node::destroy(Node* node) noexcept {
  Graveyard& grave = graveyard;
  node->pyobj = grave.first;
  grave.first = node;
  if (grave.digging) return;
  grave.digging = true;
  while (grave.first != nullptr) {
    Node* next = grave.first;
    grave.first = static_cast<Node*>(std::exchange(next->pyobj, nullptr));
    delete next;
  }
  grave.digging = false;
}

}  // namespace flambeau::autograd
