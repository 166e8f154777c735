// The components of sparse tensors, which are strided: coalescing, scattering into dense memory, compressed products.
// A COO tensor is indices (sparse_dim, nnz) and values (nnz, *dense); a CSR matrix is row pointers (rows + 1), column
// numbers (nnz) and values (nnz). The forms of ops on sparse tensors (flambeau/sparse) call these. Every index that
// comes in is checked here: constructors do not need to be trusted.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/arith.h"
#include "kernels/row_table.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

using Ints = std::vector<std::int64_t>;

// Null for dtypes that have no loops; under int64 there is another kind of table.
const RowTable* row_loops(DType dtype) { return is_floating(dtype) ? row_table(dtype) : nullptr; }

Tensor int64_list(const Tensor& indices, const char* name) {
  check(!indices.is_meta(), ErrorKind::NotImplemented, name, ": there are no sparse tensors on meta.");
  check(is_integral(indices.dtype(), false), ErrorKind::Runtime, name, ": expected integer indices, got ",
        name_of(indices.dtype()), ".");
  return contiguous(to_dtype(indices, DType::Int64));
}

// ---- COO

[[noreturn]] void index_out_of_range(std::int64_t index, std::int64_t size, std::int64_t dim) {
  if (index < 0) fail(ErrorKind::Runtime, "found negative index ", index, " for dim ", dim);
  fail(ErrorKind::Runtime, "size is inconsistent with indices: for dim ", dim, ", size is ", size, " but found index ",
       index);
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

// ---- Compressed rows (or columns: the same with the dims exchanged)

// 0 if the pointers and plain indices of each batch are those of a matrix of `limit` columns, else which of PyTorch's
// invariants fails first: 1 first pointer is 0, 2 last is nnz, 3 pointers ascend by at most limit, 4 indices in range,
// 5 (with `sorted`) indices ascend strictly within a row.
std::int64_t check_compressed(const Tensor& compressed, const Tensor& plain, std::int64_t limit, bool sorted) {
  const Tensor pointers = int64_list(compressed, "sparse_compressed_tensor");
  const Tensor list = int64_list(plain, "sparse_compressed_tensor");
  check(pointers.dim() >= 1 && list.dim() == pointers.dim() && pointers.sizes().back() >= 1, ErrorKind::Runtime,
        "sparse_compressed_tensor: expected compressed and plain indices of equal dim, got shapes ", pointers.sizes(),
        " and ", list.sizes(), ".");
  const std::int64_t rows = pointers.sizes().back() - 1, nnz = list.sizes().back();
  const std::int64_t batches = pointers.numel() / (rows + 1);
  check(nnz == 0 || list.numel() / nnz == batches, ErrorKind::Runtime,
        "sparse_compressed_tensor: expected equal batch sizes of compressed and plain indices.");
  for (std::int64_t b = 0; b < batches; ++b) {
    const auto* starts = pointers.data<std::int64_t>() + b * (rows + 1);
    const auto* at = list.data<std::int64_t>() + b * nnz;
    if (starts[0] != 0) return 1;
    if (starts[rows] != nnz) return 2;
    for (std::int64_t i = 0; i < rows; ++i) {
      if (starts[i] < 0 || starts[i + 1] < starts[i] || (sorted && starts[i + 1] - starts[i] > limit)) return 3;
    }
    if (!index_table().in_range(at, nnz, limit)) return 4;
    for (std::int64_t i = 0; sorted && i < rows; ++i) {
      for (std::int64_t e = starts[i] + 1; e < starts[i + 1]; ++e) {
        if (at[e] <= at[e - 1]) return 5;
      }
    }
  }
  return 0;
}

struct Rows {
  Tensor pointers, columns, values;
  std::int64_t count;
  [[nodiscard]] const std::int64_t* starts() const { return pointers.data<std::int64_t>(); }
  [[nodiscard]] const std::int64_t* at() const { return columns.data<std::int64_t>(); }
};

Rows checked_rows(const Tensor& pointers, const Tensor& columns, const Tensor& values, std::int64_t limit,
                  const char* name) {
  check(pointers.dim() == 1 && columns.dim() == 1 && values.dim() == 1 && pointers.numel() >= 1 &&
            values.numel() == columns.numel(),
        ErrorKind::Runtime, name, ": expected a compressed matrix, got pointers, indices and values of shapes ",
        pointers.sizes(), ", ", columns.sizes(), " and ", values.sizes(), ".");
  check(check_compressed(pointers, columns, limit, false) == 0, ErrorKind::Runtime, name,
        ": expected the pointers to ascend from 0 to nnz and the indices in [0, ", limit, ").");
  return {int64_list(pointers, name), int64_list(columns, name), contiguous(values), pointers.numel() - 1};
}

// A vector as `other`.
template <class T>
void multiply_by_vector(const Rows& a, const T* vector, std::int64_t stride, T* to, std::int64_t begin,
                        std::int64_t end) {
  const T* factors = a.values.data<T>();
  const std::int64_t *starts = a.starts(), *at = a.at();
  for (std::int64_t i = begin; i < end; ++i) {
    T sum(0);
    for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
      sum = arith::add(sum, arith::mul(factors[e], vector[at[e] * stride]));
    }
    to[i] = sum;
  }
}

