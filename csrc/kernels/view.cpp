// Views of one result: new sizes, strides and offset over the same storage. Kernels with an Out also serve the in-place
// forms (transpose_, squeeze_ ...), which change the geometry of the tensor itself.
#include "core/copy.h"
#include "core/factory.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

Tensor view(const Tensor& input, IntSpan size) {
  if (input.is_contiguous()) {
    const Dims sizes = infer_size(size, input.numel(), "view");
    return alias(input, sizes, *view_strides(input.sizes(), input.strides(), sizes), input.offset());
  }
  const Dims sizes = infer_size(size, input.numel(), "view");
  const auto strides = view_strides(input.sizes(), input.strides(), sizes);
  check(strides.has_value(), ErrorKind::Runtime, "view size is not compatible with input tensor's size and stride ",
        "(at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
  return alias(input, sizes, *strides, input.offset());
}

Tensor reshape_to(const Tensor& input, const Dims& sizes) {
  if (const auto strides = view_strides(input.sizes(), input.strides(), sizes)) {
    return alias(input, sizes, *strides, input.offset());
  }
  const Tensor copy = clone(input, MemoryFormat::Contiguous);
  return alias(copy, sizes, contiguous_strides(sizes), copy.offset());
}

Tensor reshape(const Tensor& input, IntSpan shape) {
  return reshape_to(input, infer_size(shape, input.numel(), "reshape"));
}

Tensor flatten(const Tensor& input, std::int64_t start_dim, std::int64_t end_dim) {
  const std::int64_t n = input.dim();
  const std::int64_t start = wrap_dim(start_dim, n, "flatten"), end = wrap_dim(end_dim, n, "flatten");
  check(start <= end, ErrorKind::Runtime, "flatten: start_dim cannot come after end_dim, got ", start_dim, " and ",
        end_dim, ".");
  if (n == 0) return reshape_to(input, {1});
  if (start == end) return input;
  Dims sizes;
  std::int64_t joined = 1;
  for (std::int64_t d = 0; d < n; ++d) {
    if (d >= start && d <= end) joined = checked_mul(joined, input.sizes()[d], "flatten");
    if (d == end) sizes.push_back(joined);
    if (d < start || d > end) sizes.push_back(input.sizes()[d]);
  }
  return reshape_to(input, sizes);
}

Tensor unflatten(const Tensor& input, std::int64_t dim, IntSpan sizes) {
  const std::int64_t at = wrap_dim(dim, input.dim(), "unflatten");
  check(!sizes.empty(), ErrorKind::Runtime, "unflatten: expected at least one size, got [].");
  const std::int64_t own = input.dim() == 0 ? 1 : input.sizes()[at];
  std::int64_t known = 1, unknown = -1;
  for (std::int64_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == -1 && unknown < 0)
      unknown = d;
    else
      known = checked_mul(known, sizes[d], "unflatten");
  }
  const bool fits = unknown < 0 ? known == own : (known > 0 && own % known == 0);
  check(fits, ErrorKind::Runtime, "unflatten: Provided sizes ", sizes, " don't multiply up to the size of dim ", dim,
        " (", own, ") in the input tensor");
  const Dims inner = infer_size(sizes, own, "unflatten");
  Dims result;
  for (std::int64_t d = 0; d < at; ++d) result.push_back(input.sizes()[d]);
  for (const std::int64_t size : inner) result.push_back(size);
  for (std::int64_t d = at + 1; d < input.dim(); ++d) result.push_back(input.sizes()[d]);
  const auto strides = view_strides(input.sizes(), input.strides(), result);
  check(strides.has_value(), ErrorKind::Runtime, "unflatten: expected a dim that can be split without a copy.");
  return alias(input, result, *strides, input.offset());
}

Tensor expand(const Tensor& input, IntSpan size, bool) {
  Dims sizes;
  const Dims strides = expand_strides(input.sizes(), input.strides(), size, "expand", sizes);
  return alias(input, sizes, strides, input.offset());
}

