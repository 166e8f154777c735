// layer_norm and rms_norm. Backward recomputes each row's statistics: the row is read anyway, and nothing is kept.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/level_table.h"
#include "kernels/norm.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

constexpr std::int64_t kGrain = 16384;

const NormTable& table_for(const char* kernel, DType dtype) {
  const auto* table = static_cast<const NormTable*>(find_table(TableId::Norm, dtype));
  if (table == nullptr) throw_bad_dtype(kernel, dtype);
  return *table;
}

void check_shapes(const Tensor& input, IntSpan shape, const Tensor& weight, const Tensor& bias) {
  check(!shape.empty(),
        "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but "
        "got normalized_shape = ",
        shape);
  check(!weight.defined() || weight.sizes() == shape,
        "Expected weight to be of same shape as normalized_shape, but got "
        "weight of shape ",
        weight.defined() ? weight.sizes() : IntSpan(), " and normalized_shape = ", shape);
  check(!bias.defined() || bias.sizes() == shape,
        "Expected bias to be of same shape as normalized_shape, but got bias of "
        "shape ",
        bias.defined() ? bias.sizes() : IntSpan(), " and normalized_shape = ", shape);
  const std::int64_t from = input.dim() - shape.size();
  if (from < 0 || input.sizes().subspan(from, shape.size()) != shape) {
    std::ostringstream expected;
    for (const std::int64_t size : shape) expected << ", " << size;
    fail(ErrorKind::Runtime, "Given normalized_shape=", shape, ", expected input with shape [*", expected.str(),
         "], but got input of size", input.sizes());
  }
}

Tensor as_lanes(const Tensor& parameter, DType dtype) {
  return parameter.defined() ? contiguous(to_dtype(parameter, compute_dtype(dtype))) : Tensor();
}
const void* data_or_null(const Tensor& tensor) { return tensor.defined() ? tensor.data() : nullptr; }

struct Shape {
  std::int64_t n = 1, count = 1;
  Shape(IntSpan sizes, std::int64_t normalized) {
    for (std::int64_t d = 0; d < sizes.size(); ++d) (d < sizes.size() - normalized ? count : n) *= sizes[d];
  }
};

// mean and rstd (may be null): arrays of the lane type.
Tensor forward(const char* op, const Tensor& input, IntSpan shape, const Tensor& weight, const Tensor& bias, double eps,
               bool rms, char* mean, char* rstd) {
  const NormTable& table = table_for(op, input.dtype());
  const Tensor x = contiguous(input);
  Tensor out = empty(x.sizes(), x.dtype(), x.device());
  if (x.is_meta() || x.numel() == 0) return out;
  const Tensor w = as_lanes(weight, x.dtype()), b = as_lanes(bias, x.dtype());
  const Shape s(x.sizes(), shape.size());
  const std::int64_t row = s.n * x.itemsize(), lane = itemsize(compute_dtype(x.dtype()));
  parallel_for(0, s.count, std::max<std::int64_t>(1, kGrain / s.n), [&](std::int64_t from, std::int64_t to) {
    table.layer_forward(static_cast<const char*>(x.data()) + from * row, data_or_null(w), data_or_null(b),
                        static_cast<char*>(out.data()) + from * row, mean == nullptr ? nullptr : mean + from * lane,
                        rstd == nullptr ? nullptr : rstd + from * lane, s.n, to - from, eps, rms);
  });
  return out;
}

Tensor layer_norm(const Tensor& input, IntSpan shape, const Tensor& weight, const Tensor& bias, double eps, bool) {
  check_shapes(input, shape, weight, bias);
  return forward("LayerNormKernelImpl", input, shape, weight, bias, eps, false, nullptr, nullptr);
}

double default_eps(DType dtype) {
  switch (dtype) {
    case DType::Float64: return std::numeric_limits<double>::epsilon();
    case DType::Float32: return std::numeric_limits<float>::epsilon();
    case DType::Float16: return 0x1p-10;
    default: return 0x1p-7;
  }
}

Tensor rms_norm(const Tensor& input, IntSpan shape, const Tensor& weight, std::optional<double> eps) {
  check_shapes(input, shape, weight, Tensor());
  // PyTorch takes the epsilon of the type it computes in.
  const Tensor out = forward("rms_norm", input, shape, weight, Tensor(),
                             eps.value_or(default_eps(compute_dtype(input.dtype()))), true, nullptr, nullptr);
  return contiguous(out, suggested_format(input));
}

std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntSpan shape, const Tensor& weight,
                                                     const Tensor& bias, double eps) {
  check_shapes(input, shape, weight, bias);
  Dims sizes(input.sizes());
  for (std::int64_t d = input.dim() - shape.size(); d < input.dim(); ++d) sizes[d] = 1;
  const DType lane = compute_dtype(input.dtype());
  Tensor mean = empty(sizes, lane, input.device()), rstd = empty(sizes, lane, input.device());
  const bool meta = input.is_meta();
  Tensor out =
      forward("LayerNormKernelImpl", input, shape, weight, bias, eps, false,
              meta ? nullptr : static_cast<char*>(mean.data()), meta ? nullptr : static_cast<char*>(rstd.data()));
  const bool mixed = weight.defined() && weight.dtype() != input.dtype();
  const DType kept = mixed ? lane : input.dtype();
  return {out, to_dtype(mean, kept), to_dtype(rstd, kept)};
}