template <class T>
void multiply_rows(const Rows& a, const T* table, std::int64_t stride, std::int64_t width, T* to, std::int64_t begin,
                   std::int64_t end) {
  const T* factors = a.values.data<T>();
  for (std::int64_t i = begin; i < end; ++i) {
    T* row = to + i * width;
    for (std::int64_t e = a.starts()[i]; e < a.starts()[i + 1]; ++e) {
      const T* from = table + a.at()[e] * stride;
      for (std::int64_t k = 0; k < width; ++k) row[k] = arith::add(row[k], arith::mul(factors[e], from[k]));
    }
  }
}

// (rows, n) = CSR (rows, m) @ other (m, n): each row is a weighted sum of rows of `other`.
Tensor csr_mm(const Tensor& pointers, const Tensor& columns, const Tensor& values, const Tensor& other) {
  check(other.dim() == 2 && other.dtype() == values.dtype(), ErrorKind::Runtime,
        "mm: expected a dense matrix of the dtype of the sparse one, got ", name_of(other.dtype()), " of shape ",
        other.sizes(), " and ", name_of(values.dtype()), ".");
  const std::int64_t height = other.sizes()[0], width = other.sizes()[1];
  const Rows a = checked_rows(pointers, columns, values, height, "mm");
  const RowTable* loops = width > 1 ? row_loops(values.dtype()) : nullptr;
  Tensor result = loops != nullptr ? empty({a.count, width}, values.dtype()) : zeros({a.count, width}, values.dtype());
  if (result.numel() == 0) return result;
  const Tensor table = other.strides()[1] == 1 || width == 1 ? other : contiguous(other);
  const std::int64_t nnz = columns.numel(), stride = height == 1 ? width : table.strides()[0];
  const std::int64_t item = values.itemsize();
  const std::int64_t grain = std::max<std::int64_t>(a.count * 32768 / std::max<std::int64_t>(nnz * width, 1), 1);
  parallel_for(0, a.count, grain, [&](std::int64_t begin, std::int64_t end) {
    if (loops == nullptr) {
      dispatch_all(values.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if (width == 1)
          multiply_by_vector<T>(a, table.data<T>(), stride, result.data<T>(), begin, end);
        else
          multiply_rows<T>(a, table.data<T>(), stride, width, result.data<T>(), begin, end);
      });
      return;
    }
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = a.starts()[i];
      loops->sum_bag({table.data(), stride, width, a.at() + first, a.starts()[i + 1] - first, -1,
                      a.starts()[end] - first, static_cast<const char*>(a.values.data()) + first * item, false},
                     static_cast<char*>(result.data()) + i * width * item);
    }
  });
  return result;
}

