// conv1d/2d/3d, conv_transpose1d/2d/3d and the two products their gradients are made of:
//   conv(x, w)             y[n, o, p] = sum over c, t of w[o, c, t] x[n, c, p * stride + t * dilation - padding]
//   conv_input(g, w)       its transpose in x (also: the transposed convolution)
//   conv_weight(g, x)      its transpose in w
// The three are closed under differentiation, so their rules (ops/conv.py) need nothing else.
#include "kernels/conv.h"

#include <algorithm>
#include <tuple>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/gemm.h"
#include "kernels/shape.h"
#include "onednn/onednn.h"

namespace flambeau {
namespace {

constexpr std::int64_t kSpatial[] = {1, 2, 3};

MemoryFormat last_format(std::int64_t spatial) {
  return spatial == 3 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast;
}

// Channels-last is contagious, from either operand, as in PyTorch.
bool wants_channels_last(std::int64_t spatial, const Tensor& a, const Tensor& b) {
  if (spatial < 2) return false;
  return suggested_format(a) == last_format(spatial) || suggested_format(b) == last_format(spatial);
}

std::int64_t entry(const char* op, const char* name, IntSpan values, std::int64_t spatial, std::int64_t d) {
  check(values.size() == 1 || values.size() == spatial, op, ": expected ", name,
        " to be a single integer value or a list of ", spatial, " values, got ", values);
  const std::int64_t value = values.size() == 1 ? values[0] : values[d];
  // Sizes computed from these stay within int64.
  check(value < (std::int64_t{1} << 31), op, ": expected ", name, " below 2^31, got ", values);
  return value;
}

// Kernel geometry. `channels` of the weight's second dim are per group.
ConvProblem geometry(const char* op, std::int64_t spatial, IntSpan weight, IntSpan stride, IntSpan padding,
                     IntSpan dilation, std::int64_t groups) {
  check(groups > 0, op, ": expected groups > 0, got ", groups);
  check(weight.size() == spatial + 2, op, ": expected weight with ", spatial + 2, " dimensions, got shape ", weight);
  ConvProblem p;
  p.groups = groups;
  for (std::int64_t d = 0; d < spatial; ++d) {
    const std::int64_t at = 3 - spatial + d;
    p.kernel[at] = weight[2 + d];
    p.stride[at] = entry(op, "stride", stride, spatial, d);
    p.padding[at] = entry(op, "padding", padding, spatial, d);
    p.dilation[at] = entry(op, "dilation", dilation, spatial, d);
    check(p.stride[at] > 0, op, ": non-positive stride is not supported, got stride ", stride);
    check(p.padding[at] >= 0, op, ": negative padding is not supported, got padding ", padding);
    check(p.dilation[at] > 0, op, ": expected dilation > 0, got ", dilation);
    check(p.kernel[at] > 0, op, ": expected a kernel without empty dimensions, got weight ", weight);
  }
  return p;
}

void check_types(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check(input.dtype() == weight.dtype(), op, ": expected input and weight of the same dtype, got ",
        name_of(input.dtype()), " and ", name_of(weight.dtype()), ". Convert one of them.");
  check(!bias.defined() || bias.dtype() == input.dtype(), op, ": expected input and bias of the same dtype, got ",
        name_of(input.dtype()), " and ", bias.defined() ? name_of(bias.dtype()) : "");
  if (input.dtype() == DType::Bool) throw_bad_dtype(op, DType::Bool);
}

// (C, ...) as (1, C, ...)
Tensor batched(const Tensor& t, std::int64_t spatial) {
  if (t.dim() != spatial + 1) return t;
  Dims sizes(t.sizes()), strides(t.strides());
  sizes.insert(0, 1);
  strides.insert(0, t.sizes()[0] * t.strides()[0]);
  return alias(t, sizes, strides, t.offset());
}
Tensor unbatched(const Tensor& t) {
  return alias(t, t.sizes().subspan(1, t.dim() - 1), t.strides().subspan(1, t.dim() - 1), t.offset());
}

onednn::Convolution library_problem(const ConvProblem& p, std::int64_t spatial, const Tensor& weight,
                                    bool channels_last) {
  onednn::Convolution c{};
  c.dtype = weight.dtype();
  c.spatial = spatial;
  c.batch = p.batch;
  c.in_channels = p.in_channels;
  c.out_channels = p.out_channels;
  c.groups = p.groups;
  for (std::int64_t d = 0; d < spatial; ++d) {
    const std::int64_t at = 3 - spatial + d;
    c.in[d] = p.in[at];
    c.out[d] = p.out[at];
    c.kernel[d] = p.kernel[at];
    c.stride[d] = p.stride[at];
    c.padding[d] = p.padding[at];
    c.dilation[d] = p.dilation[at];
  }
  for (std::int64_t d = 0; d < spatial + 2; ++d) c.weight_strides[d] = weight.strides()[d];
  c.channels_last = channels_last;
  return c;
}

Tensor dense(const Tensor& weight) { return weight.is_non_overlapping_and_dense() ? weight : contiguous(weight); }

// Which arrangement of a float32 problem our own kernels win, by measurement (onednn/conv.cpp has the library's side).
enum class Path { Depthwise, Patches, Rows, Library };
Path choose(const ConvProblem& p, DType dtype, bool channels_last) {
  if (dtype != DType::Float32) return is_reduced_float(dtype) ? Path::Library : Path::Patches;
  if (p.depthwise() && !channels_last) return Path::Depthwise;
  if (p.pointwise() && p.groups == 1) return channels_last ? Path::Rows : Path::Patches;
  // Little work: calling the library costs more than the products.
  const std::int64_t weights = p.out_channels * p.in_channels / p.groups * p.taps();
  if (static_cast<double>(weights) * static_cast<double>(p.batch * p.out_size()) < 1e6) return Path::Patches;
  return Path::Library;
}

// Plain float32 activations that had better pass through channels-last ones than through the blocked layout the library
// would choose: where there is enough arithmetic per value to pay for turning it (3x3 at 2 cores: 256 channels at
// 14x14, batch 8, 3.92 to 3.46 ms; 64 at 56x56 4.09 to 4.26).
constexpr double kTurnWorth = 1000;
bool turns_layout(const ConvProblem& p, std::int64_t spatial, DType dtype, bool channels_last) {
  if (channels_last || spatial != 2 || p.groups != 1 || choose(p, dtype, false) != Path::Library ||
      dtype != DType::Float32) {
    return false;
  }
  const auto values = static_cast<double>(p.in_channels * p.in_size() + p.out_channels * p.out_size());
  const auto products = static_cast<double>(p.out_channels * p.in_channels * p.taps() * p.out_size());
  return 2 * products >= kTurnWorth * values;
}

void add_bias(const Tensor& output, const Tensor& bias) {
  // bias as (1, C, 1, ...), added in place row by row.
  const Tensor b = contiguous(bias);
  const std::int64_t channels = b.numel(), outer = output.sizes()[0],
                     inner = output.numel() / std::max<std::int64_t>(1, channels * outer);
  const bool last = !output.is_contiguous();
  dispatch_all(output.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, Half> && !std::is_same_v<T, BFloat16>) {
      T* data = output.data<T>();
      const T* values = b.data<T>();
      if (last) {  // (n, positions, channels)
        parallel_for(0, outer * inner, std::max<std::int64_t>(1, 32768 / channels),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t i = begin; i < end; ++i) {
                         for (std::int64_t c = 0; c < channels; ++c)
                           data[i * channels + c] = static_cast<T>(data[i * channels + c] + values[c]);
                       }
                     });
      } else {
        parallel_for(0, outer * channels, std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, inner)),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t i = begin; i < end; ++i) {
                         for (std::int64_t j = 0; j < inner; ++j)
                           data[i * inner + j] = static_cast<T>(data[i * inner + j] + values[i % channels]);
                       }
                     });
      }
    }
  });
}

