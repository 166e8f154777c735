// Advanced indexing: x[i, :, mask] and its assignment. Every index is checked before anything is read or written.
//
// The indexed dims of the input become one list of element offsets (index tensors broadcast together, masks turned into
// the positions of their true elements). What is left is a copy over (before, offsets, after): dims before the indexed
// block, the block, dims after it. If the indexed dims are not neighbours, the block comes first, as in NumPy.
#include <numeric>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "core/strided_loop.h"
#include "kernels/arith.h"
#include "kernels/mask.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

// Offsets that one index contributes, with its shape.
struct Term {
  Dims shape;
  std::vector<std::int64_t> offsets;
};

struct Plan {
  Dims before_sizes, before_strides, block_shape, after_sizes, after_strides;
  std::vector<std::int64_t> offsets;
  [[nodiscard]] Dims result_sizes() const {
    Dims sizes(before_sizes);
    for (const std::int64_t size : block_shape) sizes.push_back(size);
    for (const std::int64_t size : after_sizes) sizes.push_back(size);
    return sizes;
  }
};

bool is_mask(const Tensor& index) { return index.dtype() == DType::Bool || index.dtype() == DType::UInt8; }

[[noreturn]] void out_of_bounds(std::int64_t value, std::int64_t dim, std::int64_t size) {
  fail(ErrorKind::Index, "index ", value, " is out of bounds for dimension ", dim, " with size ", size);
}

template <class T>
void integer_offsets(const Tensor& index, std::int64_t dim, std::int64_t size, std::int64_t stride,
                     std::vector<std::int64_t>& offsets) {
  const T* values = index.data<T>();
  const std::int64_t n = index.numel();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t value = values[i];
    if (value < -size || value >= size) [[unlikely]]
      out_of_bounds(value, dim, size);
    offsets[static_cast<std::size_t>(i)] = (value < 0 ? value + size : value) * stride;
  }
}

Term integer_term(const Tensor& input, const Tensor& index, std::int64_t dim) {
  Term term{Dims(index.sizes()), std::vector<std::int64_t>(static_cast<std::size_t>(index.numel()))};
  const std::int64_t size = input.sizes()[dim], stride = input.strides()[dim];
  const Tensor values = contiguous(index);
  if (index.dtype() == DType::Int64)
    integer_offsets<std::int64_t>(values, dim, size, stride, term.offsets);
  else
    integer_offsets<std::int32_t>(values, dim, size, stride, term.offsets);
  return term;
}

void check_mask(const Tensor& input, const Tensor& mask, std::int64_t dim) {
  for (std::int64_t d = 0; d < mask.dim(); ++d) {
    check(mask.sizes()[d] == input.sizes()[dim + d], ErrorKind::Index, "index: The shape of the mask ", mask.sizes(),
          " at index ", d, " does not match the shape of the indexed tensor ", input.sizes(), " at index ", dim + d);
  }
}

Term mask_term(const Tensor& input, const Tensor& mask, std::int64_t dim) {
  check_mask(input, mask, dim);
  Term term;
  const Tensor dense = contiguous(mask);
  const auto* bits = dense.data<std::uint8_t>();
  // One stride over all its dims, innermost first.
  const std::int64_t last = dim + mask.dim() - 1;
  bool even = mask.dim() > 0;
  for (std::int64_t d = last - 1; d >= dim; --d)
    even = even && input.strides()[d] == input.sizes()[d + 1] * input.strides()[d + 1];
  if (even) {
    term.offsets = masked_positions(bits, mask.numel(), input.strides()[last]);
  } else {
    const LineWalk<1> walk(mask.sizes(), -1, {input.strides().subspan(dim, mask.dim())});
    std::int64_t i = 0;
    walk.run(0, walk.lines(), [&](const std::int64_t* offset) {
      if (bits[i++] != 0) term.offsets.push_back(offset[0]);
    });
  }
  term.shape = Dims{static_cast<std::int64_t>(term.offsets.size())};
  return term;
}

std::string shapes_of(const std::vector<Term>& terms) {
  std::string text;
  for (const Term& term : terms) text += (text.empty() ? "" : ", ") + concat(term.shape);
  return text;
}

