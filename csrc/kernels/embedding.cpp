// Rows of a table: embedding, its gradient and its renormalisation; unfold's gradient (Tensor.unfold), which adds back
// overlapping windows the same way.
#include <cmath>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/arith.h"
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
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    if (data[i] < 0 || data[i] >= rows) [[unlikely]]
      fail(ErrorKind::Index, "index out of range in self");
  }
  return values;
}

Tensor embedding(const Tensor& weight, const Tensor& indices, std::int64_t, bool, bool) {
  check(weight.dim() == 2, ErrorKind::Runtime, "'weight' must be 2-D");
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
    for (std::int64_t i = begin; i < end; ++i)
      std::memcpy(to + i * bytes, from + at[i] * stride, static_cast<std::size_t>(bytes));
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
  norm = convert<double>(convert<T>(norm));  // the norm has the weight's dtype, as PyTorch computes it
  if (norm <= max_norm) return;
  const float scale = static_cast<float>(max_norm / (norm + 1e-7));
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

// Bag number of each index, from the bags' first positions.
Tensor bag_numbers(const Tensor& offsets, std::int64_t count, bool include_last_offset) {
  check(offsets.dim() == 1, ErrorKind::Value, "offsets has to be a 1D Tensor");
  check_indices(offsets);
  Tensor result = empty({count}, DType::Int64, offsets.device());
  if (result.is_meta()) return result;
  const Tensor values = contiguous(to_dtype(offsets, DType::Int64));
  const auto* starts = values.data<std::int64_t>();
  const std::int64_t bags = values.numel() - (include_last_offset ? 1 : 0);
  check(!include_last_offset || values.numel() >= 1, ErrorKind::Runtime,
        "include_last_offset: number of offset should be at least 1");
  check(
      values.numel() == 0 || starts[0] == 0, ErrorKind::Runtime,
      "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got ",
      values.numel() == 0 ? 0 : starts[0]);
  check(values.numel() == 0 || starts[values.numel() - 1] <= count, ErrorKind::Runtime,
        "offsets[-1] can not be greater than input's length ", count, " but got offsets[-1] of ",
        values.numel() == 0 ? 0 : starts[values.numel() - 1]);
  auto* to = result.data<std::int64_t>();
  for (std::int64_t bag = 0; bag < bags; ++bag) {
    const std::int64_t end = bag + 1 < values.numel() ? starts[bag + 1] : count;
    check(starts[bag] >= 0 && end >= starts[bag] && end <= count, ErrorKind::Runtime,
          "embedding_bag: expected ascending offsets, got ", starts[bag], " before ", end, ".");
    for (std::int64_t i = starts[bag]; i < end; ++i) to[i] = bag;
  }
  // Indices past include_last_offset's last one belong to no bag; they join the last.
  if (bags > 0 && include_last_offset) {
    for (std::int64_t i = starts[bags]; i < count; ++i) to[i] = bags - 1;
  }
  check(bags > 0 || count == 0, ErrorKind::Runtime, "embedding_bag: expected at least one bag for ", count,
        " indices.");
  return result;
}

// Adds weighted table rows per bag, in float32 for half types. Bags are cut by `numbers`, ascending from 0.
template <class T>
void sum_bags(const Tensor& weight, const std::int64_t* rows, const std::int64_t* numbers, std::int64_t count,
              const T* factors, bool mean, std::int64_t padding_idx, T* result, std::int64_t bags) {
  using Wide = std::conditional_t<arith::is_half<T>, float, T>;
  const std::int64_t width = weight.sizes()[1], stride = weight.strides()[0];
  const T* table = weight.data<T>();
  std::vector<std::int64_t> starts(static_cast<std::size_t>(bags) + 1, count);
  for (std::int64_t i = count - 1; i >= 0; --i) starts[static_cast<std::size_t>(numbers[i])] = i;
  for (std::int64_t bag = bags - 1; bag >= 0; --bag) {
    auto& start = starts[static_cast<std::size_t>(bag)];
    start = std::min(start, starts[static_cast<std::size_t>(bag) + 1]);
  }
  const std::int64_t grain = std::max<std::int64_t>(bags * 32768 / std::max<std::int64_t>(count * width, 1), 1);
  parallel_for(0, bags, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Wide> total(static_cast<std::size_t>(width));
    for (std::int64_t bag = begin; bag < end; ++bag) {
      std::fill(total.begin(), total.end(), Wide(0));
      std::int64_t kept = 0;
      for (std::int64_t i = starts[static_cast<std::size_t>(bag)]; i < starts[static_cast<std::size_t>(bag) + 1]; ++i) {
        // Rows lie anywhere in the table: ask for one ahead of its turn.
        if (i + 6 < count) {
          const char* ahead = reinterpret_cast<const char*>(table + rows[i + 6] * stride);
          for (std::int64_t byte = 0; byte < width * static_cast<std::int64_t>(sizeof(T)); byte += 64)
            __builtin_prefetch(ahead + byte);
        }
        if (rows[i] == padding_idx) continue;
        ++kept;
        const T* row = table + rows[i] * stride;
        const Wide factor = factors != nullptr ? convert<Wide>(factors[i]) : Wide(1);
        Wide* sum = total.data();
        if (factors != nullptr)
          for (std::int64_t k = 0; k < width; ++k) sum[k] += convert<Wide>(row[k]) * factor;
        else
          for (std::int64_t k = 0; k < width; ++k) sum[k] += convert<Wide>(row[k]);
      }
      const Wide divisor = mean && kept != 0 ? static_cast<Wide>(kept) : Wide(1);
      for (std::int64_t k = 0; k < width; ++k)
        result[bag * width + k] = convert<T>(total[static_cast<std::size_t>(k)] / divisor);
    }
  });
}

