// searchsorted, bucketize, and counting into bins: bincount, histc, histograms.
#include <algorithm>
#include <cmath>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "core/promotion.h"

namespace flambeau {
namespace {

constexpr std::int64_t kGrain = 2048;

template <class F>
void dispatch_real(DType dtype, F&& fn) {
  dispatch_all(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, c64> && !std::is_same_v<T, c128>) fn(tag);
  });
}
template <class T>
auto comparable(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return convert<float>(value);
  } else {
    return value;
  }
}

// First position whose element is >= value (right: > value). Written with negations so that NaN belongs at the end.
template <class T>
std::int64_t bound(const T* sorted, const std::int64_t* order, std::int64_t n, T value, bool right) {
  std::int64_t low = 0, high = n;
  const auto v = comparable(value);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const auto m = comparable(sorted[order == nullptr ? middle : order[middle]]);
    const bool after = right ? m > v : m >= v;
    if (after) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

struct Search {
  Tensor sorted, values;
  const std::int64_t* order;  // null: sorted as it is
  bool right;
};

template <class T, class I>
void run_search(const Search& search, const Tensor& out) {
  const std::int64_t n = search.sorted.dim() == 0 ? 1 : search.sorted.sizes().back();
  const bool shared = search.sorted.dim() == 1;
  const std::int64_t per_row =
      shared || search.values.dim() == 0 ? search.values.numel() : search.values.sizes().back();
  const T *sorted = search.sorted.data<T>(), *values = search.values.data<T>();
  parallel_for(0, search.values.numel(), kGrain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      const std::int64_t row = shared ? 0 : i / per_row * n;
      out.data<I>()[i] = static_cast<I>(
          bound(sorted + row, search.order == nullptr ? nullptr : search.order + row, n, values[i], search.right));
    }
  });
}

Tensor search(const Search& request, bool out_int32) {
  Tensor out = empty(request.values.sizes(), out_int32 ? DType::Int32 : DType::Int64, request.values.device());
  if (request.values.is_meta() || request.values.numel() == 0) return out;
  dispatch_real(request.sorted.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (out_int32) {
      run_search<T, std::int32_t>(request, out);
    } else {
      run_search<T, std::int64_t>(request, out);
    }
  });
  return out;
}

void check_search(const Tensor& sorted, const Tensor& input, std::optional<std::string_view> side, bool right,
                  const Tensor& sorter) {
  if (side) {
    check(*side == "left" || *side == "right", "torch.searchsorted(): side can only be 'left' or 'right' but got ",
          *side);
    check(!right || *side == "right", "torch.searchsorted(): side and right can't be set to opposites, got side of ",
          *side, " while right was True");
  }
  check(!is_complex(sorted.dtype()) && !is_complex(input.dtype()), ErrorKind::NotImplemented,
        "searchsorted: complex dtypes have no order");
  check(sorted.dim() != 0,
        "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension");
  check(input.dim() > 0 || sorted.dim() == 1,
        "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
        "dimension is 1, but we got boundaries tensor dim(",
        sorted.dim(), ") and input value's dim(", input.dim(), ") numel(", input.numel(), ")");
  const auto leading = [](const Tensor& t) { return t.sizes().subspan(0, std::max<std::int64_t>(0, t.dim() - 1)); };
  check(sorted.dim() == 1 || (sorted.dim() == input.dim() && leading(sorted) == leading(input)),
        "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
        "tensor and "
        "input value tensor must match, but we got boundaries tensor ",
        sorted.sizes(), " and input value tensor ", input.sizes());
  if (!sorter.defined()) return;
  check(sorter.sizes() == sorted.sizes(),
        "torch.searchsorted(): boundary and sorter must have the same size, but got boundary "
        "tensor ",
        sorted.sizes(), "and got sorter tensor ", sorter.sizes());
  check(sorter.dtype() == DType::Int64, "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ",
        torch_name_of(sorter.dtype()));
}