Dims block_shape_of(const std::vector<Term>& terms) {
  Dims shape;
  for (const Term& term : terms) {
    const std::int64_t n = std::max(shape.size(), term.shape.size());
    Dims wider = Dims::filled(n, 1);
    for (std::int64_t d = 0; d < n; ++d) {
      const std::int64_t from_shape = d - (n - shape.size()), from_term = d - (n - term.shape.size());
      const std::int64_t a = from_shape >= 0 ? shape[from_shape] : 1, b = from_term >= 0 ? term.shape[from_term] : 1;
      check(a == b || a == 1 || b == 1, ErrorKind::Index,
            "index: shape mismatch: indexing tensors could not be broadcast together with shapes ", shapes_of(terms));
      wider[d] = a == 1 ? b : a;
    }
    shape = wider;
  }
  return shape;
}

// offsets[...] += term, broadcast to `shape`.
void add_term(const Dims& shape, const Term& term, std::vector<std::int64_t>& offsets) {
  Dims expanded;
  const Dims strides = expand_strides(term.shape, contiguous_strides(term.shape), shape, "index", expanded);
  const LineWalk<1> walk(shape, -1, {IntSpan(strides)});
  std::size_t i = 0;
  walk.run(0, walk.lines(),
           [&](const std::int64_t* from) { offsets[i++] += term.offsets[static_cast<std::size_t>(from[0])]; });
}

// Offsets are left out (only shapes) for meta tensors, whose index values are unknown.
Plan make_plan(const Tensor& input, TensorSpan indices, bool shapes_only) {
  struct Pending {
    std::size_t term;
    const Tensor* index;
    std::int64_t dim;
  };
  std::vector<Term> terms;
  std::vector<Pending> pending;
  Plan plan;
  std::uint64_t indexed = 0;
  std::int64_t dim = 0, blocks = 0, first = -1;
  bool in_block = false;
  for (const Tensor& index : indices) {
    if (!index.defined()) {
      check(dim < input.dim(), ErrorKind::Index, "too many indices for tensor of dimension ", input.dim());
      ++dim;
      in_block = false;
      continue;
    }
    const bool mask = is_mask(index);
    check(mask || index.dtype() == DType::Int64 || index.dtype() == DType::Int32, ErrorKind::Index,
          "index: tensors used as indices must be long, int, byte or bool tensors",
          ". Convert them, e.g. index.long().");
    const std::int64_t covers = mask ? index.dim() : 1;
    check(dim + covers <= input.dim(), ErrorKind::Index, "too many indices for tensor of dimension ", input.dim());
    if (mask) check_mask(input, index, dim);
    check(!mask || !index.is_meta(), ErrorKind::NotImplemented,
          "index: the shape of a result indexed by a meta mask depends on its values.");
    shapes_only = shapes_only || index.is_meta();
    // Values of integer indices are read below, once it is known that there is something to index.
    terms.push_back(mask ? mask_term(input, index, dim) : Term{Dims(index.sizes()), {}});
    if (!mask) pending.push_back({terms.size() - 1, &index, dim});
    for (std::int64_t d = dim; d < dim + covers; ++d) indexed |= std::uint64_t{1} << d;
    if (first < 0) first = dim;
    if (!in_block) ++blocks;
    in_block = true;
    dim += covers;
  }
  plan.block_shape = block_shape_of(terms);
  const std::int64_t lead = blocks == 1 ? first : 0;
  for (std::int64_t d = 0; d < input.dim(); ++d) {
    if ((indexed >> d & 1U) != 0) continue;
    (d < lead ? plan.before_sizes : plan.after_sizes).push_back(input.sizes()[d]);
    (d < lead ? plan.before_strides : plan.after_strides).push_back(input.strides()[d]);
  }
  if (checked_numel(plan.block_shape) != 0) {
    for (const Pending& item : pending) {
      check(input.sizes()[item.dim] != 0, ErrorKind::Index, "index: index is out of bounds for dimension with size 0");
    }
  }
  // Like PyTorch: an empty result reads no index, so none is out of range.
  if (shapes_only || checked_numel(plan.result_sizes()) == 0) return plan;
  for (const Pending& item : pending) terms[item.term] = integer_term(input, *item.index, item.dim);
  if (terms.size() == 1) {
    plan.offsets = std::move(terms[0].offsets);
  } else {
    plan.offsets.assign(static_cast<std::size_t>(checked_numel(plan.block_shape)), 0);
    for (const Term& term : terms) add_term(plan.block_shape, term, plan.offsets);
  }
  return plan;
}