template <class T>
struct Entry {
  std::int64_t column;
  T value;
};

// One row of a product of two sparse matrices: all single products, sorted by column, equal columns added.
template <class T>
void product_row(const Rows& a, const Rows& b, std::int64_t i, std::vector<Entry<T>>& row) {
  row.clear();
  for (std::int64_t e = a.starts()[i]; e < a.starts()[i + 1]; ++e) {
    const std::int64_t middle = a.at()[e];
    for (std::int64_t f = b.starts()[middle]; f < b.starts()[middle + 1]; ++f) {
      row.push_back({b.at()[f], arith::mul(a.values.data<T>()[e], b.values.data<T>()[f])});
    }
  }
  std::stable_sort(row.begin(), row.end(), [](const auto& x, const auto& y) { return x.column < y.column; });
  std::size_t kept = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (kept != 0 && row[kept - 1].column == row[k].column) {
      row[kept - 1].value = arith::add(row[kept - 1].value, row[k].value);
    } else {
      row[kept++] = row[k];
    }
  }
  row.resize(kept);
}

template <class T>
std::tuple<Tensor, Tensor, Tensor> multiply_sparse(const Rows& a, const Rows& b, DType dtype) {
  constexpr std::int64_t kGrain = 256;
  std::vector<std::vector<Entry<T>>> chunks(static_cast<std::size_t>((a.count + kGrain - 1) / kGrain));
  Tensor pointers = zeros({a.count + 1}, DType::Int64);
  auto* starts = pointers.data<std::int64_t>();
  parallel_for(0, a.count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Entry<T>> row;
    auto& chunk = chunks[static_cast<std::size_t>(begin / kGrain)];
    for (std::int64_t i = begin; i < end; ++i) {
      product_row(a, b, i, row);
      chunk.insert(chunk.end(), row.begin(), row.end());
      starts[i + 1] = static_cast<std::int64_t>(row.size());
    }
  });
  for (std::int64_t i = 0; i < a.count; ++i) starts[i + 1] += starts[i];
  Tensor columns = empty({starts[a.count]}, DType::Int64), values = empty({starts[a.count]}, dtype);
  std::int64_t e = 0;
  for (const auto& chunk : chunks) {
    for (const auto& entry : chunk) {
      columns.data<std::int64_t>()[e] = entry.column;
      values.data<T>()[e++] = entry.value;
    }
  }
  return {pointers, columns, values};
}

// CSR (rows, m) @ CSR (m, n) as CSR; m is the number of the second one's rows.
std::tuple<Tensor, Tensor, Tensor> csr_matmul(const Tensor& pointers, const Tensor& columns, const Tensor& values,
                                              const Tensor& other_pointers, const Tensor& other_columns,
                                              const Tensor& other_values, std::int64_t n) {
  check(values.dtype() == other_values.dtype(), ErrorKind::Runtime, "mm: expected matrices of one dtype, got ",
        name_of(values.dtype()), " and ", name_of(other_values.dtype()), ".");
  const Rows a = checked_rows(pointers, columns, values, other_pointers.numel() - 1, "mm");
  const Rows b = checked_rows(other_pointers, other_columns, other_values, n, "mm");
  return dispatch_all(values.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return multiply_sparse<T>(a, b, values.dtype());
  });
}

Tensor checked_numbers(const Tensor& rows, std::int64_t count) {
  const Tensor list = int64_list(rows, "to_sparse_csr");
  check(count >= 0 && list.dim() == 1 && index_table().in_range(list.data<std::int64_t>(), list.numel(), count),
        ErrorKind::Runtime, "to_sparse_csr: expected row numbers in [0, ", count, ").");
  return list;
}

// pointers[i] = number of entries in rows before i, for row numbers in any order.
Tensor row_pointers(const Tensor& rows, std::int64_t count) {
  const Tensor list = checked_numbers(rows, count);
  Tensor pointers = zeros({count + 1}, DType::Int64);
  auto* starts = pointers.data<std::int64_t>();
  for (std::int64_t i = 0; i < list.numel(); ++i) ++starts[list.data<std::int64_t>()[i] + 1];
  for (std::int64_t i = 0; i < count; ++i) starts[i + 1] += starts[i];
  return pointers;
}

