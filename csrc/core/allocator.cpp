#include "core/allocator.h"

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>

#include "core/error.h"

namespace flambeau::memory {
namespace {

// Size classes: multiples of 64 up to 1 KiB, then four steps per doubling.
constexpr int kFineClasses = 16;
constexpr int kClasses = kFineClasses + 4 * 48;
constexpr std::size_t kLargeBlock = std::size_t{1} << 20;  // from here on blocks are cached globally
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kThreadCacheBytes = std::size_t{8} << 20;  // small blocks one thread may keep
constexpr std::int64_t kFlush = 1 << 16;                         // thread-local statistics are merged in steps of this

int class_of(std::size_t size) noexcept {
  if (size <= 1024) return size == 0 ? 0 : static_cast<int>((size - 1) / 64);
  const int log = std::bit_width(size - 1) - 1;  // 2^log < size <= 2^(log+1)
  const std::size_t step = (size - 1 - (std::size_t{1} << log)) >> (log - 2);
  return kFineClasses + (log - 10) * 4 + static_cast<int>(step);
}

std::size_t class_bytes(int index) noexcept {
  if (index < kFineClasses) return static_cast<std::size_t>(index + 1) * 64;
  const int log = 10 + (index - kFineClasses) / 4;
  const std::size_t quarter = std::size_t{1} << (log - 2);
  return (std::size_t{1} << log) + static_cast<std::size_t>((index - kFineClasses) % 4 + 1) * quarter;
}

struct Link {
  Link* next;
};

std::atomic<std::int64_t> allocated{0}, peak{0}, cached{0}, calls{0}, system_calls{0};

void raise_peak(std::int64_t now) noexcept {
  std::int64_t seen = peak.load(std::memory_order_relaxed);
  while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {}
}

void* system_allocate(std::size_t bytes) {
  system_calls.fetch_add(1, std::memory_order_relaxed);
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  void* block = nullptr;
  if (::posix_memalign(&block, alignment, bytes) != 0) return nullptr;
  // A hint: faulting in 2 MiB at a time is what makes fresh large outputs affordable.
  if (bytes >= kHugePage) ::madvise(block, bytes & ~(kHugePage - 1), MADV_HUGEPAGE);
  return block;
}

// Cached memory may grow to a quarter of the largest amount ever in use, plus 64 MiB.
std::int64_t cache_limit() noexcept { return peak.load(std::memory_order_relaxed) / 4 + (std::int64_t{64} << 20); }

// Large blocks, shared by all threads.
struct LargeCache {
  std::mutex mutex;
  Link* lists[kClasses] = {};
  std::uint64_t last_use[kClasses] = {}, clock = 0;
  void* take(int index) {
    const std::lock_guard lock(mutex);
    last_use[index] = ++clock;
    Link* link = lists[index];
    if (link != nullptr) lists[index] = link->next;
    return link;
  }
  // Blocks of the size classes that were asked for longest ago make room: a size in use now must not go back to the
  // system, and be faulted in again, because others once were. False if nothing is left to drop.
  bool give(int index, void* block) {
    const std::lock_guard lock(mutex);
    last_use[index] = ++clock;
    const std::int64_t limit = cache_limit() - static_cast<std::int64_t>(class_bytes(index));
    if (limit < 0) return false;
    while (cached.load(std::memory_order_relaxed) > limit) {
      int oldest = -1;
      for (int i = 0; i < kClasses; ++i) {
        if (i != index && lists[i] != nullptr && (oldest < 0 || last_use[i] < last_use[oldest])) oldest = i;
      }
      if (oldest < 0) return false;
      drop_first(oldest);
    }
    lists[index] = new (block) Link{lists[index]};
    return true;
  }
  void drop_first(int index) {
    Link* link = lists[index];
    lists[index] = link->next;
    cached.fetch_sub(static_cast<std::int64_t>(class_bytes(index)), std::memory_order_relaxed);
    std::free(link);
  }
  void trim() {
    const std::lock_guard lock(mutex);
    for (int i = 0; i < kClasses; ++i) {
      while (lists[i] != nullptr) drop_first(i);
    }
  }
};
LargeCache& large_cache() {
  static auto* cache = new LargeCache;  // never destroyed: tensors may outlive static destruction
  return *cache;
}

struct ThreadCache {
  static constexpr int kSmallClasses = kFineClasses + 4 * 10;  // up to 1 MiB
  Link* lists[kSmallClasses] = {};
  std::size_t bytes = 0;
  std::int64_t allocated_delta = 0, cached_delta = 0, calls_delta = 0;
  bool dead = false;