Tensor run_forward(const ConvProblem& p, std::int64_t spatial, const Tensor& input, const Tensor& weight,
                   const Tensor& bias, IntSpan sizes) {
  const DType dtype = input.dtype();
  const bool last = wants_channels_last(spatial, input, weight);
  const MemoryFormat format = last ? last_format(spatial) : MemoryFormat::Contiguous;
  Tensor output = empty(sizes, dtype, input.device(), format);
  if (output.is_meta() || output.numel() == 0) return output;
  const Tensor in = contiguous(input, format);
  const Tensor b = bias.defined() ? contiguous(bias) : bias;
  const void* bias_data = bias.defined() ? b.data() : nullptr;
  const Path path = choose(p, dtype, last);
  if (path == Path::Depthwise) {
    const Tensor w = contiguous(weight);
    depthwise_forward(p, in.data<float>(), w.data<float>(), static_cast<const float*>(bias_data), output.data<float>());
    return output;
  }
  if (path == Path::Rows) {
    const std::int64_t rows = p.batch * p.out_size(), n = p.out_channels;
    gemm(Gemm<float>{rows, n, p.in_channels, in.data<float>(), p.in_channels, 1, weight.data<float>(),
                     weight.strides()[1], weight.strides()[0], output.data<float>(), n, 1.0F, false,
                     static_cast<const float*>(bias_data)});
    return output;
  }
  if (path == Path::Library) {
    const Tensor w = dense(weight);
    if (turns_layout(p, spatial, dtype, last)) {
      const Tensor turned = empty(sizes, dtype, input.device(), MemoryFormat::ChannelsLast);
      if (onednn::conv_forward(library_problem(p, spatial, w, true), contiguous(in, MemoryFormat::ChannelsLast).data(),
                               w.data(), bias_data, turned.data())) {
        copy_into(output, turned);
        return output;
      }
    }
    if (onednn::conv_forward(library_problem(p, spatial, w, last), in.data(), w.data(), bias_data, output.data()))
      return output;
  }
  if (is_reduced_float(dtype)) {
    const Tensor wide = run_forward(p, spatial, to_dtype(input, DType::Float32), to_dtype(weight, DType::Float32),
                                    bias.defined() ? to_dtype(bias, DType::Float32) : bias, sizes);
    copy_into(output, wide);
    return output;
  }
  const Tensor plain_in = contiguous(input), w = contiguous(weight);
  const Tensor target = last ? empty(sizes, dtype, input.device()) : output;
  conv_forward_patches(dtype, p, plain_in.data(), w.data(), bias_data, target.data());
  if (last) copy_into(output, target);
  return output;
}

