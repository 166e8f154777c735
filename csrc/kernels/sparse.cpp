// sparse_coo tensors by their strided parts, indices (sparse_dim, nnz) and values (nnz, *dense): coalescing, scattering
// into dense memory and gathering from it. The forms of ops on sparse tensors (flambeau/sparse) call these. Every index
// that comes in is checked here: constructors do not need to be trusted. Compressed matrices: sparse_compressed.cpp.
#include <algorithm>
#include <numeric>
#include <vector>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/arith.h"
#include "kernels/row_table.h"
#include "kernels/sparse.h"

namespace flambeau {

Tensor sparse::int64_list(const Tensor& indices, const char* name) {
  check(!indices.is_meta(), ErrorKind::NotImplemented, name, ": there are no sparse tensors on meta.");
  check(is_integral(indices.dtype(), false), ErrorKind::Runtime, name, ": expected integer indices, got ",
        name_of(indices.dtype()), ".");
  return contiguous(to_dtype(indices, DType::Int64));
}

namespace {

using sparse::int64_list;
using Ints = std::vector<std::int64_t>;

[[noreturn]] void index_out_of_range(std::int64_t index, std::int64_t size, std::int64_t dim) {
  if (index < 0) fail(ErrorKind::Runtime, "sparse_coo_tensor: found negative index ", index, " for dim ", dim);
  fail(ErrorKind::Runtime, "sparse_coo_tensor: size is inconsistent with indices: for dim ", dim, ", size is ", size,
       " but found index ", index);
}

// indices as contiguous int64, each in the range of its dim; size may go on with dense dims.
Tensor checked_indices(const Tensor& indices, IntSpan size, const char* name) {
  check(indices.dim() == 2 && indices.sizes()[0] <= size.size(), ErrorKind::Runtime, name,
        ": expected indices of shape (sparse_dim, nnz) and at least sparse_dim sizes, got ", indices.sizes(), " and ",
        size, ".");
  const Tensor list = int64_list(indices, name);
  const std::int64_t nnz = list.sizes()[1];
  const auto* at = list.data<std::int64_t>();
  for (std::int64_t d = 0; d < list.sizes()[0]; ++d, at += nnz) {
    if (index_table().in_range(at, nnz, size[d])) continue;
    const auto* bad = std::find_if(at, at + nnz, [&](std::int64_t i) { return i < 0 || i >= size[d]; });
    index_out_of_range(*bad, size[d], d);
  }
  return list;
}

bool check_coo(const Tensor& indices, IntSpan size) {
  checked_indices(indices, size, "sparse_coo_tensor");
  return true;
}

// Sorts `order` by keys[order[i]], stably: counting sort by 11 bits at a time, the low ones first.
void radix_sort(const Ints& keys, Ints& order) {
  constexpr int kBits = 11, kBuckets = 1 << kBits;
  const std::int64_t top = keys.empty() ? 0 : *std::max_element(keys.begin(), keys.end());
  Ints spare(order.size());
  for (int shift = 0; shift < 63 && top >> shift != 0; shift += kBits) {
    std::size_t starts[kBuckets + 1] = {};
    const auto digit = [&](std::int64_t i) {
      return static_cast<std::size_t>(keys[static_cast<std::size_t>(i)] >> shift) % kBuckets;
    };
    for (const std::int64_t i : order) ++starts[digit(i) + 1];
    std::partial_sum(starts, starts + kBuckets + 1, starts);
    for (const std::int64_t i : order) spare[starts[digit(i)]++] = i;
    order.swap(spare);
  }
}

// Positions of the entries in the order of their indices; entries of equal indices stay in order.
Ints sorted_order(const Tensor& indices, IntSpan size) {
  const std::int64_t dims = indices.sizes()[0], nnz = indices.sizes()[1];
  const auto* at = indices.data<std::int64_t>();
  Ints order(static_cast<std::size_t>(nnz));
  std::iota(order.begin(), order.end(), 0);
  std::int64_t total = 1;
  bool fits = true;
  for (std::int64_t d = 0; d < dims; ++d) fits &= !__builtin_mul_overflow(total, size[d], &total);
  check(fits, ErrorKind::Runtime, "coalesce: expected sparse sizes whose product fits 64 bits, got ", size, ".");
  Ints keys(static_cast<std::size_t>(nnz), 0);
  for (std::int64_t d = 0; d < dims; ++d) {
    for (std::int64_t i = 0; i < nnz; ++i) {
      auto& key = keys[static_cast<std::size_t>(i)];
      key = key * size[d] + at[d * nnz + i];
    }
  }
  radix_sort(keys, order);
  return order;
}

bool same_index(const std::int64_t* at, std::int64_t dims, std::int64_t nnz, std::int64_t i, std::int64_t j) {
  for (std::int64_t d = 0; d < dims; ++d) {
    if (at[d * nnz + i] != at[d * nnz + j]) return false;
  }
  return true;
}

template <class T>
void add_row(T* to, const T* from, std::int64_t width) {
  for (std::int64_t k = 0; k < width; ++k) to[k] = arith::add(to[k], from[k]);
}

// Sorted, distinct indices; values of equal ones are added in their order.
std::tuple<Tensor, Tensor> coalesce(const Tensor& indices, const Tensor& values, IntSpan size) {
  const Tensor list = checked_indices(indices, size, "coalesce");
  const std::int64_t dims = list.sizes()[0], nnz = list.sizes()[1];
  check(values.dim() >= 1 && values.sizes()[0] == nnz, ErrorKind::Runtime, "coalesce: expected ", nnz,
        " values, got shape ", values.sizes(), ".");
  const Ints order = sorted_order(list, size);
  const auto* at = list.data<std::int64_t>();
  Ints starts;  // of the groups of equal indices
  for (std::int64_t i = 0; i < nnz; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (i == 0 || !same_index(at, dims, nnz, order[k - 1], order[k])) starts.push_back(i);
  }
  const auto groups = static_cast<std::int64_t>(starts.size());
  starts.push_back(nnz);
  Tensor made = empty({dims, groups}, DType::Int64);
  Dims shape(values.sizes());
  shape[0] = groups;
  Tensor sums = empty(shape, values.dtype());
  auto* to = made.data<std::int64_t>();
  for (std::int64_t d = 0; d < dims; ++d) {
    for (std::int64_t g = 0; g < groups; ++g) {
      to[d * groups + g] = at[d * nnz + order[static_cast<std::size_t>(starts[static_cast<std::size_t>(g)])]];
    }
  }
  const Tensor given = contiguous(values);
  const std::int64_t width = nnz == 0 ? 0 : values.numel() / nnz;
  dispatch_all(values.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = given.data<T>();
    T* sum = sums.data<T>();
    parallel_for(0, groups, std::max<std::int64_t>(32768 / std::max<std::int64_t>(width, 1), 1),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t g = begin; g < end; ++g) {
                     const auto first = static_cast<std::size_t>(starts[static_cast<std::size_t>(g)]);
                     const auto last = static_cast<std::size_t>(starts[static_cast<std::size_t>(g) + 1]);
                     std::copy_n(from + order[first] * width, width, sum + g * width);
                     for (std::size_t i = first + 1; i < last; ++i) {
                       add_row(sum + g * width, from + order[i] * width, width);
                     }
                   }
                 });
  });
  return {made, sums};
}

