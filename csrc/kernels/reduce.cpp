// The reduction engine: see reduce.h.
#include "kernels/reduce.h"

#include <algorithm>
#include <vector>

#include "core/factory.h"
#include "core/parallel.h"

namespace flambeau {
namespace {

constexpr std::int64_t kGrain = 32768;     // elements of cheap work per task
constexpr std::int64_t kEnoughUnits = 16;  // this many independent results: no need to split the reduction itself
constexpr std::int64_t kMaxChunks = 64;

struct Slot {
  const ReduceKernel* kernel = nullptr;
  CpuLevel level = CpuLevel::Baseline;
};
constinit Slot slots[kReduceIds][kNumDTypes];

struct Loop {
  std::int64_t size, stride;
};

// The iteration space after coalescing. Units are blocks of at most `block` neighbouring results; `pieces` number the
// (outer reduced index, part of the inner run) pairs in order.
struct Plan {
  Loop kept[kMaxDims];     // outermost first, without the innermost
  Loop reduced[kMaxDims];  // likewise
  int kept_count = 0, reduced_count = 0;
  Loop inner_kept{1, 0}, inner_reduced{1, 0};
  bool columns = false;
  std::int64_t outer_kept = 1, outer_reduced = 1;
  std::int64_t block = 1, blocks = 1;  // results per unit, units per outer kept index
  std::int64_t run = 1, runs = 1;      // elements per piece, pieces per outer reduced index
};

int collect(const Tensor& input, const DimMask& mask, bool which, Loop* loops) {
  int count = 0;
  for (std::int64_t d = 0; d < input.dim(); ++d) {
    if (mask[static_cast<std::size_t>(d)] != which || input.sizes()[d] == 1) continue;
    loops[count++] = {input.sizes()[d], input.strides()[d]};
  }
  return count;
}

int coalesce(Loop* loops, int count) {
  if (count < 2) return count;
  int last = 0;
  for (int i = 1; i < count; ++i) {
    if (loops[last].stride == loops[i].stride * loops[i].size) {
      loops[last] = {loops[last].size * loops[i].size, loops[i].stride};
    } else {
      loops[++last] = loops[i];
    }
  }
  return last + 1;
}

std::int64_t product(const Loop* loops, int count) {
  std::int64_t result = 1;
  for (int i = 0; i < count; ++i) result *= loops[i].size;
  return result;
}

std::int64_t offset_of(const Loop* loops, int count, std::int64_t index) {
  std::int64_t offset = 0;
  for (int i = count - 1; i >= 0 && index != 0; --i) {
    offset += index % loops[i].size * loops[i].stride;
    index /= loops[i].size;
  }
  return offset;
}

void make_plan(const Tensor& input, const DimMask& mask, Plan& plan) {
  plan.kept_count = coalesce(plan.kept, collect(input, mask, false, plan.kept));
  int reduced = collect(input, mask, true, plan.reduced);
  // Any order of the reduced dims gives the result; largest stride outermost reads memory in order.
  std::stable_sort(plan.reduced, plan.reduced + reduced,
                   [](const Loop& a, const Loop& b) { return a.stride > b.stride; });
  plan.reduced_count = coalesce(plan.reduced, reduced);
  if (plan.kept_count != 0) plan.inner_kept = plan.kept[--plan.kept_count];
  if (plan.reduced_count != 0) plan.inner_reduced = plan.reduced[--plan.reduced_count];
  plan.outer_kept = product(plan.kept, plan.kept_count);
  plan.outer_reduced = product(plan.reduced, plan.reduced_count);
  plan.columns = plan.inner_kept.stride == 1 && plan.inner_kept.size > 1 &&
                 (plan.inner_reduced.stride != 1 || plan.inner_reduced.size == 1);
  const std::int64_t per_result = std::max<std::int64_t>(1, plan.inner_reduced.size * plan.outer_reduced);
  plan.block = plan.columns ? kReduceColumns : std::clamp<std::int64_t>(kGrain / 2 / per_result, 1, kReduceColumns);
  plan.block = std::min(plan.block, plan.inner_kept.size);
  plan.blocks = (plan.inner_kept.size + plan.block - 1) / plan.block;
  plan.run = std::min(plan.inner_reduced.size, std::max<std::int64_t>(1, kGrain / plan.block));
  plan.runs = (plan.inner_reduced.size + plan.run - 1) / plan.run;
}

// Reduces pieces [from, to) of one unit into acc (initialised).
void accumulate(const ReduceKernel& kernel, const Plan& plan, const char* data, std::int64_t itemsize,
                std::int64_t unit, std::int64_t from, std::int64_t to, void* acc, const ReduceParams& params) {
  const std::int64_t first = unit % plan.blocks * plan.block;
  const std::int64_t k = std::min(plan.block, plan.inner_kept.size - first);
  const std::int64_t base = offset_of(plan.kept, plan.kept_count, unit / plan.blocks) + first * plan.inner_kept.stride;
  for (std::int64_t piece = from; piece < to;) {
    // Neighbouring pieces of one run are one call.
    const std::int64_t part = piece % plan.runs, last = std::min(plan.runs, part + (to - piece));
    const std::int64_t start = part * plan.run, n = std::min(last * plan.run, plan.inner_reduced.size) - start;
    const std::int64_t at =
        base + offset_of(plan.reduced, plan.reduced_count, piece / plan.runs) + start * plan.inner_reduced.stride;
    const char* in = data + at * itemsize;
    if (plan.columns) {
      kernel.columns(in, n, plan.inner_reduced.stride, k, acc, start, params);
    } else {
      kernel.rows(in, n, plan.inner_reduced.stride, k, plan.inner_kept.stride, acc, start, params);
    }
    piece += last - part;
  }
}

struct Scratch {
  alignas(64) char stack[4096];
  std::vector<char> heap;
  char* get(std::int64_t bytes) {
    if (bytes <= static_cast<std::int64_t>(sizeof(stack))) return stack;
    heap.resize(static_cast<std::size_t>(bytes) + 64);
    return reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(heap.data()) + 63) & ~std::uintptr_t{63});
  }
};