Tensor run_input(const ConvProblem& p, std::int64_t spatial, const Tensor& grad, const Tensor& weight, IntSpan sizes) {
  const DType dtype = grad.dtype();
  const bool last = wants_channels_last(spatial, grad, weight);
  const MemoryFormat format = last ? last_format(spatial) : MemoryFormat::Contiguous;
  Tensor result = empty(sizes, dtype, grad.device(), format);
  if (result.is_meta() || result.numel() == 0) return result;
  if (grad.numel() == 0) {
    fill(result, 0);
    return result;
  }
  const Tensor g = contiguous(grad, format);
  const Path path = choose(p, dtype, last);
  if (path == Path::Depthwise) {
    const Tensor w = contiguous(weight);
    depthwise_input(p, g.data<float>(), w.data<float>(), result.data<float>());
    return result;
  }
  if (path == Path::Rows) {
    gemm(Gemm<float>{p.batch * p.out_size(), p.in_channels, p.out_channels, g.data<float>(), p.out_channels, 1,
                     weight.data<float>(), weight.strides()[0], weight.strides()[1], result.data<float>(),
                     p.in_channels});
    return result;
  }
  if (path == Path::Library) {
    const Tensor w = dense(weight);
    if (turns_layout(p, spatial, dtype, last)) {
      const Tensor turned = empty(sizes, dtype, grad.device(), MemoryFormat::ChannelsLast);
      if (onednn::conv_backward_input(library_problem(p, spatial, w, true),
                                      contiguous(g, MemoryFormat::ChannelsLast).data(), w.data(), turned.data())) {
        copy_into(result, turned);
        return result;
      }
    }
    if (onednn::conv_backward_input(library_problem(p, spatial, w, last), g.data(), w.data(), result.data()))
      return result;
  }
  if (is_reduced_float(dtype)) {
    copy_into(result, run_input(p, spatial, to_dtype(grad, DType::Float32), to_dtype(weight, DType::Float32), sizes));
    return result;
  }
  const Tensor plain = contiguous(grad), w = contiguous(weight);
  const Tensor target = last ? empty(sizes, dtype, grad.device()) : result;
  conv_input_patches(dtype, p, plain.data(), w.data(), target.data());
  if (last) copy_into(result, target);
  return result;
}

