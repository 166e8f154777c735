// Elements and positions that a mask picks: counted per block, then written where each block's begin. No branch depends
// on the mask: one that is true for half of the elements at random is mispredicted half of the time.
#include "kernels/mask.h"

#include <cstring>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"

namespace flambeau {
namespace {

constexpr std::int64_t kBlock = 32768;

// Calls fn(begin, end, number chosen before begin, number chosen) for blocks, over threads; gives the total to start().
template <class Start, class F>
void for_blocks(const std::uint8_t* bits, std::int64_t n, Start&& start, F&& fn) {
  const std::int64_t blocks = (n + kBlock - 1) / kBlock;
  std::vector<std::int64_t> before(static_cast<std::size_t>(blocks) + 1, 0);
  const auto end_of = [&](std::int64_t block) { return std::min(n, (block + 1) * kBlock); };
  parallel_for(0, blocks, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t b = from; b < to; ++b)
      before[static_cast<std::size_t>(b) + 1] = count_nonzero_bytes(bits + b * kBlock, end_of(b) - b * kBlock);
  });
  for (std::size_t b = 0; b + 1 < before.size(); ++b) before[b + 1] += before[b];
  start(before.back());
  parallel_for(0, blocks, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t b = from; b < to; ++b) {
      const std::int64_t first = before[static_cast<std::size_t>(b)];
      fn(b * kBlock, end_of(b), first, before[static_cast<std::size_t>(b) + 1] - first);
    }
  });
}

// to[0 ... count) = value(i) of the chosen i in order. Each is written before it is known to be chosen, so the last few
// places take a test.
template <class T, class F>
void pick(const std::uint8_t* bits, std::int64_t begin, std::int64_t end, T* to, std::int64_t count, F&& value) {
  constexpr std::int64_t together = 8;
  std::int64_t k = 0, i = begin;
  for (; i + together <= end && k + together <= count; i += together) {
    for (std::int64_t u = 0; u < together; ++u) {
      to[k] = value(i + u);
      k += bits[i + u] != 0 ? 1 : 0;
    }
  }
  for (; k < count; ++i) {
    if (bits[i] != 0) to[k++] = value(i);
  }
}

}  // namespace

std::int64_t count_nonzero_bytes(const std::uint8_t* bits, std::int64_t n) noexcept {
  constexpr std::uint64_t low = 0x7f7f7f7f7f7f7f7fU, ones = 0x0101010101010101U;
  std::int64_t count = 0, i = 0;
  for (; i + 8 <= n; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, bits + i, 8);
    const std::uint64_t set = ((((eight & low) + low) | eight) >> 7) & ones;  // 1 in each byte that is not zero
    count += static_cast<std::int64_t>((set * ones) >> 56);
  }
  for (; i < n; ++i) count += bits[i] != 0 ? 1 : 0;
  return count;
}

std::vector<std::int64_t> masked_positions(const std::uint8_t* bits, std::int64_t n, std::int64_t step) {
  std::vector<std::int64_t> result;
  for_blocks(
      bits, n, [&](std::int64_t total) { result.resize(static_cast<std::size_t>(total)); },
      [&](std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t count) {
        pick(bits, begin, end, result.data() + first, count, [&](std::int64_t i) { return i * step; });
      });
  return result;
}

Tensor select_masked(const Tensor& values, const Tensor& mask) {
  const Tensor dense = contiguous(values), chosen = contiguous(mask);
  const auto* bits = static_cast<const std::uint8_t*>(chosen.data());
  Tensor result;
  const auto start = [&](std::int64_t total) { result = empty({total}, values.dtype()); };
  dispatch_size(values.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(dense.data());
    for_blocks(bits, dense.numel(), start,
               [&](std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t count) {
                 pick(bits, begin, end, static_cast<T*>(result.data()) + first, count,
                      [&](std::int64_t i) { return from[i]; });
               });
  });
  return result;
}

}  // namespace flambeau
