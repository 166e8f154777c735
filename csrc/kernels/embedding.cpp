// Rows of a table: embedding, its gradient and its renormalisation; unfold's gradient (Tensor.unfold), which adds back
// overlapping windows the same way.
#include <algorithm>
#include <cmath>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/arith.h"
#include "kernels/row_table.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

void check_indices(const Tensor& indices) {
  check(
      indices.dtype() == DType::Int64 || indices.dtype() == DType::Int32, ErrorKind::Runtime,
      "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.",
      torch_name_of(indices.dtype()), "Tensor instead (while checking arguments for embedding)");
}

// Row numbers, each checked against [0, rows).
Tensor checked_rows(const Tensor& indices, std::int64_t rows) {
  const Tensor values = contiguous(to_dtype(indices, DType::Int64));
  const auto* data = values.data<std::int64_t>();
  if (!index_table().in_range(data, values.numel(), rows)) [[unlikely]] {
    std::int64_t bad = 0;
    while (data[bad] >= 0 && data[bad] < rows) ++bad;
    fail(ErrorKind::Index, "embedding: index out of range in self: expected indices in [0, ", rows,
         "), the rows of weight, got ", data[bad], ".");
  }
  return values;
}

Tensor embedding(const Tensor& weight, const Tensor& indices, std::int64_t, bool, bool) {
  check(weight.dim() == 2, ErrorKind::Runtime, "embedding: 'weight' must be 2-D");
  check_indices(indices);
  Dims sizes(indices.sizes());
  sizes.push_back(weight.sizes()[1]);
  Tensor result = empty(sizes, weight.dtype(), weight.device());
  if (result.is_meta()) return result;
  const Tensor rows = checked_rows(indices, weight.sizes()[0]);
  if (result.numel() == 0) return result;
  const Tensor table = weight.strides()[1] == 1 ? weight : contiguous(weight);
  const std::int64_t bytes = weight.sizes()[1] * weight.itemsize(), stride = table.strides()[0] * weight.itemsize();
  const auto* at = rows.data<std::int64_t>();
  const char* from = static_cast<const char*>(table.data());
  char* to = static_cast<char*>(result.data());
  parallel_for(0, rows.numel(), std::max<std::int64_t>(262144 / bytes, 1), [&](std::int64_t begin, std::int64_t end) {
    index_table().copy_rows(to + begin * bytes, from, stride, at + begin, end - begin, bytes);
  });
  return result;
}

// Adds each cotangent row to its table row; the padding row stays zero.
Tensor embedding_backward(const Tensor& grad, const Tensor& indices, std::int64_t num_weights, std::int64_t padding_idx,
                          bool scale_grad_by_freq) {
  check_indices(indices);
  check(num_weights >= 0 && grad.dim() == indices.dim() + 1, ErrorKind::Runtime,
        "embedding_backward: expected grad of shape (*indices.shape, dim), got ", grad.sizes(), " for indices ",
        indices.sizes(), ".");
  const std::int64_t width = grad.sizes().back();
  if (grad.is_meta()) return empty({num_weights, width}, grad.dtype(), grad.device());
  Tensor result = zeros({num_weights, width}, grad.dtype());
  const Tensor rows = checked_rows(indices, num_weights), values = contiguous(grad);
  const auto* at = rows.data<std::int64_t>();
  const RowTable* loops = row_table(grad.dtype());
  if (loops != nullptr && !scale_grad_by_freq) {
    for_column_blocks(rows.numel(), width, [&](std::int64_t first, std::int64_t count) {
      const std::int64_t offset = first * grad.itemsize();
      loops->add_rows(static_cast<char*>(result.data()) + offset, width,
                      static_cast<const char*>(values.data()) + offset, width, at, rows.numel(), count, padding_idx);
    });
    return result;
  }
  std::vector<std::int64_t> counts;
  if (scale_grad_by_freq) {
    counts.assign(static_cast<std::size_t>(num_weights), 0);
    for (std::int64_t i = 0; i < rows.numel(); ++i) ++counts[static_cast<std::size_t>(at[i])];
  }
  dispatch_all(grad.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = values.data<T>();
    T* to = result.data<T>();
    for (std::int64_t i = 0; i < rows.numel(); ++i) {
      if (at[i] == padding_idx) continue;
      T* row = to + at[i] * width;
      const T* given = from + i * width;
      if (scale_grad_by_freq) {
        const std::int64_t count = counts[static_cast<std::size_t>(at[i])];
        for (std::int64_t k = 0; k < width; ++k) row[k] = arith::add(row[k], arith::divide_count(given[k], count));
      } else {
        for (std::int64_t k = 0; k < width; ++k) row[k] = arith::add(row[k], given[k]);
      }
    }
  });
  return result;
}

