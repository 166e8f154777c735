// Compressed sparse matrices by their strided parts: row pointers (rows + 1), column numbers (nnz) and values (nnz), or
// the same with rows and columns exchanged. Products of them; COO tensors are in sparse.cpp.
#include <algorithm>
#include <vector>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/arith.h"
#include "kernels/row_table.h"
#include "kernels/sparse.h"

namespace flambeau {
namespace {

using sparse::int64_list;

// Null for dtypes that have no loops; under int64 there is another kind of table.
const RowTable* row_loops(DType dtype) { return is_floating(dtype) ? row_table(dtype) : nullptr; }

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

// Calls add(column, product) for all single products of row i of a @ b.
template <class T, class F>
void each_product(const Rows& a, const Rows& b, std::int64_t i, F&& add) {
  for (std::int64_t e = a.starts()[i]; e < a.starts()[i + 1]; ++e) {
    const std::int64_t middle = a.at()[e];
    for (std::int64_t f = b.starts()[middle]; f < b.starts()[middle + 1]; ++f) {
      add(b.at()[f], arith::mul(a.values.data<T>()[e], b.values.data<T>()[f]));
    }
  }
}

// Rows of a product of two sparse matrices, appended to a list; sums go in the order of a's entries.
template <class T>
class ProductRows {
 public:
  ProductRows(const Rows& a, const Rows& b, std::int64_t columns) : a_(a), b_(b) {
    if (columns > kWidest) return;
    places_.assign(static_cast<std::size_t>(columns), {-1, T(0)});
  }

  std::int64_t append(std::int64_t i, std::vector<Entry<T>>& list) {
    const std::size_t before = list.size();
    places_.empty() ? by_sorting(i, list) : by_column(i, list);
    return static_cast<std::int64_t>(list.size() - before);
  }

 private:
  struct Place {
    std::int64_t row;  // that used this place last
    T sum;
  };
  static constexpr std::int64_t kWidest = 1 << 20;  // columns for which there is a place each

  void by_column(std::int64_t i, std::vector<Entry<T>>& list) {
    columns_.clear();
    each_product<T>(a_, b_, i, [&](std::int64_t column, T value) {
      Place& place = places_[static_cast<std::size_t>(column)];
      if (place.row == i) {
        place.sum = arith::add(place.sum, value);
        return;
      }
      place = {i, value};
      columns_.push_back(column);
    });
    std::sort(columns_.begin(), columns_.end());
    for (const std::int64_t column : columns_) list.push_back({column, places_[static_cast<std::size_t>(column)].sum});
  }

  void by_sorting(std::int64_t i, std::vector<Entry<T>>& list) {
    row_.clear();
    each_product<T>(a_, b_, i, [&](std::int64_t column, T value) { row_.push_back({column, value}); });
    std::stable_sort(row_.begin(), row_.end(), [](const auto& x, const auto& y) { return x.column < y.column; });
    const std::size_t before = list.size();
    for (const Entry<T>& entry : row_) {
      if (list.size() != before && list.back().column == entry.column) {
        list.back().value = arith::add(list.back().value, entry.value);
      } else {
        list.push_back(entry);
      }
    }
  }

  const Rows &a_, &b_;
  std::vector<Place> places_;
  std::vector<std::int64_t> columns_;
  std::vector<Entry<T>> row_;
};

template <class T>
std::tuple<Tensor, Tensor, Tensor> multiply_sparse(const Rows& a, const Rows& b, std::int64_t n, DType dtype) {
  constexpr std::int64_t kGrain = 1024;
  std::vector<std::vector<Entry<T>>> chunks(static_cast<std::size_t>((a.count + kGrain - 1) / kGrain));
  Tensor pointers = zeros({a.count + 1}, DType::Int64);
  auto* starts = pointers.data<std::int64_t>();
  parallel_for(0, a.count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    ProductRows<T> rows(a, b, n);
    auto& chunk = chunks[static_cast<std::size_t>(begin / kGrain)];
    for (std::int64_t i = begin; i < end; ++i) starts[i + 1] = rows.append(i, chunk);
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
    return multiply_sparse<T>(a, b, n, values.dtype());
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
  std::vector<std::int64_t> next(pointers.data<std::int64_t>(), pointers.data<std::int64_t>() + count);
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
    {"_check_compressed", &check_compressed},
    {"_csr_mm", &csr_mm},
    {"_csr_matmul", &csr_matmul},
    {"_row_pointers", &row_pointers},
    {"_order_by_row", &order_by_row},
    {"_sampled_mm", &sampled_mm},
};

}  // namespace
}  // namespace flambeau
