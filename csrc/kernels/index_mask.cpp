// By a boolean mask: masked_fill, masked_select, masked_scatter; and positions of non-zero elements.
#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/arith.h"
#include "kernels/mask.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

// The destination: input broadcast with the mask; in-place, input itself, which the mask may not widen.
Tensor masked_start(const char* op, const Tensor& input, const Tensor& mask, const Out& out) {
  const Dims sizes = broadcast_shapes(input.sizes(), mask.sizes(), op);
  if (out.inplace) {
    check(IntSpan(sizes) == input.sizes(), ErrorKind::Runtime, op, ": output with shape ", input.sizes(),
          " doesn't match the broadcast shape ", sizes);
    check_no_internal_overlap(out[0], op);
    return out[0];
  }
  Tensor result = empty(sizes, input.dtype(), input.device());
  if (!result.is_meta()) copy_into(result, expand_to(input, sizes, op));
  return result;
}

void check_value_fits(const Scalar& value, DType dtype) {
  check(!value.is_complex() || is_complex(dtype), ErrorKind::Runtime, "value cannot be converted to type ",
        name_of(dtype), " without overflow");
}

Tensor masked_fill(const Tensor& input, const Tensor& mask, const Scalar& value, const Out& out) {
  check(mask.dtype() == DType::Bool, ErrorKind::Runtime,
        "masked_fill_ only supports boolean masks, but got mask with dtype ", name_of(mask.dtype()));
  check_value_fits(value, input.dtype());
  Tensor result = masked_start("masked_fill", input, mask, out);
  if (result.is_meta() || result.numel() == 0) return result;
  const Tensor wide = expand_to(mask.storage() == result.storage() ? clone(mask) : mask, result.sizes(), "masked_fill");
  const std::int64_t last = result.dim() - 1;
  const std::int64_t n = last >= 0 ? result.sizes()[last] : 1, sr = last >= 0 ? result.strides()[last] : 1,
                     sm = last >= 0 ? wide.strides()[last] : 1;
  const LineWalk<2> walk(result.sizes(), last, {result.strides(), wide.strides()});
  dispatch_all(result.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* data = result.data<T>();
    const bool* bits = wide.data<bool>();
    const T number = value.to<T>();
    parallel_for(0, walk.lines(), std::max<std::int64_t>(32768 / n, 1), [&](std::int64_t begin, std::int64_t end) {
      walk.run(begin, end, [&](const std::int64_t* at) {
        T* to = data + at[0];
        const bool* bit = bits + at[1];
        if (sr == 1 && sm == 1) {
          for (std::int64_t i = 0; i < n; ++i) to[i] = bit[i] ? number : to[i];
        } else {
          for (std::int64_t i = 0; i < n; ++i) {
            if (bit[i * sm]) to[i * sr] = number;
          }
        }
      });
    });
  });
  return result;
}

Tensor masked_fill_tensor(const Tensor& input, const Tensor& mask, const Tensor& value, const Out& out) {
  check(value.dim() == 0, ErrorKind::Runtime,
        "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(), " dimension(s).");
  check(!is_complex(value.dtype()) || is_complex(input.dtype()), ErrorKind::Runtime,
        "value cannot be converted to type ", name_of(input.dtype()), " without overflow");
  return masked_fill(input, mask, value.is_meta() || input.is_meta() ? Scalar(0) : item(value), out);
}

Tensor masked_select(const Tensor& input, const Tensor& mask, const Out& out) {
  check_out_dtype("masked_select()", out, input.dtype());
  check_out_apart("masked_select", out, {&input, &mask});
  check(mask.dtype() == DType::Bool, ErrorKind::Runtime, "masked_select: expected BoolTensor for mask");
  const Dims sizes = broadcast_shapes(input.sizes(), mask.sizes(), "masked_select");
  check(!input.is_meta() && !mask.is_meta(), ErrorKind::NotImplemented,
        "masked_select: the shape of the result depends on the mask's values, which a meta tensor has not.");
  const Tensor result =
      select_masked(expand_to(input, sizes, "masked_select"), expand_to(mask, sizes, "masked_select"));
  if (!out.given()) return result;
  const Tensor target = output("masked_select", out, 0, result.sizes(), input.dtype(), input.device());
  if (result.numel() != 0) copy_into(target, result);
  return target;
}

Tensor masked_scatter(const Tensor& input, const Tensor& mask, const Tensor& source, const Out& out) {
  check(input.dtype() == source.dtype(), ErrorKind::Runtime,
        "masked_scatter: expected self and source to have same dtypes but got ", torch_name_of(input.dtype()), " and ",
        torch_name_of(source.dtype()));
  check(mask.dtype() == DType::Bool, ErrorKind::Runtime,
        "masked_scatter_ only supports boolean masks, but got mask with dtype ", torch_name_of(mask.dtype()));
  Tensor result = masked_start("masked_scatter", input, mask, out);
  if (result.is_meta() || result.numel() == 0) return result;
  const Tensor wide = contiguous(expand_to(mask, result.sizes(), "masked_scatter"));
  const Tensor from =
      source.storage() == result.storage() ? clone(source, MemoryFormat::Contiguous) : contiguous(source);
  const Tensor target = result.is_contiguous() ? result : clone(result, MemoryFormat::Contiguous);
  const bool* bits = wide.data<bool>();
  const std::int64_t count = count_nonzero_bytes(wide.data<std::uint8_t>(), wide.numel());
  check(count <= from.numel(), ErrorKind::Runtime,
        "masked_scatter: expected at least as many source elements as ones in mask, got ", from.numel(), " and ", count,
        ".");
  dispatch_size(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* values = static_cast<const T*>(from.data());
    T* to = static_cast<T*>(target.data());
    for (std::int64_t i = 0; i < target.numel(); ++i) {
      if (bits[i]) to[i] = *values++;
    }
  });
  if (!target.is(result)) copy_into(result, target);
  return result;
}