// Drops size-1 dims and joins neighbours that one stride covers, in both geometries at once.
void coalesce(Dims& sizes, Dims& a, Dims& b) {
  std::int64_t kept = 0;
  for (std::int64_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    if (kept > 0 && a[kept - 1] == sizes[d] * a[d] && b[kept - 1] == sizes[d] * b[d]) {
      sizes[kept - 1] *= sizes[d];
      a[kept - 1] = a[d];
      b[kept - 1] = b[d];
    } else {
      sizes[kept] = sizes[d];
      a[kept] = a[d];
      b[kept] = b[d];
      ++kept;
    }
  }
  sizes.resize(kept);
  a.resize(kept);
  b.resize(kept);
}

// Puts the dims in the order that they have in memory in geometry b, so that channels-last images join to one run.
void order_by_stride(Dims& sizes, Dims& a, Dims& b) {
  for (std::int64_t i = 1; i < sizes.size(); ++i) {
    for (std::int64_t d = i; d > 0 && b[d - 1] < b[d]; --d) {
      std::swap(sizes[d - 1], sizes[d]);
      std::swap(a[d - 1], a[d]);
      std::swap(b[d - 1], b[d]);
    }
  }
}

// Calls fn(offset in the indexed tensor, offset in the other one, n, stride in indexed, stride in other) for runs along
// the last `after` dim. The other tensor has strides for (before, block, after).
template <class F>
void walk_plan(const Plan& plan, IntSpan other_strides, std::int64_t from_block, std::int64_t to_block, F&& fn) {
  const std::int64_t nb = plan.before_sizes.size(), nblock = plan.block_shape.size();
  Dims after_sizes(plan.after_sizes), after_a(plan.after_strides), after_b;
  for (std::int64_t d = 0; d < after_sizes.size(); ++d) after_b.push_back(other_strides[nb + nblock + d]);
  order_by_stride(after_sizes, after_a, after_b);
  coalesce(after_sizes, after_a, after_b);
  const std::int64_t last = after_sizes.size() - 1, run = last >= 0 ? after_sizes[last] : 1;
  const std::int64_t run_a = last >= 0 ? after_a[last] : 1, run_b = last >= 0 ? after_b[last] : 1;
  if (run == 0) return;
  const LineWalk<2> before(plan.before_sizes, -1, {IntSpan(plan.before_strides), other_strides.subspan(0, nb)});
  const LineWalk<2> after(after_sizes, last, {IntSpan(after_a), IntSpan(after_b)});
  const LineWalk<1> block(plan.block_shape, -1, {other_strides.subspan(nb, nblock)});
  const std::int64_t inner = after.lines();
  before.run(0, before.lines(), [&](const std::int64_t* at) {
    std::int64_t i = from_block;
    block.run(from_block, to_block, [&](const std::int64_t* block_at) {
      const std::int64_t a = at[0] + plan.offsets[static_cast<std::size_t>(i++)], b = at[1] + block_at[0];
      if (inner == 1) {
        fn(a, b, run, run_a, run_b);
      } else {
        after.run(0, inner, [&](const std::int64_t* rest) { fn(a + rest[0], b + rest[1], run, run_a, run_b); });
      }
    });
  });
}

template <class T>
void gather_runs(const Plan& plan, const T* source, T* target, IntSpan target_strides, std::int64_t from,
                 std::int64_t to) {
  walk_plan(plan, target_strides, from, to,
            [&](std::int64_t a, std::int64_t b, std::int64_t n, std::int64_t stride_a, std::int64_t stride_b) {
              if (stride_a == 1 && stride_b == 1) {
                if (n == 1)
                  target[b] = source[a];
                else
                  std::memcpy(static_cast<void*>(target + b), static_cast<const void*>(source + a),
                              sizeof(T) * static_cast<std::size_t>(n));
              } else {
                for (std::int64_t i = 0; i < n; ++i) target[b + i * stride_b] = source[a + i * stride_a];
              }
            });
}