Tensor permute(const Tensor& input, IntSpan dims) {
  const std::int64_t n = input.dim();
  check(dims.size() == n, ErrorKind::Runtime, "permute: expected as many dims as input has (", n, "), got ", dims, ".");
  Dims sizes = Dims::filled(n, 0), strides = Dims::filled(n, 0);
  std::uint64_t seen = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t d = wrap_dim(dims[i], n, "permute");
    check((seen >> d & 1U) == 0, ErrorKind::Runtime, "permute(): duplicate dims are not allowed, got ", dims, ".");
    seen |= std::uint64_t{1} << d;
    sizes[i] = input.sizes()[d];
    strides[i] = input.strides()[d];
  }
  return alias(input, sizes, strides, input.offset());
}

Tensor swapped(const Tensor& input, std::int64_t a, std::int64_t b, const Out& out) {
  Dims sizes(input.sizes()), strides(input.strides());
  if (a != b) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  return view_or_change(input, sizes, strides, input.offset(), out);
}

Tensor transpose(const Tensor& input, std::int64_t dim0, std::int64_t dim1, const Out& out) {
  const std::int64_t n = input.dim();
  return swapped(input, wrap_dim(dim0, n, "transpose"), wrap_dim(dim1, n, "transpose"), out);
}

Tensor t(const Tensor& input, const Out& out) {
  check(input.dim() <= 2, ErrorKind::Runtime, "t() expects a tensor with <= 2 dimensions, but self is ", input.dim(),
        "D");
  return swapped(input, 0, input.dim() == 2 ? 1 : 0, out);
}

// x.T: all dims reversed.
Tensor numpy_t(const Tensor& input) {
  Dims sizes, strides;
  for (std::int64_t d = input.dim() - 1; d >= 0; --d) {
    sizes.push_back(input.sizes()[d]);
    strides.push_back(input.strides()[d]);
  }
  return alias(input, sizes, strides, input.offset());
}

Tensor matrix_transpose(const Tensor& input) {
  const std::int64_t n = input.dim();
  check(n >= 2, ErrorKind::Runtime, "tensor.mT is only supported on matrices or batches of matrices. Got ", n,
        "-D tensor.");
  return swapped(input, n - 2, n - 1, {});
}

Tensor movedim(const Tensor& input, IntSpan source, IntSpan destination) {
  const std::int64_t n = input.dim();
  check(source.size() == destination.size(), ErrorKind::Runtime,
        "movedim: Invalid source or destination dims: source (", source,
        " dims) should contain the same number of dims as destination (", destination, " dims)");
  const Dims from = wrap_distinct_dims(source, n, "movedim"), to = wrap_distinct_dims(destination, n, "movedim");
  if (n == 0) return alias(input);
  Dims order = Dims::filled(n, -1);
  std::uint64_t used = 0;
  for (std::int64_t i = 0; i < from.size(); ++i) {
    order[to[i]] = from[i];
    used |= std::uint64_t{1} << from[i];
  }
  std::int64_t next = 0;
  for (std::int64_t d = 0; d < n; ++d) {
    if (order[d] >= 0) continue;
    while ((used >> next & 1U) != 0) ++next;
    order[d] = next++;
  }
  return permute(input, order);
}

Tensor squeeze_where(const Tensor& input, std::uint64_t mask, const Out& out) {
  Dims sizes, strides;
  for (std::int64_t d = 0; d < input.dim(); ++d) {
    if ((mask >> d & 1U) != 0 && input.sizes()[d] == 1) continue;
    sizes.push_back(input.sizes()[d]);
    strides.push_back(input.strides()[d]);
  }
  return view_or_change(input, sizes, strides, input.offset(), out);
}

Tensor squeeze(const Tensor& input, const Out& out) { return squeeze_where(input, ~std::uint64_t{0}, out); }

Tensor squeeze_dims(const Tensor& input, IntSpan dim, const Out& out) {
  std::uint64_t mask = 0;
  for (const std::int64_t d : wrap_distinct_dims(dim, input.dim(), "squeeze")) mask |= std::uint64_t{1} << d;
  return squeeze_where(input, mask, out);
}

