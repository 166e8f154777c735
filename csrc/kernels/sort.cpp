// sort, topk, kthvalue, median, nanmedian and mode: rows along one dim, as integer keys (sort_keys.h).
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/reduce.h"
#include "kernels/slices.h"
#include "kernels/sort_keys.h"

namespace flambeau {
namespace {

constexpr std::int64_t kGrain = 8192;

void check_sortable(const char* op, const Tensor& input, std::int64_t n) {
  check(!is_complex(input.dtype()), op, " does not support complex dtypes on CPU");
  check(n < std::numeric_limits<std::uint32_t>::max(), op,
        ": expected fewer than 2^32 - 1 elements along the dim, got ", n);
}

template <class F>
void dispatch_real(DType dtype, F&& fn) {
  dispatch_all(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, c64> && !std::is_same_v<T, c128>) fn(tag);
  });
}

// Values and positions of one op along `dim`, `k` of them: computed with the dim last, then moved to their place.
struct Selection {
  Tensor values, indices;
};

// fn(row pointer, n, values pointer, indices pointer) with buffers per task made by make_buffers(n).
template <class T, class MakeBuffers, class F>
void for_each_row(const Tensor& rows, std::int64_t n, const Selection& to, std::int64_t k, MakeBuffers&& make, F&& fn) {
  const std::int64_t count = n == 0 ? 0 : rows.numel() / n;
  parallel_for(0, count, std::max<std::int64_t>(1, kGrain / n), [&](std::int64_t b, std::int64_t e) {
    auto buffers = make(n);
    for (std::int64_t i = b; i < e; ++i) {
      fn(buffers, rows.data<T>() + i * n, to.values.data<T>() + i * k, to.indices.data<std::int64_t>() + i * k);
    }
  });
}

// Runs `fill(rows, selection)` on tensors with `dim` last; k replaces that dim's size. `out` has the final geometry.
template <class Fill>
void select_along(const Tensor& input, std::int64_t dim, std::int64_t k, const Selection& out, Fill&& fill) {
  const Tensor rows = contiguous(swap_with_last(input, dim));
  Dims sizes(rows.sizes());
  if (!sizes.empty()) sizes[sizes.size() - 1] = k;
  const bool direct =
      out.values.is_contiguous() && out.indices.is_contiguous() && (input.dim() == 0 || dim == input.dim() - 1);
  const Selection to = direct ? out : Selection{empty(sizes, input.dtype()), empty(sizes, DType::Int64)};
  fill(rows, to);
  if (direct) return;
  copy_into(swap_with_last(out.values, dim), to.values);
  copy_into(swap_with_last(out.indices, dim), to.indices);
}

template <class T>
void read_sorted(const RowSorter<Key<T>>& sorter, const T* x, T* values, std::int64_t* indices, std::int64_t from,
                 std::int64_t to, bool descending) {
  for (std::int64_t i = from; i < to; ++i) {
    indices[i] = sorter.order(i);
    if constexpr (std::is_integral_v<T>) {
      const Key<T> key = sorter.key(i);
      values[i] = value_of_key<T>(descending ? static_cast<Key<T>>(~key) : key);
    } else {
      values[i] = x[indices[i]];
    }
  }
}

template <class T>
void sort_rows(const Tensor& rows, std::int64_t n, const Selection& to, bool descending) {
  constexpr std::int64_t grain = 32768;
  for_each_row<T>(
      rows, n, to, n, [](std::int64_t size) { return RowSorter<Key<T>>(size); },
      [&](RowSorter<Key<T>>& sorter, const T* x, T* values, std::int64_t* indices) {
        Key<T>* keys = sorter.keys();
        parallel_for(0, n, grain, [&](std::int64_t b, std::int64_t e) {
          for (std::int64_t i = b; i < e; ++i) keys[i] = key_of(x[i], descending);
        });
        sorter.sort(n);
        parallel_for(0, n, grain, [&](std::int64_t b, std::int64_t e) {
          read_sorted<T>(sorter, x, values, indices, b, e, descending);
        });
      });
}

std::tuple<Tensor, Tensor> sort(const Tensor& input, std::int64_t dim, bool descending, std::optional<bool>) {
  dim = wrap_dim(dim, input.dim());
  const std::int64_t n = input.dim() == 0 ? 1 : input.sizes()[dim];
  check_sortable(" Sort", input, n);
  const Selection out{empty_like(input), empty_like(input, DType::Int64)};
  if (!input.is_meta() && input.numel() != 0) {
    select_along(input, dim, n, out, [&](const Tensor& rows, const Selection& to) {
      dispatch_real(input.dtype(), [&](auto tag) { sort_rows<typename decltype(tag)::type>(rows, n, to, descending); });
    });
  }
  return {out.values, out.indices};
}

template <class K>
struct Pair {
  K key;
  std::uint32_t index;
  friend bool operator<(const Pair& a, const Pair& b) { return a.key != b.key ? a.key < b.key : a.index < b.index; }
};
template <class T>
using Pairs = std::vector<Pair<Key<T>>>;

