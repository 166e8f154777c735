// softmax, log_softmax, their backward ops, and logsumexp.
#include "kernels/softmax.h"

#include <algorithm>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/level_table.h"
#include "kernels/reduce.h"

namespace flambeau {
namespace {

constexpr std::int64_t kGrain = 16384;

const SoftmaxTable& table_for(const char* kernel, DType dtype) {
  const auto* table = static_cast<const SoftmaxTable*>(find_table(TableId::Softmax, dtype));
  if (table == nullptr) throw_bad_dtype(kernel, dtype);
  return *table;
}

struct Layout {
  std::int64_t outer = 1, n = 1, inner = 1;
  Layout(IntSpan sizes, std::int64_t dim) {
    for (std::int64_t d = 0; d < sizes.size(); ++d) (d < dim ? outer : d == dim ? n : inner) *= sizes[d];
  }
};

// rows(first, count) over neighbouring rows, or columns(first element, width) over blocks of columns.
template <class Rows, class Columns>
void for_each_slice(const Layout& layout, Rows&& rows, Columns&& columns) {
  if (layout.inner == 1) {
    parallel_for(0, layout.outer, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, layout.n)),
                 [&](std::int64_t b, std::int64_t e) { rows(b, e - b); });
    return;
  }
  std::int64_t width = std::min<std::int64_t>(layout.inner, 1024);
  if (layout.outer < 8) width = std::min<std::int64_t>(width, std::max<std::int64_t>(128, layout.inner / 8));
  const std::int64_t blocks = (layout.inner + width - 1) / width;
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, width * layout.n));
  parallel_for(0, layout.outer * blocks, grain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      const std::int64_t first = i % blocks * width;
      columns(i / blocks * layout.n * layout.inner + first, std::min(width, layout.inner - first));
    }
  });
}

Tensor run_softmax(const char* kernel, const Tensor& input, std::int64_t dim, std::optional<DType> dtype, bool log) {
  const Tensor x = contiguous(dtype ? to_dtype(input, *dtype) : input);
  dim = wrap_dim(dim, x.dim());
  const SoftmaxTable& table = table_for(kernel, x.dtype());
  Tensor out = empty(x.sizes(), x.dtype(), x.device());
  if (x.is_meta() || x.numel() == 0) return out;
  const Layout layout(x.sizes(), dim);
  const auto* from = static_cast<const char*>(x.data());
  auto* to = static_cast<char*>(out.data());
  const std::int64_t size = x.itemsize(), row = layout.n * size;
  for_each_slice(
      layout,
      [&](std::int64_t i, std::int64_t count) { table.rows(from + i * row, to + i * row, layout.n, count, log); },
      [&](std::int64_t at, std::int64_t k) {
        table.columns(from + at * size, to + at * size, layout.n, layout.inner, k, log);
      });
  return out;
}

Tensor run_backward(const char* kernel, const Tensor& grad, const Tensor& result, std::int64_t dim, DType input_dtype,
                    bool log) {
  check(grad.sizes() == result.sizes(), kernel, ": expected grad_output and output of one shape, got ", grad.sizes(),
        " and ", result.sizes());
  const Tensor y = contiguous(result), g = contiguous(to_dtype(grad, y.dtype()));
  dim = wrap_dim(dim, y.dim());
  const SoftmaxTable& table = table_for(kernel, y.dtype());
  Tensor out = empty(y.sizes(), y.dtype(), y.device());
  if (y.is_meta() || y.numel() == 0) return to_dtype(out, input_dtype);
  const Layout layout(y.sizes(), dim);
  const auto *gp = static_cast<const char*>(g.data()), *yp = static_cast<const char*>(y.data());
  auto* to = static_cast<char*>(out.data());
  const std::int64_t size = y.itemsize(), row = layout.n * size;
  for_each_slice(
      layout,
      [&](std::int64_t i, std::int64_t count) {
        table.rows_backward(gp + i * row, yp + i * row, to + i * row, layout.n, count, log);
      },
      [&](std::int64_t at, std::int64_t k) {
        table.columns_backward(gp + at * size, yp + at * size, to + at * size, layout.n, layout.inner, k, log);
      });
  return to_dtype(out, input_dtype);
}

Tensor softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
  return run_softmax("softmax_kernel_impl", input, dim, dtype, false);
}
Tensor log_softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
  return run_softmax("log_softmax_kernel_impl", input, dim, dtype, true);
}
Tensor softmax_backward(const Tensor& grad, const Tensor& result, std::int64_t dim, DType input_dtype) {
  return run_backward("softmax_backward_data", grad, result, dim, input_dtype, false);
}
Tensor log_softmax_backward(const Tensor& grad, const Tensor& result, std::int64_t dim, DType input_dtype) {
  return run_backward("log_softmax_backward_data", grad, result, dim, input_dtype, true);
}

// Reduced dims are moved to the end, so that each result is one row.
Tensor logsumexp(const Tensor& input, IntSpan dim, bool keepdim) {
  check(!is_complex(input.dtype()), ErrorKind::NotImplemented, "logsumexp(): complex input is not supported here");
  const Tensor source = to_dtype(input, is_integral(input.dtype(), true) ? default_dtype() : input.dtype());
  const DimMask mask = reduced_dims(dim, input.dim());
  Tensor out = empty(reduced_sizes(input.sizes(), mask, keepdim), source.dtype(), source.device());
  if (source.is_meta() || out.numel() == 0) return out;
  Dims sizes, strides;
  for (const bool reduced : {false, true}) {
    for (std::int64_t d = 0; d < source.dim(); ++d) {
      if (mask[static_cast<std::size_t>(d)] != reduced) continue;
      sizes.push_back(source.sizes()[d]);
      strides.push_back(source.strides()[d]);
    }
  }
  const Tensor x = contiguous(alias(source, sizes, strides, source.offset()));
  const std::int64_t n = reduced_count(input.sizes(), mask), size = x.itemsize();
  const SoftmaxTable& table = table_for("logsumexp", x.dtype());
  parallel_for(0, out.numel(), std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, n)),
               [&](std::int64_t b, std::int64_t e) {
                 table.logsumexp(static_cast<const char*>(x.data()) + b * n * size,
                                 static_cast<char*>(out.data()) + b * size, n, e - b);
               });
  return out;
}

const Kernel softmax_kernel("softmax", &softmax);
const Kernel log_softmax_kernel("log_softmax", &log_softmax);
const Kernel softmax_backward_kernel("_softmax_backward_data", &softmax_backward);
const Kernel log_softmax_backward_kernel("_log_softmax_backward_data", &log_softmax_backward);
const Kernel logsumexp_kernel("logsumexp", &logsumexp);

}  // namespace
}  // namespace flambeau