Tensor unsqueeze(const Tensor& input, std::int64_t dim, const Out& out) {
  const std::int64_t n = input.dim(), at = wrap_dim(dim, n + 1, "unsqueeze");
  check(n < kMaxDims, ErrorKind::Runtime, "unsqueeze: expected a result of at most ", kMaxDims, " dims.");
  Dims sizes(input.sizes()), strides(input.strides());
  const std::int64_t stride = at < n ? sizes[at] * strides[at] : 1;
  sizes.insert(at, 1);
  strides.insert(at, stride);
  return view_or_change(input, sizes, strides, input.offset(), out);
}

Tensor select(const Tensor& input, std::int64_t dim, std::int64_t index) {
  check(input.dim() != 0, ErrorKind::Index, "select() cannot be applied to a 0-dim tensor.");
  const std::int64_t at = wrap_dim(dim, input.dim(), "select");
  const std::int64_t size = input.sizes()[at];
  if (index < -size || index >= size) [[unlikely]] {
    fail(ErrorKind::Index, "select(): index ", index, " out of range for tensor of size ", input.sizes(),
         " at dimension ", at);
  }
  Dims sizes(input.sizes()), strides(input.strides());
  const std::int64_t offset = input.offset() + (index < 0 ? index + size : index) * strides[at];
  sizes.erase(at);
  strides.erase(at);
  return alias(input, sizes, strides, offset);
}

Tensor slice(const Tensor& input, std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end,
             std::int64_t step) {
  check(input.dim() != 0, ErrorKind::Runtime, "slice() cannot be applied to a 0-dim tensor.");
  const std::int64_t at = wrap_dim(dim, input.dim(), "slice"), size = input.sizes()[at];
  check(step > 0, ErrorKind::Runtime, "slice: slice step must be positive", ". Use flip() to reverse.");
  auto clamp = [size](std::int64_t value) {
    if (value < 0) value += size;
    return value < 0 ? 0 : value > size ? size : value;
  };
  const std::int64_t first = clamp(start.value_or(0)), last = std::max(clamp(end.value_or(size)), first);
  Dims sizes(input.sizes()), strides(input.strides());
  const std::int64_t offset = input.offset() + first * strides[at];
  // Not (last - first + step - 1) / step, which overflows for huge steps.
  sizes[at] = last == first ? 0 : (last - first - 1) / step + 1;
  if (__builtin_mul_overflow(strides[at], step, &strides[at])) {
    check(sizes[at] <= 1, ErrorKind::Runtime, "slice: expected a step within the tensor, got ", step, ".");
    strides[at] = 1;
  }
  return alias(input, sizes, strides, offset);
}

Tensor narrow(const Tensor& input, std::int64_t dim, std::int64_t start, std::int64_t length) {
  check(input.dim() != 0, ErrorKind::Runtime, "narrow() cannot be applied to a 0-dim tensor.");
  check(length >= 0, ErrorKind::Runtime, "narrow(): length must be non-negative.");
  const std::int64_t at = wrap_dim(dim, input.dim(), "narrow"), size = input.sizes()[at];
  check(start >= -size && start <= size, ErrorKind::Index, "narrow: start out of range (expected to be in range of [",
        -size, ", ", size, "], but got ", start, ")");
  if (start < 0) start += size;
  check(start <= size - length, ErrorKind::Runtime, "narrow: start (", start, ") + length (", length,
        ") exceeds dimension size (", size, ").");
  Dims sizes(input.sizes());
  sizes[at] = length;
  return alias(input, sizes, input.strides(), input.offset() + start * input.strides()[at]);
}

Tensor narrow_tensor(const Tensor& input, std::int64_t dim, const Tensor& start, std::int64_t length) {
  check(start.dim() == 0 && is_integral(start.dtype(), false), ErrorKind::Runtime,
        "narrow: start must be an 0-dim integral Tensor.");
  return narrow(input, dim, item(start).to_int(), length);
}