// The k smallest pairs, ascending, by a bounded heap: nearly all elements fail one comparison with the heap's top.
template <class T>
void smallest(Pairs<T>& heap, const T* x, std::int64_t n, std::int64_t k, bool descending) {
  heap.clear();
  for (std::int64_t i = 0; i < k; ++i) heap.push_back({key_of(x[i], descending), static_cast<std::uint32_t>(i)});
  std::make_heap(heap.begin(), heap.end());
  Key<T> worst = heap.front().key;
  for (std::int64_t i = k; i < n; ++i) {
    const Key<T> key = key_of(x[i], descending);
    if (key >= worst) [[likely]]
      continue;
    std::pop_heap(heap.begin(), heap.end());
    heap.back() = {key, static_cast<std::uint32_t>(i)};
    std::push_heap(heap.begin(), heap.end());
    worst = heap.front().key;
  }
  std::sort_heap(heap.begin(), heap.end());
}

template <class T>
void all_pairs(Pairs<T>& pairs, const T* x, std::int64_t n, bool descending) {
  pairs.resize(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    pairs[static_cast<std::size_t>(i)] = {key_of(x[i], descending), static_cast<std::uint32_t>(i)};
  }
}

template <class T>
void topk_rows(const Tensor& rows, std::int64_t n, const Selection& to, std::int64_t k, bool largest) {
  for_each_row<T>(
      rows, n, to, k, [](std::int64_t) { return Pairs<T>(); },
      [&](Pairs<T>& pairs, const T* x, T* values, std::int64_t* indices) {
        if (k <= 256 && k * 8 <= n) {
          smallest<T>(pairs, x, n, k, largest);
        } else {
          all_pairs<T>(pairs, x, n, largest);
          std::partial_sort(pairs.begin(), pairs.begin() + k, pairs.end());
        }
        for (std::int64_t i = 0; i < k; ++i) {
          indices[i] = pairs[static_cast<std::size_t>(i)].index;
          values[i] = x[indices[i]];
        }
      });
}

std::tuple<Tensor, Tensor> topk(const Tensor& input, std::int64_t k, std::int64_t dim, bool largest, bool) {
  dim = wrap_dim(dim, input.dim());
  const std::int64_t n = input.dim() == 0 ? 1 : input.sizes()[dim];
  check(k >= 0 && k <= n, "topk, kthvalue: selected index k out of range");
  check_sortable(" topk", input, n);
  Dims sizes(input.sizes());
  if (sizes.empty()) {
    k = 1;  // the result of a 0-d input is 0-d: its one element
  } else {
    sizes[dim] = k;
  }
  const Selection out{empty(sizes, input.dtype(), input.device()), empty(sizes, DType::Int64, input.device())};
  if (!input.is_meta() && out.values.numel() != 0) {
    select_along(input, dim, k, out, [&](const Tensor& rows, const Selection& to) {
      dispatch_real(input.dtype(), [&](auto tag) { topk_rows<typename decltype(tag)::type>(rows, n, to, k, largest); });
    });
  }
  return {out.values, out.indices};
}

// One element per row, at a position chosen by pick(pairs buffer, row, n).
template <class Pick>
std::tuple<Tensor, Tensor> pick_one(const Tensor& input, std::int64_t dim, bool keepdim, Pick&& pick) {
  const DimMask mask = reduced_dims(IntSpan(&dim, 1), input.dim());
  const Dims sizes = reduced_sizes(input.sizes(), mask, true),
             final_sizes = reduced_sizes(input.sizes(), mask, keepdim);
  const Selection out{empty(sizes, input.dtype(), input.device()), empty(sizes, DType::Int64, input.device())};
  const std::int64_t n = input.dim() == 0 ? 1 : input.sizes()[dim];
  if (!input.is_meta() && out.values.numel() != 0) {
    select_along(input, dim, 1, out, [&](const Tensor& rows, const Selection& to) {
      dispatch_real(input.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for_each_row<T>(
            rows, n, to, 1, [](std::int64_t) { return Pairs<T>(); },
            [&](Pairs<T>& pairs, const T* x, T* value, std::int64_t* index) {
              *index = pick(pairs, x, n);
              *value = x[*index];
            });
      });
    });
  }
  const auto shaped = [&](const Tensor& t) { return alias(t, final_sizes, contiguous_strides(final_sizes), 0); };
  return {shaped(out.values), shaped(out.indices)};
}

template <class P>
std::int64_t nth_position(P& pairs, std::int64_t k) {
  std::nth_element(pairs.begin(), pairs.begin() + k, pairs.end());
  return pairs[static_cast<std::size_t>(k)].index;
}

void check_nonempty(const char* op, const Tensor& input, std::int64_t dim) {
  check(input.dim() == 0 || input.sizes()[dim] != 0, ErrorKind::Index, op, "(): Expected reduction dim ", dim,
        " to have non-zero size.");
}