Tensor run_weight(const ConvProblem& p, std::int64_t spatial, const Tensor& grad, const Tensor& input, IntSpan sizes) {
  const DType dtype = grad.dtype();
  const bool last = wants_channels_last(spatial, grad, input);
  const MemoryFormat format = last ? last_format(spatial) : MemoryFormat::Contiguous;
  Tensor result = empty(sizes, dtype, grad.device(), format);
  if (result.is_meta() || result.numel() == 0) return result;
  if (grad.numel() == 0) {
    fill(result, 0);
    return result;
  }
  const Tensor g = contiguous(grad, format), in = contiguous(input, format);
  const Path path = choose(p, dtype, last);
  if (path == Path::Depthwise) {
    depthwise_weight(p, g.data<float>(), in.data<float>(), result.data<float>());
    return result;
  }
  if (path == Path::Rows) {
    gemm(Gemm<float>{p.out_channels, p.in_channels, p.batch * p.out_size(), g.data<float>(), 1, p.out_channels,
                     in.data<float>(), p.in_channels, 1, result.data<float>(), p.in_channels});
    return result;
  }
  if (turns_layout(p, spatial, dtype, last) &&
      onednn::conv_backward_weight(library_problem(p, spatial, result, true),
                                   contiguous(g, MemoryFormat::ChannelsLast).data(),
                                   contiguous(in, MemoryFormat::ChannelsLast).data(), result.data())) {
    return result;
  }
  if (path == Path::Library &&
      onednn::conv_backward_weight(library_problem(p, spatial, result, last), g.data(), in.data(), result.data())) {
    return result;
  }
  if (is_reduced_float(dtype)) {
    copy_into(result, run_weight(p, spatial, to_dtype(grad, DType::Float32), to_dtype(input, DType::Float32), sizes));
    return result;
  }
  const Tensor plain = contiguous(grad), plain_in = contiguous(input);
  const Tensor target = last ? empty(sizes, dtype, grad.device()) : result;
  conv_weight_patches(dtype, p, plain.data(), plain_in.data(), target.data());
  if (last) copy_into(result, target);
  return result;
}

void check_input(const char* op, std::int64_t spatial, const Tensor& input) {
  check(input.dim() == spatial + 1 || input.dim() == spatial + 2, "Expected ", spatial + 1, "D (unbatched) or ",
        spatial + 2, "D (batched) input to ", op, ", but got input of size: ", input.sizes());
}

