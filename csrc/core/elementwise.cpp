// The elementwise engine: from tensors of any shape, stride and dtype to runs that a tile kernel can work on.
#include "core/elementwise.h"

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "core/strided_loop.h"

namespace flambeau {
namespace {

constexpr std::int64_t kGrain = 32768;
// Rows shorter than this are packed together into tiles.
constexpr std::int64_t kShortRow = 128;
constexpr int kTileBytes = static_cast<int>(kTile) * 16;

enum class Access : std::uint8_t {
  Direct,    // contiguous along rows, in the kernel's dtype: passed as it is
  Constant,  // one element for all: a tile filled once per thread
  Repeat,    // one element per row
  Convert,   // gathered into a tile (inputs) or scattered from one (outputs)
};

struct Operand {
  char* data;
  DType dtype;
  DType tile_dtype;
  bool conj, neg;
  bool linear;  // dense in loop order: element i lies at i * itemsize
  Access access;
  CastFn cast;  // into the tile for inputs, out of it for outputs
};

// All operands (outputs first) of one call, ready to run.
struct Job {
  StridedLoop loop;
  Operand operands[kMaxOperands];
  int outputs = 0;
  TileFn fn = nullptr;
  const void* params = nullptr;
  bool packed = false;      // short rows: tiles span rows
  bool all_direct = false;  // kernel calls need no tile limit
  bool converts = false;    // some operand is gathered or scattered piece by piece

