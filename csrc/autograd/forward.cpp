// Tangents and dual levels.
#include "autograd/forward.h"

#include <algorithm>

#include "autograd/calls.h"
#include "autograd/copy_slices.h"
#include "core/factory.h"

namespace flambeau::autograd {

constinit bool forward_active = false;

namespace {

thread_local constinit bool paused_here = false;

// Tangents of the current level, to end them with it. Those whose tensor died are swept out when the list has doubled.
struct Level {
  std::vector<std::weak_ptr<Tensor>> tangents;
  std::size_t sweep_at = 64;
  std::uint64_t serial = 0;
};
Level& level() {
  static auto* current = new Level;
  return *current;
}

void remember(const std::shared_ptr<Tensor>& slot) {
  Level& current = level();
  auto& list = current.tangents;
  if (list.size() >= current.sweep_at) {
    std::erase_if(list, [](const std::weak_ptr<Tensor>& entry) { return entry.expired(); });
    current.sweep_at = std::max<std::size_t>(64, 2 * list.size());
  }
  list.push_back(slot);
}

// The tangent set on this very tensor.
Tensor own_tangent(const Meta& meta) {
  if (!meta.rare || meta.rare->tangent == nullptr) return {};
  return *meta.rare->tangent;
}

void store(const Tensor& tensor, const Tensor& value) {
  auto& slot = ensure_meta(tensor).more().tangent;
  const bool fresh = slot == nullptr || !slot->defined();
  if (slot == nullptr) slot = std::make_shared<Tensor>();
  *slot = value;
  if (fresh) remember(slot);
}

bool same_layout(const Tensor& a, const Tensor& b) {
  if (a.is_conj() != b.is_conj() || a.is_neg() != b.is_neg()) return false;
  for (std::int64_t i = 0; i < a.dim(); ++i) {
    if (a.sizes()[i] > 1 && a.strides()[i] != b.strides()[i]) return false;
  }
  return true;
}

bool overlaps_itself(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.sizes()[i] > 1 && tensor.strides()[i] == 0) return true;
  }
  return false;
}

// Zeros for the tangent of `tensor`, with its strides.
Tensor zeros_like_layout(const Tensor& tensor) {
  Tensor result = overlaps_itself(tensor)
                      ? empty(tensor.sizes(), tensor.dtype(), tensor.device())
                      : empty_strided(tensor.sizes(), tensor.strides(), tensor.dtype(), tensor.device());
  return call("zero_", {result});
}

// What a view shows of its base's tangent.
Tensor view_of_tangent(const Tensor& view, const Meta& meta, const Tensor& base_tangent) {
  if (meta.needs_replay()) return replay(base_tangent, meta.rare->steps);
  return as_strided(base_tangent, view.sizes(), view.strides(),
                    view.offset() - meta.base.offset() + base_tangent.offset());
}

bool is_forward_view(const Meta& meta) { return meta.base.defined() && meta.forward_view; }

}  // namespace

ForwardPause::ForwardPause(bool paused) noexcept : saved_(paused_here) { paused_here = paused; }
ForwardPause::~ForwardPause() { paused_here = saved_; }
bool forward_paused() noexcept { return paused_here; }
void set_forward_paused(bool paused) noexcept { paused_here = paused; }

std::uint64_t dual_level_serial() noexcept { return level().serial; }

std::int64_t enter_dual_level() {
  check(!forward_active, "Nested forward mode AD is not supported at the moment");
  forward_active = true;
  ++level().serial;
  return 0;
}

void exit_dual_level(std::int64_t given) {
  check(given >= 0, "Dual level must be a positive number.");
  check(forward_active && given == 0,
        "Trying to exit a forward AD level that was not the last one that was created. This is not supported.");
  forward_active = false;
  std::vector<std::weak_ptr<Tensor>> ending;
  std::swap(ending, level().tangents);
  level().sweep_at = 64;
  for (const auto& entry : ending) {
    if (const auto slot = entry.lock()) slot->reset();
  }
}

Tensor tangent_of(const Tensor& tensor) {
  const Meta* meta = meta_of(tensor);
  if (meta == nullptr || !forward_active) return {};
  if (Tensor own = own_tangent(*meta); own.defined()) return own;
  if (!is_forward_view(*meta)) return {};
  const Meta* base_meta = meta_of(meta->base);
  const Tensor base_tangent = base_meta != nullptr ? own_tangent(*base_meta) : Tensor();
  if (!base_tangent.defined()) return {};
  const ForwardPause pause;
  Tensor view = view_of_tangent(tensor, *meta, base_tangent);
  store(tensor, view);
  return view;
}

void set_tangent(const Tensor& tensor, const Tensor& value) {
  check(value.sizes() == tensor.sizes(),
        "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
        "supported. Tensor is of size ",
        tensor.sizes(), " while the given forward gradient is of size ", value.sizes(), ".");
  check(is_complex(tensor.dtype()) || !is_complex(value.dtype()),
        "Trying to set a complex forward gradient on a real Tensor, this is not supported.");
  if (tensor.is_extended() || value.is_extended() || same_layout(tensor, value) || overlaps_itself(tensor) ||
      value.is_meta() != tensor.is_meta()) {
    return store(tensor, value);
  }
  const ForwardPause pause;
  Tensor copy = empty_strided(tensor.sizes(), tensor.strides(), value.dtype(), value.device());
  copy.impl()->conj = tensor.is_conj();
  copy.impl()->neg = tensor.is_neg();
  store(tensor, call("copy_", {copy, value}));
}

void update_tangent(const Tensor& tensor, const Tensor& value) {
  const ForwardPause pause;
  Tensor own = tangent_of(tensor);
  if (!own.defined()) {
    if (!value.defined()) return;
    Meta& meta = ensure_meta(tensor);
    if (!is_forward_view(meta)) return set_tangent(tensor, value);
    // The rest of the base does not depend on the inputs: zero, in a tangent that all its views share.
    const Tensor base_tangent = zeros_like_layout(meta.base);
    store(meta.base, base_tangent);
    own = view_of_tangent(tensor, meta, base_tangent);
    store(tensor, own);
  }
  if (!value.defined()) {
    call("zero_", {own});
  } else if (!value.is(own)) {
    call("copy_", {own, value});
  }
}

void drop_tangent(const Tensor& tensor) noexcept {
  if (const Meta* meta = meta_of(tensor); meta != nullptr && meta->rare && meta->rare->tangent != nullptr) {
    meta->rare->tangent->reset();
  }
}

Tensor primal_of(const Tensor& tensor) {
  const ForwardPause pause;
  Tensor view = call("alias", {tensor});
  if (Meta* meta = meta_of(view); meta != nullptr) meta->forward_view = false;
  return view;
}

Tensor make_dual(const Tensor& primal, const Tensor& tangent) {
  check(forward_active,
        "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.");
  check(!tangent_of(primal).defined(),
        "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
        "supported.");
  Tensor dual = primal_of(primal);
  set_tangent(dual, tangent);
  return dual;
}

}  // namespace flambeau::autograd
