#include "kernels/sort_keys.h"

#include <algorithm>
#include <vector>

#include "core/parallel.h"

namespace flambeau {
namespace {

constexpr std::int64_t kShort = 48;
constexpr std::int64_t kChunk = 65536;  // elements of one task of a parallel pass
constexpr int kMaxDigit = 10;

using Items = ScratchBuffer<std::uint64_t>;

void insertion(std::uint64_t* items, std::int64_t n) {
  for (std::int64_t i = 1; i < n; ++i) {
    const std::uint64_t item = items[i];
    std::int64_t j = i;
    for (; j > 0 && items[j - 1] > item; --j) items[j] = items[j - 1];
    items[j] = item;
  }
}

// Positions from counts, digit by digit and within a digit chunk by chunk; counts are laid out [chunk][digit].
void to_positions(std::uint32_t* counts, std::int64_t chunks, std::int64_t digits) {
  std::uint32_t next = 0;
  for (std::int64_t d = 0; d < digits; ++d) {
    for (std::int64_t c = 0; c < chunks; ++c) {
      const std::uint32_t here = counts[c * digits + d];
      counts[c * digits + d] = next;
      next += here;
    }
  }
}

void scatter(const std::uint64_t* from, std::uint64_t* to, std::int64_t n, std::uint32_t* positions, int shift,
             std::uint64_t mask) {
  for (std::int64_t i = 0; i < n; ++i) to[positions[(from[i] >> shift) & mask]++] = from[i];
}

// All histograms in one reading.
void sort_alone(Items& items, Items& scratch, std::int64_t n, int bits, int digit) {
  const int passes = (bits + digit - 1) / digit;
  const std::int64_t digits = std::int64_t{1} << digit;
  const auto mask = static_cast<std::uint64_t>(digits - 1);
  std::uint32_t small[4 * 256];
  std::vector<std::uint32_t> large;
  std::uint32_t* counts = small;
  if (passes * digits > 4 * 256) {
    large.resize(static_cast<std::size_t>(passes * digits));
    counts = large.data();
  }
  std::fill_n(counts, passes * digits, 0U);
  for (std::int64_t i = 0; i < n; ++i) {
    for (int p = 0; p < passes; ++p)
      ++counts[p * digits + static_cast<std::int64_t>((items[i] >> (32 + p * digit)) & mask)];
  }
  for (int p = 0; p < passes; ++p) {
    to_positions(counts + p * digits, 1, digits);
    scatter(items.data(), scratch.data(), n, counts + p * digits, 32 + p * digit, mask);
    items.swap(scratch);
  }
}

// Chunks count and scatter side by side. A stable order is unique, so the number of chunks does not show.
void sort_together(Items& items, Items& scratch, std::int64_t n, int bits, int digit) {
  const std::int64_t digits = std::int64_t{1} << digit, chunks = (n + kChunk - 1) / kChunk;
  const auto mask = static_cast<std::uint64_t>(digits - 1);
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(chunks * digits));
  for (int shift = 32; shift < 32 + bits; shift += digit) {
    std::fill(counts.begin(), counts.end(), 0U);
    parallel_for(0, chunks, 1, [&](std::int64_t b, std::int64_t e) {
      for (std::int64_t c = b; c < e; ++c) {
        std::uint32_t* count = counts.data() + c * digits;
        for (std::int64_t i = c * kChunk; i < std::min(n, (c + 1) * kChunk); ++i) {
          ++count[(items[i] >> shift) & mask];
        }
      }
    });
    to_positions(counts.data(), chunks, digits);
    parallel_for(0, chunks, 1, [&](std::int64_t b, std::int64_t e) {
      for (std::int64_t c = b; c < e; ++c) {
        scatter(items.data() + c * kChunk, scratch.data(), std::min(kChunk, n - c * kChunk), counts.data() + c * digits,
                shift, mask);
      }
    });
    items.swap(scratch);
  }
}

}  // namespace

void sort_packed(Items& items, Items& scratch, std::int64_t n, int bits) {
  if (n <= kShort) return insertion(items.data(), n);
  if (bits == 0) return;
  scratch.resize(items.size());
  // Wide digits save passes but their counters have to pay: only in long rows.
  const int widest = n >= 16384 ? kMaxDigit : 8, passes = (bits + widest - 1) / widest;
  const int digit = (bits + passes - 1) / passes;
  if (n >= 2 * kChunk && num_threads() > 1 && !in_parallel_region()) {
    sort_together(items, scratch, n, bits, digit);
  } else {
    sort_alone(items, scratch, n, bits, digit);
  }
}

}  // namespace flambeau