  explicit Job(IntSpan shape) : loop(shape) {}
};

struct Tiles {
  alignas(64) char data[kMaxOperands][kTileBytes];
};

void gather_bits(const Operand& operand, char* tile, std::int64_t n) noexcept {
  if (operand.conj) apply_conj(tile, operand.tile_dtype, n);
  if (operand.neg) apply_neg(tile, operand.tile_dtype, n);
}

void fill_tile(const Operand& operand, char* tile, const char* source, std::int64_t n) noexcept {
  operand.cast(tile, itemsize(operand.tile_dtype), source, 0, n);
  if (operand.conj || operand.neg) gather_bits(operand, tile, n);
}

void scatter_bits(const Operand& operand, char* tile, std::int64_t n) noexcept { gather_bits(operand, tile, n); }

// One row piece of at most kTile elements (any length if everything is direct).
void run_piece(const Job& job, char* const* pointers, const std::int64_t* strides, Tiles& tiles,
               std::int64_t n) noexcept {
  void* arguments[kMaxOperands];
  for (int k = 0; k < job.loop.operands; ++k) {
    const Operand& operand = job.operands[k];
    arguments[k] = operand.access == Access::Direct ? pointers[k] : tiles.data[k];
    if (operand.access == Access::Convert && k >= job.outputs) {
      operand.cast(tiles.data[k], itemsize(operand.tile_dtype), pointers[k], strides[k], n);
      if (operand.conj || operand.neg) gather_bits(operand, tiles.data[k], n);
    }
  }
  job.fn(arguments, arguments + job.outputs, n, job.params);
  for (int k = 0; k < job.outputs; ++k) {
    const Operand& operand = job.operands[k];
    if (operand.access != Access::Convert) continue;
    if (operand.conj || operand.neg) scatter_bits(operand, tiles.data[k], n);
    operand.cast(pointers[k], strides[k], tiles.data[k], itemsize(operand.tile_dtype), n);
  }
}

void run_rows(const Job& job, char* const* bases, std::int64_t begin, std::int64_t end, Tiles& tiles) noexcept {
  const int operands = job.loop.operands;
  std::int64_t strides[kMaxOperands];
  bool repeats = false;
  for (int k = 0; k < operands; ++k) {
    strides[k] = job.loop.strides[k][0];
    repeats = repeats || job.operands[k].access == Access::Repeat;
  }
  job.loop.for_rows(bases, begin, end, [&](char* const* row, std::int64_t n) {
    if (job.all_direct) {
      job.fn(reinterpret_cast<void* const*>(row), reinterpret_cast<const void* const*>(row + job.outputs), n,
             job.params);
      return;
    }
    const std::int64_t step = n < kTile ? n : kTile;
    if (repeats) {
      for (int k = job.outputs; k < operands; ++k) {
        if (job.operands[k].access == Access::Repeat) fill_tile(job.operands[k], tiles.data[k], row[k], step);
      }
    }
    if (!job.converts) {
      void* arguments[kMaxOperands];
      std::int64_t steps[kMaxOperands];
      for (int k = 0; k < operands; ++k) {
        const bool direct = job.operands[k].access == Access::Direct;
        arguments[k] = direct ? row[k] : tiles.data[k];
        steps[k] = direct ? step * strides[k] : 0;
      }
      for (std::int64_t done = 0; done < n; done += step) {
        job.fn(arguments, arguments + job.outputs, n - done < step ? n - done : step, job.params);
        for (int k = 0; k < operands; ++k) arguments[k] = static_cast<char*>(arguments[k]) + steps[k];
      }
      return;
    }
    char* pointers[kMaxOperands];
    for (int k = 0; k < operands; ++k) pointers[k] = row[k];
    for (std::int64_t done = 0; done < n; done += step) {
      run_piece(job, pointers, strides, tiles, n - done < step ? n - done : step);
      for (int k = 0; k < operands; ++k) pointers[k] += step * strides[k];
    }
  });
}

// Short rows: each tile is gathered from as many rows as it takes.
void run_packed(const Job& job, char* const* bases, std::int64_t begin, std::int64_t end, Tiles& tiles) noexcept {
  const int operands = job.loop.operands;
  const auto strided = [&](int k) {
    return job.operands[k].access != Access::Direct && job.operands[k].access != Access::Constant;
  };
  bool any_inputs = false, any_outputs = false;
  for (int k = 0; k < operands; ++k) (k < job.outputs ? any_outputs : any_inputs) |= strided(k);
  for (std::int64_t at = begin; at < end; at += kTile) {
    const std::int64_t n = end - at < kTile ? end - at : kTile;
    void* arguments[kMaxOperands];
    for (int k = 0; k < operands; ++k) {
      const Operand& operand = job.operands[k];
      arguments[k] = operand.access == Access::Direct ? bases[k] + at * itemsize(operand.dtype) : tiles.data[k];
    }
    if (any_inputs) {
      std::int64_t filled = 0;
      job.loop.for_rows(bases, at, at + n, [&](char* const* row, std::int64_t count) {
        for (int k = job.outputs; k < operands; ++k) {
          if (!strided(k)) continue;
          const std::int64_t size = itemsize(job.operands[k].tile_dtype);
          job.operands[k].cast(tiles.data[k] + filled * size, size, row[k], job.loop.strides[k][0], count);
        }
        filled += count;
      });
      for (int k = job.outputs; k < operands; ++k) {
        if (strided(k)) gather_bits(job.operands[k], tiles.data[k], n);
      }
    }
    job.fn(arguments, arguments + job.outputs, n, job.params);
    if (any_outputs) {
      for (int k = 0; k < job.outputs; ++k) {
        if (strided(k)) scatter_bits(job.operands[k], tiles.data[k], n);
      }
      std::int64_t written = 0;
      job.loop.for_rows(bases, at, at + n, [&](char* const* row, std::int64_t count) {
        for (int k = 0; k < job.outputs; ++k) {
          if (!strided(k)) continue;
          const std::int64_t size = itemsize(job.operands[k].tile_dtype);
          job.operands[k].cast(row[k], job.loop.strides[k][0], tiles.data[k] + written * size, size, count);
        }
        written += count;
      });
    }
  }
}

void run_range(const Job& job, std::int64_t begin, std::int64_t end) noexcept {
  Tiles tiles;
  char* bases[kMaxOperands];
  for (int k = 0; k < job.loop.operands; ++k) {
    bases[k] = job.operands[k].data;
    if (job.operands[k].access == Access::Constant) {
      fill_tile(job.operands[k], tiles.data[k], bases[k], end - begin < kTile ? end - begin : kTile);
    }
  }
  if (job.packed) {
    run_packed(job, bases, begin, end, tiles);
  } else {
    run_rows(job, bases, begin, end, tiles);
  }
}

void set_operand(Job& job, int k, const Tensor& tensor, DType tile_dtype) {
  const bool is_output = k < job.outputs;
  Operand& operand = job.operands[k];
  operand.data = static_cast<char*>(tensor.data());
  operand.dtype = tensor.dtype();
  operand.tile_dtype = tile_dtype;
  operand.conj = tensor.is_conj();
  operand.neg = tensor.is_neg();
  operand.cast = is_output ? cast_fn(tile_dtype, operand.dtype) : cast_fn(operand.dtype, tile_dtype);
}

void choose_access(Job& job) {
  const StridedLoop& loop = job.loop;
  job.packed = loop.ndim > 1 && loop.sizes[0] < kShortRow;
  job.all_direct = true;
  for (int k = 0; k < loop.operands; ++k) {
    Operand& operand = job.operands[k];
    const std::int64_t size = itemsize(operand.dtype);
    const bool plain = operand.dtype == operand.tile_dtype && !operand.conj && !operand.neg;
    operand.linear = loop.linear(k, size);
    if (plain && (job.packed ? operand.linear : loop.strides[k][0] == size || (loop.sizes[0] == 1 && loop.ndim == 1))) {
      operand.access = Access::Direct;
    } else if (k >= job.outputs && loop.constant(k)) {
      operand.access = Access::Constant;
    } else if (k >= job.outputs && !job.packed && loop.strides[k][0] == 0) {
      operand.access = Access::Repeat;
    } else {
      operand.access = Access::Convert;
    }
    job.all_direct = job.all_direct && operand.access == Access::Direct;
    job.converts = job.converts || operand.access == Access::Convert;
  }
}

void run(Job& job) {
  job.loop.coalesce();
  choose_access(job);
  parallel_for(0, job.loop.numel, kGrain, [&](std::int64_t begin, std::int64_t end) { run_range(job, begin, end); });
}

// Everything dense and of the kernel's dtypes, apart from 0-d operands: no loop to build.
struct FastPath {
  const Tensor* direct[kMaxOperands];  // null: a 0-d operand that becomes a filled tile
  const Tensor* scalar[kMaxOperands];
  const Tensor* shape = nullptr;
  bool any_scalar = false;
  int inputs = 0;
};

bool plain_match(const Tensor& tensor, const Tensor& shape, DType dtype) noexcept {
  const TensorImpl* impl = tensor.impl();
  return impl->dtype == dtype && impl->contiguous && !impl->conj && !impl->neg &&
         (impl == shape.impl() || impl->sizes == shape.impl()->sizes);
}

bool match_fast(FastPath& fast, std::initializer_list<const Tensor*> inputs, const TileKernel& kernel) noexcept {
  for (const Tensor* input : inputs) {
    if (fast.shape == nullptr || (fast.shape->dim() == 0 && input->dim() != 0)) fast.shape = input;
  }
  for (const Tensor* input : inputs) {
    const int k = fast.inputs++;
    if (input->is_meta()) return false;
    if (plain_match(*input, *fast.shape, kernel.input(k))) {
      fast.direct[k] = input;
    } else if (input->dim() == 0) {
      fast.direct[k] = nullptr;
      fast.scalar[k] = input;
      fast.any_scalar = true;
    } else {
      return false;
    }
  }
  return fast.shape->is_contiguous();
}

void run_fast(const FastPath& fast, const Tensor& out, const TileKernel& kernel, const void* params) {
  const std::int64_t numel = out.numel();
  const std::int64_t out_size = itemsize(kernel.out);
  if (!fast.any_scalar) {
    const auto piece = [&](std::int64_t begin, std::int64_t end) {
      const void* arguments[kMaxOperands];
      for (int k = 0; k < fast.inputs; ++k) {
        arguments[k] = static_cast<const char*>(fast.direct[k]->data()) + begin * itemsize(kernel.input(k));
      }
      void* destination = static_cast<char*>(out.data()) + begin * out_size;
      kernel.fn(&destination, arguments, end - begin, params);
    };
    parallel_for(0, numel, kGrain, piece);
    return;
  }
  parallel_for(0, numel, kGrain, [&](std::int64_t begin, std::int64_t end) {
    Tiles tiles;
    const void* arguments[kMaxOperands];
    for (int k = 0; k < fast.inputs; ++k) {
      if (fast.direct[k] != nullptr) {
        arguments[k] = static_cast<const char*>(fast.direct[k]->data()) + begin * itemsize(kernel.input(k));
        continue;
      }
      const Tensor& scalar = *fast.scalar[k];
      const DType tile_dtype = kernel.input(k);
      const std::int64_t n = end - begin < kTile ? end - begin : kTile;
      cast_fn(scalar.dtype(), tile_dtype)(tiles.data[k], itemsize(tile_dtype), scalar.data(), 0, n);
      if (scalar.is_conj()) apply_conj(tiles.data[k], tile_dtype, n);
      if (scalar.is_neg()) apply_neg(tiles.data[k], tile_dtype, n);
      arguments[k] = tiles.data[k];
    }
    char* destination = static_cast<char*>(out.data()) + begin * out_size;
    for (std::int64_t at = begin; at < end; at += kTile) {
      void* target = destination;
      kernel.fn(&target, arguments, end - at < kTile ? end - at : kTile, params);
      destination += kTile * out_size;
      for (int k = 0; k < fast.inputs; ++k) {
        if (fast.direct[k] != nullptr)
          arguments[k] = static_cast<const char*>(arguments[k]) + kTile * itemsize(kernel.input(k));
      }
    }
  });
}

// May the in-place destination be written run by run without further checks?
bool inplace_is_plain(const FastPath& fast, const Tensor& out, DType dtype) noexcept {
  if (!plain_match(out, *fast.shape, dtype) || out.is_meta()) return false;
  for (int k = 0; k < fast.inputs; ++k) {
    const Tensor& input = fast.direct[k] != nullptr ? *fast.direct[k] : *fast.scalar[k];
    if (!input.is(out) && input.storage() == out.storage()) return false;
  }
  return true;
}

// Strides of a new output: those the inputs share, or dense in the order that their strides suggest.
Tensor new_output(const StridedLoop& loop, IntSpan shape, std::initializer_list<const Tensor*> inputs, DType dtype,
                  Device device) {
  bool same_shape = true, contiguous = true, same_strides = true;
  const Tensor& first = **inputs.begin();
  for (const Tensor* input : inputs) {
    same_shape = same_shape && input->sizes() == shape;
    contiguous = contiguous && input->is_contiguous();
    same_strides = same_strides && same_shape && input->strides() == first.strides();
  }
  if (same_shape && contiguous) return empty(shape, dtype, device);
  if (same_strides && first.is_non_overlapping_and_dense()) {
    return empty_strided(shape, first.strides(), dtype, device);
  }
  bool row_major = true;
  for (int i = 0; i < loop.ndim; ++i) row_major = row_major && loop.order[i] == loop.ndim - 1 - i;
  if (row_major) return empty(shape, dtype, device);
  return empty_strided(shape, loop.dense_strides(), dtype, device);
}

StridedLoop sorted_loop(IntSpan shape, std::initializer_list<const Tensor*> inputs) {
  StridedLoop loop{shape};
  for (const Tensor* input : inputs) loop.add(*input);
  loop.sort();
  return loop;
}

// An out= tensor that had to be resized gets the layout that a new output would have.
Dims new_strides(IntSpan shape, std::initializer_list<const Tensor*> inputs, DType dtype) {
  return Dims(new_output(sorted_loop(shape, inputs), shape, inputs, dtype, {DeviceType::Meta}).strides());
}

// A large operand that runs across the output's rows would be gathered one cache line per element: copying it into the
// output's layout first, by blocks, is several times faster.
bool runs_across(const Tensor& input, const Tensor& target) {
  constexpr std::int64_t kWorthwhile = 1 << 15;
  if (input.numel() < kWorthwhile || input.is_contiguous() || input.sizes() != target.sizes()) return false;
  bool crossed = false;
  for (std::int64_t i = 0; i < input.dim(); ++i) {
    if (input.sizes()[i] < 8) continue;
    if (target.strides()[i] == 1 && input.strides()[i] >= 16) crossed = true;
  }
  return crossed && input.is_non_overlapping_and_dense();
}

Tensor in_layout_of(const Tensor& input, const Tensor& target) {
  Tensor copy = empty_strided(target.sizes(), target.strides(), input.dtype(), input.device());
  copy_into(copy, input);
  return copy;
}

Dims common_shape(const char* op, std::initializer_list<const Tensor*> inputs) {
  Dims shape((*inputs.begin())->sizes());
  for (const Tensor* input : inputs) {
    if (input->sizes() == IntSpan(shape)) continue;
    shape = broadcast_shapes(shape, input->sizes(), op);
  }
  return shape;
}

Device common_device(std::initializer_list<const Tensor*> inputs) {
  Device device;
  for (const Tensor* input : inputs) {
    if (input->is_meta()) return input->device();
    device = input->device();
  }
  return device;
}

}  // namespace

Tensor elementwise(const char* op, std::initializer_list<const Tensor*> inputs, const TileKernel& kernel, DType result,
                   const void* params, const Out& out) {
  internal_assert(kernel.fn != nullptr, "elementwise() without a tile kernel");
  if (result == kernel.out) {
    FastPath fast;
    if (match_fast(fast, inputs, kernel)) {
      if (!out.given()) {
        Tensor fresh = empty(fast.shape->sizes(), result, fast.shape->device());
        run_fast(fast, fresh, kernel, params);
        return fresh;
      }
      if (out.inplace && inplace_is_plain(fast, out[0], result)) {
        run_fast(fast, out[0], kernel, params);
        return out[0];
      }
    }
  }
  const Dims shape = common_shape(op, inputs);
  const Device device = common_device(inputs);
  Tensor target;
  if (out.given()) {
    const bool resized = !(out[0].sizes() == IntSpan(shape));
    target = output(op, out, 0, shape, result, device);
    if (resized) target.impl()->set_geometry(shape, new_strides(shape, inputs, result));
    check_no_internal_overlap(target, op);
    for (const Tensor* input : inputs) check_no_partial_overlap(target, *input, op);
  }
  Job job{shape};
  job.outputs = 1;
  if (!target.defined()) { target = new_output(sorted_loop(shape, inputs), shape, inputs, result, device); }
  if (target.is_meta() || device.type == DeviceType::Meta || job.loop.numel == 0) return target;
  Tensor copies[kMaxOperands];
  const Tensor* operands[kMaxOperands];
  int count = 0;
  const bool dense = target.is_non_overlapping_and_dense();
  for (const Tensor* input : inputs) {
    operands[count] = input;
    if (dense && runs_across(*input, target)) {
      copies[count] = in_layout_of(*input, target);
      operands[count] = &copies[count];
    }
    ++count;
  }
  job.loop.add(target);
  for (int k = 0; k < count; ++k) job.loop.add(*operands[k]);
  job.loop.sort();
  set_operand(job, 0, target, kernel.out);
  for (int k = 0; k < count; ++k) set_operand(job, k + 1, *operands[k], kernel.input(k));
  job.fn = kernel.fn;
  job.params = params;
  run(job);
  return target;
}

void elementwise_into(const char* op, Span<Tensor> outputs, Span<Tensor> inputs, const TileKernel& kernel,
                      const void* params) {
  internal_assert(kernel.fn != nullptr, "elementwise_into() without a tile kernel");
  internal_assert(outputs.size() > 0 && outputs.size() + inputs.size() <= kMaxOperands, "elementwise_into(): operands");
  for (const Tensor& target : outputs) {
    check_no_internal_overlap(target, op);
    for (const Tensor& input : inputs) check_no_partial_overlap(target, input, op);
    if (target.is_meta()) return;
  }
  Job job{outputs[0].sizes()};
  if (job.loop.numel == 0) return;
  job.outputs = static_cast<int>(outputs.size());
  for (const Tensor& target : outputs) job.loop.add(target);
  for (const Tensor& input : inputs) job.loop.add(input);
  job.loop.sort();
  for (int k = 0; k < job.loop.operands; ++k) {
    const bool is_output = k < job.outputs;
    set_operand(job, k, is_output ? outputs[k] : inputs[k - job.outputs],
                is_output ? kernel.out : kernel.input(k - job.outputs));
  }
  job.fn = kernel.fn;
  job.params = params;
  run(job);
}

}  // namespace flambeau
