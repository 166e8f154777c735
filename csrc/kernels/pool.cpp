// max_pool, avg_pool, adaptive pooling, fractional max pooling: argument rules and windows; the loops are in
// pool_loops.cpp. Each family has one function for 1, 2 and 3 dims; the registration's context says which.
#include "kernels/pool.h"

#include <algorithm>
#include <tuple>

#include "core/copy.h"
#include "core/factory.h"
#include "kernels/shape.h"

namespace flambeau {

PoolAxis fixed_axis(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                    std::int64_t dilation) {
  PoolAxis axis;
  axis.in = in;
  axis.out = out;
  axis.step = dilation;
  axis.kernel = kernel;
  axis.stride = stride;
  axis.padding = padding;
  for (std::int64_t o = 0; o < out; ++o) {
    const std::int64_t start = o * stride - padding;
    std::int64_t begin = start;
    if (begin < 0) begin += (-begin + dilation - 1) / dilation * dilation;
    begin =
        std::min(begin, in - 1);  // a window that misses the input altogether (large dilation) is empty, but in bounds
    axis.begin.push_back(begin);
    axis.end.push_back(std::max(begin, std::min(start + (kernel - 1) * dilation + 1, in)));
    axis.extent.push_back(std::min(start + kernel, in + padding) - start);
  }
  return axis;
}

PoolAxis adaptive_axis(std::int64_t in, std::int64_t out) {
  PoolAxis axis;
  axis.in = in;
  axis.out = out;
  for (std::int64_t o = 0; o < out; ++o) {
    axis.begin.push_back(o * in / out);
    axis.end.push_back(((o + 1) * in + out - 1) / out);
    axis.extent.push_back(axis.end.back() - axis.begin.back());
  }
  return axis;
}

namespace {

constexpr std::int64_t kSpatial[] = {1, 2, 3};

std::int64_t entry(const char* op, const char* name, IntSpan values, std::int64_t spatial, std::int64_t d) {
  check(values.size() == 1 || values.size() == spatial, op, ": ", name, " must either be a single int, or a tuple of ",
        spatial, " ints, got ", values);
  const std::int64_t value = values.size() == 1 ? values[0] : values[d];
  // Sizes computed from these stay within int64.
  check(value < (std::int64_t{1} << 31), op, ": expected ", name, " below 2^31, got ", values);
  return value;
}

void check_input(const char* op, const Tensor& input, std::int64_t spatial) {
  check(input.dim() == spatial + 1 || input.dim() == spatial + 2, op, ": Expected ", spatial + 1, "D or ", spatial + 2,
        "D (batch mode) tensor, got input of shape ", input.sizes());
  for (std::int64_t d = input.dim() == spatial + 2 ? 1 : 0; d < input.dim(); ++d) {
    check(input.sizes()[d] > 0, op, ": Expected input with non-zero sizes for non-batch dimensions, got ",
          input.sizes());
  }
}

MemoryFormat last_format(std::int64_t spatial) {
  return spatial == 3 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast;
}

PoolProblem start(const Tensor& input, std::int64_t spatial) {
  PoolProblem p;
  for (PoolAxis& axis : p.axis) axis = fixed_axis(1, 1, 1, 1, 0, 1);
  const std::int64_t lead = input.dim() - spatial - 1;
  p.batch = lead == 1 ? input.sizes()[0] : 1;
  p.channels = input.sizes()[lead];
  p.channels_last = lead == 1 && spatial >= 2 && suggested_format(input) == last_format(spatial);
  return p;
}

std::int64_t pooled_size(const char* op, std::int64_t in, std::int64_t kernel, std::int64_t stride,
                         std::int64_t padding, std::int64_t dilation, bool ceil_mode) {
  check(kernel > 0, op, ": kernel size should be greater than zero, but got ", kernel);
  check(stride > 0, op, ": stride should not be zero or negative, but got ", stride);
  check(dilation > 0, op, ": dilation should be greater than zero, but got ", dilation);
  check(padding >= 0, op, ": pad must be non-negative, but got pad: ", padding);
  check(padding <= ((kernel - 1) * dilation + 1) / 2, op,
        ": pad should be at most half of effective kernel size, but got pad=", padding, ", kernel_size=", kernel,
        " and dilation=", dilation);
  const std::int64_t room = in + 2 * padding - dilation * (kernel - 1) - 1;
  std::int64_t out = (room >= 0 ? (room + (ceil_mode ? stride - 1 : 0)) / stride
                                : -((-room + stride - 1 - (ceil_mode ? stride - 1 : 0)) / stride)) +
                     1;
  if (ceil_mode && (out - 1) * stride >= in + padding) --out;
  check(out > 0, op, ": Given input size ", in, " the calculated output size is ", out, ". Output size is too small");
  return out;
}

PoolProblem fixed_problem(const char* op, const Tensor& input, std::int64_t spatial, IntSpan kernel, IntSpan stride,
                          IntSpan padding, IntSpan dilation, bool ceil_mode) {
  check_input(op, input, spatial);
  PoolProblem p = start(input, spatial);
  for (std::int64_t d = 0; d < spatial; ++d) {
    const std::int64_t in = input.sizes()[input.dim() - spatial + d], k = entry(op, "kernel_size", kernel, spatial, d);
    const std::int64_t s = stride.empty() ? k : entry(op, "stride", stride, spatial, d),
                       pad = entry(op, "padding", padding, spatial, d);
    const std::int64_t dil = entry(op, "dilation", dilation, spatial, d);
    p.axis[3 - spatial + d] = fixed_axis(in, pooled_size(op, in, k, s, pad, dil, ceil_mode), k, s, pad, dil);
  }
  return p;
}

PoolProblem adaptive_problem(const char* op, const Tensor& input, std::int64_t spatial, IntSpan output_size) {
  check(spatial == 1 || input.dim() > spatial, ErrorKind::Value, op, ": Input dimension should be at least ",
        spatial + 1, ", got shape ", input.sizes());
  check_input(op, input, spatial);
  check(output_size.size() == 1 || output_size.size() == spatial, op, ": output_size must be ", spatial,
        " values, got ", output_size);
  // Before the tables of windows: a result that can't be stored must not take its time.
  Dims sizes(input.sizes());
  for (std::int64_t d = 0; d < spatial; ++d) {
    sizes[input.dim() - spatial + d] =
        std::max<std::int64_t>(output_size.size() == 1 ? output_size[0] : output_size[d], 0);
  }
  check(checked_numel(sizes) < (std::int64_t{1} << 33), ErrorKind::Memory, op,
        ": not enough memory for a result of shape ", sizes);
  PoolProblem p = start(input, spatial);
  for (std::int64_t d = 0; d < spatial; ++d) {
    const std::int64_t in = input.sizes()[input.dim() - spatial + d];
    const std::int64_t out = output_size.size() == 1 ? output_size[0] : output_size[d];
    check(out >= 0, op, ": elements of output_size must be greater than or equal to 0 but received ", output_size);
    check(out < (std::int64_t{1} << 27), ErrorKind::Memory, op, ": not enough memory for the windows of output_size ",
          output_size);
    p.axis[3 - spatial + d] = adaptive_axis(in, out);
  }
  return p;
}

Dims output_sizes(const PoolProblem& p, const Tensor& input, std::int64_t spatial) {
  Dims sizes(input.sizes());
  for (std::int64_t d = 0; d < spatial; ++d) sizes[input.dim() - spatial + d] = p.axis[3 - spatial + d].out;
  return sizes;
}

MemoryFormat format_of(const PoolProblem& p, std::int64_t spatial) {
  return p.channels_last ? last_format(spatial) : MemoryFormat::Contiguous;
}

std::int64_t spatial_of(const KernelDef& def) { return *static_cast<const std::int64_t*>(def.context); }

std::tuple<Tensor, Tensor> run_max(const PoolProblem& p, const Tensor& input, std::int64_t spatial, bool with_indices) {
  const Dims sizes = output_sizes(p, input, spatial);
  const MemoryFormat format = format_of(p, spatial);
  Tensor output = empty(sizes, input.dtype(), input.device(), format), indices;
  if (with_indices) indices = empty(sizes, DType::Int64, input.device(), format);
  if (!output.is_meta() && output.numel() != 0) max_pool_forward(p, contiguous(input, format), output, indices);
  return {output, indices};
}

// PyTorch pools (n, c, l) as the image (n, c, 1, l), whose strides look channels-last if l lies outside c: then so do
// the result's, in which c is innermost.
Tensor in_layout_of(const Tensor& input, const Tensor& result) {
  if (input.dim() != 3) return result;
  const std::int64_t n = result.sizes()[0], c = result.sizes()[1], length = result.sizes()[2];
  const IntSpan sizes = input.sizes(), strides = input.strides();
  const Dims image_sizes{sizes[0], sizes[1], 1, sizes[2]};
  const Dims image_strides{strides[0], strides[1], sizes[2] * strides[2], strides[2]};
  if (suggested_format(alias(input, image_sizes, image_strides, input.offset())) == MemoryFormat::Contiguous)
    return result;
  const Dims turned{c * length, 1, c};
  Tensor last = empty_strided({n, c, length}, turned, result.dtype(), result.device());
  if (!last.is_meta()) copy_into(last, result);
  return last;
}

Tensor max_pool(const KernelDef& def, const Tensor& input, IntSpan kernel_size, std::optional<IntSpan> stride,
                IntSpan padding, IntSpan dilation, bool ceil_mode) {
  const std::int64_t spatial = spatial_of(def);
  return std::get<0>(run_max(
      fixed_problem(def.name, input, spatial, kernel_size, stride.value_or(IntSpan()), padding, dilation, ceil_mode),
      input, spatial, false));
}

std::tuple<Tensor, Tensor> max_pool_with_indices(const KernelDef& def, const Tensor& input, IntSpan kernel_size,
                                                 std::optional<IntSpan> stride, IntSpan padding, IntSpan dilation,
                                                 bool ceil_mode) {
  const std::int64_t spatial = spatial_of(def);
  const auto [output, indices] = run_max(
      fixed_problem(def.name, input, spatial, kernel_size, stride.value_or(IntSpan()), padding, dilation, ceil_mode),
      input, spatial, true);
  if (spatial == 1) return {in_layout_of(input, output), in_layout_of(input, indices)};
  return {output, indices};
}

Tensor max_pool_grad(const KernelDef& def, const Tensor& cotangent, const Tensor& input, IntSpan kernel_size,
                     std::optional<IntSpan> stride, IntSpan padding, IntSpan dilation, bool ceil_mode) {
  const std::int64_t spatial = spatial_of(def);
  const PoolProblem p =
      fixed_problem(def.name, input, spatial, kernel_size, stride.value_or(IntSpan()), padding, dilation, ceil_mode);
  const MemoryFormat format = format_of(p, spatial);
  Tensor result = empty(input.sizes(), input.dtype(), input.device(), format);
  if (result.is_meta() || result.numel() == 0) return result;
  fill(result, 0);
  if (cotangent.numel() != 0) max_pool_backward(p, contiguous(cotangent, format), contiguous(input, format), result);
  return result;
}

PoolProblem avg_problem(const KernelDef& def, const Tensor& input, IntSpan kernel_size, std::optional<IntSpan> stride,
                        IntSpan padding, bool ceil_mode, bool count_include_pad,
                        std::optional<std::int64_t> divisor_override) {
  check(!divisor_override || *divisor_override != 0, def.name, ": divisor must be not zero");
  PoolProblem p =
      fixed_problem(def.name, input, spatial_of(def), kernel_size, stride.value_or(IntSpan()), padding, {1}, ceil_mode);
  p.count_include_pad = count_include_pad;
  p.divisor_override = divisor_override.value_or(0);
  return p;
}

Tensor run_avg(PoolProblem p, const Tensor& input, std::int64_t spatial) {
  if (spatial == 3) p.channels_last = false;  // as PyTorch: averages of volumes are contiguous
  const MemoryFormat format = format_of(p, spatial);
  Tensor output = empty(output_sizes(p, input, spatial), input.dtype(), input.device(), format);
  if (!output.is_meta() && output.numel() != 0) avg_pool_forward(p, contiguous(input, format), output);
  return spatial == 1 ? in_layout_of(input, output) : output;
}

// A stand-in for the input of a pooling whose cotangent this is: sizes, dtype and layout.
Tensor input_like(const Tensor& cotangent, IntSpan input_size, std::int64_t spatial) {
  const bool last =
      spatial >= 2 && cotangent.dim() == spatial + 2 && suggested_format(cotangent) == last_format(spatial);
  return empty(input_size, cotangent.dtype(), {DeviceType::Meta},
               last ? last_format(spatial) : MemoryFormat::Contiguous);
}

Tensor run_avg_grad(const PoolProblem& p, const Tensor& cotangent, IntSpan input_size, std::int64_t spatial) {
  const Dims expected = output_sizes(p, input_like(cotangent, input_size, spatial), spatial);
  check(cotangent.sizes() == IntSpan(expected), "avg_pool backward: expected a cotangent of shape ", IntSpan(expected),
        ", got ", cotangent.sizes(), ".");
  const MemoryFormat format = format_of(p, spatial);
  Tensor result = empty(input_size, cotangent.dtype(), cotangent.device(), format);
  if (result.is_meta() || result.numel() == 0) return result;
  if (cotangent.numel() == 0) {
    fill(result, 0);
  } else {
    avg_pool_backward(p, contiguous(cotangent, format), result);
  }
  return result;
}

Tensor avg_pool(const KernelDef& def, const Tensor& input, IntSpan kernel_size, std::optional<IntSpan> stride,
                IntSpan padding, bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor_override) {
  return run_avg(avg_problem(def, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override),
                 input, spatial_of(def));
}

Tensor avg_pool_grad(const KernelDef& def, const Tensor& cotangent, IntSpan input_size, IntSpan kernel_size,
                     std::optional<IntSpan> stride, IntSpan padding, bool ceil_mode, bool count_include_pad,
                     std::optional<std::int64_t> divisor_override) {
  const Tensor shape = input_like(cotangent, input_size, spatial_of(def));
  return run_avg_grad(
      avg_problem(def, shape, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override), cotangent,
      input_size, spatial_of(def));
}

Tensor adaptive_avg_pool(const KernelDef& def, const Tensor& input, IntSpan output_size) {
  const std::int64_t spatial = spatial_of(def);
  return run_avg(adaptive_problem(def.name, input, spatial, output_size), input, spatial);
}

Tensor adaptive_avg_pool_grad(const KernelDef& def, const Tensor& cotangent, IntSpan input_size) {
  const std::int64_t spatial = spatial_of(def);
  check(cotangent.dim() >= spatial, def.name, ": expected a cotangent of at least ", spatial, " dims, got shape ",
        cotangent.sizes(), ".");
  const Tensor shape = input_like(cotangent, input_size, spatial);
  const IntSpan sizes = cotangent.sizes();
  return run_avg_grad(adaptive_problem(def.name, shape, spatial, sizes.subspan(sizes.size() - spatial, spatial)),
                      cotangent, input_size, spatial);
}

std::tuple<Tensor, Tensor> adaptive_max_pool(const KernelDef& def, const Tensor& input, IntSpan output_size) {
  const std::int64_t spatial = spatial_of(def);
  PoolProblem p = adaptive_problem(def.name, input, spatial, output_size);
  if (spatial == 3) p.channels_last = false;  // as PyTorch
  const auto [output, indices] = run_max(p, input, spatial, true);
  if (spatial == 1) return {in_layout_of(input, output), in_layout_of(input, indices)};
  return {output, indices};
}

// Windows of random places: u in [0, 1) per image, channel and axis shifts the sequence (Graham, "Fractional
// Max-Pooling", arXiv:1412.6071): start_i = floor((i + u) alpha) - floor(u alpha), the last one at the end.
std::tuple<Tensor, Tensor> fractional_max_pool(const KernelDef& def, const Tensor& input, IntSpan kernel_size,
                                               IntSpan output_size, const Tensor& samples) {
  const std::int64_t spatial = spatial_of(def);
  check_input(def.name, input, spatial);
  const std::int64_t lead = input.dim() - spatial;
  Dims sizes(input.sizes());
  std::int64_t kernel[3], out[3];
  for (std::int64_t d = 0; d < spatial; ++d) {
    kernel[d] = entry(def.name, "kernel_size", kernel_size, spatial, d);
    out[d] = entry(def.name, "output_size", output_size, spatial, d);
    const std::int64_t in = input.sizes()[lead + d];
    check(kernel[d] > 0 && out[d] > 0 && out[d] + kernel[d] - 1 <= in, def.name, ": pool size ", kernel[d],
          " and output size ", out[d], " too large relative to input size ", in);
    sizes[lead + d] = out[d];
  }
  const std::int64_t planes = input.numel() / std::max<std::int64_t>(1, [&] {
                                std::int64_t n = 1;
                                for (std::int64_t d = 0; d < spatial; ++d) n *= input.sizes()[lead + d];
                                return n;
                              }());
  check(samples.dtype() == input.dtype() && samples.numel() == planes * spatial, def.name,
        ": expected random samples of shape (batch, channels, ", spatial, ") and dtype ", name_of(input.dtype()),
        ", got ", samples.sizes(), " ", name_of(samples.dtype()));
  Tensor output = empty(sizes, input.dtype(), input.device()), indices = empty(sizes, DType::Int64, input.device());
  if (output.is_meta() || output.numel() == 0) return {output, indices};
  const Tensor in = contiguous(input), u = to_dtype(contiguous(samples), DType::Float64);
  PoolProblem p = start(in, spatial);
  p.channels_last = false;
  p.batch = p.channels = 1;
  const auto plane_of = [](const Tensor& t, std::int64_t plane, std::int64_t count) {
    return alias(t, {count}, {1}, t.offset() + plane * count);
  };
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    for (std::int64_t d = 0; d < spatial; ++d) {
      const std::int64_t n = in.sizes()[lead + d];
      // PyTorch reads the samples of an axis back to front: width first.
      const float sample = static_cast<float>(u.data<double>()[plane * spatial + (spatial == 2 ? 1 - d : d)]);
      PoolAxis axis;
      axis.in = n;
      axis.out = out[d];
      const float alpha = out[d] > 1 ? static_cast<float>(n - kernel[d]) / static_cast<float>(out[d] - 1) : 0.0F;
      for (std::int64_t o = 0; o < out[d]; ++o) {
        const std::int64_t begin = o == out[d] - 1
                                       ? n - kernel[d]
                                       : static_cast<std::int64_t>((static_cast<float>(o) + sample) * alpha) -
                                             static_cast<std::int64_t>(sample * alpha);
        axis.begin.push_back(begin);
        axis.end.push_back(begin + kernel[d]);
        axis.extent.push_back(kernel[d]);
      }
      p.axis[3 - spatial + d] = axis;
    }
    max_pool_forward(p, plane_of(in, plane, p.in_size()), plane_of(output, plane, p.out_size()),
                     plane_of(indices, plane, p.out_size()));
  }
  return {output, indices};
}

const Kernel kernels[] = {
    {"max_pool1d", &max_pool, &kSpatial[0]},
    {"max_pool2d", &max_pool, &kSpatial[1]},
    {"max_pool3d", &max_pool, &kSpatial[2]},
    {"max_pool1d_with_indices", &max_pool_with_indices, &kSpatial[0]},
    {"max_pool2d_with_indices", &max_pool_with_indices, &kSpatial[1]},
    {"max_pool3d_with_indices", &max_pool_with_indices, &kSpatial[2]},
    {"max_pool1d_grad", &max_pool_grad, &kSpatial[0]},
    {"max_pool2d_grad", &max_pool_grad, &kSpatial[1]},
    {"max_pool3d_grad", &max_pool_grad, &kSpatial[2]},
    {"avg_pool1d", &avg_pool, &kSpatial[0]},
    {"avg_pool2d", &avg_pool, &kSpatial[1]},
    {"avg_pool3d", &avg_pool, &kSpatial[2]},
    {"avg_pool1d_grad", &avg_pool_grad, &kSpatial[0]},
    {"avg_pool2d_grad", &avg_pool_grad, &kSpatial[1]},
    {"avg_pool3d_grad", &avg_pool_grad, &kSpatial[2]},
    {"adaptive_avg_pool1d", &adaptive_avg_pool, &kSpatial[0]},
    {"adaptive_avg_pool2d", &adaptive_avg_pool, &kSpatial[1]},
    {"adaptive_avg_pool3d", &adaptive_avg_pool, &kSpatial[2]},
    {"adaptive_avg_pool1d_grad", &adaptive_avg_pool_grad, &kSpatial[0]},
    {"adaptive_avg_pool2d_grad", &adaptive_avg_pool_grad, &kSpatial[1]},
    {"adaptive_avg_pool3d_grad", &adaptive_avg_pool_grad, &kSpatial[2]},
    {"adaptive_max_pool1d", &adaptive_max_pool, &kSpatial[0]},
    {"adaptive_max_pool2d", &adaptive_max_pool, &kSpatial[1]},
    {"adaptive_max_pool3d", &adaptive_max_pool, &kSpatial[2]},
    {"fractional_max_pool2d", &fractional_max_pool, &kSpatial[1]},
    {"fractional_max_pool3d", &fractional_max_pool, &kSpatial[2]},
};

}  // namespace
}  // namespace flambeau
