// unique and unique_consecutive, of elements and of slices, and equal.
#include <algorithm>
#include <numeric>

#include "core/copy.h"
#include "core/factory.h"
#include "kernels/slices.h"
#include "kernels/sort_keys.h"

namespace flambeau {
namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;
using Groups = std::vector<std::int64_t>;  // first position (in sorted order) of each group of equal elements

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return convert<float>(a) == convert<float>(b);
  } else {
    return a == b;
  }
}

Tensor vector_of(std::int64_t size, DType dtype) { return empty(IntSpan(&size, 1), dtype); }

// order: positions in sorted (or given) order; equal(i, j) compares neighbours in that order.
struct Grouping {
  Groups starts;
  Tensor inverse, counts;
};
template <class Order, class Equal>
Grouping group(std::int64_t n, Order&& order, Equal&& equal, bool want_inverse, bool want_counts,
               IntSpan inverse_sizes) {
  Grouping result;
  result.inverse = empty(want_inverse ? inverse_sizes : IntSpan(std::initializer_list<std::int64_t>{0}), DType::Int64);
  std::int64_t* inverse = result.inverse.data<std::int64_t>();
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == 0 || !equal(i - 1, i)) result.starts.push_back(i);
    if (want_inverse) inverse[order(i)] = static_cast<std::int64_t>(result.starts.size()) - 1;
  }
  const auto groups = static_cast<std::int64_t>(result.starts.size());
  result.counts = vector_of(want_counts ? groups : 0, DType::Int64);
  for (std::int64_t g = 0; want_counts && g < groups; ++g) {
    const std::int64_t stop = g + 1 < groups ? result.starts[static_cast<std::size_t>(g) + 1] : n;
    result.counts.data<std::int64_t>()[g] = stop - result.starts[static_cast<std::size_t>(g)];
  }
  return result;
}

void check_values_known(const char* op, const Tensor& input) {
  check(!input.is_meta(), ErrorKind::NotImplemented, op, ": the result's size depends on the values");
}

// Integers within a range not much larger than their number: a table of counts instead of sorting.
template <class T>
Three unique_small_range(const Tensor& x, T low, std::uint64_t range, bool inverse, bool counts) {
  const T* data = x.data<T>();
  const std::int64_t n = x.numel();
  const auto slot = [low](T value) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(low));
  };
  std::vector<std::int64_t> table(static_cast<std::size_t>(range) + 1);
  for (std::int64_t i = 0; i < n; ++i) ++table[slot(data[i])];
  const auto groups = static_cast<std::int64_t>(table.size()) - std::count(table.begin(), table.end(), 0);
  Tensor out = vector_of(groups, x.dtype()), count = vector_of(counts ? groups : 0, DType::Int64);
  std::int64_t g = 0;
  for (std::size_t s = 0; s < table.size(); ++s) {
    if (table[s] == 0) continue;
    out.data<T>()[g] = static_cast<T>(static_cast<std::uint64_t>(low) + s);
    if (counts) count.data<std::int64_t>()[g] = table[s];
    table[s] = g++;  // from here on: the position in the result
  }
  Tensor where = empty(inverse ? x.sizes() : IntSpan(std::initializer_list<std::int64_t>{0}), DType::Int64);
  for (std::int64_t i = 0; inverse && i < n; ++i) where.data<std::int64_t>()[i] = table[slot(data[i])];
  return {out, where, count};
}

template <class T>
Three unique_elements(const Tensor& x, bool sorted, bool inverse, bool counts) {
  const T* data = x.data<T>();
  const std::int64_t n = x.numel();
  if constexpr (std::is_integral_v<T>) {
    if (sorted && n != 0) {
      const auto [low, high] = std::minmax_element(data, data + n);
      const auto range = static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low);
      if (range < static_cast<std::uint64_t>(2 * n + 1024)) return unique_small_range(x, *low, range, inverse, counts);
    }
  }
  RowSorter<Key<T>> sorter(sorted ? n : 0);
  if (sorted) {
    for (std::int64_t i = 0; i < n; ++i) sorter.keys()[i] = key_of(data[i]);
    sorter.sort(n);
  }
  const auto order = [&](std::int64_t i) { return sorted ? static_cast<std::int64_t>(sorter.order(i)) : i; };
  const Grouping groups = group(
      n, order, [&](std::int64_t i, std::int64_t j) { return same(data[order(i)], data[order(j)]); }, inverse, counts,
      x.sizes());
  Tensor out = vector_of(static_cast<std::int64_t>(groups.starts.size()), x.dtype());
  for (std::size_t g = 0; g < groups.starts.size(); ++g) out.data<T>()[g] = data[order(groups.starts[g])];
  return {out, groups.inverse, groups.counts};
}