Tensor diagonal(const Tensor& input, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const std::int64_t n = input.dim();
  const std::int64_t a = wrap_dim(dim1, n, "diagonal"), b = wrap_dim(dim2, n, "diagonal");
  check(a != b, ErrorKind::Runtime, "diagonal: diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  Dims sizes(input.sizes()), strides(input.strides());
  const std::int64_t rows = sizes[a], columns = sizes[b];
  std::int64_t length = 0;
  if (offset >= 0)
    length = offset >= columns ? 0 : std::min(rows, columns - offset);
  else
    length = offset <= -rows ? 0 : std::min(rows + offset, columns);
  std::int64_t at = input.offset();
  // An empty diagonal keeps the offset, so that it stays within the storage.
  if (length > 0) at += offset >= 0 ? offset * strides[b] : -offset * strides[a];
  const std::int64_t stride = strides[a] + strides[b];
  sizes.erase(std::max(a, b));
  sizes.erase(std::min(a, b));
  strides.erase(std::max(a, b));
  strides.erase(std::min(a, b));
  sizes.push_back(length);
  strides.push_back(stride);
  return alias(input, sizes, strides, at);
}

Tensor as_strided(const Tensor& input, IntSpan size, IntSpan stride, std::optional<std::int64_t> storage_offset,
                  const Out& out) {
  const std::int64_t offset = storage_offset.value_or(input.offset());
  check_in_storage(input, size, stride, offset, input.dtype(), "as_strided");
  return view_or_change(input, Dims(size), Dims(stride), offset, out);
}

Tensor unfold(const Tensor& input, std::int64_t dimension, std::int64_t size, std::int64_t step) {
  const std::int64_t n = input.dim(), at = wrap_dim(dimension, n, "unfold");
  const std::int64_t own = n == 0 ? 1 : input.sizes()[at];
  check(size >= 0, ErrorKind::Runtime, "unfold: size is ", size, " but must be >= 0");
  check(size <= own, ErrorKind::Runtime, "unfold: maximum size for tensor at dimension ", at, " is ", own,
        " but size is ", size);
  check(step > 0, ErrorKind::Runtime, "unfold: step is ", step, " but must be > 0");
  Dims sizes(input.sizes()), strides(input.strides());
  const std::int64_t stride = n == 0 ? 1 : strides[at];
  sizes.push_back(size);
  strides.push_back(stride);
  if (n != 0) {
    sizes[at] = (own - size) / step + 1;
    if (__builtin_mul_overflow(stride, step, &strides[at])) strides[at] = stride;  // only when there is one window
  }
  return alias(input, sizes, strides, input.offset());
}

Tensor alias_of(const Tensor& input) { return alias(input); }
// Detached from an inference tensor it stays one, but may be changed in place outside inference mode, as with .data.
Tensor detach(const Tensor& input) {
  const Tensor result = alias(input);
  if (input.impl()->inference) [[unlikely]]
    result.impl()->inference = result.impl()->untracked_version = true;
  return result;
}

const Kernel kernels[] = {
    {"view", &view},
    {"reshape", &reshape},
    {"flatten", &flatten},
    {"unflatten", &unflatten},
    {"expand", &expand},
    {"permute", &permute},
    {"transpose", &transpose},
    {"t", &t},
    {"numpy_T", &numpy_t},
    {"matrix_transpose", &matrix_transpose},
    {"movedim", &movedim},
    {"squeeze", &squeeze},
    {"squeeze_dims", &squeeze_dims},
    {"unsqueeze", &unsqueeze},
    {"select", &select},
    {"slice", &slice},
    {"narrow", &narrow},
    {"narrow_tensor", &narrow_tensor},
    {"diagonal", &diagonal},
    {"as_strided", &as_strided},
    {"unfold", &unfold},
    {"alias", &alias_of},
    {"detach", &detach},
};

}  // namespace
}  // namespace flambeau
