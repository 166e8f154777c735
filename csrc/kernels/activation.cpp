// Activation functions and the kernels of their first derivatives. Constants travel to the tiles as doubles.
#include "core/copy.h"
#include "kernels/pointwise.h"

namespace flambeau {
namespace {

Tensor activate(const char* op, const Tiles& tiles, const Tensor& input, std::initializer_list<double> params,
                const Out& out, DTypeSet accepts = kFloats) {
  const DType dtype = input.dtype();
  check_dtype(op, dtype, accepts);
  return elementwise(op, {&input}, tiles[dtype], dtype, params.begin(), out);
}

// The cotangent and what it meets: the input or the result.
Tensor backward(const char* op, const Tiles& tiles, const Tensor& grad, const Tensor& other,
                std::initializer_list<double> params, const Out& out) {
  const DType dtype = grad.dtype() == other.dtype() ? grad.dtype() : result_type(grad, other);
  check_dtype(op, dtype, kFloats | kInts);
  return elementwise(op, {&grad, &other}, tiles[dtype], dtype, params.begin(), out);
}

Tensor relu(const Tensor& input, const Out& out) {
  static constexpr Tiles tiles("relu");
  check(input.dtype() != DType::Bool, "relu: Boolean inputs not supported for relu",
        ". Convert the input, e.g. input.float().");
  return activate("relu", tiles, input, {}, out, kInts | kFloats);
}
Tensor leaky_relu(const Tensor& input, double negative_slope, const Out& out) {
  static constexpr Tiles tiles("leaky_relu");
  return activate("leaky_relu", tiles, input, {negative_slope}, out);
}
Tensor threshold(const Tensor& input, const Scalar& limit, const Scalar& value, const Out& out) {
  static constexpr Tiles tiles("threshold");
  return activate("threshold", tiles, input, {limit.to_double(), value.to_double()}, out, kInts | kFloats);
}
Tensor hardtanh(const Tensor& input, const Scalar& min_val, const Scalar& max_val, const Out& out) {
  static constexpr Tiles tiles("clamp");
  check_dtype("hardtanh", input.dtype(), kInts | kFloats);
  check(min_val.to_double() <= max_val.to_double(), ErrorKind::Value, "hardtanh: expected min_val <= max_val, got ",
        min_val, " and ", max_val);
  const TileKernel& kernel = tiles[input.dtype()];
  const TileNumber params(min_val, max_val, kernel.in);
  return elementwise("hardtanh", {&input}, kernel, input.dtype(), &params, out);
}
Tensor relu6(const Tensor& input, const Out& out) {
  return hardtanh(input, Scalar(std::int64_t{0}), Scalar(std::int64_t{6}), out);
}
Tensor elu(const Tensor& input, double alpha, double scale, double input_scale, const Out& out) {
  static constexpr Tiles tiles("elu");
  return activate("elu", tiles, input, {alpha, scale, input_scale}, out);
}
Tensor gelu(const Tensor& input, std::string_view approximate, const Out& out) {
  static constexpr Tiles exact("gelu"), tanh("gelu_tanh");
  check(approximate == "none" || approximate == "tanh", "gelu: approximate argument must be either none or tanh.");
  return activate("GeluKernelImpl", approximate == "none" ? exact : tanh, input, {}, out);
}
Tensor silu(const Tensor& input, const Out& out) {
  static constexpr Tiles tiles("silu"), complex("silu_complex");
  return activate("silu", is_complex(input.dtype()) ? complex : tiles, input, {}, out, kFloats | kComplexes);
}
Tensor mish(const Tensor& input, const Out& out) {
  static constexpr Tiles tiles("mish");
  return activate("mish", tiles, input, {}, out);
}
Tensor softplus(const Tensor& input, double beta, double limit, const Out& out) {
  static constexpr Tiles tiles("softplus");
  return activate("softplus", tiles, input, {beta, limit}, out);
}
Tensor logsigmoid(const Tensor& input, const Out& out) {
  static constexpr Tiles tiles("logsigmoid");
  // PyTorch's result is contiguous whatever the input's layout.
  return activate("log_sigmoid", tiles, contiguous(input), {}, out);
}
Tensor hardswish(const Tensor& input, const Out& out) {
  static constexpr Tiles tiles("hardswish");
  return activate("hardswish", tiles, input, {}, out);
}
Tensor hardsigmoid(const Tensor& input, const Out& out) {
  static constexpr Tiles tiles("hardsigmoid");
  return activate("hardsigmoid", tiles, input, {}, out);
}
Tensor hardshrink(const Tensor& input, double lambda, const Out& out) {
  static constexpr Tiles tiles("hardshrink");
  return activate("hardshrink", tiles, input, {lambda}, out);
}
Tensor softshrink(const Tensor& input, double lambda, const Out& out) {
  static constexpr Tiles tiles("softshrink");
  check(lambda >= 0, "hardshrink, softshrink: lambda must be greater or equal to 0, but found to be ", lambda, ".");
  return activate("softshrink", tiles, input, {lambda}, out);
}
// weight already has a shape that broadcasts to input's.
Tensor prelu(const Tensor& input, const Tensor& weight, const Out& out) {
  static constexpr Tiles tiles("prelu");
  check(input.dtype() == weight.dtype(), "prelu: Type promoting not supported. Got ", torch_name_of(input.dtype()),
        " and ", torch_name_of(weight.dtype()));
  check_dtype("prelu", input.dtype(), kFloats);
  return elementwise("prelu", {&input, &weight}, tiles[input.dtype()], input.dtype(), nullptr, out);
}
const Kernel relu_kernel("relu", &relu);
const Kernel leaky_relu_kernel("leaky_relu", &leaky_relu);
const Kernel threshold_kernel("threshold", &threshold);
const Kernel hardtanh_kernel("hardtanh", &hardtanh);
const Kernel relu6_kernel("relu6", &relu6);
const Kernel elu_kernel("elu_scaled", &elu);
const Kernel gelu_kernel("gelu", &gelu);
const Kernel silu_kernel("silu", &silu);
const Kernel mish_kernel("mish", &mish);
const Kernel softplus_kernel("softplus", &softplus);
const Kernel logsigmoid_kernel("logsigmoid", &logsigmoid);
const Kernel hardswish_kernel("hardswish", &hardswish);
const Kernel hardsigmoid_kernel("hardsigmoid", &hardsigmoid);
const Kernel hardshrink_kernel("hardshrink", &hardshrink);
const Kernel softshrink_kernel("softshrink", &softshrink);
const Kernel prelu_kernel("prelu_broadcast", &prelu);

Tensor threshold_backward(const Tensor& grad, const Tensor& input, double limit, const Out& out) {
  static constexpr Tiles tiles("threshold_backward");
  return backward("threshold_backward", tiles, grad, input, {limit}, out);
}
Tensor hardtanh_backward(const Tensor& grad, const Tensor& input, double min_val, double max_val, const Out& out) {
  static constexpr Tiles tiles("hardtanh_backward");
  return backward("hardtanh_backward", tiles, grad, input, {min_val, max_val}, out);
}
Tensor hardswish_backward(const Tensor& grad, const Tensor& input, const Out& out) {
  static constexpr Tiles tiles("hardswish_backward");
  return backward("hardswish_backward", tiles, grad, input, {}, out);
}
const Kernel hardtanh_backward_kernel("hardtanh_backward", &hardtanh_backward);
const Kernel hardswish_backward_kernel("hardswish_backward", &hardswish_backward);
Tensor leaky_relu_backward(const Tensor& grad, const Tensor& input, double negative_slope, const Out& out) {
  static constexpr Tiles tiles("leaky_relu_backward");
  return backward("leaky_relu_backward", tiles, grad, input, {negative_slope}, out);
}
Tensor elu_backward(const Tensor& grad, const Tensor& input, double alpha, double scale, double input_scale,
                    const Out& out) {
  static constexpr Tiles tiles("elu_backward");
  return backward("elu_backward", tiles, grad, input, {alpha, scale, input_scale}, out);
}
Tensor gelu_backward(const Tensor& grad, const Tensor& input, std::string_view approximate, const Out& out) {
  static constexpr Tiles exact("gelu_backward"), tanh("gelu_tanh_backward");
  return backward("gelu_backward", approximate == "none" ? exact : tanh, grad, input, {}, out);
}
Tensor silu_backward(const Tensor& grad, const Tensor& input, const Out& out) {
  static constexpr Tiles tiles("silu_backward");
  return backward("silu_backward", tiles, grad, input, {}, out);
}
Tensor mish_backward(const Tensor& grad, const Tensor& input, const Out& out) {
  static constexpr Tiles tiles("mish_backward");
  return backward("mish_backward", tiles, grad, input, {}, out);
}
Tensor softplus_backward(const Tensor& grad, const Tensor& input, double beta, double limit, const Out& out) {
  static constexpr Tiles tiles("softplus_backward");
  return backward("softplus_backward", tiles, grad, input, {beta, limit}, out);
}
Tensor sigmoid_backward(const Tensor& grad, const Tensor& result, const Out& out) {
  static constexpr Tiles tiles("sigmoid_backward");
  return backward("sigmoid_backward", tiles, grad, result, {}, out);
}
Tensor tanh_backward(const Tensor& grad, const Tensor& result, const Out& out) {
  static constexpr Tiles tiles("tanh_backward");
  return backward("tanh_backward", tiles, grad, result, {}, out);
}
const Kernel threshold_backward_kernel("threshold_backward", &threshold_backward);
const Kernel leaky_relu_backward_kernel("leaky_relu_backward", &leaky_relu_backward);
const Kernel elu_backward_kernel("elu_backward", &elu_backward);
const Kernel gelu_backward_kernel("gelu_backward", &gelu_backward);
const Kernel silu_backward_kernel("silu_backward", &silu_backward);
const Kernel mish_backward_kernel("mish_backward", &mish_backward);
const Kernel softplus_backward_kernel("softplus_backward", &softplus_backward);
const Kernel sigmoid_backward_kernel("sigmoid_backward", &sigmoid_backward);
const Kernel tanh_backward_kernel("tanh_backward", &tanh_backward);

}  // namespace
}  // namespace flambeau