// numbers: the bag of each index, as bag_numbers gives them.
Tensor embedding_bag_sum(const Tensor& weight, const Tensor& indices, const Tensor& numbers,
                         const Tensor& per_sample_weights, std::int64_t bags, bool mean, std::int64_t padding_idx) {
  check(weight.dim() == 2, ErrorKind::Runtime, "'weight' must be 2-D");
  check_indices(indices);
  check(is_floating(weight.dtype()), ErrorKind::Runtime, "embedding_bag: expected a floating weight, got ",
        name_of(weight.dtype()), ".");
  check(indices.dim() == 1 && numbers.sizes() == indices.sizes() && numbers.dtype() == DType::Int64 && bags >= 0,
        ErrorKind::Runtime, "embedding_bag: expected one bag number per index.");
  check(!per_sample_weights.defined() ||
            (per_sample_weights.sizes() == indices.sizes() && per_sample_weights.dtype() == weight.dtype()),
        ErrorKind::Runtime, "embedding_bag: expected per_sample_weights of indices' shape and weight's dtype.");
  Tensor result = empty({bags, weight.sizes()[1]}, weight.dtype(), weight.device());
  if (result.is_meta() || result.numel() == 0) return result;
  const Tensor rows = contiguous(to_dtype(indices, DType::Int64)), of = contiguous(numbers);
  const auto* at = rows.data<std::int64_t>();
  const auto* bag_of = of.data<std::int64_t>();
  for (std::int64_t i = 0; i < rows.numel(); ++i) {
    check(at[i] >= 0 && at[i] < weight.sizes()[0], ErrorKind::Runtime,
          "embedding_bag: expected row numbers in the valid range [0, ", weight.sizes()[0], "), got ", at[i], ".");
    check(bag_of[i] >= (i == 0 ? 0 : bag_of[i - 1]) && bag_of[i] < bags, ErrorKind::Runtime,
          "embedding_bag: expected ascending bag numbers.");
  }
  const Tensor table = weight.strides()[1] == 1 ? weight : contiguous(weight);
  const Tensor factors = per_sample_weights.defined() ? contiguous(per_sample_weights) : Tensor();
  dispatch_all(weight.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T> || arith::is_half<T>) {
      sum_bags<T>(table, at, bag_of, rows.numel(), factors.defined() ? factors.data<T>() : nullptr, mean, padding_idx,
                  result.data<T>(), bags);
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
