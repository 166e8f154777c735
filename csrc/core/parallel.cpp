#include "core/parallel.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>

#include "core/error.h"

namespace flambeau {
namespace {

int initial_threads() {
  for (const char* name : {"FLAMBEAU_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (const char* text = std::getenv(name)) {
      const int value = std::atoi(text);
      if (value > 0) return std::min(value, 4096);
    }
  }
  return std::max(1, omp_get_num_procs());
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count = [] {
    // The OpenMP pool does not survive fork: a child (a data-loading worker) computes on its own thread only.
    pthread_atfork(nullptr, nullptr, [] { thread_count().store(1, std::memory_order_relaxed); });
    return initial_threads();
  }();
  return count;
}

}  // namespace

int num_threads() noexcept { return thread_count().load(std::memory_order_relaxed); }

void set_num_threads(int threads) {
  check(threads > 0, ErrorKind::Runtime, "set_num_threads expects a positive integer, got ", threads);
  thread_count().store(threads, std::memory_order_relaxed);
  omp_set_num_threads(threads);
}

bool in_parallel_region() noexcept { return omp_in_parallel() != 0; }

namespace detail {

void parallel_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeFn fn, void* context) {
  const std::int64_t chunks = (end - begin + grain - 1) / grain;
  auto run = [&](std::int64_t chunk) {
    const std::int64_t from = begin + chunk * grain;
    fn(context, from, std::min(end, from + grain));
  };
  const int threads = static_cast<int>(std::min<std::int64_t>(num_threads(), chunks));
  if (threads <= 1 || omp_in_parallel() != 0) {
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) run(chunk);
    return;
  }
  std::exception_ptr error;
  std::mutex mutex;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    try {
      run(chunk);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace detail
}  // namespace flambeau
