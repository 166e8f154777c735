// Views in several pieces: split, chunk, unbind.
#include "core/factory.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

Tensor piece(const Tensor& input, std::int64_t dim, std::int64_t start, std::int64_t length) {
  Dims sizes(input.sizes());
  sizes[dim] = length;
  return alias(input, sizes, input.strides(), input.offset() + start * input.strides()[dim]);
}

std::vector<Tensor> pieces_of(const Tensor& input, std::int64_t dim, std::int64_t piece_size) {
  const std::int64_t size = input.sizes()[dim];
  const std::int64_t count = piece_size == 0 ? 1 : std::max<std::int64_t>((size + piece_size - 1) / piece_size, 1);
  std::vector<Tensor> result;
  result.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    result.push_back(piece(input, dim, i * piece_size, std::min(piece_size, size - i * piece_size)));
  }
  return result;
}

std::vector<Tensor> split(const Tensor& input, std::int64_t split_size, std::int64_t dim) {
  check(input.dim() != 0, ErrorKind::Runtime, "split: split expects at least a 1-dimensional tensor");
  check(split_size >= 0, ErrorKind::Runtime,
        "split: split expects split_size be non-negative, but got split_size=", split_size);
  const std::int64_t d = wrap_dim(dim, input.dim(), "split"), size = input.sizes()[d];
  check(split_size > 0 || size == 0, ErrorKind::Runtime,
        "split: split_size can only be 0 if dimension size is 0, but got dimension size of ", size);
  return pieces_of(input, d, std::min(split_size, std::max<std::int64_t>(size, 1)));
}

std::vector<Tensor> split_with_sizes(const Tensor& input, IntSpan split_sizes, std::int64_t dim) {
  check(input.dim() != 0, ErrorKind::Runtime, "split: split expects at least a 1-dimensional tensor");
  const std::int64_t d = wrap_dim(dim, input.dim(), "split_with_sizes"), size = input.sizes()[d];
  std::int64_t total = 0;
  for (const std::int64_t part : split_sizes) {
    check(part >= 0, ErrorKind::Runtime,
          "split_with_sizes: split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=",
          split_sizes);
    check(!__builtin_add_overflow(total, part, &total) && total <= size, ErrorKind::Runtime,
          "split_with_sizes: split_with_sizes expects split_sizes to sum exactly to ", size,
          " (input tensor's size at dimension ", d, "), but got split_sizes=", split_sizes);
  }
  check(total == size, ErrorKind::Runtime, "split_with_sizes: split_with_sizes expects split_sizes to sum exactly to ",
        size, " (input tensor's size at dimension ", d, "), but got split_sizes=", split_sizes);
  std::vector<Tensor> result;
  result.reserve(static_cast<std::size_t>(split_sizes.size()));
  std::int64_t start = 0;
  for (const std::int64_t part : split_sizes) {
    result.push_back(piece(input, d, start, part));
    start += part;
  }
  return result;
}

std::vector<Tensor> chunk(const Tensor& input, std::int64_t chunks, std::int64_t dim) {
  check(input.dim() > 0, ErrorKind::Runtime, "chunk: chunk expects at least a 1-dimensional tensor");
  check(chunks > 0, ErrorKind::Runtime, "chunk: chunk expects `chunks` to be greater than 0, got: ", chunks);
  const std::int64_t d = wrap_dim(dim, input.dim(), "chunk"), size = input.sizes()[d];
  const std::int64_t each = size / chunks + (size % chunks != 0 ? 1 : 0);
  if (each == 0) {  // size is 0: as many empty pieces as asked for
    check(chunks <= 1 << 24, ErrorKind::Runtime, "chunk: expected fewer chunks, got ", chunks, ".");
    return std::vector<Tensor>(static_cast<std::size_t>(chunks), piece(input, d, 0, 0));
  }
  return pieces_of(input, d, each);
}

std::vector<Tensor> unbind(const Tensor& input, std::int64_t dim) {
  check(input.dim() > 0, ErrorKind::Index, "Dimension specified as ", dim, " but tensor has no dimensions");
  const std::int64_t d = wrap_dim(dim, input.dim(), "unbind"), size = input.sizes()[d];
  Dims sizes(input.sizes()), strides(input.strides());
  const std::int64_t stride = strides[d];
  sizes.erase(d);
  strides.erase(d);
  std::vector<Tensor> result;
  result.reserve(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) result.push_back(alias(input, sizes, strides, input.offset() + i * stride));
  return result;
}

const Kernel kernels[] = {
    {"split", &split},
    {"split_with_sizes", &split_with_sizes},
    {"chunk", &chunk},
    {"unbind", &unbind},
};

}  // namespace
}  // namespace flambeau
