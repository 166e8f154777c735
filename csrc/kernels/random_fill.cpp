// The continuous fills and bernoulli: uniform_, normal_, exponential_, log_normal_, cauchy_, geometric_.
#include "kernels/random_fill.h"

#include <algorithm>

#include "core/copy.h"
#include "core/elementwise.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/random_uniform.h"

namespace flambeau::random {

namespace {

// PyTorch's comparison of two dims, the first of them inner at present: 1 swap, -1 in order, 0 undecided.
int compare_dims(const Tensor* const* operands, int count, std::int64_t a, std::int64_t b) {
  for (int o = 0; o < count; ++o) {
    const std::int64_t sa = operands[o]->strides()[a] * operands[o]->itemsize();
    const std::int64_t sb = operands[o]->strides()[b] * operands[o]->itemsize();
    if (sa == 0 || sb == 0) continue;
    if (sa != sb) return sa < sb ? -1 : 1;
    if (operands[0]->sizes()[a] > operands[0]->sizes()[b]) return 1;
  }
  return 0;
}

// n floats from [from, to) at once.
void uniform_run(float* data, std::int64_t n, float from, float to, Generator& g) {
  static const TileKernel& tile = find_tiles("random_uniform")[DType::Float32];
  const UniformRange range{from, to - from, to};
  while (n > 0) {
    const Generator::Run run = g.take(n);
    void* out = data;
    const void* words = run.words;
    tile.fn(&out, &words, run.count, &range);
    data += run.count;
    n -= run.count;
  }
}

template <class F>
decltype(auto) dispatch_real_float(const char* op, DType dtype, F&& fn) {
  switch (dtype) {
    case DType::Float16: return fn(TypeTag<Half>{});
    case DType::BFloat16: return fn(TypeTag<BFloat16>{});
    default: return dispatch_floating(op, dtype, fn);
  }
}

template <class F>
decltype(auto) dispatch_real(const char* op, DType dtype, bool with_bool, F&& fn) {
  if (dtype == DType::Bool && with_bool) return fn(TypeTag<bool>{});
  if (is_integral(dtype, false)) return dispatch_integral(op, dtype, fn);
  return dispatch_real_float(op, dtype, fn);
}

bool begin(const Tensor& out, const char* op) {
  check_no_internal_overlap(out, op);
  return !out.is_meta() && out.numel() != 0;
}

// data[i] = unit<T>(g) for all i, at once.
void fill_unit(float* data, std::int64_t n, Generator& g) { uniform_run(data, n, 0, 1, g); }
void fill_unit(double* data, std::int64_t n, Generator& g) {
  constexpr std::int64_t kChunk = 512;
  std::uint32_t bits[2 * kChunk];
  for (; n > 0; data += kChunk, n -= kChunk) {
    const std::int64_t take = std::min(n, kChunk);
    g.random(bits, take * 2);
    for (std::int64_t i = 0; i < take; ++i) {
      const std::uint64_t word = (std::uint64_t{bits[2 * i]} << 32 | bits[2 * i + 1]) & 0x1fffffffffffffULL;
      data[i] = static_cast<double>(static_cast<std::int64_t>(word)) * 0x1p-53;
    }
  }
}

template <class T>
void box_muller(T* data, std::int64_t n, T mean, T std) {
  static const TileKernel tile = find_tile("box_muller", dtype_of<T>);
  const T params[] = {mean, std};
  void* outputs[] = {data};
  tile.fn(outputs, nullptr, n, params);
}

// Blocks of 16; a remainder is made by redrawing the last 16 values.
template <class T>
void normal_blocks(T* data, std::int64_t n, T mean, T std, Generator& g) {
  fill_unit(data, n, g);
  parallel_for(0, n / 16, 1024, [&](std::int64_t first, std::int64_t last) {
    box_muller(data + first * 16, (last - first) * 16, mean, std);
  });
  if (n % 16 == 0) return;
  T* tail = data + n - 16;
  fill_unit(tail, 16, g);
  box_muller(tail, 16, mean, std);
}

// Half types draw each block on its own, in float.
template <class T>
void normal_half_blocks(T* data, std::int64_t n, float mean, float std, Generator& g) {
  constexpr std::int64_t kChunk = 512;
  float block[kChunk];
  auto make = [&](T* to, std::int64_t count) {
    fill_unit(block, count, g);
    box_muller(block, count, mean, std);
    for (std::int64_t j = 0; j < count; ++j) to[j] = T(block[j]);
  };
  const std::int64_t whole = n / 16 * 16;
  for (std::int64_t i = 0; i < whole; i += kChunk) make(data + i, std::min(kChunk, whole - i));
  if (n % 16 != 0) make(data + n - 16, 16);
}

double largest(DType dtype) {
  switch (dtype) {
    case DType::Float16: return 65504.0;
    case DType::BFloat16: return 0x1.fep127;
    case DType::Float32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

void check_bounds(double from, double to, DType dtype) {
  const double highest = largest(dtype);
  const char* type = dtype == DType::Float16    ? "c10::Half"
                     : dtype == DType::BFloat16 ? "c10::BFloat16"
                     : dtype == DType::Float32  ? "float"
                                                : "double";
  check(from >= -highest && from <= highest, "from is out of bounds for ", type);
  check(to >= -highest && to <= highest, "to is out of bounds for ", type);
  check(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
  check(to - from <= highest, "uniform_ expects to-from <= std::numeric_limits<", torch_name_of(dtype),
        ">::max(), but found to=", to, " and from=", from, " which result in to-from to exceed the limit");
}

}  // namespace

SerialOrder::SerialOrder(const Tensor* const* operands, int count) : count_(count), numel_(operands[0]->numel()) {
  const std::int64_t rank = operands[0]->dim();
  Dims order;
  for (std::int64_t d = rank - 1; d >= 0; --d) order.push_back(d);
  for (std::int64_t i = 1; i < rank; ++i) {  // insertion sort: undecided pairs are looked past, as PyTorch does
    std::int64_t j = i;
    for (std::int64_t k = i - 1; k >= 0; --k) {
      const int verdict = compare_dims(operands, count, order[k], order[j]);
      if (verdict < 0) break;
      if (verdict == 0) continue;
      std::swap(order[k], order[j]);
      j = k;
    }
  }
  for (std::int64_t d : order) sizes_.push_back(operands[0]->sizes()[d]);
  for (int o = 0; o < count; ++o) {
    base_[o] = static_cast<char*>(operands[o]->data());
    for (std::int64_t d : order) strides_[o].push_back(operands[o]->strides()[d] * operands[o]->itemsize());
  }
}

Tensor real_view(const Tensor& complex) {
  TensorImpl* impl = TensorImpl::create(Ref<Storage>(complex.impl()->storage), to_real(complex.dtype()));
  Tensor result = Tensor::adopt(impl);
  impl->offset = complex.offset() * 2;
  Dims sizes(complex.sizes()), strides(complex.strides());
  for (std::int64_t& stride : strides) stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  impl->set_geometry(sizes, strides);
  return result;
}

void fill_uniform(const Tensor& out, double from, double to, Generator* generator) {
  if (is_complex(out.dtype())) return fill_uniform(real_view(out), from, to, generator);
  if (!is_floating(out.dtype())) throw_bad_dtype("check_uniform_bounds", out.dtype());
  check_bounds(from, to, out.dtype());
  if (!begin(out, "uniform_")) return;
  Generator& g = generator_or_default(generator);
  const std::lock_guard lock(g.mutex);
  dispatch_real_float("uniform_", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, float>) {
      if (out.is_contiguous()) {
        return uniform_run(out.data<float>(), out.numel(), static_cast<float>(from), static_cast<float>(to), g);
      }
    }
    if constexpr (std::is_same_v<T, double>) {
      if (from == 0 && to == 1 && out.is_contiguous()) return fill_unit(out.data<T>(), out.numel(), g);
    }
    const Uniform<T> uniform(from, to);
    fill_serial<T>(out, [&] { return uniform(g); });
  });
}

void fill_normal(const Tensor& out, double mean, double std, Generator* generator) {
  check(std >= 0, "normal expects std >= 0.0, but found std ", std);
  if (is_complex(out.dtype())) {
    // Each part has half the variance.
    return fill_normal(real_view(out), mean, std / std::sqrt(2.0), generator);
  }
  if (!is_floating(out.dtype())) throw_bad_dtype("normal_kernel_cpu", out.dtype());
  if (!begin(out, "normal_")) return;
  Generator& g = generator_or_default(generator);
  const std::lock_guard lock(g.mutex);
  const std::int64_t n = out.numel();
  dispatch_real_float("normal_", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (n < 16 || !out.is_contiguous()) {
      fill_serial<T>(out, [&] { return convert<T>(normal(g, mean, std)); });
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      normal_blocks(out.data<T>(), n, static_cast<T>(mean), static_cast<T>(std), g);
    } else {
      normal_half_blocks(out.data<T>(), n, static_cast<float>(mean), static_cast<float>(std), g);
    }
  });
}

void fill_exponential(const Tensor& out, double lambda, Generator* generator) {
  check(is_floating(out.dtype()),
        "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
        "specified ",
        torch_name_of(out.dtype()));
  check(lambda > 0, "exponential_ expects lambda > 0.0, but found lambda=", lambda);
  if (!begin(out, "exponential_")) return;
  Generator& g = generator_or_default(generator);
  const std::lock_guard lock(g.mutex);
  dispatch_real_float("exponential_", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fill_serial<T>(out, [&] { return convert<T>(exponential(g, lambda)); });
  });
}

