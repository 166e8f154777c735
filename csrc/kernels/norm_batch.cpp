// batch_norm and group_norm: statistics per channel (or group), then y = a x + b with coefficients per channel.
// Row-major inputs are planes of `inner` neighbouring elements; channels-last and 2-d inputs are columns.
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
constexpr std::int64_t kBlock = 1024;  // columns of one call
using Doubles = std::vector<double>;

const NormTable& table_for(const char* kernel, DType dtype) {
  const auto* table = static_cast<const NormTable*>(find_table(TableId::Norm, dtype));
  if (table == nullptr) throw_bad_dtype(kernel, dtype);
  return *table;
}

void join(Moments& a, const Moments& b) {
  if (b.count == 0) return;
  const double total = a.count + b.count, delta = b.mean - a.mean;
  a.squares += b.squares + delta * delta * (a.count * b.count / total);
  a.mean = a.count == 0 ? b.mean : a.mean + delta * (b.count / total);
  a.count = total;
}

// A tensor seen as (batch, channels, inner), or as (rows, channels) when `columns`.
struct Channels {
  const NormTable* table;
  std::int64_t batch = 1, channels = 1, inner = 1, itemsize = 4;
  bool columns = false;
  std::int64_t rows() const { return batch * inner; }
  std::int64_t chunk_rows() const {
    return std::max({std::int64_t{1}, kGrain / std::max<std::int64_t>(channels, 1), (rows() + 63) / 64});
  }
  std::int64_t chunks() const { return (rows() + chunk_rows() - 1) / chunk_rows(); }
};

Channels channels_of(const char* kernel, const Tensor& x, MemoryFormat format) {
  Channels c;
  c.table = &table_for(kernel, x.dtype());
  c.batch = x.size(0);
  c.channels = x.size(1);
  c.itemsize = x.itemsize();
  for (std::int64_t d = 2; d < x.dim(); ++d) c.inner *= x.sizes()[d];
  c.columns = format != MemoryFormat::Contiguous || c.inner == 1;
  return c;
}

// fn(chunk, first row, rows, first column, columns) in parallel over chunks of rows.
template <class F>
void for_each_block(const Channels& c, F&& fn) {
  const std::int64_t step = c.chunk_rows();
  parallel_for(0, c.chunks(), 1, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t chunk = b; chunk < e; ++chunk) {
      const std::int64_t first = chunk * step, rows = std::min(step, c.rows() - first);
      for (std::int64_t k = 0; k < c.channels; k += kBlock) fn(chunk, first, rows, k, std::min(kBlock, c.channels - k));
    }
  });
}
// fn(batch, channel, first element) over planes, channels split among threads.
template <class F>
void for_each_channel(const Channels& c, F&& fn) {
  const std::int64_t work = std::max<std::int64_t>(1, c.batch * c.inner);
  parallel_for(0, c.channels, std::max<std::int64_t>(1, kGrain / work), [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t channel = b; channel < e; ++channel) {
      for (std::int64_t n = 0; n < c.batch; ++n) fn(channel, (n * c.channels + channel) * c.inner);
    }
  });
}

std::vector<Moments> channel_moments(const Channels& c, const void* data) {
  const auto* x = static_cast<const char*>(data);
  std::vector<Moments> result(static_cast<std::size_t>(c.channels));
  if (!c.columns) {
    for_each_channel(c, [&](std::int64_t channel, std::int64_t at) {
      c.table->moments(x + at * c.itemsize, c.inner, &result[static_cast<std::size_t>(channel)]);
    });
    return result;
  }
  std::vector<Moments> partial(static_cast<std::size_t>(c.channels * c.chunks()));
  for_each_block(c, [&](std::int64_t chunk, std::int64_t first, std::int64_t rows, std::int64_t k, std::int64_t count) {
    c.table->moments_columns(x + (first * c.channels + k) * c.itemsize, rows, c.channels, count,
                             &partial[static_cast<std::size_t>(chunk * c.channels + k)]);
  });
  for (std::size_t i = 0; i < partial.size(); ++i) join(result[i % static_cast<std::size_t>(c.channels)], partial[i]);
  return result;
}

