// Joining: cat, stack. And repeating: repeat, repeat_interleave's index, flip, roll.
#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "core/promotion.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

// PyTorch lets 1-d tensors of size 0 join anything.
bool is_skipped(const Tensor& tensor) { return tensor.dim() == 1 && tensor.numel() == 0; }

MemoryFormat common_format(TensorSpan tensors) {
  MemoryFormat format = MemoryFormat::Contiguous;
  bool first = true;
  for (const Tensor& tensor : tensors) {
    if (is_skipped(tensor)) continue;
    const MemoryFormat own = suggested_format(tensor);
    if (own == MemoryFormat::Contiguous || (!first && own != format)) return MemoryFormat::Contiguous;
    format = own;
    first = false;
  }
  return format;
}

void copy_bytes(char* to, const char* from, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

constexpr std::int64_t kPiece = 262144;  // bytes that one thread copies at a time

// Rows of the result that are worth several threads each.
void join_long_rows(char* to, TensorSpan tensors, std::int64_t dim, std::int64_t outer, std::int64_t inner,
                    std::int64_t row) {
  std::int64_t at = 0;
  for (const Tensor& tensor : tensors) {
    if (is_skipped(tensor)) continue;
    const std::int64_t bytes = tensor.sizes()[dim] * inner;
    const char* from = static_cast<const char*>(tensor.data());
    for (std::int64_t o = 0; o < outer; ++o) {
      parallel_for(0, bytes, kPiece, [&](std::int64_t begin, std::int64_t end) {
        copy_bytes(to + o * row + at + begin, from + o * bytes + begin, end - begin);
      });
    }
    at += bytes;
  }
}

// All contiguous and of the result's dtype: block copies.
void join_blocks(const Tensor& result, TensorSpan tensors, std::int64_t dim) {
  std::int64_t outer = 1, inner = result.itemsize();
  for (std::int64_t d = 0; d < dim; ++d) outer *= result.sizes()[d];
  for (std::int64_t d = dim + 1; d < result.dim(); ++d) inner *= result.sizes()[d];
  const std::int64_t row = result.sizes()[dim] * inner;
  char* to = static_cast<char*>(result.data());
  if (row >= 2 * kPiece) return join_long_rows(to, tensors, dim, outer, inner, row);
  parallel_for(0, outer, std::max<std::int64_t>(262144 / std::max<std::int64_t>(row, 1), 1),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t o = begin; o < end; ++o) {
                   char* at = to + o * row;
                   for (const Tensor& tensor : tensors) {
                     if (is_skipped(tensor)) continue;
                     const std::int64_t bytes = tensor.sizes()[dim] * inner;
                     copy_bytes(at, static_cast<const char*>(tensor.data()) + o * bytes, bytes);
                     at += bytes;
                   }
                 }
               });
}

Tensor cat(TensorSpan tensors, std::int64_t dim, const Out& out) {
  check(!tensors.empty(), ErrorKind::Value, "torch.cat(): expected a non-empty list of Tensors");
  const Tensor* model = nullptr;
  bool same_dtype = true;
  for (std::int64_t i = 0; i < tensors.size(); ++i) {
    check(tensors[i].dim() != 0, ErrorKind::Runtime, "cat: zero-dimensional tensor (at position ", i,
          ") cannot be concatenated", ". Use stack(), or unsqueeze(0) them first.");
    if (model == nullptr && !is_skipped(tensors[i])) model = &tensors[i];
    same_dtype = same_dtype && tensors[i].dtype() == tensors[0].dtype();
  }
  const DType dtype = same_dtype ? tensors[0].dtype() : result_type(tensors);
  const Tensor& first = model != nullptr ? *model : tensors[0];
  const std::int64_t d = wrap_dim(dim, first.dim(), "cat");
  Dims sizes(first.sizes());
  std::int64_t total = 0;
  bool plain = true;
  for (std::int64_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    check(tensor.device() == first.device(), ErrorKind::Runtime, "cat: expected tensors on one device, got ",
          first.device(), " and ", tensor.device(), ".");
    if (is_skipped(tensor)) continue;
    check(tensor.dim() == first.dim(), ErrorKind::Runtime, "cat: Tensors must have same number of dimensions: got ",
          first.dim(), " and ", tensor.dim());
    for (std::int64_t k = 0; k < sizes.size(); ++k) {
      check(k == d || tensor.sizes()[k] == sizes[k], ErrorKind::Runtime,
            "cat: Sizes of tensors must match except in dimension ", d, ". Expected size ", sizes[k], " but got size ",
            tensor.sizes()[k], " for tensor number ", i, " in the list.");
    }
    check(!__builtin_add_overflow(total, tensor.sizes()[d], &total), ErrorKind::Runtime,
          "cat: expected a total size within int64.");
    plain = plain && tensor.dtype() == dtype && tensor.is_contiguous();
  }
  sizes[d] = total;
  if (out.given()) {
    for (const Tensor& tensor : tensors) {
      check(tensor.storage() != out[0].storage() || tensor.numel() == 0 || out[0].numel() == 0, ErrorKind::Runtime,
            "unsupported operation: the input tensors cannot refer to any of the output memory locations.");
    }
  }
  const MemoryFormat format = common_format(tensors);
  Tensor result = output("cat", out, 0, sizes, dtype, first.device(), format);
  if (result.is_meta() || result.numel() == 0) return result;
  if (plain && result.dtype() == dtype && result.is_contiguous()) {
    join_blocks(result, tensors, d);
    return result;
  }
  std::int64_t at = 0;
  for (const Tensor& tensor : tensors) {
    if (is_skipped(tensor)) continue;
    sizes[d] = tensor.sizes()[d];
    copy_into(alias(result, sizes, result.strides(), result.offset() + at * result.strides()[d]), tensor);
    at += sizes[d];
  }
  return result;
}

