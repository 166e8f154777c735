// Sequences: arange, range, linspace, logspace.
#include <cmath>

#include "core/copy.h"
#include "core/parallel.h"
#include "kernels/create.h"

namespace flambeau {
namespace {

constexpr std::int64_t kGrain = 32768;

bool is_whole(const Scalar& value) { return value.is_integral(true); }

// Number of elements of arange. Integers exactly; otherwise as PyTorch does, by the ceiling in double precision.
std::int64_t arange_length(const Scalar& start, const Scalar& end, const Scalar& step) {
  check(!step.equals(0), ErrorKind::Runtime, "arange, range: step must be nonzero");
  const double s = start.to_double(), e = end.to_double(), by = step.to_double();
  check(std::isfinite(s) && std::isfinite(e), ErrorKind::Runtime, "arange, range: unsupported range: ", s, " -> ", e);
  check(!std::isnan(by), ErrorKind::Runtime, "arange, range: step must be nonzero");
  check((by > 0 && e >= s) || (by < 0 && e <= s), ErrorKind::Runtime,
        "arange, range: upper bound and lower bound inconsistent with step sign: start ", s, ", end ", e, ", step ",
        by);
  if (is_whole(start) && is_whole(end) && is_whole(step)) {
    const __int128 span = static_cast<__int128>(end.to_int()) - start.to_int(), stride = step.to_int();
    const __int128 count = (span + stride - (stride > 0 ? 1 : -1)) / stride;
    check(count <= INT64_MAX, ErrorKind::Runtime, "invalid size, possible overflow?");
    return static_cast<std::int64_t>(count);
  }
  const double count = std::ceil((e - s) / by);
  check(count >= 0 && count < 9.2e18, ErrorKind::Runtime, "invalid size, possible overflow?");
  return static_cast<std::int64_t>(count);
}

// result[i] = start + i * step, computed in double (floating dtypes) or int64.
void fill_range(const Tensor& result, const Scalar& start, const Scalar& step) {
  dispatch_all(result.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, c64> || std::is_same_v<T, c128>) {
      throw_bad_dtype("arange", result.dtype());
    } else {
      using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
      const Wide first =
          std::is_integral_v<T> ? static_cast<Wide>(start.to<std::int64_t>()) : static_cast<Wide>(start.to_double());
      const Wide by =
          std::is_integral_v<T> ? static_cast<Wide>(step.to<std::int64_t>()) : static_cast<Wide>(step.to_double());
      T* data = result.data<T>();
      const std::int64_t stride = result.dim() == 0 ? 1 : result.strides()[0];
      parallel_for(0, result.numel(), kGrain, [&](std::int64_t b, std::int64_t e) {
        if constexpr (std::is_integral_v<T>) {
          if (stride == 1) {
            Wide value = first + static_cast<Wide>(b) * by;
            for (std::int64_t i = b; i < e; ++i, value += by) data[i] = static_cast<T>(value);
            return;
          }
        }
        for (std::int64_t i = b; i < e; ++i) {
          const Wide value = first + static_cast<Wide>(i) * by;
          if constexpr (std::is_integral_v<T>)
            data[i * stride] = static_cast<T>(value);
          else
            data[i * stride] = convert<T>(value);
        }
      });
    }
  });
}

DType range_dtype(std::optional<DType> dtype, const Out& out, const Scalar& a, const Scalar& b, const Scalar& c) {
  if (dtype) return *dtype;
  if (out.given()) return out[0].dtype();
  return is_whole(a) && is_whole(b) && is_whole(c) ? DType::Int64 : default_dtype();
}

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<DType> dtype,
              std::optional<Device> device, const Out& out) {
  check(!start.is_complex() && !end.is_complex() && !step.is_complex(), ErrorKind::Runtime,
        "arange: expected real numbers.");
  const DType type = range_dtype(dtype, out, start, end, step);
  check(std::isfinite(start.to_double()) && std::isfinite(end.to_double()), ErrorKind::Runtime,
        "arange, range: unsupported range: ", start, " -> ", end);
  check(step.equals(0) || !is_integral(type, true) || step.to_int() != 0, ErrorKind::Value,
        "arange, range: step must be nonzero");
  // int64 truncates the bounds first; other dtypes count in double.
  const std::int64_t count = type == DType::Int64
                                 ? arange_length(Scalar(start.to_int()), Scalar(end.to_int()), Scalar(step.to_int()))
                                 : arange_length(start, end, step);
  check(type != DType::Bool && !is_complex(type), ErrorKind::NotImplemented, "\"arange_cpu\" not implemented for '",
        torch_name_of(type), "'");
  // Like PyTorch, an out= of the right number of elements keeps its shape.
  Tensor result = out.given() && out[0].numel() == count && out[0].is_contiguous()
                      ? out[0]
                      : destination("arange", {count}, type, device, out);
  if (!result.is_meta() && count != 0) {
    if (result.dim() > 1)
      fill_range(alias(result, {count}, {1}, result.offset()), start, step);
    else
      fill_range(result, start, step);
  }
  return result;
}