// Result of a gather. Its layout is PyTorch's: that of the dims which are not indexed, as they lie in input, and then
// of the indices. So a batch picked from channels-last images is channels-last.
Tensor gathered(const Plan& plan, const Tensor& input, TensorSpan indices) {
  const Dims sizes = plan.result_sizes();
  if (input.is_contiguous() || input.is_meta()) return empty(sizes, input.dtype(), input.device());
  Dims strides(plan.before_strides);
  for (std::int64_t d = 0; d < plan.block_shape.size(); ++d) strides.push_back(0);
  for (const std::int64_t stride : plan.after_strides) strides.push_back(stride);
  StridedLoop loop{sizes};
  loop.add(sizes, strides, input.itemsize());
  for (const Tensor& index : indices) {
    if (!index.defined() || loop.operands == kMaxOperands) continue;
    const bool mask = is_mask(index);
    Dims index_sizes(mask ? IntSpan(plan.block_shape) : index.sizes());
    Dims index_strides(mask ? IntSpan(contiguous_strides(plan.block_shape)) : index.strides());
    for (std::int64_t d = 0; d < plan.after_sizes.size(); ++d) {
      index_sizes.push_back(1);
      index_strides.push_back(0);
    }
    loop.add(index_sizes, index_strides, itemsize(DType::Int64));
  }
  loop.sort();
  return empty_strided(sizes, loop.dense_strides(), input.dtype(), input.device());
}

Tensor index_op(const Tensor& input, TensorSpan indices) {
  if (indices.size() == 1 && indices[0].defined() && is_mask(indices[0]) && !indices[0].is_meta() && !input.is_meta() &&
      indices[0].dim() == input.dim() && input.dim() > 0) {
    check_mask(input, indices[0], 0);
    return select_masked(input, indices[0]);
  }
  const Plan plan = make_plan(input, indices, input.is_meta());
  Tensor result = gathered(plan, input, indices);
  if (result.is_meta() || result.numel() == 0) return result;
  const std::int64_t count = static_cast<std::int64_t>(plan.offsets.size());
  const std::int64_t per_index = std::max<std::int64_t>(result.numel() / count, 1);
  dispatch_size(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* source = static_cast<const T*>(input.data());
    T* target = static_cast<T*>(result.data());
    parallel_for(0, count, std::max<std::int64_t>(32768 / per_index, 1), [&](std::int64_t from, std::int64_t to) {
      gather_runs(plan, source, target, result.strides(), from, to);
    });
  });
  return result;
}

Tensor index_put(const Tensor& input, TensorSpan indices, const Tensor& values, bool accumulate, const Out& out) {
  check(input.dtype() == values.dtype(), ErrorKind::Runtime,
        "index_put: Index put requires the source and destination dtypes match, got ", torch_name_of(input.dtype()),
        " for the destination and ", torch_name_of(values.dtype()), " for the source.");
  const Tensor target = out.inplace ? out[0] : clone(input);
  const Plan plan = make_plan(target, indices, input.is_meta());
  const Dims sizes = plan.result_sizes();
  Dims expanded;
  const bool fits = [&] {
    if (values.dim() > sizes.size()) return false;
    for (std::int64_t d = 0; d < values.dim(); ++d) {
      const std::int64_t size = values.sizes()[values.dim() - 1 - d];
      if (size != 1 && size != sizes[sizes.size() - 1 - d]) return false;
    }
    return true;
  }();
  check(fits, ErrorKind::Runtime, "index_put: shape mismatch: value tensor of shape ", values.sizes(),
        " cannot be broadcast to indexing result of shape ", sizes);
  if (target.is_meta() || plan.offsets.empty()) return target;
  const Tensor source = values.storage() == target.storage() ? clone(values, MemoryFormat::Contiguous) : values;
  const Dims strides = expand_strides(source.sizes(), source.strides(), sizes, "index_put", expanded);
  const auto count = static_cast<std::int64_t>(plan.offsets.size());
  // One thread: repeated indices take the last value, and sums keep their order.
  dispatch_all(target.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = target.data<T>();
    const T* from = source.data<T>();
    walk_plan(plan, strides, 0, count,
              [&](std::int64_t a, std::int64_t b, std::int64_t n, std::int64_t stride_a, std::int64_t stride_b) {
                if (accumulate) {
                  for (std::int64_t i = 0; i < n; ++i)
                    to[a + i * stride_a] = arith::add(to[a + i * stride_a], from[b + i * stride_b]);
                } else {
                  for (std::int64_t i = 0; i < n; ++i) to[a + i * stride_a] = from[b + i * stride_b];
                }
              });
  });
  return target;
}

const Kernel kernels[] = {
    {"index", &index_op},
    {"index_put", &index_put},
};

}  // namespace
}  // namespace flambeau