struct Work {
  const Tensor &x, &g, &w;
  Tensor dx;
  Shape shape;
  double eps;
  bool rms;
};

template <class L>
void backward_rows(const NormTable& table, const Work& work, std::int64_t from, std::int64_t to, L* dw, L* db) {
  constexpr std::int64_t together = 4;  // rows that share one pass over the sums for weight and bias
  const std::int64_t n = work.shape.n, row = n * work.x.itemsize();
  for (std::int64_t i = from; i < to; i += together) {
    const std::int64_t count = std::min(together, to - i);
    const char* x = static_cast<const char*>(work.x.data()) + i * row;
    L mean[together], rstd[together];
    for (std::int64_t r = 0; r < count; ++r) {
      Moments m;
      table.moments(x + r * row, n, &m);
      const double square = m.squares / static_cast<double>(n) + (work.rms ? m.mean * m.mean : 0);
      mean[r] = work.rms ? L(0) : static_cast<L>(m.mean);
      rstd[r] = static_cast<L>(1 / std::sqrt(square + work.eps));
    }
    table.layer_backward(static_cast<const char*>(work.g.data()) + i * row, x, data_or_null(work.w), mean, rstd,
                         work.dx.defined() ? static_cast<char*>(work.dx.data()) + i * row : nullptr, dw, db, n, count,
                         work.rms);
  }
}

// Rows are cut into at most 64 chunks by size; each has its own sums for weight and bias, added up in order.
template <class L>
void run_backward(const NormTable& table, const Work& work, const Tensor& d_weight, const Tensor& d_bias) {
  const std::int64_t n = work.shape.n, count = work.shape.count;
  const std::int64_t rows = std::max({std::int64_t{1}, kGrain / n, (count + 63) / 64});
  const std::int64_t chunks = (count + rows - 1) / rows;
  const bool params = d_weight.defined() || d_bias.defined();
  std::vector<L> partial(params ? static_cast<std::size_t>(2 * chunks * n) : 0);
  parallel_for(0, chunks, 1, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t c = b; c < e; ++c) {
      L* dw = d_weight.defined() ? partial.data() + 2 * c * n : nullptr;
      L* db = d_bias.defined() ? partial.data() + (2 * c + 1) * n : nullptr;
      backward_rows<L>(table, work, c * rows, std::min(count, (c + 1) * rows), dw, db);
    }
  });
  for (const std::int64_t which : {0, 1}) {
    const Tensor& target = which == 0 ? d_weight : d_bias;
    if (!target.defined()) continue;
    L* sums = target.data<L>();
    for (std::int64_t j = 0; j < n; ++j) {
      double total = 0;
      for (std::int64_t c = 0; c < chunks; ++c)
        total += static_cast<double>(partial[static_cast<std::size_t>((2 * c + which) * n + j)]);
      sums[j] = static_cast<L>(total);
    }
  }
}

// Cotangents of input, weight and bias; those that `mask` leaves out come back undefined.
std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(const Tensor& grad, const Tensor& input, IntSpan shape,
                                                       const Tensor& weight, double eps, bool rms, Span<bool> mask) {
  const std::int64_t leading = input.dim() - shape.size();
  check(leading >= 0 && input.sizes().subspan(leading, shape.size()) == shape && grad.sizes() == input.sizes() &&
            mask.size() == 3 && (!weight.defined() || weight.sizes() == shape),
        "layer_norm_backward: expected grad of input's shape ", input.sizes(), " and weight of shape ", shape);
  const NormTable& table = table_for("LayerNormBackwardKernelImpl", input.dtype());
  const Tensor x = contiguous(input), g = contiguous(to_dtype(grad, input.dtype())),
               w = as_lanes(weight, input.dtype());
  const DType lane = compute_dtype(x.dtype());
  const auto wanted = [&](std::int64_t i, IntSpan sizes, DType dtype) {
    return mask[i] ? zeros(sizes, dtype, x.device()) : Tensor();
  };
  Tensor d_weight = wanted(1, shape, lane), d_bias = wanted(2, shape, lane);
  Work work{x,   g,  w, mask[0] ? empty(x.sizes(), x.dtype(), x.device()) : Tensor(), Shape(x.sizes(), shape.size()),
            eps, rms};
  if (!x.is_meta() && x.numel() != 0) {
    if (lane == DType::Float64) {
      run_backward<double>(table, work, d_weight, d_bias);
    } else {
      run_backward<float>(table, work, d_weight, d_bias);
    }
  }
  const DType parameter = weight.defined() ? weight.dtype() : x.dtype();
  const auto given = [](const Tensor& t, DType dtype) { return t.defined() ? to_dtype(t, dtype) : Tensor(); };
  return {given(work.dx, x.dtype()), given(d_weight, parameter), given(d_bias, parameter)};
}

const Kernel layer_norm_kernel("layer_norm", &layer_norm);
const Kernel rms_norm_kernel("rms_norm", &rms_norm);
const Kernel native_layer_norm_kernel("native_layer_norm", &native_layer_norm);
const Kernel layer_norm_backward_kernel("layer_norm_backward", &layer_norm_backward);

}  // namespace
}  // namespace flambeau