Tensor conv(const KernelDef& def, const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride,
            IntSpan padding, IntSpan dilation, std::int64_t groups) {
  const std::int64_t spatial = *static_cast<const std::int64_t*>(def.context);
  check_input(def.name, spatial, input);
  check_types(def.name, input, weight, bias);
  ConvProblem p = geometry(def.name, spatial, weight.sizes(), stride, padding, dilation, groups);
  const Tensor in = batched(input, spatial);
  p.batch = in.sizes()[0];
  p.in_channels = in.sizes()[1];
  p.out_channels = weight.sizes()[0];
  check(p.out_channels % groups == 0, def.name, ": expected weight.shape[0] to be divisible by groups, got ",
        p.out_channels, " and groups=", groups);
  check(p.in_channels == weight.sizes()[1] * groups, "Given groups=", groups, ", weight of size ", weight.sizes(),
        ", expected input", in.sizes(), " to have ", weight.sizes()[1] * groups, " channels, but got ", p.in_channels,
        " channels instead");
  check(!bias.defined() || (bias.dim() == 1 && bias.sizes()[0] == p.out_channels), "Given weight of size ",
        weight.sizes(), ", expected bias to be 1-dimensional with ", p.out_channels, " elements, but got bias of size ",
        bias.defined() ? bias.sizes() : IntSpan(), " instead");
  Dims sizes{p.batch, p.out_channels};
  for (std::int64_t d = 0; d < spatial; ++d) {
    const std::int64_t at = 3 - spatial + d;
    p.in[at] = in.sizes()[2 + d];
    const std::int64_t padded = p.in[at] + 2 * p.padding[at], reach = p.dilation[at] * (p.kernel[at] - 1) + 1;
    check(padded >= reach, def.name, ": Calculated padded input size per channel is ", padded, " in dim ", d,
          ", kernel size ", reach, ": Kernel size can't be greater than actual input size");
    p.out[at] = (padded - reach) / p.stride[at] + 1;
    sizes.push_back(p.out[at]);
  }
  checked_numel(sizes);
  Tensor output = run_forward(p, spatial, in, weight, bias, sizes);
  return input.dim() == spatial + 1 ? unbatched(output) : output;
}

// Fills the problem of a (transposed) gradient product from the shapes of its three tensors; true if unbatched.
ConvProblem transposed_problem(const char* op, std::int64_t spatial, const Tensor& grad, IntSpan input_size,
                               IntSpan weight, IntSpan stride, IntSpan padding, IntSpan dilation, std::int64_t groups) {
  ConvProblem p = geometry(op, spatial, weight, stride, padding, dilation, groups);
  const std::int64_t lead = input_size.size() - spatial - 1;  // 1 if batched
  p.batch = lead == 1 ? input_size[0] : 1;
  p.in_channels = input_size[lead];
  p.out_channels = weight[0];
  check(grad.dim() == input_size.size() && grad.sizes()[lead] == p.out_channels && p.in_channels == weight[1] * groups,
        op, ": expected grad ", grad.sizes(), ", input ", input_size, " and weight ", weight,
        " of one convolution with groups=", groups);
  for (std::int64_t d = 0; d < spatial; ++d) {
    p.in[3 - spatial + d] = input_size[lead + 1 + d];
    p.out[3 - spatial + d] = grad.sizes()[lead + 1 + d];
  }
  return p;
}

Tensor conv_input(const KernelDef& def, const Tensor& grad, const Tensor& weight, IntSpan input_size, IntSpan stride,
                  IntSpan padding, IntSpan dilation, std::int64_t groups) {
  const std::int64_t spatial = *static_cast<const std::int64_t*>(def.context);
  check_types(def.name, grad, weight, Tensor());
  const ConvProblem p =
      transposed_problem(def.name, spatial, grad, input_size, weight.sizes(), stride, padding, dilation, groups);
  Dims sizes(input_size);
  if (input_size.size() == spatial + 1) sizes.insert(0, 1);
  const Tensor result = run_input(p, spatial, batched(grad, spatial), weight, sizes);
  return input_size.size() == spatial + 1 ? unbatched(result) : result;
}

Tensor conv_weight(const KernelDef& def, const Tensor& grad, const Tensor& input, IntSpan weight_size, IntSpan stride,
                   IntSpan padding, IntSpan dilation, std::int64_t groups) {
  const std::int64_t spatial = *static_cast<const std::int64_t*>(def.context);
  check_types(def.name, grad, input, Tensor());
  const ConvProblem p =
      transposed_problem(def.name, spatial, grad, input.sizes(), weight_size, stride, padding, dilation, groups);
  return run_weight(p, spatial, batched(grad, spatial), batched(input, spatial), weight_size);
}