struct Destination {
  char *out, *out2;
  std::int64_t out_size, out2_size;  // bytes per element
};

void finish_unit(const ReduceKernel& kernel, const Plan& plan, std::int64_t unit, const void* acc,
                 const Destination& to, const ReduceParams& params) {
  const std::int64_t first = unit % plan.blocks * plan.block;
  const std::int64_t k = std::min(plan.block, plan.inner_kept.size - first);
  const std::int64_t at = unit / plan.blocks * plan.inner_kept.size + first;
  kernel.finish(acc, k, to.out + at * to.out_size, to.out2 == nullptr ? nullptr : to.out2 + at * to.out2_size, params);
}

void run_units(const ReduceKernel& kernel, const Plan& plan, const char* data, std::int64_t itemsize,
               const Destination& to, const ReduceParams& params, std::int64_t begin, std::int64_t end) {
  Scratch scratch;
  char* acc = scratch.get(plan.block * kernel.acc_size);
  for (std::int64_t unit = begin; unit < end; ++unit) {
    kernel.init(acc, plan.block);
    accumulate(kernel, plan, data, itemsize, unit, 0, plan.runs * plan.outer_reduced, acc, params);
    finish_unit(kernel, plan, unit, acc, to, params);
  }
}

// Few results, long reductions: the pieces are cut into chunks with their own accumulators, merged in order.
void run_split(const ReduceKernel& kernel, const Plan& plan, const char* data, std::int64_t itemsize,
               const Destination& to, const ReduceParams& params, std::int64_t units) {
  const std::int64_t pieces = plan.runs * plan.outer_reduced;
  const std::int64_t piece_work = std::max<std::int64_t>(1, plan.run * plan.block);
  std::int64_t per_chunk = std::max<std::int64_t>(1, kGrain / piece_work);
  per_chunk = std::max(per_chunk, (pieces + kMaxChunks - 1) / kMaxChunks);
  const std::int64_t chunks = (pieces + per_chunk - 1) / per_chunk;
  const std::int64_t acc_bytes = (plan.block * kernel.acc_size + 63) / 64 * 64;
  Scratch scratch;
  char* acc = scratch.get(units * chunks * acc_bytes);
  parallel_for(0, units * chunks, 1, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      kernel.init(acc + i * acc_bytes, plan.block);
      const std::int64_t from = i % chunks * per_chunk;
      accumulate(kernel, plan, data, itemsize, i / chunks, from, std::min(pieces, from + per_chunk),
                 acc + i * acc_bytes, params);
    }
  });
  for (std::int64_t unit = 0; unit < units; ++unit) {
    char* total = acc + unit * chunks * acc_bytes;
    for (std::int64_t i = 1; i < chunks; ++i) kernel.merge(total, total + i * acc_bytes, plan.block);
    finish_unit(kernel, plan, unit, total, to, params);
  }
}