Tensor stack(TensorSpan tensors, std::int64_t dim, const Out& out) {
  check(!tensors.empty(), ErrorKind::Runtime, "stack: stack expects a non-empty TensorList");
  const IntSpan first = tensors[0].sizes();
  const std::int64_t d = wrap_dim(dim, tensors[0].dim() + 1, "stack");
  for (std::int64_t i = 0; i < tensors.size(); ++i) {
    check(tensors[i].sizes() == first, ErrorKind::Runtime,
          "stack: stack expects each tensor to be equal size, but got ", first, " at entry 0 and ", tensors[i].sizes(),
          " at entry ", i);
  }
  Dims sizes(first);
  if (!out.given() && d < first.size()) {
    // Joined along that dim and split again. The layout is that of the join: channels-last tensors stay so inside.
    const Tensor joined = cat(tensors, d, out);
    Dims strides(joined.strides());
    sizes.insert(d, tensors.size());
    strides.insert(d, first[d] * strides[d]);
    return alias(joined, sizes, strides, joined.offset());
  }
  std::vector<Tensor> columns;
  columns.reserve(static_cast<std::size_t>(tensors.size()));
  sizes.insert(d, 1);
  for (const Tensor& tensor : tensors) {
    Dims strides(tensor.strides());
    strides.insert(d, d < first.size() ? first[d] * strides[d] : 1);
    columns.push_back(alias(tensor, sizes, strides, tensor.offset()));
  }
  return cat(columns, d, out);
}

Tensor repeat(const Tensor& input, IntSpan repeats) {
  check(repeats.size() >= input.dim(), ErrorKind::Runtime,
        "repeat: Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor, got ",
        repeats, " for shape ", input.sizes());
  check(repeats.size() <= kMaxDims / 2, ErrorKind::Runtime, "repeat: expected at most ", kMaxDims / 2, " dims, got ",
        repeats.size(), ".");
  const std::int64_t lead = repeats.size() - input.dim();
  Dims sizes, split_sizes, from_strides;  // the result seen as (repeat, own) pairs
  for (std::int64_t i = 0; i < repeats.size(); ++i) {
    const std::int64_t own = i < lead ? 1 : input.sizes()[i - lead];
    check(repeats[i] >= 0, ErrorKind::Runtime, "Trying to create tensor with negative dimension ", repeats[i], ": ",
          repeats);
    sizes.push_back(checked_mul(own, repeats[i], "repeat"));
    split_sizes.push_back(repeats[i]);
    split_sizes.push_back(own);
    from_strides.push_back(0);
    from_strides.push_back(i < lead ? 0 : input.strides()[i - lead]);
  }
  checked_numel(sizes);
  Tensor result = empty(sizes, input.dtype(), input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  copy_into(alias(result, split_sizes, contiguous_strides(split_sizes), result.offset()),
            alias(input, split_sizes, from_strides, input.offset()));
  return result;
}

// [0, 0, 2, 2, 2] from counts [2, 0, 3]: the index that repeat_interleave selects by.
Tensor interleave_index(const Tensor& repeats, std::optional<std::int64_t> output_size) {
  check(repeats.dim() == 1, ErrorKind::Runtime, "repeat_interleave: repeat_interleave only accept 1D vector as repeat");
  check(repeats.dtype() == DType::Int64 || repeats.dtype() == DType::Int32, ErrorKind::Runtime,
        "repeat_interleave: repeats has to be Long or Int tensor");
  if (repeats.is_meta()) {
    check(output_size.has_value(), ErrorKind::NotImplemented,
          "repeat_interleave: expected output_size for meta repeats, whose values are unknown.");
    return empty({*output_size}, DType::Int64, repeats.device());
  }
  const Tensor counts = contiguous(to_dtype(repeats, DType::Int64));
  const auto* data = counts.data<std::int64_t>();
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < counts.numel(); ++i) {
    check(data[i] >= 0, ErrorKind::Runtime, "repeat_interleave: repeats can not be negative");
    check(!__builtin_add_overflow(total, data[i], &total), ErrorKind::Runtime,
          "repeat_interleave: expected a total within int64.");
  }
  check(!output_size || *output_size == total, ErrorKind::Runtime,
        "repeat_interleave: allocated size does not match required size: output_size ", output_size.value_or(0),
        ", sum of repeats ", total);
  Tensor result = empty({total}, repeats.dtype());
  Tensor positions = empty({total}, DType::Int64);
  auto* to = positions.data<std::int64_t>();
  for (std::int64_t i = 0; i < counts.numel(); ++i) {
    for (std::int64_t k = 0; k < data[i]; ++k) *to++ = i;
  }
  if (repeats.dtype() == DType::Int64) return positions;
  if (total != 0) copy_into(result, positions);
  return result;
}