template <class T>
void add_scaled_row(T* to, const T* from, std::int64_t width, T alpha, bool scaled) {
  if (!scaled) return add_row(to, from, width);
  for (std::int64_t k = 0; k < width; ++k) to[k] = arith::add(to[k], arith::mul(alpha, from[k]));
}

// Offsets of the rows that the entries name, in elements of a tensor of these strides.
Ints row_offsets(const Tensor& indices, IntSpan strides) {
  const std::int64_t dims = indices.sizes()[0], nnz = indices.sizes()[1];
  const auto* at = indices.data<std::int64_t>();
  Ints offsets(static_cast<std::size_t>(nnz), 0);
  for (std::int64_t d = 0; d < dims; ++d) {
    for (std::int64_t i = 0; i < nnz; ++i) offsets[static_cast<std::size_t>(i)] += at[d * nnz + i] * strides[d];
  }
  return offsets;
}

// Whether the dims from `first` on lie row-major without gaps, so that a row is one run of elements.
bool rows_are_runs(const Tensor& tensor, std::int64_t first) {
  std::int64_t expected = 1;
  for (std::int64_t d = tensor.dim() - 1; d >= first; --d) {
    if (tensor.sizes()[d] != 1 && tensor.strides()[d] != expected) return false;
    expected *= tensor.sizes()[d];
  }
  return true;
}