std::tuple<Tensor, Tensor> kthvalue(const Tensor& input, std::int64_t k, std::int64_t dim, bool keepdim,
                                    const Out& out) {
  dim = wrap_dim(dim, input.dim());
  if (is_complex(input.dtype())) throw_bad_dtype("kthvalue_cpu", input.dtype());
  check_nonempty("kthvalue", input, dim);
  const std::int64_t n = input.dim() == 0 ? 1 : input.sizes()[dim];
  check(k >= 1 && k <= n, "kthvalue(): selected number k out of range for dimension ", dim);
  check(!out.given() || out[0].storage() != input.storage(),
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
        "location. Please clone() the tensor before performing the operation.");
  check_sortable("kthvalue", input, n);
  auto picked = pick_one(input, dim, keepdim, [k](auto& pairs, const auto* x, std::int64_t size) {
    all_pairs(pairs, x, size, false);
    return nth_position(pairs, k - 1);
  });
  if (!out.given()) return picked;
  for (std::int64_t i = 0; i < 2; ++i) {
    Tensor& result = i == 0 ? std::get<0>(picked) : std::get<1>(picked);
    Tensor target = output("kthvalue", out, i, result.sizes(), result.dtype(), result.device());
    if (!target.is_meta()) copy_into(target, result);
    result = target;
  }
  return picked;
}

// The lower median. NaN wins unless it is ignored, and then only if there is nothing else.
template <class P, class T>
std::int64_t median_position(P& pairs, const T* x, std::int64_t n, bool ignore_nan) {
  all_pairs(pairs, x, n, false);
  std::int64_t valid = n;
  if constexpr (!std::is_integral_v<T>) {
    using K = Key<T>;
    valid =
        std::count_if(pairs.begin(), pairs.end(), [](const auto& pair) { return pair.key != static_cast<K>(~K(0)); });
    if (valid < n && !ignore_nan) {
      return std::find_if(pairs.begin(), pairs.end(),
                          [](const auto& pair) { return pair.key == static_cast<K>(~K(0)); })
          ->index;
    }
  }
  return nth_position(pairs, valid == 0 ? 0 : (valid - 1) / 2);
}

std::tuple<Tensor, Tensor> median_along(const char* op, const Tensor& input, std::int64_t dim, bool keepdim,
                                        bool ignore_nan) {
  dim = wrap_dim(dim, input.dim());
  if (is_complex(input.dtype())) throw_bad_dtype("median_out", input.dtype());
  check_nonempty(op, input, dim);
  return pick_one(input, dim, keepdim, [ignore_nan](auto& pairs, const auto* x, std::int64_t n) {
    return median_position(pairs, x, n, ignore_nan);
  });
}
std::tuple<Tensor, Tensor> median_dim(const Tensor& input, std::int64_t dim, bool keepdim) {
  return median_along("median", input, dim, keepdim, false);
}
std::tuple<Tensor, Tensor> nanmedian_dim(const Tensor& input, std::int64_t dim, bool keepdim) {
  return median_along("nanmedian", input, dim, keepdim, true);
}
Tensor median_of_all(const Tensor& input, bool ignore_nan) {
  if (is_complex(input.dtype())) throw_bad_dtype("median_cpu", input.dtype());
  if (input.numel() == 0) {
    return full({},
                is_floating(input.dtype()) ? Scalar(std::nan("")) : Scalar(std::numeric_limits<std::int64_t>::min()),
                input.dtype(), input.device());
  }
  const Tensor flat = contiguous(input);
  const std::int64_t sizes[] = {flat.numel()}, strides[] = {1};
  return std::get<0>(
      median_along("median", alias(flat, IntSpan(sizes, 1), IntSpan(strides, 1), flat.offset()), 0, false, ignore_nan));
}
Tensor median_all(const Tensor& input) { return median_of_all(input, false); }
Tensor nanmedian_all(const Tensor& input) { return median_of_all(input, true); }

// The smallest of the most frequent elements, and its last position.
std::tuple<Tensor, Tensor> mode(const Tensor& input, std::int64_t dim, bool keepdim) {
  dim = wrap_dim(dim, input.dim());
  if (is_complex(input.dtype())) throw_bad_dtype("mode_cpu", input.dtype());
  check_nonempty("mode", input, dim);
  return pick_one(input, dim, keepdim, [](auto& pairs, const auto* x, std::int64_t n) {
    all_pairs(pairs, x, n, false);
    std::sort(pairs.begin(), pairs.end());
    std::size_t best = 0, best_length = 0;
    for (std::size_t start = 0, size = pairs.size(); start < size;) {
      std::size_t stop = start + 1;
      while (stop < size && pairs[stop].key == pairs[start].key) ++stop;
      if (stop - start > best_length) {
        best_length = stop - start;
        best = stop - 1;
      }
      start = stop;
    }
    return static_cast<std::int64_t>(pairs[best].index);
  });
}

const Kernel sort_kernel("sort", &sort);
const Kernel topk_kernel("topk", &topk);
const Kernel kthvalue_kernel("kthvalue", &kthvalue);
const Kernel median_all_kernel("median_all", &median_all);
const Kernel median_dim_kernel("median_dim", &median_dim);
const Kernel nanmedian_all_kernel("nanmedian_all", &nanmedian_all);
const Kernel nanmedian_dim_kernel("nanmedian_dim", &nanmedian_dim);
const Kernel mode_kernel("mode", &mode);

}  // namespace
}  // namespace flambeau
