// Affine quantization: real value = (stored integer - zero_point) * scale, with one scale and zero point for the whole
// tensor (axis < 0) or one per index along an axis. Arithmetic as in PyTorch: float32, by the reciprocal of the scale.
#include <cmath>
#include <cstdint>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"

namespace flambeau {
namespace {

constexpr std::int64_t kGrain = 32768;

// How one run of elements is quantized.
struct Affine {
  float scale;
  float zero_point;
  std::int64_t low, high;  // of the stored integers
};

// Adding 1.5 * 2^23 rounds to the nearest even integer for magnitudes below 2^22, without a library call.
float round_small(float value) { return (value + 12582912.0F) - 12582912.0F; }

template <class Q>
Q quantized(float value, const Affine& affine, float inverse) {
  const float shifted = affine.zero_point + value * inverse;
  if constexpr (sizeof(Q) == 1) {
    const float low = static_cast<float>(affine.low), high = static_cast<float>(affine.high);
    const float bounded = shifted < high ? (shifted > low ? shifted : low) : high;  // NaN is high
    return static_cast<Q>(static_cast<std::int32_t>(round_small(bounded)));
  } else {
    if (std::isnan(shifted)) return static_cast<Q>(affine.low);
    const double rounded = std::nearbyint(static_cast<double>(shifted));
    return static_cast<Q>(std::clamp(rounded, static_cast<double>(affine.low), static_cast<double>(affine.high)));
  }
}

// What the arguments scale and zero_point say, checked.
struct Parameters {
  Tensor scale, zero_point;  // float32, one element or one per index along axis
  std::int64_t axis, outer = 1, count = 1, inner = 1;
  Parameters(const char* op, const Tensor& input, const Tensor& scales, const Tensor& points, std::int64_t dim,
             bool per_channel) {
    check(is_floating(scales.dtype()), ErrorKind::Runtime, op, ": expected a floating-point scale, got ",
          name_of(scales.dtype()));
    scale = contiguous(to_dtype(scales, DType::Float32));
    zero_point = contiguous(to_dtype(points, DType::Float32));
    axis = dim;
    inner = input.numel();
    if (!per_channel) {
      check(scale.numel() == 1 && zero_point.numel() == 1, ErrorKind::Runtime, op,
            ": expected one scale and one zero_point, got ", scale.numel(), " and ", zero_point.numel());
      return;
    }
    check(axis >= 0 && axis < input.dim(), ErrorKind::Runtime, op, ": expected axis between 0 and ", input.dim() - 1,
          " (dims of input), got ", axis);
    count = input.sizes()[axis];
    check(scale.dim() == 1 && zero_point.dim() == 1 && scale.numel() == count && zero_point.numel() == count,
          ErrorKind::Runtime, op, ": expected scale and zero_point of size (", count, ",), the size of input at axis ",
          axis, ", got ", scale.sizes(), " and ", zero_point.sizes());
    inner = 1;
    for (std::int64_t d = axis + 1; d < input.dim(); ++d) inner *= input.sizes()[d];
    for (std::int64_t d = 0; d < axis; ++d) outer *= input.sizes()[d];
  }
  // fn(first element, count, index along axis) for runs that share their parameters.
  template <class F>
  void for_each_run(F&& fn) const {
    if (outer * count == 1) {
      parallel_for(0, inner, kGrain, [&](std::int64_t begin, std::int64_t end) { fn(begin, end - begin, 0); });
      return;
    }
    parallel_for(0, outer * count, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, inner)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t run = begin; run < end; ++run) fn(run * inner, inner, run % count);
                 });
  }
  [[nodiscard]] Affine at(std::int64_t index, std::int64_t low, std::int64_t high) const {
    return {scale.data<float>()[index], zero_point.data<float>()[index], low, high};
  }
};

void check_float(const char* op, const Tensor& input) {
  check(is_floating(input.dtype()), ErrorKind::Runtime, op, ": expected a floating-point input, got ",
        name_of(input.dtype()));
}

template <class Q>
void quantize_into(const Parameters& parameters, const float* from, Q* to, std::int64_t low, std::int64_t high) {
  parameters.for_each_run([&](std::int64_t first, std::int64_t size, std::int64_t index) {
    const Affine affine = parameters.at(index, low, high);
    const float inverse = 1.0F / affine.scale;
    for (std::int64_t i = first; i < first + size; ++i) to[i] = quantized<Q>(from[i], affine, inverse);
  });
}