void fill_bernoulli(const Tensor& out, double p, Generator* generator) {
  check(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  if (is_complex(out.dtype())) throw_bad_dtype("bernoulli_scalar_cpu_", out.dtype());
  if (!begin(out, "bernoulli_")) return;
  Generator& g = generator_or_default(generator);
  const std::lock_guard lock(g.mutex);
  // u < p on 53-bit integers: the comparison of doubles, exactly, without making one.
  const std::uint64_t limit = static_cast<std::uint64_t>(std::ceil(p * 0x1p53));
  dispatch_real("bernoulli_", out.dtype(), true, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T one = convert<T>(1.0F), zero = convert<T>(0.0F);
    fill_serial<T>(out, [&] { return (g.random64() & 0x1fffffffffffffULL) < limit ? one : zero; });
  });
}

namespace {

Tensor uniform_(const Tensor& input, double from, double to, Generator* generator) {
  fill_uniform(input, from, to, generator);
  return input;
}

Tensor normal_(const Tensor& input, double mean, double std, Generator* generator) {
  fill_normal(input, mean, std, generator);
  return input;
}

Tensor exponential_(const Tensor& input, double lambda, Generator* generator) {
  fill_exponential(input, lambda, generator);
  return input;
}

Tensor bernoulli_float_(const Tensor& input, double p, Generator* generator) {
  fill_bernoulli(input, p, generator);
  return input;
}

// The draw functions take (generator, two parameters) and work in double.
template <auto kDraw>
void fill_real(const Tensor& out, const char* op, double a, double b, Generator* generator) {
  if (!begin(out, op)) return;
  Generator& g = generator_or_default(generator);
  const std::lock_guard lock(g.mutex);
  dispatch_real_float(op, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fill_serial<T>(out, [&] { return convert<T>(kDraw(g, a, b)); });
  });
}

