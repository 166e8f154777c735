// New random tensors: rand, randn, randint and their _like forms, normal with tensor parameters.
#include "core/copy.h"
#include "kernels/create.h"
#include "kernels/random_fill.h"

namespace flambeau::random {

namespace {

Tensor rand(IntSpan size, Generator* generator, std::optional<DType> dtype, std::optional<Device> device,
            const Out& out) {
  Tensor result = destination("rand", size, dtype, device, out);
  fill_uniform(result, 0, 1, generator);
  return result;
}

Tensor randn(IntSpan size, Generator* generator, std::optional<DType> dtype, std::optional<Device> device,
             const Out& out) {
  Tensor result = destination("randn", size, dtype, device, out);
  fill_normal(result, 0, 1, generator);
  return result;
}

// int64 unless a dtype or out= says otherwise.
std::optional<DType> integer_dtype(std::optional<DType> dtype, const Out& out) {
  return dtype || out.given() ? dtype : DType::Int64;
}

Tensor randint_low(std::int64_t low, std::int64_t high, IntSpan size, Generator* generator, std::optional<DType> dtype,
                   std::optional<Device> device, const Out& out) {
  Tensor result = destination("randint", size, integer_dtype(dtype, out), device, out);
  fill_integers(result, low, high, generator);
  return result;
}

Tensor randint(std::int64_t high, IntSpan size, Generator* generator, std::optional<DType> dtype,
               std::optional<Device> device, const Out& out) {
  return randint_low(0, high, size, generator, dtype, device, out);
}

Tensor like(const Tensor& input, std::optional<DType> dtype, std::optional<Device> device,
            std::optional<MemoryFormat> format) {
  Tensor result = empty_like(input, dtype, format.value_or(MemoryFormat::Preserve));
  if (!device || *device == result.device()) return result;
  return empty_strided(result.sizes(), result.strides(), result.dtype(), *device);
}

Tensor rand_like(const Tensor& input, Generator* generator, std::optional<DType> dtype, std::optional<Device> device,
                 std::optional<MemoryFormat> memory_format) {
  Tensor result = like(input, dtype, device, memory_format);
  fill_uniform(result, 0, 1, generator);
  return result;
}

Tensor randn_like(const Tensor& input, Generator* generator, std::optional<DType> dtype, std::optional<Device> device,
                  std::optional<MemoryFormat> memory_format) {
  Tensor result = like(input, dtype, device, memory_format);
  fill_normal(result, 0, 1, generator);
  return result;
}

Tensor randint_like_low(const Tensor& input, std::int64_t low, std::int64_t high, Generator* generator,
                        std::optional<DType> dtype, std::optional<Device> device,
                        std::optional<MemoryFormat> memory_format) {
  Tensor result = like(input, dtype, device, memory_format);
  fill_integers(result, low, high, generator);
  return result;
}

Tensor randint_like(const Tensor& input, std::int64_t high, Generator* generator, std::optional<DType> dtype,
                    std::optional<Device> device, std::optional<MemoryFormat> memory_format) {
  return randint_like_low(input, 0, high, generator, dtype, device, memory_format);
}

Tensor normal_size(double mean, double std, IntSpan size, Generator* generator, std::optional<DType> dtype,
                   std::optional<Device> device, const Out& out) {
  Tensor result = destination("normal", size, dtype, device, out);
  fill_normal(result, mean, std, generator);
  return result;
}

// The checks of a std given as a tensor.
void check_std(const Tensor& std) {
  check(!is_complex(std.dtype()), "normal: normal expects standard deviation to be non-complex");
  if (std.is_meta() || std.numel() == 0) return;
  dispatch_all(std.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Tensor* operands[] = {&std};
    SerialOrder(operands, 1).run([&](char* const* at) {
      check(!(convert<double>(*reinterpret_cast<const T*>(at[0])) < 0),
            "normal: normal expects all elements of std >= 0.0");
    });
  });
}

// result = result * std + mean, in result's own dtype with one rounding per operation; operands broadcast to it.
void scale_and_shift(const Tensor& result, const Tensor* std, const Tensor* mean) {
  const Tensor wide_std =
      std != nullptr ? expand_to(to_dtype(*std, to_real(result.dtype())), result.sizes(), "normal") : result;
  const Tensor wide_mean =
      mean != nullptr ? expand_to(to_dtype(*mean, result.dtype()), result.sizes(), "normal") : result;
  const Tensor* operands[] = {&result, &wide_std, &wide_mean};
  dispatch_all(result.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
      SerialOrder(operands, 3).run([&](char* const* at) {
        T& value = *reinterpret_cast<T*>(at[0]);
        if (std != nullptr)
          value = convert<T>(convert<Wide>(value) * convert<Wide>(*reinterpret_cast<const T*>(at[1])));
        if (mean != nullptr)
          value = convert<T>(convert<Wide>(value) + convert<Wide>(*reinterpret_cast<const T*>(at[2])));
      });
    } else if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>) {
      using Real = decltype(T::re);
      SerialOrder(operands, 3).run([&](char* const* at) {
        T& value = *reinterpret_cast<T*>(at[0]);
        if (std != nullptr) value *= T(*reinterpret_cast<const Real*>(at[1]));
        if (mean != nullptr) value += *reinterpret_cast<const T*>(at[2]);
      });
    }
  });
}

Tensor normal_into(IntSpan sizes, DType dtype, Device device, double mean, double scale, const Tensor* std,
                   const Tensor* mean_tensor, Generator* generator, const Out& out) {
  const Tensor result = output("normal", out, 0, sizes, out.given() ? out[0].dtype() : dtype, device);
  fill_normal(result, mean, scale, generator);
  if (!result.is_meta() && result.numel() != 0) scale_and_shift(result, std, mean_tensor);
  return result;
}

Tensor normal_mean(const Tensor& mean, double std, Generator* generator, const Out& out) {
  return normal_into(mean.sizes(), mean.dtype(), mean.device(), 0, std, nullptr, &mean, generator, out);
}

Tensor normal_std(double mean, const Tensor& std, Generator* generator, const Out& out) {
  check_std(std);
  const Tensor mean_tensor = scalar_tensor(Scalar(mean), std.dtype());
  return normal_into(std.sizes(), std.dtype(), std.device(), 0, 1, &std, std.is_meta() ? nullptr : &mean_tensor,
                     generator, out);
}

Tensor normal_both(const Tensor& mean, const Tensor& std, Generator* generator, const Out& out) {
  check_std(std);
  const Dims sizes = broadcast_shapes(mean.sizes(), std.sizes(), "normal");
  return normal_into(sizes, mean.dtype(), mean.device(), 0, 1, &std, &mean, generator, out);
}

const Kernel rand_kernel("rand", &rand);
const Kernel randn_kernel("randn", &randn);
const Kernel randint_kernel("randint_high", &randint);
const Kernel randint_low_kernel("randint_low", &randint_low);
const Kernel rand_like_kernel("rand_like", &rand_like);
const Kernel randn_like_kernel("randn_like", &randn_like);
const Kernel randint_like_kernel("randint_like_high", &randint_like);
const Kernel randint_like_low_kernel("randint_like_low", &randint_like_low);
const Kernel normal_size_kernel("normal_size", &normal_size);
const Kernel normal_mean_kernel("normal_mean", &normal_mean);
const Kernel normal_std_kernel("normal_std", &normal_std);
const Kernel normal_both_kernel("normal_both", &normal_both);

}  // namespace

}  // namespace flambeau::random
