// Along one dim, by a 1-d index: index_select, index_add, index_copy, index_fill, index_reduce. By flat position: take,
// put.
#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/arith.h"
#include "kernels/row_table.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

Tensor at_least_1d(const Tensor& tensor) {
  return tensor.dim() != 0 ? tensor : alias(tensor, {1}, {1}, tensor.offset());
}

// A checked index as int64 values.
class Positions {
 public:
  explicit Positions(Tensor values) : values_(std::move(values)), data_(values_.data<std::int64_t>()) {}
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(values_.numel()); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const std::int64_t* data() const { return data_; }
  std::int64_t operator[](std::size_t i) const { return data_[i]; }

 private:
  Tensor values_;
  const std::int64_t* data_;
};

// Negative values are wrapped where the op allows them.
Positions index_values(const Tensor& index, std::int64_t size, bool wrap, auto&& out_of_range) {
  const Tensor values = contiguous(to_dtype(index, DType::Int64));
  const std::int64_t n = values.numel();
  if (index_table().in_range(values.data<std::int64_t>(), n, size)) return Positions(values);
  const Tensor wrapped = clone(values);
  auto* data = wrapped.data<std::int64_t>();
  for (std::int64_t i = 0; i < n; ++i) {
    if (data[i] < (wrap ? -size : 0) || data[i] >= size) [[unlikely]]
      out_of_range(data[i]);
    if (data[i] < 0) data[i] += size;
  }
  return Positions(wrapped);
}

bool is_int_index(const Tensor& index) { return index.dtype() == DType::Int64 || index.dtype() == DType::Int32; }

// Calls fn(to, from, n, to_stride, from_stride) for each pair of runs: position values[k] of `to` along dim, position k
// of `from`. Runs go along the last other dim; index order is kept for each target element.
template <class F>
void walk_dim(const Tensor& to, const Tensor& from, std::int64_t dim, const Positions& to_positions,
              bool from_is_indexed, F&& fn) {
  const std::int64_t last = to.dim() - 1 == dim ? to.dim() - 2 : to.dim() - 1;
  const std::int64_t n = last >= 0 ? to.sizes()[last] : 1;
  const std::int64_t ta = last >= 0 ? to.strides()[last] : 1, tb = last >= 0 ? from.strides()[last] : 1;
  Dims sizes(to.sizes());
  sizes[dim] = 1;
  if (n == 0) return;
  const LineWalk<2> walk(sizes, last, {to.strides(), from.strides()});
  const std::int64_t sa = to.strides()[dim], sb = from.strides()[dim];
  const auto count = static_cast<std::int64_t>(to_positions.size());
  const auto pair = [&](const std::int64_t* at, std::int64_t k, std::int64_t first, std::int64_t length) {
    const std::int64_t position = to_positions[static_cast<std::size_t>(k)];
    const std::int64_t a = from_is_indexed ? k : position, b = from_is_indexed ? position : k;
    fn(at[0] + a * sa + first * ta, at[1] + b * sb + first * tb, length, ta, tb);
  };
  if (from_is_indexed) {  // writes each position once, so the index may be cut
    const std::int64_t per_index = std::max<std::int64_t>(n * walk.lines(), 1);
    return parallel_for(0, count, std::max<std::int64_t>(32768 / per_index, 1),
                        [&](std::int64_t begin, std::int64_t end) {
                          walk.run(0, walk.lines(), [&](const std::int64_t* at) {
                            for (std::int64_t k = begin; k < end; ++k) pair(at, k, 0, n);
                          });
                        });
  }
  // Writing by index keeps its order: lines, and blocks of their elements, are what may be cut.
  const std::int64_t width = std::min(std::max<std::int64_t>(32768 / std::max<std::int64_t>(count, 1), 32), n);
  const std::int64_t blocks = (n + width - 1) / width;
  const std::int64_t grain = std::max<std::int64_t>(32768 / std::max<std::int64_t>(count * width, 1), 1);
  parallel_for(0, walk.lines() * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t first = task % blocks * width;
      walk.run(task / blocks, task / blocks + 1, [&](const std::int64_t* at) {
        for (std::int64_t k = 0; k < count; ++k) pair(at, k, first, std::min(width, n - first));
      });
    }
  });
}

