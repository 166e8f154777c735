// group_norm: a group is (channels / groups) neighbouring planes of one batch item. Backward recomputes the statistics.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/level_table.h"
#include "kernels/norm.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

constexpr std::int64_t kGrain = 32768;
using Doubles = std::vector<double>;

struct Groups {
  const NormTable* table;
  std::int64_t batch, channels, inner, groups, itemsize;
  std::int64_t per_group() const { return channels / groups; }
  std::int64_t run() const { return per_group() * inner; }
  std::int64_t grain() const { return std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, run())); }
};

Doubles read(const Tensor& tensor, std::int64_t count, double missing) {
  if (!tensor.defined()) return Doubles(static_cast<std::size_t>(count), missing);
  const Tensor values = contiguous(to_dtype(tensor, DType::Float64));
  return Doubles(values.data<double>(), values.data<double>() + count);
}
Tensor write(const Doubles& values, DType dtype, Device device) {
  const std::int64_t sizes[] = {static_cast<std::int64_t>(values.size())};
  Tensor wide = empty(IntSpan(sizes, 1), DType::Float64, device);
  std::copy(values.begin(), values.end(), wide.data<double>());
  return to_dtype(wide, dtype);
}

Groups groups_of(const Tensor& x, std::int64_t groups) {
  const auto* table = static_cast<const NormTable*>(find_table(TableId::Norm, x.dtype()));
  if (table == nullptr) throw_bad_dtype("GroupNormKernelImpl", x.dtype());
  Groups g{table, x.size(0), x.size(1), 1, groups, x.itemsize()};
  for (std::int64_t d = 2; d < x.dim(); ++d) g.inner *= x.sizes()[d];
  return g;
}

void check_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, std::int64_t groups) {
  check(input.dim() >= 2, "group_norm: Expected at least 2 dimensions for input tensor but received ", input.dim());
  const std::int64_t channels = input.sizes()[1];
  check(groups > 0, "group_norm: Expected num groups to be greater than 0, got ", groups);
  check(channels % groups == 0,
        "group_norm: Expected number of channels in input to be divisible by num_groups, but got input of shape ",
        input.sizes(), " and num_groups=", groups);
  const auto vector_of = [&](const Tensor& t) { return !t.defined() || (t.dim() == 1 && t.numel() == channels); };
  check(vector_of(weight),
        "group_norm: Expected weight to be a vector of size equal to the number of channels in input, but got weight "
        "of shape ",
        weight.defined() ? weight.sizes() : IntSpan(), " and input of shape ", input.sizes());
  check(vector_of(bias),
        "group_norm: Expected bias to be a vector of size equal to the number of channels in input, but got bias of "
        "shape ",
        bias.defined() ? bias.sizes() : IntSpan(), " and input of shape ", input.sizes());
}

struct Statistics {
  Doubles mean, rstd;  // per (batch, group)
};

Statistics group_statistics(const Groups& g, const Tensor& x, double eps) {
  const auto count = static_cast<std::size_t>(g.batch * g.groups);
  Statistics s{Doubles(count), Doubles(count)};
  parallel_for(0, g.batch * g.groups, g.grain(), [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      Moments m;
      const char* at = static_cast<const char*>(x.data()) + i * g.run() * g.itemsize;
      for (std::int64_t start = 0; start < g.run(); start += kGrain) {
        g.table->moments(at + start * g.itemsize, std::min(kGrain, g.run() - start), &m);
      }
      s.mean[static_cast<std::size_t>(i)] = m.mean;
      s.rstd[static_cast<std::size_t>(i)] = 1 / std::sqrt(m.squares / m.count + eps);
    }
  });
  return s;
}

// fn(batch * groups + group index, channel, first element of the plane) over planes.
template <class F>
void for_each_plane(const Groups& g, F&& fn) {
  parallel_for(0, g.batch * g.groups, g.grain(), [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      for (std::int64_t c = 0; c < g.per_group(); ++c) {
        fn(static_cast<std::size_t>(i), static_cast<std::size_t>(i % g.groups * g.per_group() + c),
           i * g.run() + c * g.inner);
      }
    }
  });
}

struct Normalised {
  Tensor out;
  Statistics statistics;
};

Normalised forward(const Tensor& input, const Tensor& weight, const Tensor& bias, std::int64_t groups, double eps) {
  check_group_norm(input, weight, bias, groups);
  const Tensor x = contiguous(input);
  Normalised result{empty(x.sizes(), x.dtype(), x.device()), {}};
  if (x.is_meta()) return result;
  const Groups g = groups_of(x, groups);
  if (x.numel() == 0) {
    const auto count = static_cast<std::size_t>(g.batch * g.groups);
    result.statistics = {Doubles(count, 0), Doubles(count, std::nan(""))};
    return result;
  }
  result.statistics = group_statistics(g, x, eps);
  const Doubles w = read(weight, g.channels, 1), b = read(bias, g.channels, 0);
  for_each_plane(g, [&](std::size_t group, std::size_t channel, std::int64_t at) {
    const double scale = w[channel] * result.statistics.rstd[group];
    g.table->affine(static_cast<const char*>(x.data()) + at * g.itemsize,
                    static_cast<char*>(result.out.data()) + at * g.itemsize, g.inner, result.statistics.mean[group],
                    scale, b[channel]);
  });
  return result;
}