struct Sums {
  Doubles grad, product;  // sum(g) and sum(g (x - shift)) per channel
};

// Coefficients per channel as an array of the lane type.
struct Lanes {
  std::vector<double> doubles;
  std::vector<float> floats;
  Lanes(const Doubles& values, DType dtype) {
    if (dtype == DType::Float64) {
      doubles = values;
    } else {
      floats.assign(values.begin(), values.end());
    }
  }
  const void* at(std::int64_t i) const {
    return doubles.empty() ? static_cast<const void*>(floats.data() + i) : static_cast<const void*>(doubles.data() + i);
  }
};

Sums channel_dots(const Channels& c, const Tensor& grad, const Tensor& x, const Doubles& shift) {
  const auto *g = static_cast<const char*>(grad.data()), *data = static_cast<const char*>(x.data());
  const auto channels = static_cast<std::size_t>(c.channels);
  Sums result{Doubles(channels), Doubles(channels)};
  if (!c.columns) {
    Doubles both(2 * channels);
    for_each_channel(c, [&](std::int64_t channel, std::int64_t at) {
      const auto i = static_cast<std::size_t>(channel);
      c.table->dots(g + at * c.itemsize, data + at * c.itemsize, c.inner, shift[i], &both[2 * i]);
    });
    for (std::size_t i = 0; i < channels; ++i) {
      result.grad[i] = both[2 * i];
      result.product[i] = both[2 * i + 1];
    }
    return result;
  }
  const Lanes centre(shift, x.dtype());
  const auto total = channels * static_cast<std::size_t>(c.chunks());
  Doubles grads(total), products(total);
  for_each_block(c, [&](std::int64_t chunk, std::int64_t first, std::int64_t rows, std::int64_t k, std::int64_t count) {
    const std::int64_t at = (first * c.channels + k) * c.itemsize;
    const auto slot = static_cast<std::size_t>(chunk * c.channels + k);
    c.table->dots_columns(g + at, data + at, rows, c.channels, count, centre.at(k), &grads[slot], &products[slot]);
  });
  for (std::size_t i = 0; i < total; ++i) {
    result.grad[i % channels] += grads[i];
    result.product[i % channels] += products[i];
  }
  return result;
}

// y = (x - mean) a + b per channel; with a gradient: dx = g a + (x - mean) b + c.
void apply_affine(const Channels& c, const Tensor& x, const Tensor& y, const Doubles& mean, const Doubles& a,
                  const Doubles& b) {
  const auto* from = static_cast<const char*>(x.data());
  auto* to = static_cast<char*>(y.data());
  if (c.columns) {
    const Lanes centre(mean, x.dtype()), scale(a, x.dtype()), shift(b, x.dtype());
    for_each_block(c, [&](std::int64_t, std::int64_t first, std::int64_t rows, std::int64_t k, std::int64_t count) {
      const std::int64_t at = (first * c.channels + k) * c.itemsize;
      c.table->affine_columns(from + at, to + at, rows, c.channels, count, centre.at(k), scale.at(k), shift.at(k));
    });
    return;
  }
  parallel_for(0, c.batch * c.channels, std::max<std::int64_t>(1, kGrain / c.inner),
               [&](std::int64_t s, std::int64_t e) {
                 for (std::int64_t i = s; i < e; ++i) {
                   const auto channel = static_cast<std::size_t>(i % c.channels);
                   c.table->affine(from + i * c.inner * c.itemsize, to + i * c.inner * c.itemsize, c.inner,
                                   mean[channel], a[channel], b[channel]);
                 }
               });
}
void apply_affine3(const Channels& c, const Tensor& grad, const Tensor& x, const Tensor& dx, const Doubles& mean,
                   const Doubles& a, const Doubles& b, const Doubles& shift) {
  const auto *g = static_cast<const char*>(grad.data()), *from = static_cast<const char*>(x.data());
  auto* to = static_cast<char*>(dx.data());
  if (c.columns) {
    const Lanes lm(mean, x.dtype()), la(a, x.dtype()), lb(b, x.dtype()), lc(shift, x.dtype());
    for_each_block(c, [&](std::int64_t, std::int64_t first, std::int64_t rows, std::int64_t k, std::int64_t count) {
      const std::int64_t at = (first * c.channels + k) * c.itemsize;
      c.table->affine3_columns(g + at, from + at, to + at, rows, c.channels, count, lm.at(k), la.at(k), lb.at(k),
                               lc.at(k));
    });
    return;
  }
  parallel_for(
      0, c.batch * c.channels, std::max<std::int64_t>(1, kGrain / c.inner), [&](std::int64_t s, std::int64_t e) {
        for (std::int64_t i = s; i < e; ++i) {
          const auto channel = static_cast<std::size_t>(i % c.channels);
          const std::int64_t at = i * c.inner * c.itemsize;
          c.table->affine3(g + at, from + at, to + at, c.inner, mean[channel], a[channel], b[channel], shift[channel]);
        }
      });
}

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