// The stored integers of a quantized tensor: uint8, int8 or int32.
Tensor quantize_values(const Tensor& input, const Tensor& scale, const Tensor& zero_point, std::int64_t axis,
                       DType dtype, std::int64_t low, std::int64_t high) {
  check(input.dtype() == DType::Float32, ErrorKind::Runtime, "quantize: Quantize only works on Float Tensor, got ",
        torch_name_of(input.dtype()));
  const Parameters parameters("quantize", input, scale, zero_point, axis, axis >= 0);
  Tensor result = empty(input.sizes(), dtype, input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  const Tensor source = contiguous(input);
  const auto* from = source.data<float>();
  switch (dtype) {
    case DType::UInt8: quantize_into(parameters, from, result.data<std::uint8_t>(), low, high); break;
    case DType::Int8: quantize_into(parameters, from, result.data<std::int8_t>(), low, high); break;
    case DType::Int32: quantize_into(parameters, from, result.data<std::int32_t>(), low, high); break;
    default: fail(ErrorKind::Runtime, "quantize: expected uint8, int8 or int32 to store, got ", name_of(dtype));
  }
  return result;
}
const Kernel quantize_kernel("_quantize_values", &quantize_values);

Tensor dequantize_values(const Tensor& input, const Tensor& scale, const Tensor& zero_point, std::int64_t axis) {
  const Parameters parameters("dequantize", input, scale, zero_point, axis, axis >= 0);
  Tensor result = empty(input.sizes(), DType::Float32, input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  const Tensor source = contiguous(input);
  dispatch_integral("dequantize", input.dtype(), [&](auto tag) {
    using Q = typename decltype(tag)::type;
    const Q* from = source.data<Q>();
    auto* to = result.data<float>();
    parameters.for_each_run([&](std::int64_t first, std::int64_t size, std::int64_t index) {
      const Affine affine = parameters.at(index, 0, 0);
      const auto zero = static_cast<std::int64_t>(affine.zero_point);
      for (std::int64_t i = first; i < first + size; ++i) {
        to[i] = static_cast<float>(static_cast<std::int64_t>(from[i]) - zero) * affine.scale;
      }
    });
  });
  return result;
}
const Kernel dequantize_kernel("_dequantize_values", &dequantize_values);

// Quantized and dequantized again, and where that did not saturate (there the gradient passes).
std::tuple<Tensor, Tensor> fake_quantize(const char* op, const Tensor& input, const Tensor& scale,
                                         const Tensor& zero_point, std::int64_t axis, std::int64_t low,
                                         std::int64_t high, bool per_channel) {
  check_float(op, input);
  check(low <= high, ErrorKind::Runtime, op, ": expected quant_min <= quant_max, got ", low, " and ", high);
  const Parameters parameters(op, input, scale, zero_point, axis, per_channel);
  // One scale for all: any dense layout will do, and is kept.
  const MemoryFormat format = per_channel ? MemoryFormat::Contiguous : MemoryFormat::Preserve;
  Tensor wide = empty_like(input, DType::Float32, format);
  Tensor mask = empty_like(input, DType::Bool, format);
  if (input.is_meta() || input.numel() == 0) return {to_dtype(wide, input.dtype()), mask};
  const float* points = parameters.zero_point.data<float>();
  for (std::int64_t i = 0; i < parameters.zero_point.numel(); ++i) {
    check(points[i] >= static_cast<float>(low) && points[i] <= static_cast<float>(high), ErrorKind::Runtime, op,
          ": `zero_point` must be between `quant_min` and `quant_max`.");
  }
  const Tensor floats = to_dtype(input, DType::Float32),
               source = floats.strides() == wide.strides() ? floats : clone(floats, format);
  const auto* from = source.data<float>();
  auto* to = wide.data<float>();
  auto* passed = mask.data<bool>();
  parameters.for_each_run([&](std::int64_t first, std::int64_t size, std::int64_t index) {
    const Affine affine = parameters.at(index, low, high);
    const float inverse = 1.0F / affine.scale, lowest = static_cast<float>(low), highest = static_cast<float>(high);
    for (std::int64_t i = first; i < first + size; ++i) {
      const float steps = affine.zero_point + std::nearbyint(from[i] * inverse);
      const float bounded = steps > lowest ? (steps < highest ? steps : highest) : lowest;  // NaN is low
      to[i] = (bounded - affine.zero_point) * affine.scale;
      passed[i] = steps >= lowest && steps <= highest;
    }
  });
  return {to_dtype(wide, input.dtype()), mask};
}
std::tuple<Tensor, Tensor> fake_quantize_tensor(const Tensor& input, const Tensor& scale, const Tensor& zero_point,
                                                std::int64_t low, std::int64_t high) {
  return fake_quantize("fake_quantize_per_tensor_affine", input, scale, zero_point, -1, low, high, false);
}
std::tuple<Tensor, Tensor> fake_quantize_channel(const Tensor& input, const Tensor& scale, const Tensor& zero_point,
                                                 std::int64_t axis, std::int64_t low, std::int64_t high) {
  return fake_quantize("fake_quantize_per_channel_affine", input, scale, zero_point, axis, low, high, true);
}
const Kernel fake_tensor_kernel("_fake_quantize_tensor", &fake_quantize_tensor);
const Kernel fake_channel_kernel("_fake_quantize_channel", &fake_quantize_channel);

}  // namespace
}  // namespace flambeau