Three unique_flat(const char* op, const Tensor& input, bool sorted, bool inverse, bool counts) {
  check_values_known(op, input);
  if (is_complex(input.dtype())) throw_bad_dtype(op, input.dtype());
  const Tensor x = contiguous(input);
  Three result;
  dispatch_all(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, c64> && !std::is_same_v<T, c128>)
      result = unique_elements<T>(x, sorted, inverse, counts);
  });
  return result;
}
// Always sorted, whatever `sorted` says: both orders are right then.
Three unique2(const Tensor& input, bool, bool inverse, bool counts) {
  return unique_flat("unique", input, true, inverse, counts);
}

// `dim` moved to the front, the others in their order: the order in which slices compare.
Tensor dim_first(const Tensor& input, std::int64_t dim) {
  Dims sizes(input.sizes()), strides(input.strides());
  const std::int64_t size = sizes[dim], stride = strides[dim];
  sizes.erase(dim);
  strides.erase(dim);
  sizes.insert(0, size);
  strides.insert(0, stride);
  return alias(input, sizes, strides, input.offset());
}

template <class T>
Three unique_slices(const Tensor& rows, const Tensor& input, std::int64_t dim, bool sorted, bool inverse, bool counts) {
  const std::int64_t n = rows.sizes()[0], width = n == 0 ? 0 : rows.numel() / n;
  const T* data = rows.data<T>();
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  if (sorted) {
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      for (std::int64_t j = 0; j < width; ++j) {
        const auto x = key_of(data[a * width + j]), y = key_of(data[b * width + j]);
        if (x != y) return x < y;
      }
      return false;
    });
  }
  const auto equal = [&](std::int64_t i, std::int64_t j) {
    const T *a = data + order[static_cast<std::size_t>(i)] * width,
            *b = data + order[static_cast<std::size_t>(j)] * width;
    return std::equal(a, a + width, b, [](T p, T q) { return same(p, q); });
  };
  const std::int64_t inverse_size[] = {n};
  const Grouping groups = group(
      n, [&](std::int64_t i) { return order[static_cast<std::size_t>(i)]; }, equal, inverse, counts,
      IntSpan(inverse_size, 1));
  Dims sizes(rows.sizes());
  sizes[0] = static_cast<std::int64_t>(groups.starts.size());
  const Tensor picked = empty(sizes, rows.dtype());
  for (std::size_t g = 0; g < groups.starts.size(); ++g) {
    const T* from = data + order[static_cast<std::size_t>(groups.starts[g])] * width;
    std::copy(from, from + width, picked.data<T>() + static_cast<std::int64_t>(g) * width);
  }
  // Back from (groups, ...) to the place of `dim`.
  Dims final_sizes(input.sizes());
  final_sizes[dim] = sizes[0];
  Tensor out = empty(final_sizes, rows.dtype());
  copy_into(dim_first(out, dim), picked);
  return {out, groups.inverse, groups.counts};
}

Three unique_along(const char* op, const Tensor& input, std::int64_t dim, bool sorted, bool inverse, bool counts) {
  check_values_known(op, input);
  if (is_complex(input.dtype())) throw_bad_dtype(op, input.dtype());
  check(input.dim() > 0, ErrorKind::Index, "unique: Dimension specified as ", dim, " but tensor has no dimensions");
  dim = wrap_dim(dim, input.dim());
  bool other_zero = false;
  for (std::int64_t d = 0; d < input.dim(); ++d) other_zero |= d != dim && input.sizes()[d] == 0;
  check(!other_zero || input.sizes()[dim] == 0,
        "unique: There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  const Tensor rows = contiguous(dim_first(input, dim));
  Three result;
  dispatch_all(rows.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, c64> && !std::is_same_v<T, c128>) {
      result = unique_slices<T>(rows, input, dim, sorted, inverse, counts);
    }
  });
  return result;
}
Three unique_dim(const Tensor& input, std::int64_t dim, bool, bool inverse, bool counts) {
  return unique_along("unique_dim", input, dim, true, inverse, counts);
}
Three unique_consecutive(const Tensor& input, bool inverse, bool counts, std::optional<std::int64_t> dim) {
  return dim ? unique_along("unique_consecutive", input, *dim, false, inverse, counts)
             : unique_flat("unique_consecutive", input, false, inverse, counts);
}

bool equal(const Tensor& input, const Tensor& other) {
  if (!(input.sizes() == other.sizes())) return false;
  check(input.dtype() == other.dtype(), "equal: Expected object of data type ", name_of(input.dtype()),
        " but got data type ", name_of(other.dtype()), " for argument 'other' in call to equal");
  check(!input.is_meta() && !other.is_meta(), ErrorKind::NotImplemented, "equal: meta tensors have no values");
  const Tensor a = contiguous(input), b = contiguous(other);
  bool result = true;
  dispatch_all(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    result = std::equal(a.data<T>(), a.data<T>() + a.numel(), b.data<T>(), [](T p, T q) { return same(p, q); });
  });
  return result;
}

const Kernel unique_kernel("_unique2", &unique2);
const Kernel unique_dim_kernel("unique_dim", &unique_dim);
const Kernel unique_consecutive_kernel("unique_consecutive", &unique_consecutive);
const Kernel equal_kernel("equal", &equal);

}  // namespace
}  // namespace flambeau