Tensor log_normal_(const Tensor& input, double mean, double std, Generator* generator) {
  check(std > 0, "log_normal_ expects std > 0.0, but found std=", std);
  if (!is_floating(input.dtype())) throw_bad_dtype("log_normal_cpu", input.dtype());
  fill_real<&log_normal>(input, "log_normal_", mean, std, generator);
  return input;
}

Tensor cauchy_(const Tensor& input, double median, double sigma, Generator* generator) {
  check(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  check(is_floating(input.dtype()),
        "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you "
        "specified ",
        torch_name_of(input.dtype()));
  fill_real<&cauchy>(input, "cauchy_", median, sigma, generator);
  return input;
}

Tensor geometric_(const Tensor& input, double p, Generator* generator) {
  check(p > 0 && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  if (input.dtype() == DType::Bool || is_complex(input.dtype())) throw_bad_dtype("geometric_cpu", input.dtype());
  if (!begin(input, "geometric_")) return input;
  Generator& g = generator_or_default(generator);
  const std::lock_guard lock(g.mutex);
  dispatch_real("geometric_", input.dtype(), false, [&](auto tag) {
    using T = typename decltype(tag)::type;
    fill_serial<T>(input, [&] { return convert<T>(geometric(g, p)); });
  });
  return input;
}

const Kernel uniform_kernel("uniform_", &uniform_);
const Kernel normal_kernel("normal_", &normal_);
const Kernel exponential_kernel("exponential_", &exponential_);
const Kernel bernoulli_float_kernel("bernoulli_float_", &bernoulli_float_);
const Kernel log_normal_kernel("log_normal_", &log_normal_);
const Kernel cauchy_kernel("cauchy_", &cauchy_);
const Kernel geometric_kernel("geometric_", &geometric_);

}  // namespace

}  // namespace flambeau::random
