// The only door to threads: parallel_for(begin, end, grain, fn) over the OpenMP runtime that oneDNN loads too.
// Chunks are cut by size alone (multiples of `grain`), never by the number of threads, so that anything accumulated per
// chunk comes out bit-identical with 1 or 64 threads.
#pragma once

#include <cstdint>
#include <type_traits>

namespace flambeau {

int num_threads() noexcept;
void set_num_threads(int threads);
[[nodiscard]] bool in_parallel_region() noexcept;

namespace detail {
using RangeFn = void (*)(void* context, std::int64_t begin, std::int64_t end);
void parallel_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeFn fn, void* context);
}  // namespace detail

// fn(b, e) for consecutive chunks of `grain` elements (the last may be shorter); a range of at most `grain` runs
// inline. An exception in fn is rethrown on the calling thread.
template <class F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, F&& fn) {
  if (end - begin <= grain) {
    if (begin < end) fn(begin, end);
    return;
  }
  detail::parallel_chunks(
      begin, end, grain,
      [](void* context, std::int64_t b, std::int64_t e) { (*static_cast<std::remove_reference_t<F>*>(context))(b, e); },
      const_cast<void*>(static_cast<const void*>(&fn)));
}

}  // namespace flambeau