Tensor arange_end(const Scalar& end, std::optional<DType> dtype, std::optional<Device> device, const Out& out) {
  return arange(Scalar(0), end, Scalar(1), dtype, device, out);
}

// The old inclusive form.
Tensor range(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<DType> dtype,
             std::optional<Device> device, const Out& out) {
  const double s = start.to_double(), e = end.to_double(), by = step.to_double();
  check(by != 0 && !std::isnan(by), ErrorKind::Runtime, "arange, range: step must be nonzero");
  check(std::isfinite(s) && std::isfinite(e), ErrorKind::Runtime, "arange, range: unsupported range: ", s, " -> ", e);
  check((by > 0 && e >= s) || (by < 0 && e <= s), ErrorKind::Runtime,
        "arange, range: upper bound and lower bound inconsistent with step sign");
  const double count = std::floor((e - s) / by) + 1;
  check(count < 9.2e18, ErrorKind::Runtime, "invalid size, possible overflow?");
  Tensor result = destination("range", {static_cast<std::int64_t>(count)}, dtype, device, out);
  if (!result.is_meta()) fill_range(result, start, step);
  return result;
}

DType space_dtype(const char* op, std::optional<DType> dtype, const Out& out, const Scalar& start, const Scalar& end) {
  const bool has_complex = start.is_complex() || end.is_complex();
  const DType type = dtype         ? *dtype
                     : out.given() ? out[0].dtype()
                     : has_complex ? to_complex(default_dtype())
                                   : default_dtype();
  check(!has_complex || is_complex(type), ErrorKind::Runtime, op, "(): inferred dtype ",
        name_of(to_complex(default_dtype())), " can't be safely cast to passed dtype ", name_of(type));
  return type;
}

// Counted from both ends, so that the last value is exactly `end` and the sequence is symmetric.
template <class T>
void fill_linspace(T* data, std::int64_t stride, std::int64_t steps, const Scalar& start, const Scalar& end) {
  constexpr bool kHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
  using Wide = std::conditional_t<std::is_integral_v<T>, double, std::conditional_t<kHalf, float, T>>;
  const Wide first = convert<Wide>(start.to<T>()), last = convert<Wide>(end.to<T>());
  const Wide step = steps == 1 ? Wide(0) : (last - first) / convert<Wide>(static_cast<double>(steps - 1));
  const std::int64_t half = steps / 2;
  parallel_for(0, steps, kGrain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      const Wide value = i < half ? first + step * convert<Wide>(static_cast<double>(i))
                                  : last - step * convert<Wide>(static_cast<double>(steps - 1 - i));
      data[i * stride] = convert<T>(value);
    }
  });
  if (steps == 1) data[0] = start.to<T>();
}

Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, std::optional<DType> dtype,
                std::optional<Device> device, const Out& out) {
  check(steps >= 0, ErrorKind::Runtime, "linspace, logspace: number of steps must be non-negative, got ", steps);
  const DType type = space_dtype("linspace", dtype, out, start, end);
  check(type != DType::Bool, ErrorKind::NotImplemented, "\"linspace_cpu\" not implemented for 'Bool'");
  Tensor result = destination("linspace", {steps}, type, device, out);
  if (!result.is_meta() && steps != 0) {
    dispatch_all(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<T, bool>) fill_linspace(result.data<T>(), result.strides()[0], steps, start, end);
    });
  }
  return result;
}

