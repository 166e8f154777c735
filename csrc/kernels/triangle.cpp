// Triangles and diagonals: tril, triu and their indices, diag_embed; a source written into a view of a copy (…_scatter)
// or of zeros (the gradients of views).
#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/create.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

// Keeps column - row <= diagonal (lower) or >= diagonal (upper), zero elsewhere.
Tensor triangle(const char* op, const Tensor& input, std::int64_t diagonal, bool lower, const Out& out) {
  check(input.dim() >= 2, ErrorKind::Runtime, op, ": input tensor must have at least 2 dimensions");
  Tensor result = output(op, out, 0, input.sizes(), input.dtype(), input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  const bool direct = !out.given() && result.dtype() == input.dtype() && result.is_contiguous();
  const Tensor source = contiguous(input);
  const Tensor target = direct ? result : empty(input.sizes(), input.dtype());
  const std::int64_t columns = input.sizes()[input.dim() - 1], rows = input.sizes()[input.dim() - 2];
  // Clamped so that row + diagonal cannot overflow.
  const std::int64_t shift = std::clamp(diagonal, -rows - 1, columns + 1);
  dispatch_size(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(source.data());
    T* to = static_cast<T*>(target.data());
    parallel_for(
        0, target.numel() / columns, std::max<std::int64_t>(32768 / columns, 1),
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t line = begin; line < end; ++line) {
            const std::int64_t row = line % rows;
            const std::int64_t first = lower ? 0 : std::clamp<std::int64_t>(row + shift, 0, columns);
            const std::int64_t last = lower ? std::clamp<std::int64_t>(row + shift + 1, 0, columns) : columns;
            T* at = to + line * columns;
            std::memset(static_cast<void*>(at), 0, sizeof(T) * static_cast<std::size_t>(first));
            if (last > first)
              std::memcpy(static_cast<void*>(at + first), static_cast<const void*>(from + line * columns + first),
                          sizeof(T) * static_cast<std::size_t>(last - first));
            std::memset(static_cast<void*>(at + last), 0, sizeof(T) * static_cast<std::size_t>(columns - last));
          }
        });
  });
  if (!direct) copy_into(result, target);
  return result;
}

Tensor tril(const Tensor& input, std::int64_t diagonal, const Out& out) {
  return triangle("tril", input, diagonal, true, out);
}
Tensor triu(const Tensor& input, std::int64_t diagonal, const Out& out) {
  return triangle("triu", input, diagonal, false, out);
}

// Elements of a matrix with column - row <= shift.
std::int64_t count_below(std::int64_t rows, std::int64_t columns, std::int64_t shift) {
  const std::int64_t growing_from = std::clamp<std::int64_t>(-shift, 0, rows);
  const std::int64_t full_from = std::clamp<std::int64_t>(columns - shift - 1, growing_from, rows);
  // Rows [growing_from, full_from) hold row + shift + 1 elements, later ones all columns.
  const std::int64_t n = full_from - growing_from;
  const __int128 growing = static_cast<__int128>(n) * (growing_from + full_from - 1 + 2 * (shift + 1)) / 2;
  return static_cast<std::int64_t>(growing + static_cast<__int128>(rows - full_from) * columns);
}

Tensor triangle_indices(const char* op, std::int64_t rows, std::int64_t columns, std::int64_t offset, bool lower,
                        std::optional<DType> dtype, std::optional<Device> device) {
  check(rows >= 0, ErrorKind::Runtime, "tril_indices, triu_indices: row must be non-negative, got ", rows);
  check(columns >= 0, ErrorKind::Runtime, "tril_indices, triu_indices: col must be non-negative, got ", columns);
  checked_mul(rows, columns, op);
  const DType type = dtype.value_or(DType::Int64);
  check(type == DType::Int64 || type == DType::Int32, ErrorKind::Runtime, '"', op, "\" not implemented for '",
        torch_name_of(type), "'");
  const std::int64_t shift = std::clamp(offset, -rows, columns);
  auto span = [&](std::int64_t row) {
    const std::int64_t first = lower ? 0 : std::clamp<std::int64_t>(row + shift, 0, columns);
    const std::int64_t last = lower ? std::clamp<std::int64_t>(row + shift + 1, 0, columns) : columns;
    return std::pair{first, last};
  };
  const std::int64_t below = count_below(rows, columns, lower ? shift : shift - 1);
  const std::int64_t count = lower ? below : rows * columns - below;
  Tensor result = empty({2, count}, DType::Int64, device.value_or(Device{}));
  if (!result.is_meta()) {
    auto* row_out = result.data<std::int64_t>();
    auto* column_out = row_out + count;
    // Only rows that hold something.
    const std::int64_t from = lower ? std::clamp<std::int64_t>(-shift, 0, rows) : 0,
                       to = lower ? rows : std::clamp<std::int64_t>(columns - shift, 0, rows);
    for (std::int64_t row = columns == 0 ? to : from; row < to; ++row) {
      const auto [first, last] = span(row);
      for (std::int64_t column = first; column < last; ++column) {
        *row_out++ = row;
        *column_out++ = column;
      }
    }
  }
  return to_dtype(result, type);
}

Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset, std::optional<DType> dtype,
                    std::optional<Device> device) {
  return triangle_indices("tril_indices", row, col, offset, true, dtype, device);
}
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset, std::optional<DType> dtype,
                    std::optional<Device> device) {
  return triangle_indices("triu_indices", row, col, offset, false, dtype, device);
}

