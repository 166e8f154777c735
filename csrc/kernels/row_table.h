// Inner loops over rows of a table and over index lists, built once per CPU level (tile/rows.cpp): sums of bags,
// copies, range checks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/parallel.h"
#include "kernels/level_table.h"

namespace flambeau {

// One bag: rows[0 ... count) of a table of `width` columns whose rows lie `stride` elements apart.
struct Bag {
  const void* table;
  std::int64_t stride, width;
  const std::int64_t* rows;
  std::int64_t count, padding;  // the row `padding` is left out
  std::int64_t readable;        // entries of `rows`, from here to the end of the whole list
  const void* factors;          // of each position, table's dtype; may be null
  bool mean;                    // divide by the number of rows kept
};

struct RowTable {
  // out[k] = sum over the bag's rows of factor * table[row][k], in order; half types add up in float.
  void (*sum_bag)(const Bag& bag, void* out) noexcept;
  // to[index[i]] += from[i] for n rows of `width` elements, in order; strides in elements. The row `padding` is left
  // out.
  void (*add_rows)(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride,
                   const std::int64_t* index, std::int64_t n, std::int64_t width, std::int64_t padding) noexcept;
};

// fn(first column, number of columns) over threads, for work on `rows` rows that keeps their order in each column.
template <class F>
void for_column_blocks(std::int64_t rows, std::int64_t columns, F&& fn) {
  const std::int64_t width = std::max<std::int64_t>(32768 / std::max<std::int64_t>(rows, 1), 32);
  parallel_for(0, columns, width, [&](std::int64_t begin, std::int64_t end) { fn(begin, end - begin); });
}

inline const RowTable* row_table(DType dtype) noexcept {
  return static_cast<const RowTable*>(find_table(TableId::Rows, dtype));
}

// Over lists of indices; one table, registered under int64.
struct IndexTable {
  bool (*in_range)(const std::int64_t* index, std::int64_t n, std::int64_t limit) noexcept;  // all in [0, limit)?
  bool (*constant)(const std::int64_t* index, std::int64_t n) noexcept;                      // all equal? n > 0
  // Rows index[0 ... n) of a table, `bytes` long and `stride` bytes apart, one after the other.
  void (*copy_rows)(void* out, const void* table, std::int64_t stride, const std::int64_t* index, std::int64_t n,
                    std::int64_t bytes) noexcept;
};

inline const IndexTable& index_table() noexcept {
  return *static_cast<const IndexTable*>(find_table(TableId::Rows, DType::Int64));
}

}  // namespace flambeau