Scalar endpoint(const char* op, const Tensor& start, const Tensor& end, const Tensor& which) {
  check(start.dim() == 0 && end.dim() == 0, ErrorKind::Runtime, op,
        " only supports 0-dimensional start and end tensors, but got start with ", start.dim(),
        " dimension(s) and end with ", end.dim(), " dimension(s).");
  return item(which);
}

Tensor linspace_tensors(const Tensor& start, const Tensor& end, std::int64_t steps, std::optional<DType> dtype,
                        std::optional<Device> device, const Out& out) {
  return linspace(endpoint("linspace", start, end, start), endpoint("linspace", start, end, end), steps, dtype, device,
                  out);
}

Tensor linspace_end(const Scalar& start, const Tensor& end, std::int64_t steps, std::optional<DType> dtype,
                    std::optional<Device> device, const Out& out) {
  return linspace(start, endpoint("linspace", wrapped_number(start), end, end), steps, dtype, device, out);
}

c128 power(double base, c128 exponent) {
  const double radius = std::pow(base, exponent.re), angle = std::log(base) * exponent.im;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

template <class T>
void fill_logspace(T* data, std::int64_t stride, std::int64_t steps, const Scalar& start, const Scalar& end,
                   double base) {
  const std::int64_t half = steps / 2;
  const double intervals = steps > 1 ? static_cast<double>(steps - 1) : 1.0;
  for (std::int64_t i = 0; i < steps; ++i) {
    const bool front = i < half || steps == 1;
    const double count = static_cast<double>(front ? i : steps - 1 - i);
    if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>) {
      const c128 first = start.to_complex(), last = end.to_complex(), step = (last - first) / c128(intervals);
      data[i * stride] = convert<T>(power(base, front ? first + step * c128(count) : last - step * c128(count)));
    } else {
      // Half types round the distance and the step, as PyTorch does: the exponents differ from exact ones by a unit.
      const auto rounded = [](double x) {
        return sizeof(T) == 2 && !std::is_integral_v<T> ? convert<double>(convert<T>(x)) : x;
      };
      const double first = steps == 1 ? start.to_double() : convert<double>(start.to<T>());
      const double last = convert<double>(end.to<T>()), step = rounded(rounded(last - first) / intervals);
      data[i * stride] = convert<T>(std::pow(base, front ? first + step * count : last - step * count));
    }
  }
}

Tensor logspace(const Scalar& start, const Scalar& end, std::int64_t steps, double base, std::optional<DType> dtype,
                std::optional<Device> device, const Out& out) {
  check(steps >= 0, ErrorKind::Runtime, "linspace, logspace: number of steps must be non-negative, got ", steps);
  const DType type = space_dtype("logspace", dtype, out, start, end);
  check(type != DType::Bool, ErrorKind::NotImplemented, "\"logspace_cpu\" not implemented for 'Bool'");
  Tensor result = destination("logspace", {steps}, type, device, out);
  if (!result.is_meta() && steps != 0) {
    dispatch_all(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<T, bool>)
        fill_logspace(result.data<T>(), result.strides()[0], steps, start, end, base);
    });
  }
  return result;
}

Tensor logspace_tensors(const Tensor& start, const Tensor& end, std::int64_t steps, double base,
                        std::optional<DType> dtype, std::optional<Device> device, const Out& out) {
  return logspace(endpoint("logspace", start, end, start), endpoint("logspace", start, end, end), steps, base, dtype,
                  device, out);
}

Tensor logspace_end(const Scalar& start, const Tensor& end, std::int64_t steps, double base, std::optional<DType> dtype,
                    std::optional<Device> device, const Out& out) {
  return logspace(start, endpoint("logspace", wrapped_number(start), end, end), steps, base, dtype, device, out);
}

const Kernel kernels[] = {
    {"linspace_tensors", &linspace_tensors},
    {"linspace_end", &linspace_end},
    {"logspace_tensors", &logspace_tensors},
    {"logspace_end", &logspace_end},
    {"arange", &arange},
    {"arange_end", &arange_end},
    {"range", &range},
    {"linspace", &linspace},
    {"logspace", &logspace},
};

}  // namespace
}  // namespace flambeau