Tensor index_select(const Tensor& input, std::int64_t dim, const Tensor& index, const Out& out) {
  const std::int64_t d = wrap_dim(dim, input.dim(), "index_select");
  check(index.dim() <= 1, ErrorKind::Index, "index_select(): Index is supposed to be a vector");
  check(is_int_index(index), ErrorKind::Runtime, "index_select(): Expected dtype int32 or int64 for index");
  check(input.dim() != 0 || index.numel() == 1, ErrorKind::Runtime,
        "index_select(): Index to scalar can have only 1 value, got ", index.numel(), " value(s)");
  check_out_dtype("index_select()", out, input.dtype());
  check_out_apart("index_select", out, {&input, &index});
  const Tensor source = at_least_1d(input);
  Dims sizes(input.sizes());
  if (input.dim() != 0) sizes[d] = index.numel();
  Tensor result = output("index_select", out, 0, sizes, input.dtype(), input.device());
  if (result.is_meta()) return result;
  const std::int64_t extent = source.sizes()[d];
  const auto values = index_values(index, extent, false, [&](std::int64_t bad) {
    fail(ErrorKind::Index, "index_select: index out of range in self: expected indices in [0, ", extent,
         ") of dimension ", d, ", got ", bad, ".");
  });
  if (result.numel() == 0) return result;
  const bool direct = !out.given() && result.dtype() == input.dtype();
  const Tensor target = at_least_1d(direct ? result : empty(sizes, input.dtype(), input.device()));
  // Whole rows of a matrix.
  const std::int64_t row = target.numel() / target.sizes()[d], item = input.itemsize();
  if (d == 0 && target.is_contiguous() && source.is_contiguous()) {
    parallel_for(0, target.sizes()[0], std::max<std::int64_t>(65536 / row, 1),
                 [&](std::int64_t begin, std::int64_t end) {
                   index_table().copy_rows(static_cast<char*>(target.data()) + begin * row * item, source.data(),
                                           row * item, values.data() + begin, end - begin, row * item);
                 });
    if (!direct) copy_into(at_least_1d(result), target);
    return result;
  }
  dispatch_size(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = static_cast<T*>(target.data());
    const T* from = static_cast<const T*>(source.data());
    walk_dim(target, source, d, values, true,
             [&](std::int64_t a, std::int64_t b, std::int64_t n, std::int64_t sa, std::int64_t sb) {
               if (sa == 1 && sb == 1)
                 std::memcpy(static_cast<void*>(to + a), static_cast<const void*>(from + b),
                             sizeof(T) * static_cast<std::size_t>(n));
               else
                 for (std::int64_t i = 0; i < n; ++i) to[a + i * sa] = from[b + i * sb];
             });
  });
  if (!direct) copy_into(at_least_1d(result), target);
  return result;
}

Tensor start_of(const Tensor& input, const Out& out, const char* op) {
  if (out.inplace) {
    check_no_internal_overlap(out[0], op);
    return out[0];
  }
  return input.is_meta() ? empty_like(input) : clone(input, MemoryFormat::Contiguous);
}
// Where PyTorch's functional form keeps input's layout.
Tensor start_or_clone(const Tensor& input, const Out& out, const char* op) {
  if (out.inplace) return start_of(input, out, op);
  return input.is_meta() ? empty_like(input) : clone(input);
}

Tensor without_aliasing(const Tensor& source, const Tensor& result) {
  return source.storage() == result.storage() ? clone(source, MemoryFormat::Contiguous) : source;
}

// Shared by index_add and index_reduce: a source of input's shape but for `dim`.
void check_source(const char* op, const Tensor& input, std::int64_t d, const Tensor& index, const Tensor& source) {
  check(index.dim() <= 1, ErrorKind::Index, op, ": Index is supposed to be a vector, but got dim: ", index.dim(),
        " with type: ", torch_name_of(index.dtype()), " and size: ", index.sizes());
  check(is_int_index(index), ErrorKind::Runtime, op,
        ": Expected dtype int32/int64 for index but got: ", torch_name_of(index.dtype()));
  check(input.dtype() == source.dtype(), ErrorKind::Runtime, op, ": self (", torch_name_of(input.dtype()),
        ") and source (", torch_name_of(source.dtype()), ") must have the same scalar type");
  check(d == 0 || d < source.dim(), ErrorKind::Runtime, op, ": Indexing dim ", d,
        " is out of bounds of the source tensor with dim ", source.dim());
  const std::int64_t length = source.dim() == 0 ? 1 : source.sizes()[d];
  check(index.numel() == length, ErrorKind::Runtime, op, ": Number of indices (", index.numel(),
        ") should be equal to source.size(dim): (", length, "), for dim: ", d);
  Dims expected(input.sizes()), got(source.sizes());
  if (!expected.empty()) expected.erase(d);
  if (!got.empty()) got.erase(d);
  check(expected == got, ErrorKind::Runtime,
        "index_add, index_copy: source tensor shape must match self tensor shape, excluding the specified dimension. "
        "Got self.shape = ",
        input.sizes(), " source.shape = ", source.sizes());
}

