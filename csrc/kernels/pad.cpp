// Padding. Constant: fill, then copy what remains of input. Reflect, replicate and circular: each padded dim has a
// table from result position to input position; the gradient adds back through the same tables.
#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/arith.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

// pad = (left, right) pairs from the last dim backwards.
std::int64_t left_of(IntSpan pad, std::int64_t ndim, std::int64_t d) {
  const std::int64_t k = (ndim - 1 - d) * 2;
  return k < pad.size() ? pad[k] : 0;
}
std::int64_t right_of(IntSpan pad, std::int64_t ndim, std::int64_t d) {
  const std::int64_t k = (ndim - 1 - d) * 2 + 1;
  return k < pad.size() ? pad[k] : 0;
}

Dims padded_sizes(const Tensor& input, IntSpan pad, const char* op) {
  check(pad.size() % 2 == 0, ErrorKind::Runtime, "pad: Length of pad must be even but instead it equals ", pad.size());
  const std::int64_t n = input.dim();
  check(pad.size() <= n * 2, ErrorKind::Runtime, op,
        ": Length of pad should be no more than twice the number of dimensions of the input. Pad length is ",
        pad.size(), " while the input has ", n, " dimensions.");
  Dims sizes(input.sizes());
  for (std::int64_t d = 0; d < n; ++d) {
    std::int64_t size = sizes[d];
    const bool overflow = __builtin_add_overflow(size, left_of(pad, n, d), &size) ||
                          __builtin_add_overflow(size, right_of(pad, n, d), &size);
    check(!overflow && size >= 0, ErrorKind::Runtime, "pad: The input size ", sizes[d], ", plus negative padding ",
          left_of(pad, n, d), " and ", right_of(pad, n, d),
          " resulted in a negative output size, which is invalid. Check dimension ", d, " of your input.");
    sizes[d] = size;
  }
  return sizes;
}

Tensor constant_pad_nd(const Tensor& input, IntSpan pad, const Scalar& value) {
  const Dims sizes = padded_sizes(input, pad, "constant_pad_nd");
  const std::int64_t n = input.dim();
  check(!value.is_complex() || is_complex(input.dtype()), ErrorKind::Runtime, "value cannot be converted to type ",
        name_of(input.dtype()), " without overflow");
  checked_numel(sizes);
  bool unchanged = true;
  for (const std::int64_t width : pad) unchanged = unchanged && width == 0;
  if (unchanged) return input.is_meta() ? empty_like(input) : clone(input);
  Tensor result = empty(sizes, input.dtype(), input.device(), suggested_format(input));
  if (result.is_meta() || result.numel() == 0) return result;
  fill(result, value);
  // The part of input that stays, and where it lands.
  Dims kept(sizes);
  std::int64_t to = result.offset(), from = input.offset();
  for (std::int64_t d = 0; d < n; ++d) {
    const std::int64_t left = left_of(pad, n, d), right = right_of(pad, n, d);
    kept[d] = input.sizes()[d] + std::min<std::int64_t>(left, 0) + std::min<std::int64_t>(right, 0);
    if (kept[d] <= 0) return result;
    to += std::max<std::int64_t>(left, 0) * result.strides()[d];
    from += std::max<std::int64_t>(-left, 0) * input.strides()[d];
  }
  copy_into(alias(result, kept, result.strides(), to), alias(input, kept, input.strides(), from));
  return result;
}

enum class Mode { Reflect, Replicate, Circular };

Mode parse_mode(std::string_view mode) {
  if (mode == "reflect") return Mode::Reflect;
  if (mode == "replicate") return Mode::Replicate;
  check(mode == "circular", ErrorKind::NotImplemented, "pad: Unrecognised padding mode ", mode,
        ". Known are constant, reflect, replicate and circular.");
  return Mode::Circular;
}

// Position in input of result position i. Circular wraps around what negative pads leave.
std::int64_t source_position(Mode mode, std::int64_t i, std::int64_t size, std::int64_t left, std::int64_t right) {
  const std::int64_t at = i - left;
  switch (mode) {
    case Mode::Reflect: return at < 0 ? -at : at >= size ? 2 * (size - 1) - at : at;
    case Mode::Replicate: return at < 0 ? 0 : at >= size ? size - 1 : at;
    default: {
      const std::int64_t kept = size + std::min<std::int64_t>(left, 0) + std::min<std::int64_t>(right, 0);
      const std::int64_t from = std::max<std::int64_t>(-left, 0);
      return from + ((i - std::max<std::int64_t>(left, 0)) % kept + kept) % kept;
    }
  }
}