  void flush() noexcept {
    raise_peak(allocated.fetch_add(allocated_delta, std::memory_order_relaxed) + allocated_delta);
    cached.fetch_add(cached_delta, std::memory_order_relaxed);
    calls.fetch_add(calls_delta, std::memory_order_relaxed);
    allocated_delta = cached_delta = calls_delta = 0;
  }
  void note(std::int64_t in_use, std::int64_t kept) noexcept {
    allocated_delta += in_use;
    cached_delta += kept;
    if (dead || allocated_delta > kFlush || allocated_delta < -kFlush) flush();
  }
  void trim() noexcept {
    for (int i = 0; i < kSmallClasses; ++i) {
      while (Link* link = lists[i]) {
        lists[i] = link->next;
        cached_delta -= static_cast<std::int64_t>(class_bytes(i));
        std::free(link);
      }
    }
    bytes = 0;
    flush();
  }
  ~ThreadCache() {
    trim();
    dead = true;  // blocks released later on this thread go straight back to the system
  }
};
ThreadCache& thread_cache() noexcept {
  static thread_local ThreadCache cache;
  return cache;
}

}  // namespace

void* allocate(std::size_t size) {
  constexpr std::size_t kTooLarge = std::size_t{1} << 47;
  if (size > kTooLarge) [[unlikely]]
    fail(ErrorKind::Runtime, "cannot allocate memory: ", size, " bytes were asked for");
  const int index = class_of(size);
  const std::size_t bytes = class_bytes(index);
  ThreadCache& local = thread_cache();
  ++local.calls_delta;
  void* block = nullptr;
  if (bytes <= kLargeBlock) [[likely]] {
    if (Link* link = local.lists[index]) [[likely]] {
      local.lists[index] = link->next;
      local.bytes -= bytes;
      local.note(static_cast<std::int64_t>(bytes), -static_cast<std::int64_t>(bytes));
      return link;
    }
  } else if (void* kept = large_cache().take(index)) {
    local.note(static_cast<std::int64_t>(bytes), -static_cast<std::int64_t>(bytes));
    return kept;
  }
  block = system_allocate(bytes);
  if (block == nullptr) {
    trim();
    block = system_allocate(bytes);
    if (block == nullptr) fail(ErrorKind::Runtime, "cannot allocate memory: ", size, " bytes were asked for");
  }
  local.note(static_cast<std::int64_t>(bytes), 0);
  return block;
}

void release(void* block, std::size_t size) noexcept {
  const int index = class_of(size);
  const std::size_t bytes = class_bytes(index);
  ThreadCache& local = thread_cache();
  const auto signed_bytes = static_cast<std::int64_t>(bytes);
  if (bytes <= kLargeBlock) [[likely]] {
    if (!local.dead && local.bytes + bytes <= kThreadCacheBytes) [[likely]] {
      local.lists[index] = new (block) Link{local.lists[index]};
      local.bytes += bytes;
      local.note(-signed_bytes, signed_bytes);
      return;
    }
  } else if (large_cache().give(index, block)) {
    local.note(-signed_bytes, signed_bytes);
    return;
  }
  std::free(block);
  local.note(-signed_bytes, 0);
}

void trim() noexcept {
  thread_cache().trim();
  large_cache().trim();
}

Stats stats() noexcept {
  thread_cache().flush();
  return {allocated.load(), peak.load(), cached.load(), calls.load(), system_calls.load()};
}

void reset_peak() noexcept {
  thread_cache().flush();
  peak.store(allocated.load());
}

}  // namespace flambeau::memory