// index_add of a matrix' rows: a block of columns at a time, each in order of the index.
bool add_matrix_rows(const Tensor& target, const Tensor& from, std::int64_t d, const Positions& values) {
  const RowTable* loops = row_table(target.dtype());
  if (loops == nullptr || d != 0 || target.dim() != 2 || target.strides()[1] != 1 || from.strides()[1] != 1)
    return false;
  const std::int64_t item = target.itemsize();
  for_column_blocks(static_cast<std::int64_t>(values.size()), target.sizes()[1],
                    [&](std::int64_t first, std::int64_t width) {
                      loops->add_rows(static_cast<char*>(target.data()) + first * item, target.strides()[0],
                                      static_cast<const char*>(from.data()) + first * item, from.strides()[0],
                                      values.data(), static_cast<std::int64_t>(values.size()), width, -1);
                    });
  return true;
}

Tensor index_add(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha,
                 const Out& out) {
  const std::int64_t d = wrap_dim(dim, input.dim(), "index_add");
  check_source("index_add_()", input, d, index, source);
  check(!alpha.is_floating() || is_differentiable(input.dtype()), ErrorKind::Runtime,
        "For integral input tensors, argument alpha must not be a floating point number.");
  check(!alpha.is_complex() || is_complex(input.dtype()), ErrorKind::Runtime,
        "For non-complex input tensors, argument alpha must not be a complex number.");
  check(!alpha.is_bool() || input.dtype() == DType::Bool, ErrorKind::Runtime,
        "Boolean alpha only supported for Boolean results.");
  Tensor result = start_of(input, out, "index_add_");
  if (result.is_meta()) return result;
  const Tensor target = at_least_1d(result), from = at_least_1d(without_aliasing(source, result));
  const auto values = index_values(index, target.sizes()[d], false, [&](std::int64_t value) {
    // PyTorch's classes.
    fail(input.dim() > 1 ? ErrorKind::Runtime : ErrorKind::Index, "index_add: index ", value,
         " is out of bounds for dimension ", d, " with size ", target.sizes()[d]);
  });
  const bool scaled = !alpha.equals(1);
  if (!scaled && add_matrix_rows(target, from, d, values)) return result;
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* a_data = target.data<T>();
    const T* b_data = from.data<T>();
    const T factor = alpha.to<T>();
    walk_dim(target, from, d, values, false,
             [&](std::int64_t a, std::int64_t b, std::int64_t n, std::int64_t sa, std::int64_t sb) {
               T* to_row = a_data + a;
               const T* from_row = b_data + b;
               if (!scaled && sa == 1 && sb == 1) {
                 for (std::int64_t i = 0; i < n; ++i) to_row[i] = arith::add(to_row[i], from_row[i]);
                 return;
               }
               for (std::int64_t i = 0; i < n; ++i) {
                 const T value = from_row[i * sb];
                 to_row[i * sa] = arith::add(to_row[i * sa], scaled ? arith::mul(value, factor) : value);
               }
             });
  });
  return result;
}

Tensor index_copy(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& source, const Out& out) {
  const std::int64_t d = wrap_dim(dim, input.dim(), "index_copy");
  check(index.dim() <= 1, ErrorKind::Index, "index_copy_(): Index should have dimension 1 or 0 (got ", index.dim(),
        ")");
  check(source.dim() != 0 || index.numel() == 1, ErrorKind::Index,
        "index_copy_(): When source is scalar, index should have one element (got ", index.numel(), ")");
  check(source.dim() == input.dim() || source.dim() == 0 || input.dim() == 0, ErrorKind::Index,
        "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
        "dimensionality (",
        source.dim(), "), destination dimensionality (", input.dim(), ")");
  check(index.dtype() == DType::Int64, ErrorKind::Runtime, "index_copy_(): Expected a long tensor for index, but got ",
        torch_name_of(index.dtype()));
  check(input.dtype() == source.dtype(), ErrorKind::Runtime,
        "index_copy_(): self and source expected to have the same dtype, but got (self) ", torch_name_of(input.dtype()),
        " and (source) ", torch_name_of(source.dtype()));
  Dims expected(input.sizes()), got(source.sizes());
  if (!expected.empty()) expected.erase(d);
  if (!got.empty()) got.erase(std::min(d, got.size() - 1));
  check(expected == got, ErrorKind::Runtime,
        "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: ", expected,
        " at dimension ", d, " and source slice shape: ", got, " at dimension 0.");
  const std::int64_t length = source.dim() == 0 ? 1 : source.sizes()[std::min(d, source.dim() - 1)];
  check(index.numel() == length, ErrorKind::Index, "index_copy_(): Number of indices (", index.numel(),
        ") should be equal to source.size(dim) (", length, ")");
  Tensor result = start_of(input, out, "index_copy_");
  if (result.is_meta()) return result;
  const Tensor target = at_least_1d(result), from = at_least_1d(without_aliasing(source, result));
  const auto values = index_values(index, target.sizes()[d], true, [&](std::int64_t value) {
    fail(ErrorKind::Index, "index_copy_(): index ", value, " is out of bounds for dimension ", d, " with size ",
         target.sizes()[d]);
  });
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* a_data = target.data<T>();
    const T* b_data = from.data<T>();
    walk_dim(target, from, d, values, false,
             [&](std::int64_t a, std::int64_t b, std::int64_t n, std::int64_t sa, std::int64_t sb) {
               for (std::int64_t i = 0; i < n; ++i) a_data[a + i * sa] = b_data[b + i * sb];
             });
  });
  return result;
}