Tensor searchsorted(const Tensor& sorted, const Tensor& input, bool out_int32, bool right,
                    std::optional<std::string_view> side, const Tensor& sorter) {
  check_search(sorted, input, side, right, sorter);
  const DType dtype = result_type(sorted, input);
  check(sorted.dtype() == input.dtype() || input.impl()->wrapped_number,
        "torch.searchsorted(): boundary tensor and input value tensor should have same dtype, but got boundary tensor "
        "dtype ",
        torch_name_of(sorted.dtype()), " and input value tensor dtype ", torch_name_of(input.dtype()));
  Search request{contiguous(to_dtype(sorted, dtype)), contiguous(to_dtype(input, dtype)), nullptr,
                 right || (side && *side == "right")};
  const Tensor order = sorter.defined() ? contiguous(sorter) : Tensor();
  if (order.defined() && !order.is_meta()) {
    const std::int64_t n = sorted.sizes().back();
    request.order = order.data<std::int64_t>();
    for (std::int64_t i = 0; i < order.numel(); ++i) {
      check(request.order[i] >= 0 && request.order[i] < n, ErrorKind::Index,
            "torch.searchsorted(): sorter index out of range");
    }
  }
  return search(request, out_int32);
}

Tensor bucketize(const Tensor& input, const Tensor& boundaries, bool out_int32, bool right) {
  check(boundaries.dim() == 1, "bucketize: boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
  check(!is_complex(boundaries.dtype()) && !is_complex(input.dtype()), ErrorKind::NotImplemented,
        "bucketize: complex dtypes have no order");
  const DType dtype = promote_types(boundaries.dtype(), input.dtype());
  return search({contiguous(to_dtype(boundaries, dtype)), contiguous(to_dtype(input, dtype)), nullptr, right},
                out_int32);
}

Tensor bincount(const Tensor& input, const Tensor& weights, std::int64_t minlength) {
  check(minlength >= 0, "bincount: minlength should be >= 0");
  check(is_integral(input.dtype(), false), ErrorKind::NotImplemented, "\"bincount_cpu\" not implemented for '",
        torch_name_of(input.dtype()), "'");
  check(input.dim() == 1, "bincount: bincount only supports 1-d non-negative integral inputs.");
  check(!weights.defined() || (weights.dim() == 1 && weights.numel() == input.numel()),
        "bincount: weights should be 1-d and have the same length as input");
  check(!input.is_meta(), ErrorKind::NotImplemented, "bincount: the result's size depends on the values");
  const Tensor x = contiguous(to_dtype(input, DType::Int64));
  const std::int64_t* values = x.data<std::int64_t>();
  std::int64_t size = minlength;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    check(values[i] >= 0, "bincount: bincount only supports 1-d non-negative integral inputs.");
    check(values[i] < std::int64_t{1} << 40, "bincount: expected values below 2^40, got ", values[i]);
    size = std::max(size, values[i] + 1);
  }
  const std::int64_t sizes[] = {size};
  if (!weights.defined()) {
    Tensor out = zeros(IntSpan(sizes, 1), DType::Int64);
    for (std::int64_t i = 0; i < x.numel(); ++i) ++out.data<std::int64_t>()[values[i]];
    return out;
  }
  const DType dtype = weights.dtype() == DType::Float32 ? DType::Float32 : DType::Float64;
  const Tensor w = contiguous(to_dtype(weights, dtype));
  Tensor out = zeros(IntSpan(sizes, 1), dtype);
  dispatch_floating("bincount", dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < x.numel(); ++i) out.data<T>()[values[i]] += w.data<T>()[i];
  });
  return out;
}