// The row pointers, and the entries in the order of their rows; those of one row stay in order. Linear in both sizes.
std::tuple<Tensor, Tensor> order_by_row(const Tensor& rows, std::int64_t count) {
  const Tensor list = checked_numbers(rows, count), pointers = row_pointers(list, count);
  Ints next(pointers.data<std::int64_t>(), pointers.data<std::int64_t>() + count);
  Tensor order = empty({list.numel()}, DType::Int64);
  for (std::int64_t i = 0; i < list.numel(); ++i) {
    const auto row = static_cast<std::size_t>(list.data<std::int64_t>()[i]);
    order.data<std::int64_t>()[next[row]++] = i;
  }
  return {pointers, order};
}

// Sixteen sums side by side, so that the compiler can use vectors.
template <class T>
T inner_product(const T* x, const T* y, std::int64_t n) {
  constexpr std::int64_t kLanes = 16;
  T sum(0);
  std::int64_t k = 0;
  if constexpr (std::is_floating_point_v<T>) {
    if (n >= kLanes) {
      T lanes[kLanes] = {};
      for (; k + kLanes <= n; k += kLanes) {
        for (std::int64_t j = 0; j < kLanes; ++j) lanes[j] += x[k + j] * y[k + j];
      }
      for (const T lane : lanes) sum += lane;
    }
  }
  for (; k < n; ++k) sum = arith::add(sum, arith::mul(x[k], y[k]));
  return sum;
}

// out[e] = sum over k of input[rows[e], k] * other[columns[e], k]: a product of matrices where it is asked for.
Tensor sampled_mm(const Tensor& input, const Tensor& other, const Tensor& rows, const Tensor& columns) {
  check(input.dim() == 2 && other.dim() == 2 && input.sizes()[1] == other.sizes()[1] &&
            input.dtype() == other.dtype() && rows.sizes() == columns.sizes() && rows.dim() == 1,
        ErrorKind::Runtime, "sampled_addmm: expected matrices of one dtype that can be multiplied, got shapes ",
        input.sizes(), " and ", other.sizes(), " (the second one transposed).");
  const Tensor i = int64_list(rows, "sampled_addmm"), j = int64_list(columns, "sampled_addmm");
  check(index_table().in_range(i.data<std::int64_t>(), i.numel(), input.sizes()[0]) &&
            index_table().in_range(j.data<std::int64_t>(), j.numel(), other.sizes()[0]),
        ErrorKind::Index, "sampled_addmm: expected indices within the product's shape.");
  Tensor result = empty({i.numel()}, input.dtype());
  const Tensor a = contiguous(input), b = contiguous(other);
  const std::int64_t width = a.sizes()[1];
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(0, i.numel(), std::max<std::int64_t>(32768 / std::max<std::int64_t>(width, 1), 1),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t e = begin; e < end; ++e) {
                     const T* x = a.data<T>() + i.data<std::int64_t>()[e] * width;
                     const T* y = b.data<T>() + j.data<std::int64_t>()[e] * width;
                     result.data<T>()[e] = inner_product(x, y, width);
                   }
                 });
  });
  return result;
}

const Kernel kernels[] = {
    {"_check_coo", &check_coo},
    {"_coalesced_parts", &coalesce},
    {"_scatter_rows", &scatter_add},
    {"_check_compressed", &check_compressed},
    {"_csr_mm", &csr_mm},
    {"_csr_matmul", &csr_matmul},
    {"_row_pointers", &row_pointers},
    {"_order_by_row", &order_by_row},
    {"_gather_rows", &gather_rows},
    {"_places_in", &places_in},
    {"_sampled_mm", &sampled_mm},
};

}  // namespace
}  // namespace flambeau