Tensor index_fill(const Tensor& input, std::int64_t dim, const Tensor& index, const Scalar& value, const Out& out) {
  const std::int64_t d = wrap_dim(dim, input.dim(), "index_fill");
  check(index.dtype() == DType::Int64, ErrorKind::Index, "index_fill_(): Expected dtype int64 for index.");
  check(index.dim() <= 1, ErrorKind::Runtime, "index_fill: Index has to be a vector/scalar");
  check(!value.is_complex() || is_complex(input.dtype()), ErrorKind::Runtime,
        "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  Tensor result = start_or_clone(input, out, "index_fill_");
  if (result.is_meta()) return result;
  const Tensor target = at_least_1d(result);
  const auto values = index_values(index, target.sizes()[d], true, [&](std::int64_t bad) {
    fail(ErrorKind::Index, "index_fill: index ", bad, " is out of bounds for dimension ", d, " with size ",
         target.sizes()[d]);
  });
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* data = target.data<T>();
    const T number = value.to<T>();
    walk_dim(target, target, d, values, false,
             [&](std::int64_t a, std::int64_t, std::int64_t n, std::int64_t sa, std::int64_t) {
               for (std::int64_t i = 0; i < n; ++i) data[a + i * sa] = number;
             });
  });
  return result;
}

Tensor index_fill_tensor(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& value,
                         const Out& out) {
  check(value.dim() == 0, ErrorKind::Runtime,
        "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(), " dimension(s).");
  return index_fill(input, dim, index, value.is_meta() || input.is_meta() ? Scalar(0) : item(value), out);
}

enum class Reduce { Prod, Mean, Amax, Amin };

template <class T>
T reduced(Reduce reduce, T a, T b) {
  switch (reduce) {
    case Reduce::Prod: return arith::mul(a, b);
    case Reduce::Amax: return arith::maximum(a, b);
    case Reduce::Amin: return arith::minimum(a, b);
    default: return arith::add(a, b);
  }
}

template <class T>
void index_reduce_into(const Tensor& target, const Tensor& from, std::int64_t d, const Positions& values, Reduce reduce,
                       bool include_self) {
  T* a_data = target.data<T>();
  const T* b_data = from.data<T>();
  // How many values meet in each position; the first replaces what was there unless it is included.
  const std::vector<std::int64_t> start(static_cast<std::size_t>(target.sizes()[d]), include_self ? 1 : 0);
  std::vector<std::int64_t> counts(start);
  const std::int64_t stride = target.strides()[d];
  Dims sizes(target.sizes());
  sizes[d] = 1;
  const LineWalk<2> walk(sizes, d, {target.strides(), from.strides()});
  walk.run(0, walk.lines(), [&](const std::int64_t* at) {
    counts = start;
    for (std::size_t k = 0; k < values.size(); ++k) {
      T& to = a_data[at[0] + values[k] * stride];
      const T value = b_data[at[1] + static_cast<std::int64_t>(k) * from.strides()[d]];
      std::int64_t& count = counts[static_cast<std::size_t>(values[k])];
      to = count == 0 ? value : reduced(reduce, to, value);
      ++count;
    }
    if (reduce != Reduce::Mean) return;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      T& to = a_data[at[0] + static_cast<std::int64_t>(i) * stride];
      if (counts[i] > 1) to = arith::divide_count(to, counts[i]);
    }
  });
}

