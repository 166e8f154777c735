// What the files of this folder share: the engine, the primitive cache, scratch memory.
#pragma once

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/allocator.h"
#include "core/dtype.h"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // the library's headers shadow members
#include "oneapi/dnnl/dnnl.hpp"
#pragma GCC diagnostic pop

namespace flambeau::onednn {

dnnl::engine& engine();
dnnl::stream& stream();  // of the calling thread
dnnl::memory::data_type data_type(DType dtype);

// A block from the caching allocator for the time of one call.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(bytes), data_(bytes != 0 ? memory::allocate(bytes) : nullptr) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (data_ != nullptr) memory::release(data_, bytes_);
  }
  [[nodiscard]] void* data() const { return data_; }

 private:
  std::size_t bytes_;
  void* data_;
};

// Built primitives by the bytes of their problem. A problem the library refuses is remembered as null. Plans are
// immutable once built (scratchpads belong to the call), so threads may run one at the same time.
template <class Key, class Plan>
class PlanCache {
 public:
  template <class Build>
  std::shared_ptr<const Plan> get(const Key& key, Build&& build) {
    std::string bytes(reinterpret_cast<const char*>(&key), sizeof(Key));
    const std::lock_guard<std::mutex> lock(mutex_);
    if (last_key_ == bytes) return last_;
    auto found = plans_.find(bytes);
    if (found == plans_.end()) {
      std::shared_ptr<const Plan> plan;
      try {
        plan = build();
      } catch (const dnnl::error&) {
        plan = nullptr;  // unimplemented here
      }
      if (plans_.size() >= kCapacity) plans_.clear();  // shapes that never repeat: start over
      found = plans_.emplace(bytes, std::move(plan)).first;
    }
    last_key_ = bytes;
    last_ = found->second;
    return last_;
  }

 private:
  static constexpr std::size_t kCapacity = 1024;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Plan>> plans_;
  std::string last_key_;
  std::shared_ptr<const Plan> last_;
};

}  // namespace flambeau::onednn