void execute(const ReduceKernel& kernel, const Tensor& input, const DimMask& mask, const Destination& to,
             const ReduceParams& params) {
  Plan plan;
  make_plan(input, mask, plan);
  const std::int64_t units = plan.outer_kept * plan.blocks;
  const auto* data = static_cast<const char*>(input.data());
  const std::int64_t itemsize = input.itemsize();
  if (input.numel() <= kGrain) {
    run_units(kernel, plan, data, itemsize, to, params, 0, units);
  } else if (units >= kEnoughUnits) {
    const std::int64_t unit_work = std::max<std::int64_t>(1, input.numel() / units);
    parallel_for(0, units, std::max<std::int64_t>(1, kGrain / unit_work),
                 [&](std::int64_t b, std::int64_t e) { run_units(kernel, plan, data, itemsize, to, params, b, e); });
  } else {
    run_split(kernel, plan, data, itemsize, to, params, units);
  }
}

}  // namespace

ReduceEntry::ReduceEntry(ReduceId id, DType in, const ReduceKernel* kernel, CpuLevel level) noexcept {
  if (level > cpu_level()) return;
  Slot& slot = slots[static_cast<int>(id)][static_cast<int>(in)];
  if (slot.kernel == nullptr || level > slot.level) slot = {kernel, level};
}

const ReduceKernel* find_reduce(ReduceId id, DType in) {
  return slots[static_cast<int>(id)][static_cast<int>(in)].kernel;
}

DimMask reduced_dims(std::optional<IntSpan> dims, std::int64_t ndim, bool empty_is_none) {
  DimMask mask;
  if (!dims || (dims->empty() && !empty_is_none)) {
    for (std::int64_t d = 0; d < ndim; ++d) mask.set(static_cast<std::size_t>(d));
    return mask;
  }
  DimMask seen;
  for (const std::int64_t dim : *dims) {
    const auto d = static_cast<std::size_t>(wrap_dim(dim, ndim));
    check(!seen[d], "dim ", d, " appears multiple times in the list of dims");
    seen.set(d);
  }
  if (ndim == 0) seen.reset();
  return seen;
}

Dims reduced_sizes(IntSpan sizes, const DimMask& mask, bool keepdim) {
  Dims result;
  for (std::int64_t d = 0; d < sizes.size(); ++d) {
    if (!mask[static_cast<std::size_t>(d)]) {
      result.push_back(sizes[d]);
    } else if (keepdim) {
      result.push_back(1);
    }
  }
  return result;
}

std::int64_t reduced_count(IntSpan sizes, const DimMask& mask) {
  std::int64_t count = 1;
  for (std::int64_t d = 0; d < sizes.size(); ++d) {
    if (mask[static_cast<std::size_t>(d)]) count *= sizes[d];
  }
  return count;
}

void run_reduce(const ReduceKernel& kernel, const Tensor& input, const DimMask& mask, const Tensor& out,
                const Tensor& out2, const ReduceParams& params) {
  const Destination to{static_cast<char*>(out.data()), out2.defined() ? static_cast<char*>(out2.data()) : nullptr,
                       out.itemsize(), 8};
  if (out.numel() == 0) return;
  if (input.numel() == 0 || (input.is_contiguous() && input.numel() <= kGrain && out.numel() == 1)) {
    // Nothing to reduce, or one short run: no plan.
    alignas(64) char acc[64];
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      kernel.init(acc, 1);
      if (input.numel() != 0) kernel.rows(input.data(), input.numel(), 1, 1, 0, acc, 0, params);
      kernel.finish(acc, 1, to.out + i * to.out_size, to.out2 == nullptr ? nullptr : to.out2 + i * 8, params);
    }
    return;
  }
  execute(kernel, input, mask, to, params);
}

Tensor reduce(const char* op, ReduceId id, const Tensor& input, const DimMask& mask, bool keepdim, DType result,
              const ReduceParams& params) {
  const ReduceKernel* kernel = find_reduce(id, input.dtype());
  if (kernel == nullptr) throw_bad_dtype(op, input.dtype());
  Tensor out = mask.count() == static_cast<std::size_t>(input.dim()) && !keepdim
                   ? empty({}, result, input.device())
                   : empty(reduced_sizes(input.sizes(), mask, keepdim), result, input.device());
  if (!input.is_meta()) run_reduce(*kernel, input, mask, out, Tensor(), params);
  return out;
}

}  // namespace flambeau