// Element offsets in input for each position of each result dim; one table per dim.
std::vector<std::vector<std::int64_t>> position_tables(const Dims& padded, IntSpan sizes, IntSpan strides, IntSpan pad,
                                                       Mode mode) {
  const std::int64_t n = sizes.size();
  std::vector<std::vector<std::int64_t>> tables(static_cast<std::size_t>(n));
  for (std::int64_t d = 0; d < n; ++d) {
    auto& table = tables[static_cast<std::size_t>(d)];
    table.resize(static_cast<std::size_t>(padded[d]));
    const std::int64_t left = left_of(pad, n, d), right = right_of(pad, n, d);
    for (std::int64_t i = 0; i < padded[d]; ++i) {
      const bool is_padded = (n - 1 - d) * 2 < pad.size();
      const std::int64_t position = is_padded ? source_position(mode, i, sizes[d], left, right) : i;
      check(position >= 0 && position < sizes[d], ErrorKind::Runtime, "pad: expected pads within input of shape ",
            sizes, ", got ", pad, ".");
      table[static_cast<std::size_t>(i)] = position * strides[d];
    }
  }
  return tables;
}

void check_pad(Mode mode, IntSpan sizes, IntSpan pad) {
  const std::int64_t n = sizes.size();
  check(n > 0 && pad.size() % 2 == 0 && pad.size() <= n * 2, ErrorKind::Runtime,
        "pad: expected pairs of pads for at most ", n, " dims of an input that has any, got ", pad, ".");
  for (std::int64_t d = n - pad.size() / 2; d < n; ++d) {
    const std::int64_t left = left_of(pad, n, d), right = right_of(pad, n, d), size = sizes[d];
    check(size > 0, ErrorKind::Runtime, "pad: expected padded dims of non-zero size, got shape ", sizes, ".");
    check(mode != Mode::Circular || size + std::min<std::int64_t>(left, 0) + std::min<std::int64_t>(right, 0) > 0,
          ErrorKind::Runtime, "pad: expected negative pads to leave something of dim ", d, ", got (", left, ", ", right,
          ") for input ", sizes);
    const bool fits = mode == Mode::Replicate ||
                      (mode == Mode::Reflect ? left < size && right < size : left <= size && right <= size);
    check(fits, ErrorKind::Runtime,
          mode == Mode::Reflect
              ? "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding ("
              : "Padding value causes wrapping around more than once: padding (",
          left, ", ", right, ") at dimension ", d, " of input ", sizes);
  }
}

Tensor pad_mode(const Tensor& input, IntSpan pad, std::string_view mode);

// Channels-last: as an (n, spatial..., c) tensor with pads of 0 for the channels, and the result turned back.
Tensor pad_last(const Tensor& input, IntSpan pad, std::string_view mode) {
  const std::int64_t n = input.dim();
  const auto turned = [n](IntSpan values) {
    Dims moved{values[0]};
    for (std::int64_t d = 2; d < n; ++d) moved.push_back(values[d]);
    moved.push_back(values[1]);
    return moved;
  };
  const auto back = [n](IntSpan values) {
    Dims moved{values[0], values[n - 1]};
    for (std::int64_t d = 1; d < n - 1; ++d) moved.push_back(values[d]);
    return moved;
  };
  Dims pads{0, 0};
  for (const std::int64_t width : pad) pads.push_back(width);
  const Tensor lines = alias(input, turned(input.sizes()), turned(input.strides()), input.offset());
  const Tensor result = pad_mode(lines, pads, mode);
  return alias(result, back(result.sizes()), back(result.strides()), result.offset());
}