// Gradient of masked_scatter's source: the masked cotangents in order, then zeros.
Tensor masked_scatter_backward(const Tensor& grad, const Tensor& mask, IntSpan sizes) {
  if (grad.is_meta()) return empty(sizes, grad.dtype(), grad.device());
  const Tensor picked = masked_select(grad, mask, {});
  Tensor result = zeros(sizes, grad.dtype());
  if (picked.numel() != 0) {
    check(picked.numel() <= result.numel(), ErrorKind::Runtime, "masked_scatter_backward: expected at most ",
          result.numel(), " masked elements.");
    copy_into(alias(result, {picked.numel()}, {1}, result.offset()), picked);
  }
  return result;
}

template <class T>
bool is_nonzero(T value) {
  return convert<bool>(value);
}

// Line by line along the last dim, so that only that coordinate changes inside.
template <class T>
void write_positions(const Tensor& values, const T* data, std::int64_t count, std::int64_t* columns) {
  const std::int64_t rank = values.dim(), n = values.sizes()[rank - 1];
  Dims at = Dims::filled(rank, 0);
  std::int64_t row = 0;
  for (std::int64_t line = 0; line < values.numel() / n && row < count; ++line, data += n) {
    const std::int64_t first = row;
    std::int64_t* last_column = columns + (rank - 1) * count;
    for (std::int64_t i = 0; i < n; ++i) {
      if (is_nonzero(data[i])) last_column[row++] = i;
    }
    for (std::int64_t d = 0; d < rank - 1; ++d)
      std::fill(columns + d * count + first, columns + d * count + row, at[d]);
    for (std::int64_t d = rank - 2; d >= 0 && ++at[d] == values.sizes()[d]; --d) at[d] = 0;
  }
}

// (count, dim) positions in row-major order; stored so that each column is contiguous, as PyTorch returns it.
Tensor nonzero(const Tensor& input, const Out& out) {
  check(!input.is_meta(), ErrorKind::NotImplemented,
        "nonzero: the shape of the result depends on values, which a meta tensor has not.");
  const Tensor values = contiguous(input);
  const std::int64_t rank = values.dim();
  Tensor result;
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = values.data<T>();
    std::int64_t count = 0;
    if constexpr (std::is_integral_v<T> && sizeof(T) == 1) {
      count = count_nonzero_bytes(values.data<std::uint8_t>(), values.numel());
      if (rank == 1) {
        const auto positions = masked_positions(values.data<std::uint8_t>(), values.numel(), 1);
        result = empty_strided({count, 1}, {1, std::max<std::int64_t>(count, 1)}, DType::Int64);
        std::copy(positions.begin(), positions.end(), result.data<std::int64_t>());
        return;
      }
    } else {
      for (std::int64_t i = 0; i < values.numel(); ++i) count += is_nonzero(data[i]) ? 1 : 0;
    }
    result = empty_strided({count, rank}, {1, std::max<std::int64_t>(count, 1)}, DType::Int64);
    if (count != 0 && rank != 0) write_positions(values, data, count, result.data<std::int64_t>());
  });
  if (!out.given()) return result;
  check(out[0].dtype() == DType::Int64, ErrorKind::Runtime,
        "nonzero: Expected out tensor to have dtype int64, but got ", name_of(out[0].dtype()), " instead");
  Tensor target = output("nonzero", out, 0, result.sizes(), DType::Int64, Device{});
  if (result.numel() != 0) copy_into(target, result);
  return target;
}

Tensor nonzero_static(const Tensor& input, std::int64_t size, std::int64_t fill_value) {
  check(size >= 0, ErrorKind::Runtime, "nonzero_static: 'size' must be an non-negative integer");
  Tensor result = full({size, input.dim()}, Scalar(fill_value), DType::Int64, input.device());
  if (result.is_meta()) return result;
  const Tensor found = nonzero(input, {});
  const std::int64_t count = std::min(size, found.sizes()[0]);
  if (count * input.dim() == 0) return result;
  copy_into(alias(result, {count, input.dim()}, result.strides(), result.offset()),
            alias(found, {count, input.dim()}, found.strides(), found.offset()));
  return result;
}

const Kernel kernels[] = {
    {"masked_fill", &masked_fill},
    {"masked_fill_tensor", &masked_fill_tensor},
    {"masked_select", &masked_select},
    {"masked_scatter", &masked_scatter},
    {"masked_scatter_backward", &masked_scatter_backward},
    {"nonzero", &nonzero},
    {"nonzero_static", &nonzero_static},
};

}  // namespace
}  // namespace flambeau