void check_parameter(const char* name, const Tensor& tensor, std::int64_t channels) {
  check(!tensor.defined() || tensor.numel() == channels, name, " should contain ", channels, " elements not ",
        tensor.defined() ? tensor.numel() : 0);
}
void check_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& mean,
                      const Tensor& var, bool training) {
  check(input.dim() >= 2, "batch_norm: expected input of at least 2 dims (batch, channels, ...), got shape ",
        input.sizes());
  const std::int64_t channels = input.sizes()[1];
  check_parameter("running_mean", mean, channels);
  check_parameter("running_var", var, channels);
  check_parameter("weight", weight, channels);
  check_parameter("bias", bias, channels);
  check(training || mean.defined(),
        "batch_norm: running_mean must be defined in evaluation mode. Give it, or set training=True.");
  check(training || var.defined(),
        "batch_norm: running_var must be defined in evaluation mode. Give it, or set training=True.");
  check(!training || input.numel() == 0 || input.numel() / std::max<std::int64_t>(1, channels) >= 1,
        "batch_norm: expected at least one value per channel when training, got shape ", input.sizes());
}

void update_running(const Tensor& running, const Doubles& fresh, double momentum) {
  if (!running.defined()) return;
  Doubles values = read(running, running.numel(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = (1 - momentum) * values[i] + momentum * fresh[i];
  copy_into(running, write(values, running.dtype(), running.device()));
}

DType statistics_dtype(const Tensor& input, const Tensor& weight) {
  return weight.defined() && weight.dtype() != input.dtype() ? compute_dtype(input.dtype()) : input.dtype();
}

// (output, mean, 1 / sqrt(var + eps)). Running statistics are updated in place.
std::tuple<Tensor, Tensor, Tensor> batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                              const Tensor& running_mean, const Tensor& running_var, bool training,
                                              double momentum, double eps) {
  check_batch_norm(input, weight, bias, running_mean, running_var, training);
  const MemoryFormat format = suggested_format(input);
  const Tensor x = contiguous(input, format);
  const Channels c = channels_of("batch_norm", x, format);
  Tensor out = empty(x.sizes(), x.dtype(), x.device(), format);
  const DType kept = statistics_dtype(input, weight);
  if (x.is_meta()) {
    const Tensor per_channel = empty(IntSpan(&c.channels, 1), kept, x.device());
    return {out, per_channel, empty_like(per_channel)};
  }
  const auto channels = static_cast<std::size_t>(c.channels);
  Doubles mean = read(training ? Tensor() : running_mean, c.channels, 0), rstd(channels);
  if (training) {
    Doubles unbiased(channels);
    const std::vector<Moments> moments = channel_moments(c, x.data());
    for (std::size_t i = 0; i < channels; ++i) {
      mean[i] = moments[i].mean;
      rstd[i] = 1 / std::sqrt(moments[i].squares / moments[i].count + eps);
      unbiased[i] = moments[i].squares / (moments[i].count - 1);
    }
    if (x.numel() != 0) {
      update_running(running_mean, mean, momentum);
      update_running(running_var, unbiased, momentum);
    }
  } else {
    const Doubles var = read(running_var, c.channels, 1);
    for (std::size_t i = 0; i < channels; ++i) rstd[i] = 1 / std::sqrt(var[i] + eps);
  }
  Doubles a = read(weight, c.channels, 1);
  for (std::size_t i = 0; i < channels; ++i) a[i] *= rstd[i];
  if (x.numel() != 0) apply_affine(c, x, out, mean, a, read(bias, c.channels, 0));
  return {out, write(mean, kept, x.device()), write(rstd, kept, x.device())};
}

// dx = w rstd (g - mean(g) - xhat mean(g xhat)) in training, w rstd g in evaluation.
std::tuple<Tensor, Tensor, Tensor> batch_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                                       const Tensor& save_mean, const Tensor& save_rstd, bool training,
                                                       double, Span<bool> mask) {
  check(input.dim() >= 2 && grad.sizes() == input.sizes() && mask.size() == 3,
        "batch_norm_backward: expected grad of input's shape ", input.sizes(), ", got ", grad.sizes());
  check_parameter("weight", weight, input.sizes()[1]);
  check_parameter("save_mean", save_mean, input.sizes()[1]);
  check_parameter("save_rstd", save_rstd, input.sizes()[1]);
  const MemoryFormat format = suggested_format(input);
  const Tensor x = contiguous(input, format), g = contiguous(to_dtype(grad, input.dtype()), format);
  const Channels c = channels_of("batch_norm_backward", x, format);
  const DType parameter = weight.defined() ? weight.dtype() : statistics_dtype(input, weight);
  Tensor dx = mask[0] ? empty(x.sizes(), x.dtype(), x.device(), format) : Tensor();
  const std::int64_t size[] = {c.channels};
  if (x.is_meta()) {
    const Tensor per_channel = empty(IntSpan(size, 1), parameter, x.device());
    return {dx, mask[1] ? per_channel : Tensor(), mask[2] ? per_channel : Tensor()};
  }
  const auto channels = static_cast<std::size_t>(c.channels);
  const Doubles mean = read(save_mean, c.channels, 0), rstd = read(save_rstd, c.channels, 1);
  Sums sums{Doubles(channels), Doubles(channels)};
  if (x.numel() != 0 && (training || mask[1] || mask[2])) sums = channel_dots(c, g, x, mean);
  if (mask[0] && x.numel() != 0) {
    Doubles a = read(weight, c.channels, 1), b(channels), shift(channels);
    const auto count = static_cast<double>(c.rows());
    for (std::size_t i = 0; i < channels; ++i) {
      a[i] *= rstd[i];
      if (!training) continue;
      b[i] = -a[i] * rstd[i] * rstd[i] * sums.product[i] / count;
      shift[i] = -a[i] * sums.grad[i] / count;
    }
    apply_affine3(c, g, x, dx, mean, a, b, shift);
  }
  Doubles d_weight(channels);
  for (std::size_t i = 0; i < channels; ++i) d_weight[i] = sums.product[i] * rstd[i];
  return {dx, mask[1] ? write(d_weight, parameter, x.device()) : Tensor(),
          mask[2] ? write(sums.grad, parameter, x.device()) : Tensor()};
}

const Kernel batch_norm_kernel("_batch_norm", &batch_norm);
const Kernel batch_norm_backward_kernel("_batch_norm_backward", &batch_norm_backward);

}  // namespace
}  // namespace flambeau
