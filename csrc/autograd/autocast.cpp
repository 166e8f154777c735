// Casts of autocast, and the cache of cast parameters.
#include "autograd/autocast.h"

#include <unordered_map>

#include "autograd/calls.h"
#include "autograd/meta.h"
#include "autograd/mode.h"

namespace flambeau::autograd {

thread_local constinit Autocast autocast;

namespace {

// A parameter's cast, of the version it was made from. Those made under no_grad have no history, and those of inference
// mode stay there.
struct Cached {
  Tensor source, recorded, plain, inference;
  std::uint32_t version = 0;
};
using Cache = std::unordered_map<const TensorImpl*, Cached>;

// Made with its first entry, deleted when the outermost region ends: no destructor that runs after Python's end.
thread_local constinit Cache* cache = nullptr;

bool may_cast(const Tensor& tensor) noexcept {
  return tensor.defined() && is_floating(tensor.dtype()) && tensor.dtype() != DType::Float64 &&
         (!tensor.is_meta() || tensor.is_extended());
}

// Weights are used again and again within one region; their cast is made once, and its gradient arrives once.
bool cacheable(const Tensor& tensor, DType dtype) noexcept {
  return autocast.cache_enabled && dtype == autocast.dtype && tensor.dtype() == DType::Float32 &&
         tensor.impl()->requires_grad && !tensor.impl()->inference && is_leaf(tensor) && !is_view(tensor);
}

Tensor cached_cast(const Tensor& tensor, DType dtype) {
  if (cache == nullptr) cache = new Cache;
  Cached& entry = (*cache)[tensor.impl()];
  const std::uint32_t version = tensor.storage()->version();
  if (!entry.source.defined() || entry.version != version) { entry = Cached{tensor, {}, {}, {}, version}; }
  if (entry.recorded.defined()) return entry.recorded;  // under no_grad too: the values are the same
  Tensor& made = mode.inference ? entry.inference : mode.grad ? entry.recorded : entry.plain;
  if (!made.defined()) made = cast(tensor, dtype);
  return made;
}

// The widest of what the tensors have, counting from the lower dtype. float64 ones take no part.
DType promoted(const OpDef& def, const Value* arguments) {
  DType widest = autocast.dtype;
  auto see = [&](const Tensor& tensor) {
    if (may_cast(tensor) && tensor.dtype() != widest) widest = DType::Float32;
  };
  for (const std::uint16_t index : def.tensor_parameters) {
    const Value& value = arguments[index];
    if (value.impl() != nullptr) see(value.tensor());
    if (value.tag() == Tag::TensorList) {
      for (const Tensor& tensor : value.tensors()) see(tensor);
    }
  }
  return widest;
}

}  // namespace

NoAutocast::NoAutocast() noexcept : saved_(mode.autocast) { mode.autocast = false; }
NoAutocast::~NoAutocast() { mode.autocast = saved_; }

void clear_autocast_cache() { delete std::exchange(cache, nullptr); }

Tensor autocast_tensor(const Tensor& tensor, DType dtype) {
  if (!may_cast(tensor) || tensor.dtype() == dtype) return tensor;
  return cacheable(tensor, dtype) ? cached_cast(tensor, dtype) : cast(tensor, dtype);
}

void call_autocast(const OpDef& def, Value* arguments, Value* results) {
  const NoAutocast off;
  const DType dtype = def.autocast == AutocastPolicy::Lower     ? autocast.dtype
                      : def.autocast == AutocastPolicy::Float32 ? DType::Float32
                                                                : promoted(def, arguments);
  InlineValues changed(def);
  std::vector<std::vector<Tensor>> lists;  // what the borrowed lists point at
  lists.reserve(def.parameters.size());
  for (std::size_t i = 0; i < def.parameters.size(); ++i) {
    if (arguments[i].impl() != nullptr && !def.parameters[i].mutated) {
      changed[i].set(autocast_tensor(arguments[i].tensor(), dtype));
    } else if (arguments[i].tag() == Tag::TensorList) {
      std::vector<Tensor>& list = lists.emplace_back();
      for (const Tensor& tensor : arguments[i].tensors()) list.push_back(autocast_tensor(tensor, dtype));
      changed[i].borrow(TensorSpan(list));
    } else {
      changed[i].alias(arguments[i]);
    }
  }
  call_op(def, changed.data(), results);
}

}  // namespace flambeau::autograd