Tensor index_reduce(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self, const Out& out) {
  const std::int64_t d = wrap_dim(dim, input.dim(), "index_reduce");
  check(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin", ErrorKind::Runtime,
        "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got ", reduce, ".");
  const Reduce kind = reduce == "prod"   ? Reduce::Prod
                      : reduce == "mean" ? Reduce::Mean
                      : reduce == "amax" ? Reduce::Amax
                                         : Reduce::Amin;
  check_source("index_reduce()", input, d, index, source);
  Tensor result = start_of(input, out, "index_reduce_");
  if (result.is_meta()) return result;
  const Tensor target = at_least_1d(result), from = at_least_1d(without_aliasing(source, result));
  const auto values = index_values(index, target.sizes()[d], false, [&](std::int64_t bad) {
    fail(ErrorKind::Index, "index_reduce: index out of range in self: expected indices in [0, ", target.sizes()[d],
         ") of dimension ", d, ", got ", bad, ".");
  });
  dispatch_all(input.dtype(), [&](auto tag) {
    index_reduce_into<typename decltype(tag)::type>(target, from, d, values, kind, include_self);
  });
  return result;
}

Positions flat_positions(const char* op, const Tensor& input, const Tensor& index) {
  check(index.dtype() == DType::Int64, ErrorKind::Runtime, op, ": Expected a long tensor for index, but got ",
        torch_name_of(index.dtype()));
  check(index.numel() == 0 || input.numel() != 0, ErrorKind::Index, op, ": tried to take from an empty tensor");
  return index_values(index, input.numel(), true, [&](std::int64_t value) {
    fail(ErrorKind::Index, "take, put: out of range: tried to access index ", value, " on a tensor of ", input.numel(),
         " elements.");
  });
}

Tensor take(const Tensor& input, const Tensor& index, const Out& out) {
  check(index.dtype() == DType::Int64, ErrorKind::Runtime, "take(): Expected a long tensor for index, but got ",
        torch_name_of(index.dtype()));
  check_out_dtype("take()", out, input.dtype());
  check_out_apart("take", out, {&input, &index});
  Tensor result = output("take", out, 0, index.sizes(), input.dtype(), input.device());
  if (result.is_meta()) return result;
  const auto positions = flat_positions("take()", input, index);
  if (positions.empty()) return result;
  const Tensor source = contiguous(input);
  const bool direct = !out.given() && result.dtype() == input.dtype();
  const Tensor target = direct ? result : empty(index.sizes(), input.dtype());
  dispatch_size(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = static_cast<T*>(target.data());
    const T* from = static_cast<const T*>(source.data());
    parallel_for(0, static_cast<std::int64_t>(positions.size()), 32768, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) to[i] = from[positions.data()[i]];
    });
  });
  if (!direct) copy_into(result, target);
  return result;
}

Tensor put(const Tensor& input, const Tensor& index, const Tensor& source, bool accumulate, const Out& out) {
  check(index.dtype() == DType::Int64, ErrorKind::Runtime, "put_(): Expected a long tensor for index, but got ",
        torch_name_of(index.dtype()));
  check(input.dtype() == source.dtype(), ErrorKind::Runtime,
        "put_(): self and source expected to have the same dtype, but got self.dtype = ", torch_name_of(input.dtype()),
        " and source.dtype = ", torch_name_of(source.dtype()));
  check(source.numel() == index.numel(), ErrorKind::Index,
        "put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
        source.numel(), ", index.numel() = ", index.numel());
  Tensor result = start_or_clone(input, out, "put_");
  if (result.is_meta()) return result;
  const auto positions = flat_positions("put_()", input, index);
  const Tensor from = contiguous(without_aliasing(source, result));
  // Positions count in row-major order, whatever the layout.
  const Tensor target = result.is_contiguous() ? result : clone(result, MemoryFormat::Contiguous);
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = target.data<T>();
    const T* values = from.data<T>();
    for (std::size_t i = 0; i < positions.size(); ++i) {
      T& place = to[positions[i]];
      place = accumulate ? arith::add(place, values[i]) : values[i];
    }
  });
  if (!target.is(result)) copy_into(result, target);
  return result;
}

const Kernel kernels[] = {
    {"index_select", &index_select},
    {"index_add", &index_add},
    {"index_copy", &index_copy},
    {"index_fill", &index_fill},
    {"index_fill_tensor", &index_fill_tensor},
    {"index_reduce", &index_reduce},
    {"take", &take},
    {"put", &put},
};

}  // namespace
}  // namespace flambeau