// target[indices] += alpha * values, in the order of the entries. Many wide rows are dealt out to eight parts by their
// place, never two parts to one row, so that the sums do not depend on the number of threads.
void scatter_rows(const Tensor& target, const Tensor& indices, const Tensor& values, const Scalar& alpha) {
  const std::int64_t nnz = indices.sizes()[1], width = nnz == 0 ? 0 : values.numel() / nnz;
  if (values.numel() == 0) return;
  const Ints offsets = row_offsets(indices, target.strides());
  constexpr std::int64_t kParts = 8;
  const std::int64_t parts = nnz * width >= 65536 && width >= 16 ? kParts : 1;
  dispatch_all(target.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T scale = alpha.to<T>();
    const bool scaled = !alpha.equals(1);
    const T* from = values.data<T>();
    T* to = target.data<T>();
    parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) {
        for (std::int64_t i = 0; i < nnz; ++i) {
          const std::int64_t offset = offsets[static_cast<std::size_t>(i)];
          if (parts != 1 && offset / width % kParts != part) continue;
          add_scaled_row(to + offset, from + i * width, width, scale, scaled);
        }
      }
    });
  });
}

// input + alpha * (indices, values), for a dense input.
Tensor scatter_add(const Tensor& input, const Tensor& indices, const Tensor& values, const Scalar& alpha,
                   const Out& out) {
  const Tensor list = checked_indices(indices, input.sizes(), "add");
  const std::int64_t dims = list.sizes()[0];
  bool fits = values.dim() == input.dim() - dims + 1 && values.sizes()[0] == list.sizes()[1];
  for (std::int64_t d = dims; fits && d < input.dim(); ++d) fits = values.sizes()[d - dims + 1] == input.sizes()[d];
  check(fits, ErrorKind::Runtime, "add: expected values of shape (nnz, *dense sizes), got ", values.sizes(),
        " for a tensor of shape ", input.sizes(), " and ", list.sizes()[1], " entries.");
  const Tensor target = out.inplace ? out[0] : clone(input);
  check_no_internal_overlap(target, "add_");
  const Tensor given = contiguous(to_dtype(values, target.dtype()));
  if (rows_are_runs(target, dims) && !target.is_conj() && !target.is_neg()) {
    scatter_rows(target, list, given, alpha);
    return target;
  }
  const Tensor row_major = clone(target, MemoryFormat::Contiguous);
  scatter_rows(row_major, list, given, alpha);
  copy_into(target, row_major);
  return target;
}

// The elements, or slices, of a dense input that the indices name: shape (nnz, *dense).
Tensor gather_rows(const Tensor& input, const Tensor& indices) {
  const Tensor list = checked_indices(indices, input.sizes(), "sparse_mask");
  const std::int64_t dims = list.sizes()[0], nnz = list.sizes()[1];
  Dims shape;
  shape.push_back(nnz);
  for (std::int64_t d = dims; d < input.dim(); ++d) shape.push_back(input.sizes()[d]);
  Tensor result = empty(shape, input.dtype());
  if (result.numel() == 0) return result;
  const Tensor table = rows_are_runs(input, dims) ? input : contiguous(input);
  const std::int64_t width = result.numel() / nnz;
  const Ints offsets = row_offsets(list, table.strides());
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = table.data<T>();
    T* to = result.data<T>();
    parallel_for(0, nnz, std::max<std::int64_t>(32768 / width, 1), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T* row = from + offsets[static_cast<std::size_t>(i)];
        if (width == 1)
          to[i] = *row;
        else
          std::copy_n(row, width, to + i * width);
      }
    });
  });
  return result;
}

// For each number in `wanted` its place in the ascending list `sorted`, or -1. Linear where `wanted` ascends, too.
Tensor places_in(const Tensor& sorted, const Tensor& wanted) {
  const Tensor have = int64_list(sorted, "sparse"), want = int64_list(wanted, "sparse");
  check(have.dim() == 1 && want.dim() == 1, ErrorKind::Runtime, "sparse: expected lists of places.");
  Tensor result = empty({want.numel()}, DType::Int64);
  const auto *first = have.data<std::int64_t>(), *last = first + have.numel(), *at = first;
  const auto* number = want.data<std::int64_t>();
  for (std::int64_t i = 0; i < want.numel(); ++i) {
    if (i != 0 && number[i] >= number[i - 1]) {
      while (at != last && *at < number[i]) ++at;
    } else {
      at = std::lower_bound(first, last, number[i]);
    }
    result.data<std::int64_t>()[i] = at != last && *at == number[i] ? at - first : -1;
  }
  return result;
}

const Kernel kernels[] = {
    {"_check_coo", &check_coo},     {"_coalesced_parts", &coalesce}, {"_scatter_rows", &scatter_add},
    {"_gather_rows", &gather_rows}, {"_places_in", &places_in},
};

}  // namespace
}  // namespace flambeau