template <class T>
void renorm_row(T* row, std::int64_t n, std::int64_t stride, double max_norm, double norm_type) {
  double norm = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const double magnitude = std::abs(convert<double>(row[k * stride]));
    norm = std::isinf(norm_type) ? std::max(norm, magnitude) : norm + std::pow(magnitude, norm_type);
  }
  if (!std::isinf(norm_type)) norm = std::pow(norm, 1.0 / norm_type);
  norm = convert<double>(convert<T>(norm));  // norm and scale have the weight's dtype, as PyTorch computes them
  if (norm <= max_norm) return;
  const float scale = convert<float>(convert<T>(max_norm / (norm + 1e-7)));
  for (std::int64_t k = 0; k < n; ++k) {
    if constexpr (std::is_same_v<T, double>)
      row[k * stride] *= max_norm / (norm + 1e-7);
    else
      row[k * stride] = convert<T>(convert<float>(row[k * stride]) * scale);
  }
}

// Scales the rows in use whose norm exceeds max_norm down to it.
Tensor embedding_renorm(const Tensor& input, const Tensor& indices, double max_norm, double norm_type, const Out& out) {
  check(input.dim() == 2, ErrorKind::Runtime, "embedding_renorm_: expected a 2-D weight, got shape ", input.sizes(),
        ".");
  check_indices(indices);
  const Tensor target = out.inplace ? out[0] : clone(input);
  if (target.is_meta()) return target;
  check_no_internal_overlap(target, "embedding_renorm_");
  const Tensor rows = checked_rows(indices, input.sizes()[0]);
  const auto* at = rows.data<std::int64_t>();
  std::vector<bool> done(static_cast<std::size_t>(input.sizes()[0]), false);
  check(is_floating(input.dtype()), ErrorKind::Runtime, "embedding_renorm_: expected a floating dtype, got ",
        name_of(input.dtype()), ".");
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < rows.numel(); ++i) {
      if (done[static_cast<std::size_t>(at[i])]) continue;
      done[static_cast<std::size_t>(at[i])] = true;
      renorm_row(target.data<T>() + at[i] * target.strides()[0], target.sizes()[1], target.strides()[1], max_norm,
                 norm_type);
    }
  });
  return target;
}

// The bags' first positions, checked, as int64; with include_last_offset there is one more than there are bags.
Tensor checked_offsets(const Tensor& offsets, std::int64_t count, bool include_last_offset) {
  const Tensor values = contiguous(to_dtype(offsets, DType::Int64));
  const auto* starts = values.data<std::int64_t>();
  const std::int64_t n = values.numel();
  check(!include_last_offset || n >= 1, ErrorKind::Runtime,
        "include_last_offset: number of offset should be at least 1");
  check(n == 0 || starts[0] == 0, ErrorKind::Runtime,
        "embedding_bag: offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position "
        "0. However, got ",
        n == 0 ? 0 : starts[0]);
  check(n == 0 || starts[n - 1] <= count, ErrorKind::Runtime,
        "embedding_bag: offsets[-1] can not be greater than input's length ", count, " but got offsets[-1] of ",
        n == 0 ? 0 : starts[n - 1]);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t end = i + 1 < n ? starts[i + 1] : count;
    check(starts[i] >= 0 && end >= starts[i] && end <= count, ErrorKind::Runtime,
          "embedding_bag: expected ascending offsets, got ", starts[i], " before ", end, ".");
  }
  check(n > (include_last_offset ? 1 : 0) || count == 0, ErrorKind::Runtime,
        "embedding_bag: expected at least one bag for ", count, " indices.");
  return values;
}

void check_offsets(const Tensor& offsets) {
  check(offsets.dim() == 1, ErrorKind::Value, "embedding_bag: offsets has to be a 1D Tensor");
  check_indices(offsets);
}

// Bag number of each index. Indices past include_last_offset's last one belong to no bag; they join the last.
Tensor bag_numbers(const Tensor& offsets, std::int64_t count, bool include_last_offset) {
  check_offsets(offsets);
  check(count >= 0, ErrorKind::Runtime, "bag_numbers: expected count >= 0, got ", count, ".");
  Tensor result = empty({count}, DType::Int64, offsets.device());
  if (result.is_meta()) return result;
  const Tensor values = checked_offsets(offsets, count, include_last_offset);
  const auto* starts = values.data<std::int64_t>();
  const std::int64_t bags = values.numel() - (include_last_offset ? 1 : 0);
  auto* to = result.data<std::int64_t>();
  for (std::int64_t bag = 0; bag < bags; ++bag)
    std::fill(to + starts[bag], to + (bag + 1 < bags ? starts[bag + 1] : count), bag);
  return result;
}

[[noreturn]] void bag_row_out_of_range(const Tensor& rows, std::int64_t limit) {
  const auto* at = rows.data<std::int64_t>();
  const auto* bad = std::find_if(at, at + rows.numel(), [&](std::int64_t row) { return row < 0 || row >= limit; });
  fail(ErrorKind::Runtime, "embedding_bag: expected row numbers in the valid range [0, ", limit, "), got ", *bad, ".");
}

