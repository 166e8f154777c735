#include "core/storage.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/allocator.h"
#include "core/error.h"
#include "core/pool.h"

namespace flambeau {

Ref<Storage> Storage::allocate(std::int64_t bytes, Device device) {
  auto storage = Ref<Storage>::adopt(new (ObjectPool<Storage>::take()) Storage);
  storage->device_ = device;
  if (device.type == DeviceType::CPU) storage->data_ = memory::allocate(static_cast<std::size_t>(bytes));
  storage->bytes_ = bytes;
  return storage;
}

Ref<Storage> Storage::wrap(void* data, std::int64_t bytes, Deleter deleter, void* context) {
  internal_assert(deleter != nullptr, "Storage::wrap needs a deleter");
  auto storage = Ref<Storage>::adopt(new (ObjectPool<Storage>::take()) Storage);
  storage->data_ = data;
  storage->bytes_ = bytes;
  storage->deleter_ = deleter;
  storage->context_ = context;
  return storage;
}

void Storage::destroy(Storage* storage) noexcept {
  if (storage->deleter_ != nullptr) {
    storage->deleter_(storage->context_);
  } else if (storage->data_ != nullptr) {
    memory::release(storage->data_, static_cast<std::size_t>(storage->bytes_));
  }
  storage->~Storage();
  ObjectPool<Storage>::give(storage);
}

void Storage::resize(std::int64_t bytes) {
  check(resizable(), ErrorKind::Runtime, "Trying to resize storage that is not resizable");
  if (device_.type == DeviceType::CPU) {
    void* fresh = memory::allocate(static_cast<std::size_t>(bytes));
    if (data_ != nullptr) {
      std::memcpy(fresh, data_, static_cast<std::size_t>(std::min(bytes, bytes_)));
      memory::release(data_, static_cast<std::size_t>(bytes_));
    }
    data_ = fresh;
  }
  bytes_ = bytes;
}

void Storage::swap_memory(Storage& other) {
  check(exports_ == 0 && other.exports_ == 0, ErrorKind::Runtime,
        "expected memory that no NumPy array or memoryview points into. Drop them, or clone() the tensor first.");
  check(device_.type == DeviceType::CPU && other.device_.type == DeviceType::CPU, ErrorKind::Runtime,
        "expected storages with memory");
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(deleter_, other.deleter_);
  std::swap(context_, other.context_);
}

}  // namespace flambeau