Tensor pad_mode(const Tensor& input, IntSpan pad, std::string_view mode) {
  const Mode kind = parse_mode(mode);
  const Dims sizes = padded_sizes(input, pad, "pad");
  checked_numel(sizes);
  check_pad(kind, input.sizes(), pad);
  const MemoryFormat format = kind == Mode::Circular ? MemoryFormat::Contiguous : suggested_format(input);
  if (format != MemoryFormat::Contiguous && pad.size() == 2 * (input.dim() - 2)) return pad_last(input, pad, mode);
  Tensor result = empty(sizes, input.dtype(), input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  const auto tables = position_tables(sizes, input.sizes(), input.strides(), pad, kind);
  const std::int64_t last = sizes.size() - 1, n = sizes[last];
  dispatch_size(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(input.data());
    T* to = static_cast<T*>(result.data());
    // The longest start of the last dim's middle that lies in input as it does in the result is copied as a block.
    const std::int64_t* inner = tables[static_cast<std::size_t>(last)].data();
    const std::int64_t head = std::min(n, std::max<std::int64_t>(left_of(pad, sizes.size(), last), 0));
    std::int64_t tail = std::min(head + 1, n);
    while (tail < n && inner[tail] == inner[tail - 1] + 1) ++tail;
    const auto copy_line = [&](T* at, const T* in) {
      for (std::int64_t i = 0; i < head; ++i) at[i] = in[inner[i]];
      if (tail > head)
        std::memcpy(static_cast<void*>(at + head), static_cast<const void*>(in + inner[head]),
                    sizeof(T) * static_cast<std::size_t>(tail - head));
      for (std::int64_t i = tail; i < n; ++i) at[i] = in[inner[i]];
    };
    // Lines of one plane after the other: only the second last dim's place changes inside.
    const std::int64_t lines = last > 0 ? sizes[last - 1] : 1, zero = 0;
    const std::int64_t* rows = last > 0 ? tables[static_cast<std::size_t>(last - 1)].data() : &zero;
    const std::int64_t total = result.numel() / n;
    parallel_for(0, total, std::max<std::int64_t>(32768 / n, 1), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t line = begin; line < end;) {
        std::int64_t rest = line / lines, base = 0;
        for (std::int64_t d = last - 2; d >= 0; --d) {
          base += tables[static_cast<std::size_t>(d)][static_cast<std::size_t>(rest % sizes[d])];
          rest /= sizes[d];
        }
        const std::int64_t first = line % lines, count = std::min(lines - first, end - line);
        for (std::int64_t i = first; i < first + count; ++i, ++line) copy_line(to + line * n, from + base + rows[i]);
      }
    });
  });
  return result;
}

Tensor pad_mode_backward(const Tensor& grad, IntSpan size, IntSpan pad, std::string_view mode) {
  const Mode kind = parse_mode(mode);
  check_pad(kind, size, pad);
  const Dims sizes(grad.sizes());
  Tensor result = grad.is_meta() ? empty(size, grad.dtype(), grad.device()) : zeros(size, grad.dtype());
  check(grad.dim() == size.size(), ErrorKind::Runtime, "pad_mode_backward: expected grad of rank ", size.size(),
        ", got ", grad.dim(), ".");
  if (result.is_meta() || grad.numel() == 0) return result;
  const Dims strides = contiguous_strides(size);
  const auto tables = position_tables(sizes, size, strides, pad, kind);
  const Tensor values = contiguous(grad);
  const std::int64_t last = sizes.size() - 1, n = sizes[last];
  dispatch_all(grad.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = values.data<T>();
    T* to = result.data<T>();
    const std::int64_t* inner = tables[static_cast<std::size_t>(last)].data();
    for (std::int64_t line = 0; line < grad.numel() / n; ++line) {
      std::int64_t rest = line, base = 0;
      for (std::int64_t d = last - 1; d >= 0; --d) {
        base += tables[static_cast<std::size_t>(d)][static_cast<std::size_t>(rest % sizes[d])];
        rest /= sizes[d];
      }
      for (std::int64_t i = 0; i < n; ++i) to[base + inner[i]] = arith::add(to[base + inner[i]], from[line * n + i]);
    }
  });
  return result;
}

const Kernel kernels[] = {
    {"constant_pad_nd", &constant_pad_nd},
    {"pad_mode", &pad_mode},
    {"pad_mode_backward", &pad_mode_backward},
};

}  // namespace
}  // namespace flambeau