// Sum or mean of weighted table rows per bag; bag b holds the indices from offsets[b] to the next bag's first one.
Tensor embedding_bag_sum(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                         const Tensor& per_sample_weights, bool include_last_offset, bool mean,
                         std::int64_t padding_idx, bool, bool) {
  check(weight.dim() == 2, ErrorKind::Runtime, "embedding: 'weight' must be 2-D");
  check_indices(indices);
  check_offsets(offsets);
  check(is_floating(weight.dtype()), ErrorKind::Runtime, "embedding_bag: expected a floating weight, got ",
        name_of(weight.dtype()), ".");
  check(indices.dim() == 1, ErrorKind::Runtime, "embedding_bag: expected 1-D indices.");
  check(!per_sample_weights.defined() ||
            (per_sample_weights.sizes() == indices.sizes() && per_sample_weights.dtype() == weight.dtype()),
        ErrorKind::Runtime, "embedding_bag: expected per_sample_weights of indices' shape and weight's dtype.");
  const std::int64_t bags = std::max<std::int64_t>(offsets.numel() - (include_last_offset ? 1 : 0), 0);
  const std::int64_t width = weight.sizes()[1], height = weight.sizes()[0];
  Tensor result = empty({bags, width}, weight.dtype(), weight.device());
  if (result.is_meta()) return result;
  check(!indices.is_meta() && !offsets.is_meta(), ErrorKind::NotImplemented,
        "embedding_bag: expected tensors on one device, got cpu and meta.");
  const Tensor rows = contiguous(to_dtype(indices, DType::Int64));
  const std::int64_t count = rows.numel();
  const Tensor firsts = checked_offsets(offsets, count, include_last_offset);
  const auto* at = rows.data<std::int64_t>();
  const auto* starts = firsts.data<std::int64_t>();
  const Tensor table = weight.strides()[1] == 1 || width == 1 ? weight : contiguous(weight);
  const Tensor factors = per_sample_weights.defined() ? contiguous(per_sample_weights) : Tensor();
  const std::int64_t item = weight.itemsize();
  const RowTable& loops = *row_table(weight.dtype());
  const IndexTable& lists = index_table();
  const std::int64_t grain = std::max<std::int64_t>(bags * 32768 / std::max<std::int64_t>(count * width, 1), 1);
  parallel_for(0, bags, grain, [&](std::int64_t begin, std::int64_t end) {
    const auto end_of = [&](std::int64_t bag) { return bag + 1 < bags ? starts[bag + 1] : count; };
    if (!lists.in_range(at + starts[begin], end_of(end - 1) - starts[begin], height)) [[unlikely]]
      bag_row_out_of_range(rows, height);
    for (std::int64_t bag = begin; bag < end; ++bag) {
      const std::int64_t first = starts[bag], readable = end_of(end - 1) - first;
      const char* given = factors.defined() ? static_cast<const char*>(factors.data()) + first * item : nullptr;
      loops.sum_bag({table.data(), table.strides()[0], width, at + first, end_of(bag) - first, padding_idx, readable,
                     given, mean},
                    static_cast<char*>(result.data()) + bag * width * item);
    }
  });
  return result;
}

Tensor unfold_backward(const Tensor& grad, IntSpan sizes, std::int64_t dim, std::int64_t size, std::int64_t step) {
  if (grad.is_meta()) return empty(sizes, grad.dtype(), grad.device());
  Tensor result = zeros(sizes, grad.dtype());
  if (grad.numel() == 0) return result;
  const std::int64_t n = sizes.size(), d = wrap_dim(dim, n, "unfold_backward"), windows = n == 0 ? 1 : grad.sizes()[d];
  check(grad.dim() == n + 1 && grad.sizes().back() == size && (n == 0 || (windows - 1) * step + size <= sizes[d]),
        ErrorKind::Runtime, "unfold_backward: expected the cotangent of unfold, got shape ", grad.sizes(), ".");
  // Result seen as windows: the same element under several positions, so one thread in order.
  Dims strides(result.strides());
  strides.push_back(n == 0 ? 1 : strides[d]);
  if (windows > 1) strides[d] *= step;
  const std::int64_t sr = strides[n], sg = grad.strides()[n];
  const LineWalk<2> walk(grad.sizes(), n, {IntSpan(strides), grad.strides()});
  dispatch_all(grad.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = result.data<T>();
    const T* from = grad.data<T>();
    walk.run(0, walk.lines(), [&](const std::int64_t* at) {
      for (std::int64_t i = 0; i < size; ++i) to[at[0] + i * sr] = arith::add(to[at[0] + i * sr], from[at[1] + i * sg]);
    });
  });
  return result;
}

const Kernel kernels[] = {
    {"embedding", &embedding},
    {"embedding_backward", &embedding_backward},
    {"embedding_renorm", &embedding_renorm},
    {"embedding_bag_sum", &embedding_bag_sum},
    {"bag_numbers", &bag_numbers},
    {"unfold_backward", &unfold_backward},
};

}  // namespace
}  // namespace flambeau