Tensor flip(const Tensor& input, IntSpan dims) {
  std::uint64_t flipped = 0;
  for (const std::int64_t d : wrap_distinct_dims(dims, input.dim(), "flip")) flipped |= std::uint64_t{1} << d;
  Tensor result = empty_like(input);
  if (result.is_meta() || result.numel() == 0) return result;
  // Seen from the last element, with the flipped strides negated, input is copied in order.
  Dims strides(result.strides());
  std::int64_t offset = 0;
  for (std::int64_t d = 0; d < input.dim(); ++d) {
    if ((flipped >> d & 1U) == 0) continue;
    offset += (input.sizes()[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  const std::int64_t last = input.dim() - 1;
  const std::int64_t n = last >= 0 ? input.sizes()[last] : 1, sr = last >= 0 ? strides[last] : 1,
                     si = last >= 0 ? input.strides()[last] : 1;
  const LineWalk<2> walk(input.sizes(), last, {IntSpan(strides), input.strides()});
  dispatch_size(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = static_cast<T*>(result.data()) + offset;
    const T* from = static_cast<const T*>(input.data());
    parallel_for(0, walk.lines(), std::max<std::int64_t>(32768 / n, 1), [&](std::int64_t begin, std::int64_t end) {
      walk.run(begin, end, [&](const std::int64_t* at) {
        T* out_line = to + at[0];
        const T* in_line = from + at[1];
        if (sr == -1 && si == 1) {
          T* first = out_line - (n - 1);
          for (std::int64_t i = 0; i < n; ++i) first[n - 1 - i] = in_line[i];
        } else if (sr == 1 && si == 1) {
          std::memcpy(static_cast<void*>(out_line), static_cast<const void*>(in_line),
                      sizeof(T) * static_cast<std::size_t>(n));
        } else {
          for (std::int64_t i = 0; i < n; ++i) out_line[i * sr] = in_line[i * si];
        }
      });
    });
  });
  return result;
}

// Circular shift: of the flattened tensor (no dims), or along each dim.
Tensor roll(const Tensor& input, IntSpan shifts, IntSpan dims) {
  check(!shifts.empty(), ErrorKind::Runtime, "roll: `shifts` required");
  if (dims.empty() && shifts.size() == 1) {
    const Tensor flat = contiguous(input);
    const std::int64_t n = input.numel();
    const Tensor line = alias(flat, {n}, {1}, flat.offset());
    const std::int64_t zero = 0;
    const Tensor rolled = roll(line, shifts, IntSpan(&zero, 1));
    return alias(rolled, input.sizes(), contiguous_strides(input.sizes()), rolled.offset());
  }
  check(shifts.size() == dims.size(), ErrorKind::Runtime,
        "roll: shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  check(input.dim() != 0, ErrorKind::Index, "Dimension specified as ", dims[0], " but tensor has no dimensions");
  Tensor current = input;
  for (std::int64_t k = 0; k < shifts.size(); ++k) {
    const std::int64_t d = wrap_dim(dims[k], input.dim(), "roll"), size = input.sizes()[d];
    Tensor result = empty(input.sizes(), input.dtype(), input.device(), suggested_format(current));
    if (result.is_meta() || result.numel() == 0) return result;
    const std::int64_t shift = (shifts[k] % size + size) % size;
    Dims sizes(input.sizes());
    auto move = [&](std::int64_t to, std::int64_t from, std::int64_t length) {
      if (length == 0) return;
      sizes[d] = length;
      copy_into(alias(result, sizes, result.strides(), result.offset() + to * result.strides()[d]),
                alias(current, sizes, current.strides(), current.offset() + from * current.strides()[d]));
    };
    move(shift, 0, size - shift);
    move(0, size - shift, shift);
    current = result;
  }
  return current;
}

const Kernel kernels[] = {
    {"cat", &cat},   {"stack", &stack}, {"repeat", &repeat}, {"interleave_index", &interleave_index},
    {"flip", &flip}, {"roll", &roll},
};

}  // namespace
}  // namespace flambeau
