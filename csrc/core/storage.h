// A block of memory shared by tensors that alias, with the version counter that in-place operations advance.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/device.h"
#include "core/intrusive.h"

namespace flambeau {

class Storage final : public Counted {
 public:
  using Deleter = void (*)(void* context) noexcept;

  // From the caching allocator; nothing is allocated for meta.
  static Ref<Storage> allocate(std::int64_t bytes, Device device);
  // Memory owned by someone else (NumPy, DLPack, a mapped file); deleter(context) runs when the last alias is gone.
  static Ref<Storage> wrap(void* data, std::int64_t bytes, Deleter deleter, void* context);
  static void destroy(Storage* storage) noexcept;

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] Device device() const noexcept { return device_; }
  // Not while someone else (a memoryview, a NumPy array) points into the memory.
  [[nodiscard]] bool resizable() const noexcept { return deleter_ == nullptr && exports_ == 0; }
  void add_export() noexcept { ++exports_; }
  void drop_export() noexcept { --exports_; }
  void resize(std::int64_t bytes);   // keeps the common prefix
  void swap_memory(Storage& other);  // all aliases of each see the other's memory; both on the CPU, nothing exported

  [[nodiscard]] std::uint32_t version() const noexcept { return version_; }
  void bump_version() noexcept { ++version_; }

 private:
  Storage() = default;
  ~Storage() = default;
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
  Deleter deleter_ = nullptr;  // null: data_ belongs to the caching allocator
  void* context_ = nullptr;
  std::uint32_t version_ = 0;
  Device device_;
  std::atomic<std::int32_t> exports_ = 0;
};

}  // namespace flambeau
