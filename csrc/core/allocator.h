// CPU memory: a caching pool. Blocks are 64-byte aligned; freed blocks are kept by size class and handed out again,
// because fresh pages cost more than most arithmetic on them. Blocks of 2 MiB and more ask for huge pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flambeau::memory {

struct Stats {
  std::int64_t allocated_bytes;       // in use now (rounded to size classes)
  std::int64_t peak_allocated_bytes;  // since start or reset_peak()
  std::int64_t cached_bytes;          // kept for reuse
  std::int64_t allocations;           // calls of allocate()
  std::int64_t system_allocations;    // of those, the ones that had to ask the system
};

inline constexpr std::size_t kAlignment = 64;

// Never null; throws Error(Memory) with the size. size 0 gives a valid unique block. `capacity` receives the usable
// size.
void* allocate(std::size_t size);
void release(void* block, std::size_t size) noexcept;  // size as given to allocate()
void trim() noexcept;                                  // give every cached block back to the system
Stats stats() noexcept;
void reset_peak() noexcept;

}  // namespace flambeau::memory
