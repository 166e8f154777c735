// Elementwise functions of three tensors: where, clamp, lerp, addcmul, addcdiv.
#include "core/copy.h"
#include "kernels/pointwise.h"

namespace flambeau {
namespace {

Tensor where(const Tensor& condition, const Tensor& input, const Tensor& other, const Out& out) {
  check(condition.dtype() == DType::Bool || condition.dtype() == DType::UInt8,
        "where expected condition to be a boolean tensor, but got a tensor with dtype ",
        torch_name_of(condition.dtype()));
  const DType dtype = same_tensor_dtype(input, other) ? input.dtype() : result_type(input, other);
  // Values are moved, not looked at: the tile of any type of that size serves.
  constexpr DType by_size[17] = {
      {}, DType::UInt8, DType::Int16, {}, DType::Float32,   {}, {}, {}, DType::Float64, {}, {}, {},
      {}, {},           {},           {}, DType::Complex128};
  static const TileTable& tiles = find_tiles("where");
  const TileKernel kernel{tiles[by_size[itemsize(dtype)]].fn, dtype, dtype, true};
  return elementwise("where", {&condition, &input, &other}, kernel, dtype, nullptr, out);
}
const Kernel where_kernel("where_self", &where);

DType with_scalar(DType dtype, const Scalar& value) {
  switch (value.kind()) {
    case Scalar::Kind::Bool: return dtype;
    case Scalar::Kind::Int: return dtype == DType::Bool ? DType::Int64 : dtype;
    case Scalar::Kind::Float: return to_float_type(dtype);
    default: return to_complex(to_float_type(dtype));
  }
}

constexpr const char* kNoComplexClamp = "clamp is not supported for complex types";

Tensor clamp(const Tensor& input, std::optional<Scalar> min, std::optional<Scalar> max, const Out& out) {
  static constexpr Tiles both("clamp"), low("clamp_min"), high("clamp_max");
  check(min || max, "torch.clamp: At least one of 'min' or 'max' must not be None");
  DType dtype = input.dtype();
  if (min) dtype = with_scalar(dtype, *min);
  if (max) dtype = with_scalar(dtype, *max);
  check_dtype("clamp", dtype, kInts | kFloats, is_complex(dtype) ? kNoComplexClamp : nullptr);
  const TileKernel& kernel = (min && max ? both : min ? low : high)[dtype];
  const Scalar first = min ? *min : *max, second = max ? *max : first;
  const TileNumber params(first, second, kernel.in);
  return elementwise("clamp", {&input}, kernel, dtype, &params, out);
}
const Kernel clamp_kernel("clamp", &clamp);

Tensor clamp_tensor(const Tensor& input, const Tensor& min, const Tensor& max, const Out& out) {
  static constexpr Tiles both("clamp_tensor"), low("maximum"), high("minimum");
  check(min.defined() || max.defined(), "torch.clamp: At least one of 'min' or 'max' must not be None");
  PromotionState state;
  state.add(input);
  if (min.defined()) state.add(min);
  if (max.defined()) state.add(max);
  const DType dtype = state.result();
  check_dtype("clamp", dtype, kInts | kFloats, is_complex(dtype) ? kNoComplexClamp : nullptr);
  if (!max.defined()) return elementwise("clamp_min", {&input, &min}, low[dtype], dtype, nullptr, out);
  if (!min.defined()) return elementwise("clamp_max", {&input, &max}, high[dtype], dtype, nullptr, out);
  return elementwise("clamp", {&input, &min, &max}, both[dtype], dtype, nullptr, out);
}
const Kernel clamp_tensor_kernel("clamp_tensor", &clamp_tensor);

Tensor clamp_min(const Tensor& input, const Scalar& min, const Out& out) { return clamp(input, min, {}, out); }
Tensor clamp_max(const Tensor& input, const Scalar& max, const Out& out) { return clamp(input, {}, max, out); }
const Kernel clamp_min_kernel("clamp_min", &clamp_min);
const Kernel clamp_max_kernel("clamp_max", &clamp_max);

// One tensor limit: NaN in either wins, as in maximum and minimum; bool is accepted too.
Tensor clamp_by(const char* op, const Tiles& tiles, const Tensor& input, const Tensor& limit, const Out& out) {
  const DType dtype = result_type(input, limit);
  check_dtype(op, dtype, kReal, is_complex(dtype) ? kNoComplexClamp : nullptr);
  return elementwise(op, {&input, &limit}, tiles[dtype], dtype, nullptr, out);
}
Tensor clamp_min_tensor(const Tensor& input, const Tensor& min, const Out& out) {
  static constexpr Tiles tiles("maximum");
  return clamp_by("clamp_min", tiles, input, min, out);
}
Tensor clamp_max_tensor(const Tensor& input, const Tensor& max, const Out& out) {
  static constexpr Tiles tiles("minimum");
  return clamp_by("clamp_max", tiles, input, max, out);
}
const Kernel clamp_min_tensor_kernel("clamp_min_tensor", &clamp_min_tensor);
const Kernel clamp_max_tensor_kernel("clamp_max_tensor", &clamp_max_tensor);

Tensor lerp_tiles(const Tensor& input, const Tensor& end, const Tensor& weight, const Out& out) {
  static constexpr Tiles tiles("lerp");
  const DType dtype = input.dtype();
  check_dtype("lerp", dtype, kFloats | kComplexes);
  return elementwise("lerp", {&input, &end, &weight}, tiles[dtype], dtype, nullptr, out);
}
void check_same(const Tensor& input, const Tensor& other, const char* name) {
  check(input.dtype() == other.dtype(), "expected dtype ", torch_name_of(input.dtype()), " for `", name,
        "` but got dtype ", torch_name_of(other.dtype()));
}
Tensor lerp_scalar(const Tensor& input, const Tensor& end, const Scalar& weight, const Out& out) {
  check_same(input, end, "end");
  return lerp_tiles(input, end, wrapped_number(weight), out);
}
Tensor lerp_tensor(const Tensor& input, const Tensor& end, const Tensor& weight, const Out& out) {
  check_same(input, end, "end");
  check_same(input, weight, "weight");
  return lerp_tiles(input, end, weight, out);
}
const Kernel lerp_scalar_kernel("lerp_scalar", &lerp_scalar);
const Kernel lerp_tensor_kernel("lerp_tensor", &lerp_tensor);

DType joint_dtype(const Tensor& a, const Tensor& b, const Tensor& c) {
  PromotionState state;
  state.add(a);
  state.add(b);
  state.add(c);
  return state.result();
}

Tensor addcmul(const Tensor& input, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value, const Out& out) {
  static constexpr Tiles tiles("addcmul");
  const DType dtype = joint_dtype(input, tensor1, tensor2);
  check_dtype("addcmul_cpu_out", dtype, kInts | kFloats | kComplexes);
  check(!(is_integral(dtype, true) && !value.is_integral(true)),
        "addcmul, addcdiv: For integral input tensors, argument value must not be a floating point number.");
  const TileNumber params(value, tiles[dtype].in);
  return elementwise("addcmul", {&input, &tensor1, &tensor2}, tiles[dtype], dtype, &params, out);
}
const Kernel addcmul_kernel("addcmul", &addcmul);

Tensor addcdiv(const Tensor& input, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value, const Out& out) {
  static constexpr Tiles tiles("addcdiv");
  check(!(is_integral(tensor1.dtype(), true) && is_integral(tensor2.dtype(), true)),
        "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
        "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
        "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) "
        "for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / "
        "tensor2), for all dtypes.");
  const DType dtype = joint_dtype(input, tensor1, tensor2);
  const TileNumber params(value, tiles[dtype].in);
  return elementwise("addcdiv", {&input, &tensor1, &tensor2}, tiles[dtype], dtype, &params, out);
}
const Kernel addcdiv_kernel("addcdiv", &addcdiv);

}  // namespace
}  // namespace flambeau