// Equal bins over [min, max]; both zero: the range of the data. Elements outside, and NaN, are not counted.
Tensor histc(const Tensor& input, std::int64_t bins, const Scalar& min, const Scalar& max) {
  check(bins > 0, "torch.histc(): bins must be > 0, but got ", bins);
  if (!is_floating(input.dtype()) && !is_integral(input.dtype(), false))
    throw_bad_dtype("histogram_cpu", input.dtype());
  const std::int64_t sizes[] = {bins};
  Tensor out = zeros(IntSpan(sizes, 1), input.dtype(), input.device());
  double low = min.to_double(), high = max.to_double();
  check(low <= high, "torch.histc: max must be larger than min");
  if (input.is_meta() || input.numel() == 0) return out;
  const Tensor x = contiguous(to_dtype(input, DType::Float64));
  const double* values = x.data<double>();
  if (low == high) {
    const auto [lowest, highest] = std::minmax_element(values, values + x.numel());
    low = *lowest;
    high = *highest;
  }
  check(std::isfinite(low) && std::isfinite(high), "torch.histc: range of [", low, ", ", high, "] is not finite");
  if (low == high) {
    low -= 1;
    high += 1;
  }
  std::vector<double> counts(static_cast<std::size_t>(bins));
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    if (!(values[i] >= low && values[i] <= high)) continue;
    const auto bin = static_cast<std::int64_t>((values[i] - low) * static_cast<double>(bins) / (high - low));
    counts[static_cast<std::size_t>(std::min(bin, bins - 1))] += 1;
  }
  dispatch_all(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < bins; ++i) out.data<T>()[i] = convert<T>(counts[static_cast<std::size_t>(i)]);
  });
  return out;
}

// input (points, dims), edges: one sorted 1-d tensor per dim; the last edge is inside. Counts, or sums of weights.
Tensor histogram_count(const Tensor& input, TensorSpan edges, const Tensor& weight) {
  check(is_floating(input.dtype()) && !is_reduced_float(input.dtype()), ErrorKind::NotImplemented,
        "\"histogram_cpu\" not implemented for '", torch_name_of(input.dtype()), "'");
  check(input.dim() == 2 && input.sizes()[1] == edges.size(), "histogramdd: expected input of shape (points, ",
        edges.size(), "), got ", input.sizes());
  Dims sizes;
  std::vector<Tensor> borders;
  for (const Tensor& edge : edges) {
    check(edge.dim() == 1 && edge.numel() > 0,
          "histogramdd: each bin edges tensor should have one dim and be non-empty, got ", edge.sizes());
    check(edge.dtype() == input.dtype(), "histogramdd: expected bin edges of the dtype of input, got ",
          name_of(edge.dtype()), " and ", name_of(input.dtype()));
    sizes.push_back(edge.numel() - 1);
    borders.push_back(contiguous(to_dtype(edge, DType::Float64)));
  }
  Tensor out = zeros(sizes, DType::Float64, input.device());
  if (input.is_meta() || out.numel() == 0) return to_dtype(out, input.dtype());
  const Tensor x = contiguous(to_dtype(input, DType::Float64));
  const Tensor w = weight.defined() ? contiguous(to_dtype(weight, DType::Float64)) : Tensor();
  const std::int64_t dims = edges.size();
  for (std::int64_t i = 0; i < x.sizes()[0]; ++i) {
    std::int64_t at = 0;
    for (std::int64_t d = 0; d < dims && at >= 0; ++d) {
      const Tensor& border = borders[static_cast<std::size_t>(d)];
      const double value = x.data<double>()[i * dims + d], *edge = border.data<double>();
      const std::int64_t n = border.numel();
      if (!(value >= edge[0] && value <= edge[n - 1])) {
        at = -1;
        break;
      }
      // Edges that are not sorted would give any position: keep it inside.
      const std::int64_t found = std::upper_bound(edge, edge + n, value) - edge - 1;
      const std::int64_t bin = std::clamp<std::int64_t>(found, 0, n - 2);
      at = at * sizes[d] + bin;
    }
    if (at >= 0) out.data<double>()[at] += w.defined() ? w.data<double>()[i] : 1;
  }
  return to_dtype(out, input.dtype());
}

const Kernel searchsorted_kernel("searchsorted", &searchsorted);
const Kernel bucketize_kernel("bucketize", &bucketize);
const Kernel bincount_kernel("bincount", &bincount);
const Kernel histc_kernel("histc", &histc);
const Kernel histogram_count_kernel("_histogram_count", &histogram_count);

}  // namespace
}  // namespace flambeau