// Geometries of the views below.
struct View {
  Dims sizes, strides;
  std::int64_t offset;
};
Tensor shown(const Tensor& tensor, const View& view) { return alias(tensor, view.sizes, view.strides, view.offset); }

View diagonal_view(const Tensor& tensor, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const std::int64_t n = tensor.dim(), a = wrap_dim(dim1, n, "diagonal"), b = wrap_dim(dim2, n, "diagonal");
  check(a != b, ErrorKind::Runtime, "diagonal: diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  View view{Dims(tensor.sizes()), Dims(tensor.strides()), tensor.offset()};
  const std::int64_t rows = view.sizes[a], columns = view.sizes[b];
  std::int64_t length = 0;
  if (offset >= 0)
    length = offset >= columns ? 0 : std::min(rows, columns - offset);
  else
    length = offset <= -rows ? 0 : std::min(rows + offset, columns);
  if (length > 0) view.offset += offset >= 0 ? offset * view.strides[b] : -offset * view.strides[a];
  const std::int64_t stride = view.strides[a] + view.strides[b];
  view.sizes.erase(std::max(a, b));
  view.sizes.erase(std::min(a, b));
  view.strides.erase(std::max(a, b));
  view.strides.erase(std::min(a, b));
  view.sizes.push_back(length);
  view.strides.push_back(stride);
  return view;
}

View select_view(const Tensor& tensor, std::int64_t dim, std::int64_t index) {
  check(tensor.dim() != 0, ErrorKind::Index, "select() cannot be applied to a 0-dim tensor.");
  const std::int64_t d = wrap_dim(dim, tensor.dim(), "select"), size = tensor.sizes()[d];
  check(index >= -size && index < size, ErrorKind::Index, "select(): index ", index,
        " out of range for tensor of size ", tensor.sizes(), " at dimension ", d);
  View view{Dims(tensor.sizes()), Dims(tensor.strides()), tensor.offset()};
  view.offset += (index < 0 ? index + size : index) * view.strides[d];
  view.sizes.erase(d);
  view.strides.erase(d);
  return view;
}

View slice_view(const Tensor& tensor, std::int64_t dim, std::optional<std::int64_t> start,
                std::optional<std::int64_t> end, std::int64_t step) {
  check(tensor.dim() != 0, ErrorKind::Runtime, "slice() cannot be applied to a 0-dim tensor.");
  check(step > 0, ErrorKind::Runtime, "slice: slice step must be positive");
  const std::int64_t d = wrap_dim(dim, tensor.dim(), "slice"), size = tensor.sizes()[d];
  auto clamp = [size](std::int64_t value) {
    return std::clamp<std::int64_t>(value < 0 ? value + size : value, 0, size);
  };
  const std::int64_t first = clamp(start.value_or(0)), last = std::max(clamp(end.value_or(size)), first);
  View view{Dims(tensor.sizes()), Dims(tensor.strides()), tensor.offset() + first * tensor.strides()[d]};
  view.sizes[d] = last == first ? 0 : (last - first - 1) / step + 1;
  view.strides[d] = view.sizes[d] > 1 ? view.strides[d] * step : 1;
  return view;
}

Tensor copy_of(const Tensor& input) { return input.is_meta() ? empty_like(input) : clone(input); }
Tensor scattered(const char* op, const Tensor& src, const Tensor& result, const View& view) {
  check(src.sizes() == IntSpan(view.sizes), ErrorKind::Runtime, op,
        ": expected src to have a size equal to the slice of self. src size = ", src.sizes(),
        ", slice size = ", view.sizes);
  if (!result.is_meta() && src.numel() != 0) copy_into(shown(result, view), src);
  return result;
}

Tensor select_scatter(const Tensor& input, const Tensor& src, std::int64_t dim, std::int64_t index) {
  const Tensor result = copy_of(input);
  return scattered("select_scatter", src, result, select_view(result, dim, index));
}
Tensor slice_scatter(const Tensor& input, const Tensor& src, std::int64_t dim, std::optional<std::int64_t> start,
                     std::optional<std::int64_t> end, std::int64_t step) {
  const Tensor result = copy_of(input);
  return scattered("slice_scatter", src, result, slice_view(result, dim, start, end, step));
}
Tensor diagonal_scatter(const Tensor& input, const Tensor& src, std::int64_t offset, std::int64_t dim1,
                        std::int64_t dim2) {
  const Tensor result = copy_of(input);
  return scattered("diagonal_scatter", src, result, diagonal_view(result, offset, dim1, dim2));
}
// The copy keeps input's offset and strides, so that the geometry means the same in both.
Tensor as_strided_scatter(const Tensor& input, const Tensor& src, IntSpan size, IntSpan stride,
                          std::optional<std::int64_t> storage_offset) {
  const std::int64_t offset = storage_offset.value_or(input.offset());
  check_in_storage(input, size, stride, offset, input.dtype(), "as_strided_scatter");
  const std::int64_t bytes = input.storage()->bytes();
  Tensor whole = empty({std::max<std::int64_t>(bytes / input.itemsize(), 1)}, input.dtype(), input.device());
  const Tensor result = alias(whole, input.sizes(), input.strides(), input.offset());
  if (!input.is_meta()) {
    std::memcpy(whole.data(), input.storage()->data(),
                static_cast<std::size_t>(bytes / input.itemsize() * input.itemsize()));
  }
  return scattered("as_strided_scatter", src, result, View{Dims(size), Dims(stride), offset});
}

Tensor blank(const Tensor& grad, IntSpan sizes) {
  return grad.is_meta() ? empty(sizes, grad.dtype(), grad.device()) : zeros(sizes, grad.dtype());
}

Tensor select_backward(const Tensor& grad, IntSpan sizes, std::int64_t dim, std::int64_t index) {
  const Tensor result = blank(grad, sizes);
  return scattered("select_backward", grad, result, select_view(result, dim, index));
}
Tensor slice_backward(const Tensor& grad, IntSpan sizes, std::int64_t dim, std::optional<std::int64_t> start,
                      std::optional<std::int64_t> end, std::int64_t step) {
  const Tensor result = blank(grad, sizes);
  return scattered("slice_backward", grad, result, slice_view(result, dim, start, end, step));
}
Tensor diagonal_backward(const Tensor& grad, IntSpan sizes, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const Tensor result = blank(grad, sizes);
  return scattered("diagonal_backward", grad, result, diagonal_view(result, offset, dim1, dim2));
}

Tensor diag_embed(const Tensor& input, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const std::int64_t n = input.dim() + 1, a = wrap_dim(dim1, n, "diag_embed"), b = wrap_dim(dim2, n, "diag_embed");
  check(input.dim() != 0, ErrorKind::Runtime, "diag_embed: expected at least one dim.");
  check(a != b, ErrorKind::Runtime, "diagonal: diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  check(offset > INT64_MIN, ErrorKind::Runtime, "diag_embed: offset ", offset, " is too small.");
  std::int64_t side = 0;
  check(!__builtin_add_overflow(input.sizes().back(), offset < 0 ? -offset : offset, &side), ErrorKind::Runtime,
        "diag_embed: offset ", offset, " is too large.");
  Dims sizes(input.sizes());
  sizes.resize(input.dim() - 1);
  sizes.insert(std::min(a, b), side);
  sizes.insert(std::max(a, b), side);
  checked_numel(sizes);
  const Tensor result = blank(input, sizes);
  return scattered("diag_embed", input, result, diagonal_view(result, offset, dim1, dim2));
}

const Kernel kernels[] = {
    {"tril", &tril},
    {"triu", &triu},
    {"tril_indices", &tril_indices},
    {"triu_indices", &triu_indices},
    {"diag_embed", &diag_embed},
    {"select_scatter", &select_scatter},
    {"slice_scatter", &slice_scatter},
    {"diagonal_scatter", &diagonal_scatter},
    {"as_strided_scatter", &as_strided_scatter},
    {"select_backward", &select_backward},
    {"slice_backward", &slice_backward},
    {"diagonal_backward", &diagonal_backward},
};

}  // namespace
}  // namespace flambeau