Tensor conv_transpose(const KernelDef& def, const Tensor& input, const Tensor& weight, const Tensor& bias,
                      IntSpan stride, IntSpan padding, IntSpan output_padding, std::int64_t groups, IntSpan dilation) {
  const std::int64_t spatial = *static_cast<const std::int64_t*>(def.context);
  check_input(def.name, spatial, input);
  check_types(def.name, input, weight, bias);
  ConvProblem p = geometry(def.name, spatial, weight.sizes(), stride, padding, dilation, groups);
  const Tensor in = batched(input, spatial);
  p.batch = in.sizes()[0];
  p.out_channels = in.sizes()[1];  // of the convolution that this one transposes
  p.in_channels = weight.sizes()[1] * groups;
  check(p.out_channels == weight.sizes()[0], "Given transposed=1, weight of size ", weight.sizes(), ", expected input",
        in.sizes(), " to have ", weight.sizes()[0], " channels, but got ", p.out_channels, " channels instead");
  check(p.out_channels % groups == 0, def.name, ": expected weight.shape[0] to be divisible by groups, got ",
        p.out_channels, " and groups=", groups);
  check(!bias.defined() || (bias.dim() == 1 && bias.sizes()[0] == p.in_channels), "Given transposed=1, weight of size ",
        weight.sizes(), ", expected bias to be 1-dimensional with ", p.in_channels, " elements, but got bias of size ",
        bias.defined() ? bias.sizes() : IntSpan(), " instead");
  Dims sizes{p.batch, p.in_channels};
  for (std::int64_t d = 0; d < spatial; ++d) {
    const std::int64_t at = 3 - spatial + d, extra = entry(def.name, "output_padding", output_padding, spatial, d);
    check(extra >= 0 && (extra < p.stride[at] || extra < p.dilation[at]), def.name,
          ": output padding must be smaller than either stride or dilation, got output_padding ", output_padding,
          ", stride ", stride, " and dilation ", dilation);
    p.out[at] = in.sizes()[2 + d];
    p.in[at] = (p.out[at] - 1) * p.stride[at] - 2 * p.padding[at] + p.dilation[at] * (p.kernel[at] - 1) + extra + 1;
    check(p.in[at] > 0, def.name, ": expected a positive output size, got ", p.in[at], " in dim ", d, " for input ",
          input.sizes());
    sizes.push_back(p.in[at]);
  }
  checked_numel(sizes);
  Tensor output;
  if (bias.defined() && is_reduced_float(input.dtype()) && !input.is_meta()) {  // round once, after the bias
    output = run_input(p, spatial, to_dtype(in, DType::Float32), to_dtype(weight, DType::Float32), sizes);
    if (output.numel() != 0) add_bias(output, to_dtype(bias, DType::Float32));
    output = to_dtype(output, input.dtype());
  } else {
    output = run_input(p, spatial, in, weight, sizes);
    if (bias.defined() && !output.is_meta() && output.numel() != 0) add_bias(output, bias);
  }
  return input.dim() == spatial + 1 ? unbatched(output) : output;
}

const Kernel kernels[] = {
    {"conv1d", &conv, &kSpatial[0]},
    {"conv2d", &conv, &kSpatial[1]},
    {"conv3d", &conv, &kSpatial[2]},
    {"conv1d_input", &conv_input, &kSpatial[0]},
    {"conv2d_input", &conv_input, &kSpatial[1]},
    {"conv3d_input", &conv_input, &kSpatial[2]},
    {"conv1d_weight", &conv_weight, &kSpatial[0]},
    {"conv2d_weight", &conv_weight, &kSpatial[1]},
    {"conv3d_weight", &conv_weight, &kSpatial[2]},
    {"conv_transpose1d", &conv_transpose, &kSpatial[0]},
    {"conv_transpose2d", &conv_transpose, &kSpatial[1]},
    {"conv_transpose3d", &conv_transpose, &kSpatial[2]},
};

}  // namespace
}  // namespace flambeau