Tensor group_norm(const Tensor& input, std::int64_t groups, const Tensor& weight, const Tensor& bias, double eps,
                  bool) {
  Tensor out = forward(input, weight, bias, groups, eps).out;
  // A channels-last input gives a channels-last output. What follows depends on it: dropout fills in memory order.
  return contiguous(out, suggested_format(input));
}

std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                                     std::int64_t n, std::int64_t channels, std::int64_t inner,
                                                     std::int64_t groups, double eps) {
  const std::int64_t sizes[] = {n, channels, inner}, stats[] = {n, groups};
  check(checked_numel(IntSpan(sizes, 3)) == input.numel(),
        "native_group_norm: expected N * C * HxW == input.numel(), got ", n, " * ", channels, " * ", inner, " and ",
        input.numel());
  const Tensor x = contiguous(input);
  const Tensor planes = alias(x, IntSpan(sizes, 3), contiguous_strides(IntSpan(sizes, 3)), x.offset());
  Normalised result = forward(planes, weight, bias, groups, eps);
  const bool mixed = weight.defined() && weight.dtype() != x.dtype();
  const DType kept = mixed ? compute_dtype(x.dtype()) : x.dtype();
  Tensor out = alias(result.out, x.sizes(), contiguous_strides(x.sizes()), 0);
  if (x.is_meta()) return {out, empty(IntSpan(stats, 2), kept, x.device()), empty(IntSpan(stats, 2), kept, x.device())};
  const auto shaped = [&](const Doubles& values) {
    const Tensor flat = write(values, kept, x.device());
    return alias(flat, IntSpan(stats, 2), contiguous_strides(IntSpan(stats, 2)), 0);
  };
  return {out, shaped(result.statistics.mean), shaped(result.statistics.rstd)};
}

// With sums over a group of g w (A) and g w xhat (B), and M elements per group:
// dx = rstd (g w - A / M - xhat B / M);  dw = sum over batch of sum(g xhat);  db = sum over batch of sum(g).
std::tuple<Tensor, Tensor, Tensor> group_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                                       std::int64_t groups, double eps, Span<bool> mask) {
  check_group_norm(input, weight, {}, groups);
  check(grad.sizes() == input.sizes() && mask.size() == 3, "group_norm_backward: expected grad of shape ",
        input.sizes(), ", got ", grad.sizes());
  const Tensor x = contiguous(input), gy = contiguous(to_dtype(grad, input.dtype()));
  const DType parameter = weight.defined() ? weight.dtype() : x.dtype();
  Tensor dx = mask[0] ? empty(x.sizes(), x.dtype(), x.device()) : Tensor();
  const Groups g = groups_of(x, groups);
  const std::int64_t size[] = {g.channels};
  if (x.is_meta()) {
    const Tensor per_channel = empty(IntSpan(size, 1), parameter, x.device());
    return {dx, mask[1] ? per_channel : Tensor(), mask[2] ? per_channel : Tensor()};
  }
  const auto planes = static_cast<std::size_t>(g.batch * g.channels), channels = static_cast<std::size_t>(g.channels);
  Doubles sums(2 * planes), d_weight(channels), d_bias(channels);
  if (x.numel() != 0) {
    const Statistics s = group_statistics(g, x, eps);
    const Doubles w = read(weight, g.channels, 1);
    const auto* from = static_cast<const char*>(x.data());
    const auto* gp = static_cast<const char*>(gy.data());
    for_each_plane(g, [&](std::size_t group, std::size_t, std::int64_t at) {
      double* plane = &sums[2 * static_cast<std::size_t>(at / g.inner)];
      g.table->dots(gp + at * g.itemsize, from + at * g.itemsize, g.inner, s.mean[group], plane);
      plane[1] *= s.rstd[group];
    });
    const auto per_group = static_cast<std::size_t>(g.per_group());
    Doubles a(static_cast<std::size_t>(g.batch * g.groups)), b(a.size());
    for (std::size_t plane = 0; plane < planes; ++plane) {
      const std::size_t channel = plane % channels;
      a[plane / per_group] += w[channel] * sums[2 * plane] / static_cast<double>(g.run());
      b[plane / per_group] += w[channel] * sums[2 * plane + 1] / static_cast<double>(g.run());
      d_bias[channel] += sums[2 * plane];
      d_weight[channel] += sums[2 * plane + 1];
    }
    if (mask[0]) {
      for_each_plane(g, [&](std::size_t group, std::size_t channel, std::int64_t at) {
        const double r = s.rstd[group], slope = -r * r * b[group];
        g.table->affine3(gp + at * g.itemsize, from + at * g.itemsize, static_cast<char*>(dx.data()) + at * g.itemsize,
                         g.inner, s.mean[group], r * w[channel], slope, -r * a[group]);
      });
    }
  }
  return {dx, mask[1] ? write(d_weight, parameter, x.device()) : Tensor(),
          mask[2] ? write(d_bias, parameter, x.device()) : Tensor()};
}

const Kernel group_norm_kernel("group_norm", &group_norm);
const Kernel native_group_norm_kernel("native_group_norm", &native_group_norm);
const Kernel group_norm_backward_kernel("group_norm_backward", &group_norm_backward);

}  // namespace
}  // namespace flambeau
