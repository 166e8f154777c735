// Vector norms: (sum of |x|^p)^(1/p) over dims; p = 0 counts non-zeros, +-inf are the extremes of |x|.
// Accumulates in double, in blocks of fixed size.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "core/promotion.h"

namespace flambeau {
namespace {

enum class Order { Zero, One, Two, Max, Min, Other };

Order order_of(double p) {
  if (p == 0) return Order::Zero;
  if (p == 1) return Order::One;
  if (p == 2) return Order::Two;
  if (std::isinf(p)) return p > 0 ? Order::Max : Order::Min;
  return Order::Other;
}

template <class T>
double modulus(T x) {
  if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>)
    return std::hypot(static_cast<double>(x.re), static_cast<double>(x.im));
  else
    return std::abs(static_cast<double>(x));
}
inline double modulus(Half x) { return std::abs(static_cast<double>(static_cast<float>(x))); }
inline double modulus(BFloat16 x) { return std::abs(static_cast<double>(static_cast<float>(x))); }

double combine(Order order, double a, double b) {
  if (order == Order::Max) return b > a || b != b ? b : a;
  if (order == Order::Min) return b < a || b != b ? b : a;
  return a + b;
}
double start(Order order) {
  return order == Order::Max ? 0.0 : order == Order::Min ? std::numeric_limits<double>::infinity() : 0.0;
}

template <class T>
double partial(const T* x, std::int64_t n, Order order, double p) {
  double total = start(order);
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (order == Order::Two) {  // four chains: the hot case, and the compiler keeps the order of plain sums
      double sums[4] = {0, 0, 0, 0};
      std::int64_t i = 0;
      for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; ++k) sums[k] += static_cast<double>(x[i + k]) * static_cast<double>(x[i + k]);
      }
      for (; i < n; ++i) sums[0] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const double a = modulus(x[i]);
    double value = a;
    if (order == Order::Zero) value = a != 0 ? 1.0 : 0.0;
    if (order == Order::Two) value = a * a;
    if (order == Order::Other) value = std::pow(a, p);
    total = combine(order, total, value);
  }
  return total;
}

double finish(double total, Order order, double p) {
  if (order == Order::Two) return std::sqrt(total);
  if (order == Order::Other) return std::pow(total, 1.0 / p);
  return total;
}

// The powers have left double's range, or nearly: once more, divided by the extreme modulus.
template <class T>
double rescaled(const T* x, std::int64_t n, Order order, double p, double fallback) {
  double scale = modulus(x[0]);
  for (std::int64_t i = 1; i < n; ++i) scale = p > 0 ? std::max(scale, modulus(x[i])) : std::min(scale, modulus(x[i]));
  if (!(scale > 0) || !std::isfinite(scale)) return fallback;
  double total = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double a = modulus(x[i]) / scale;
    total += order == Order::Two ? a * a : std::pow(a, p);
  }
  return scale * finish(total, order, p);
}

bool out_of_range(double total, Order order) {
  return (order == Order::Two || order == Order::Other) && (total < 1e-280 || (total > 1e280 && total == total));
}

Tensor vector_norm(const Tensor& input, double ord, std::optional<IntSpan> dim, bool keepdim,
                   std::optional<DType> dtype) {
  const char* op = "linalg.vector_norm";
  check(is_floating(input.dtype()) || is_complex(input.dtype()), op,
        ": Expected a floating point or complex tensor as input. Got ", name_of(input.dtype()));
  if (dtype) {
    check(is_floating(*dtype) || is_complex(*dtype), op, ": dtype should be floating point or complex. Got ",
          name_of(*dtype));
    check(is_complex(*dtype) == is_complex(input.dtype()), op, ": dtype should be ",
          is_complex(input.dtype()) ? "complex" : "real", " for inputs of dtype ", name_of(input.dtype()), ". Got ",
          name_of(*dtype));
    check(promote_types(input.dtype(), *dtype) == *dtype, op, ": the dtype of the input (", name_of(input.dtype()),
          ") should be convertible without narrowing to the specified dtype (", name_of(*dtype), ")");
  }
  const std::int64_t n = input.dim();
  std::vector<bool> reduced(static_cast<std::size_t>(n), !dim || dim->empty());
  if (dim) {
    for (const std::int64_t d : *dim) {
      const std::int64_t at = wrap_dim(d, n);
      if (n == 0) continue;
      check(!reduced[static_cast<std::size_t>(at)] || dim->empty(), op, ": dim ", at,
            " appears multiple times in the list of dims");
      reduced[static_cast<std::size_t>(at)] = true;
    }
  }
  Dims kept, sizes, strides, inner_sizes, inner_strides;
  std::int64_t length = 1;
  for (std::int64_t d = 0; d < n; ++d) {
    if (reduced[static_cast<std::size_t>(d)]) {
      length *= input.sizes()[d];
      inner_sizes.push_back(input.sizes()[d]);
      inner_strides.push_back(input.strides()[d]);
      if (keepdim) kept.push_back(1);
      if ((ord < 0 || std::isinf(ord)) && input.sizes()[d] == 0) {
        fail(ErrorKind::Runtime, op, " cannot compute the ", ord,
             " norm on an empty tensor because the operation does not have an identity");
      }
    } else {
      kept.push_back(input.sizes()[d]);
      sizes.push_back(input.sizes()[d]);
      strides.push_back(input.strides()[d]);
    }
  }
  const DType result_dtype = to_real(dtype.value_or(input.dtype()));
  Tensor result = empty(kept, result_dtype, input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  for (std::int64_t d = 0; d < inner_sizes.size(); ++d) {
    sizes.push_back(inner_sizes[d]);
    strides.push_back(inner_strides[d]);
  }
  const Tensor in = contiguous(alias(input, sizes, strides, input.offset()));
  const Order order = order_of(ord);
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_integral_v<T>) {
      const T* data = in.data<T>();
      constexpr std::int64_t kBlock = 16384;
      const std::int64_t blocks = std::max<std::int64_t>(1, (length + kBlock - 1) / kBlock), rows = result.numel();
      std::vector<double> parts(static_cast<std::size_t>(rows * blocks));
      parallel_for(0, rows * blocks,
                   std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, std::min(length, kBlock))),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       const std::int64_t row = i / blocks, from = i % blocks * kBlock;
                       parts[static_cast<std::size_t>(i)] =
                           partial(data + row * length + from, std::min(kBlock, length - from), order, ord);
                     }
                   });
      for (std::int64_t row = 0; row < rows; ++row) {
        double total = start(order);
        for (std::int64_t b = 0; b < blocks; ++b)
          total = combine(order, total, parts[static_cast<std::size_t>(row * blocks + b)]);
        double value = finish(total, order, ord);
        if (out_of_range(total, order) && length > 0) value = rescaled(data + row * length, length, order, ord, value);
        switch (result_dtype) {
          case DType::Float64: result.data<double>()[row] = value; break;
          case DType::Float32: result.data<float>()[row] = static_cast<float>(value); break;
          case DType::Float16: result.data<Half>()[row] = Half(static_cast<float>(value)); break;
          default: result.data<BFloat16>()[row] = BFloat16(static_cast<float>(value));
        }
      }
    }
  });
  return result;
}

const Kernel kernel("linalg_vector_norm", &vector_norm);

}  // namespace
}  // namespace flambeau
