// Gradients of leaves: first one taken over or copied, later ones added.
#include "autograd/accumulate.h"

#include <mutex>

#include "autograd/calls.h"
#include "autograd/forward.h"
#include "autograd/meta.h"
#include "core/copy.h"
#include "core/factory.h"

namespace flambeau::autograd {

namespace {

constexpr std::uint64_t kRunsFirst = UINT64_MAX;  // a leaf's gradient is stored as soon as it is complete

// Guards the weak pointer from a leaf to its accumulator.
std::mutex& accumulator_mutex() {
  static std::mutex mutex;
  return mutex;
}

bool only_user(const Tensor& tensor) { return tensor.impl()->use_count() == 1 && tensor.storage()->use_count() == 1; }

// PyTorch's layout contract: a gradient has the strides of its dense leaf, else it is row-major.
bool obeys_layout(const Tensor& grad, const Tensor& leaf) {
  if (!leaf.is_non_overlapping_and_dense()) return grad.is_contiguous();
  if (leaf.is_contiguous() && grad.is_contiguous()) return true;
  for (std::int64_t i = 0; i < leaf.dim(); ++i) {
    if (grad.sizes()[i] != 1 && grad.strides()[i] != leaf.strides()[i]) return false;
  }
  return true;
}

Tensor empty_for(const Tensor& leaf, const Tensor& grad) {
  if (leaf.is_non_overlapping_and_dense()) {
    return empty_strided(leaf.sizes(), leaf.strides(), grad.dtype(), grad.device());
  }
  return empty(leaf.sizes(), grad.dtype(), grad.device());
}

// The first gradient of a leaf: taken over when nobody else holds it, else copied.
Tensor adopt_gradient(const Tensor& leaf, Tensor grad) {
  if (grad.is_extended())
    return mode.grad ? call("clone", {grad}) : alias(grad);  // its ops never write in shared parts
  if (mode.grad || forward_active) {
    if (obeys_layout(grad, leaf)) return call("clone", {grad});
    return call("copy_", {empty_for(leaf, grad), grad});
  }
  const bool lazy = grad.is_conj() || grad.is_neg();
  if (only_user(grad) && !lazy && obeys_layout(grad, leaf)) {
    // A history can come in with a gradient that the user passed or a hook returned.
    return grad.impl()->autograd == nullptr ? grad : alias(grad);
  }
  Tensor copy = empty_for(leaf, grad);
  copy_into(copy, grad);
  return copy;
}

void run_hook(Hook& hook, Tensor tensor) {
  Grads box;
  box.push_back(std::move(tensor));
  hook.before(box, 0);
}

// Waits without the GIL: whoever holds the mutex may be waiting for it.
class PatientLock {
 public:
  explicit PatientLock(std::mutex& mutex) : lock_(mutex, std::try_to_lock) {
    if (lock_.owns_lock()) [[likely]]
      return;
    void* state = release_gil != nullptr ? release_gil() : nullptr;
    lock_.lock();
    if (state != nullptr) acquire_gil(state);
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : Node(kRunsFirst), leaf_(leaf) { add_output(leaf); }

AccumulateGrad::~AccumulateGrad() {
  const std::lock_guard lock(accumulator_mutex());
  if (Meta* meta = meta_of(leaf_); meta != nullptr && meta->accumulator == this) meta->accumulator = nullptr;
}

Ref<Node> accumulator(const Tensor& leaf) {
  Meta& meta = ensure_meta(leaf);
  const auto existing = [&]() -> Ref<Node> {
    if (meta.accumulator == nullptr || !meta.accumulator->retain_if_alive()) return nullptr;
    return Ref<Node>::adopt(meta.accumulator);
  };
  {
    const std::lock_guard lock(accumulator_mutex());
    if (Ref<Node> node = existing()) return node;
  }
  // Outside the lock: in anomaly mode this runs Python, which may destroy other accumulators.
  Ref<Node> fresh = Ref<AccumulateGrad>::make(leaf);
  const std::lock_guard lock(accumulator_mutex());
  if (Ref<Node> node = existing()) {
    std::swap(node, fresh);  // another thread was faster; `node` dies after the lock is released
    return fresh;
  }
  meta.accumulator = fresh.get();
  return fresh;
}

void forget_accumulator(const Tensor& leaf) noexcept {
  const std::lock_guard lock(accumulator_mutex());
  if (Meta* meta = meta_of(leaf); meta != nullptr) meta->accumulator = nullptr;
}

Tensor add_gradients(Tensor a, Tensor b) {
  if (mode.grad || forward_active) return add(a, b);
  if (only_user(a) && !a.is_extended() && !b.is_extended() && a.dtype() == b.dtype() &&
      a.is_non_overlapping_and_dense() && a.sizes() == b.sizes() && !a.is_conj() && !a.is_neg()) {
    static const OpDef& add_inplace = op_named("add_");
    Value arguments[2];
    arguments[0].borrow(a.impl());
    arguments[1].borrow(b.impl());
    call_values(add_inplace, arguments, 2);
    return a;
  }
  return add(a, b);
}

void AccumulateGrad::accumulate(Tensor grad) {
  const PatientLock lock(mutex_);
  Meta& meta = ensure_meta(leaf_);
  if (!meta.grad.defined()) {
    meta.grad = adopt_gradient(leaf_, std::move(grad));
  } else if (mode.grad || meta.grad.is_extended() || grad.is_extended()) {
    meta.grad = add(meta.grad, grad);
  } else {
    static const OpDef& add_inplace = op_named("add_");
    Value arguments[2];
    arguments[0].borrow(meta.grad.impl());
    arguments[1].borrow(grad.impl());
    call_values(add_inplace, arguments, 2);
  }
}

Grads AccumulateGrad::apply(Grads&& grads) {
  if (!requires_grad(leaf_)) return {};  // requires_grad_(False) since the forward
  accumulate(std::move(grads[0]));
  if (const Meta* meta = meta_of(leaf_); meta->rare) {
    const auto hooks = meta->rare->post_accumulate_hooks;  // a hook may remove itself
    for (const auto& entry : hooks) run_hook(*entry.second, leaf_);
  }
  return {};
}

}  // namespace flambeau::autograd
