// Samples whose parameters are tensors: bernoulli, poisson, binomial, gamma, dirichlet, multinomial; dropout's mask.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/copy.h"
#include "core/factory.h"
#include "kernels/random_fill.h"

namespace flambeau::random {

namespace {

template <class F>
decltype(auto) dispatch_real_float(const char* op, DType dtype, F&& fn) {
  switch (dtype) {
    case DType::Float16: return fn(TypeTag<Half>{});
    case DType::BFloat16: return fn(TypeTag<BFloat16>{});
    default: return dispatch_floating(op, dtype, fn);
  }
}

template <class T>
T load(const char* at) {
  return *reinterpret_cast<const T*>(at);
}

// out[...] = one or zero with probability p[...]; p has out's shape. float64 probabilities are compared with 53 bits.
void fill_bernoulli_each(const Tensor& out, const Tensor& p, Generator* generator) {
  check_no_internal_overlap(out, "bernoulli_");
  if (!is_floating(p.dtype())) throw_bad_dtype("bernoulli_tensor_cpu_p_", p.dtype());
  if (is_complex(out.dtype())) throw_bad_dtype("bernoulli_tensor_cpu_self_", out.dtype());
  if (out.is_meta() || out.numel() == 0) return;
  Generator& g = generator_or_default(generator);
  const std::lock_guard lock(g.mutex);
  const Tensor* operands[] = {&out, &p};
  const SerialOrder order(operands, 2);
  dispatch_real_float("bernoulli_tensor_cpu_p_", p.dtype(), [&](auto p_tag) {
    using P = typename decltype(p_tag)::type;
    using Wide = std::conditional_t<std::is_same_v<P, double>, double, float>;
    dispatch_all(out.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      order.run([&](char* const* at) {
        const auto prob = convert<Wide>(load<P>(at[1]));
        check(prob >= 0 && prob <= 1, "bernoulli: expected 0 <= p <= 1, got p=", prob,
              ": Expected p_in >= 0 && p_in <= 1 to be true, but got false.");
        *reinterpret_cast<T*>(at[0]) = convert<T>(unit<Wide>(g) < prob ? 1.0F : 0.0F);
      });
    });
  });
}

Tensor bernoulli(const Tensor& input, Generator* generator, const Out& out) {
  if (out.given()) {
    const Tensor result = output("bernoulli", out, 0, input.sizes(), out[0].dtype(), input.device());
    fill_bernoulli_each(result, input, generator);
    return result;
  }
  Tensor result = empty(input.sizes(), input.dtype(), input.device());
  fill_bernoulli_each(result, input, generator);
  return result;
}

Tensor bernoulli_with_p(const Tensor& input, double p, Generator* generator) {
  Tensor result = empty(input.sizes(), input.dtype(), input.device());
  fill_bernoulli(result, p, generator);
  return result;
}

Tensor bernoulli_tensor_(const Tensor& input, const Tensor& p, Generator* generator) {
  fill_bernoulli_each(input, expand_to(p, input.sizes(), "bernoulli_"), generator);
  return input;
}

// result[...] = draw(parameter[...]), contiguous.
template <class Draw>
Tensor sample_each(const char* op, const Tensor& input, Generator* generator, Draw&& draw) {
  Tensor result = empty(input.sizes(), input.dtype(), input.device());
  if (!is_floating(input.dtype())) throw_bad_dtype(op, input.dtype());
  if (result.is_meta() || result.numel() == 0) return result;
  Generator& g = generator_or_default(generator);
  const std::lock_guard lock(g.mutex);
  const Tensor* operands[] = {&result, &input};
  const SerialOrder order(operands, 2);
  dispatch_real_float(op, input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    order.run([&](char* const* at) {
      *reinterpret_cast<T*>(at[0]) = convert<T>(draw(g, convert<double>(load<T>(at[1])), tag));
    });
  });
  return result;
}

Tensor poisson_sample(const Tensor& input, Generator* generator) {
  return sample_each("poisson_cpu", input, generator, [](Generator& g, double rate, auto) {
    check(rate >= 0, "poisson: invalid Poisson rate, expected rate to be non-negative");
    return poisson(g, rate);
  });
}

// Smallest positive normal number: a gamma sample is never zero, so that its logarithm is finite.
template <class T>
double smallest() {
  if constexpr (std::is_same_v<T, Half>) return 0x1p-14;
  if constexpr (std::is_same_v<T, double>) return std::numeric_limits<double>::min();
  return static_cast<double>(std::numeric_limits<float>::min());
}

Tensor standard_gamma_sample(const Tensor& input, Generator* generator) {
  return sample_each("gamma", input, generator, [](Generator& g, double alpha, auto tag) {
    using T = typename decltype(tag)::type;
    return std::max(smallest<T>(), convert<double>(convert<T>(standard_gamma(g, alpha))));
  });
}

Tensor sample_dirichlet(const Tensor& input, Generator* generator) {
  check(input.dim() >= 1, "_sample_dirichlet: expected input of at least one dimension, got a 0-d tensor");
  Tensor result = empty(input.sizes(), input.dtype(), input.device());
  if (!is_floating(input.dtype())) throw_bad_dtype("dirichlet", input.dtype());
  if (result.is_meta() || result.numel() == 0) return result;
  const Tensor alpha = contiguous(input);
  const std::int64_t categories = input.size(-1);
  Generator& g = generator_or_default(generator);
  const std::lock_guard lock(g.mutex);
  std::vector<double> gammas(static_cast<std::size_t>(categories));
  dispatch_real_float("dirichlet", input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const double low = smallest<T>();
    const double high = convert<double>(convert<T>(1.0F)) - (std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24);
    const T* from = alpha.data<T>();
    T* to = result.data<T>();
    for (std::int64_t row = 0; row < alpha.numel() / categories; ++row, from += categories, to += categories) {
      double sum = 0;
      for (std::int64_t j = 0; j < categories; ++j) {
        const double gamma = std::max(std::numeric_limits<double>::min(), standard_gamma(g, convert<double>(from[j])));
        gammas[static_cast<std::size_t>(j)] = gamma;
        sum += gamma;
      }
      for (std::int64_t j = 0; j < categories; ++j) {
        to[j] = convert<T>(std::min(high, std::max(low, gammas[static_cast<std::size_t>(j)] / sum)));
      }
    }
  });
  return result;
}

Tensor binomial_sample(const Tensor& count, const Tensor& prob, Generator* generator) {
  check(count.dtype() == prob.dtype(), "binomial: expected count and prob of the same dtype, got ",
        name_of(count.dtype()), " and ", name_of(prob.dtype()), ": Found dtype ", torch_name_of(prob.dtype()),
        " but expected ", torch_name_of(count.dtype()));
  const Dims sizes = broadcast_shapes(count.sizes(), prob.sizes(), "binomial");
  Tensor result = empty(sizes, count.dtype(), count.device());
  if (!is_floating(count.dtype())) throw_bad_dtype("binomial_cpu", count.dtype());
  if (result.is_meta() || result.numel() == 0) return result;
  const Tensor wide_count = expand_to(count, sizes, "binomial"), wide_prob = expand_to(prob, sizes, "binomial");
  Generator& g = generator_or_default(generator);
  const std::lock_guard lock(g.mutex);
  const Tensor* operands[] = {&result, &wide_count, &wide_prob};
  const SerialOrder order(operands, 3);
  dispatch_real_float("binomial_cpu", count.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    order.run([&](char* const* at) {
      const auto n = convert<double>(load<T>(at[1])), p = convert<double>(load<T>(at[2]));
      *reinterpret_cast<T*>(at[0]) = convert<T>(binomial(g, n, p));
    });
  });
  return result;
}

// Multinomial. Rows of `input` are weights that need not sum to one.

struct Rows {
  std::int64_t count, categories;
};

// One category: the last index whose cumulative probability is below u, plus one. cumulative.back() is 1.
template <class C>
std::int64_t pick(const std::vector<C>& cumulative, double u) {
  std::int64_t left = 0, right = static_cast<std::int64_t>(cumulative.size());
  while (left < right) {
    const std::int64_t middle = left + (right - left) / 2;
    if (static_cast<double>(cumulative[static_cast<std::size_t>(middle)]) < u) {
      left = middle + 1;
    } else {
      right = middle;
    }
  }
  return left;
}

template <class T>
void draw_with_replacement(const T* weights, Rows rows, std::int64_t samples, std::int64_t* to, Generator& g) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  std::vector<C> cumulative(static_cast<std::size_t>(rows.categories));
  for (std::int64_t row = 0; row < rows.count; ++row, weights += rows.categories, to += samples) {
    C sum = 0;
    for (std::int64_t j = 0; j < rows.categories; ++j) {
      const C weight = convert<C>(weights[j]);
      check(!(weight < 0), "multinomial: invalid multinomial distribution (encountering probability entry < 0)");
      check(std::isfinite(weight),
            "multinomial: invalid multinomial distribution (encountering probability entry = infinity or NaN)");
      sum += weight;
      cumulative[static_cast<std::size_t>(j)] = sum;
    }
    check(sum > 0, "multinomial: invalid multinomial distribution (sum of probabilities <= 0)");
    for (C& value : cumulative) value /= sum;
    cumulative.back() = 1;
    for (std::int64_t k = 0; k < samples; ++k) to[k] = pick(cumulative, unit_double(g));
  }
}

// Exponential race: the `samples` largest of weight / Exp(1). Ties fall as in PyTorch's topk, which uses these
// algorithms.
template <class T>
void race(const T* weights, const T* clocks, Rows rows, std::int64_t samples, std::int64_t* to) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  using Entry = std::pair<Wide, std::int64_t>;
  std::vector<Entry> queue(static_cast<std::size_t>(rows.categories));
  auto before = [](const Entry& a, const Entry& b) {
    return (std::isnan(a.first) && !std::isnan(b.first)) || a.first > b.first;
  };
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const T* p = weights + row * rows.categories;
    const T* q = clocks + row * rows.categories;
    for (std::int64_t j = 0; j < rows.categories; ++j) {
      queue[static_cast<std::size_t>(j)] = {convert<Wide>(convert<T>(convert<Wide>(p[j]) / convert<Wide>(q[j]))), j};
    }
    if (samples == 1) {
      std::iter_swap(queue.begin(), std::min_element(queue.begin(), queue.end(), before));
    } else if (samples * 64 <= rows.categories) {
      std::partial_sort(queue.begin(), queue.begin() + samples, queue.end(), before);
    } else {
      std::nth_element(queue.begin(), queue.begin() + samples - 1, queue.end(), before);
      std::sort(queue.begin(), queue.begin() + samples - 1, before);
    }
    for (std::int64_t k = 0; k < samples; ++k) to[row * samples + k] = queue[static_cast<std::size_t>(k)].second;
  }
}

template <class T>
void check_weights(const T* weights, Rows rows) {
  bool every_row = true;
  for (std::int64_t row = 0; row < rows.count; ++row) {
    double sum = 0;
    for (std::int64_t j = 0; j < rows.categories; ++j) {
      const auto weight = convert<double>(weights[row * rows.categories + j]);
      check(weight >= 0 && weight < std::numeric_limits<double>::infinity(),
            "multinomial: probability tensor contains either `inf`, `nan` or element < 0");
      sum += weight;
    }
    every_row = every_row && sum > 0;
  }
  check(every_row, "multinomial: invalid multinomial distribution (sum of probabilities <= 0)");
}

Tensor multinomial(const Tensor& input, std::int64_t num_samples, bool replacement, Generator* generator,
                   const Out& out) {
  check(input.dim() == 1 || input.dim() == 2, "multinomial: prob_dist must be 1 or 2 dim");
  check(is_floating(input.dtype()),
        "multinomial only supports floating-point dtypes for input, got: ", torch_name_of(input.dtype()));
  check(num_samples > 0, "multinomial: cannot sample n_sample <= 0 samples");
  const Rows rows{input.dim() == 1 ? 1 : input.sizes()[0], input.size(-1)};
  check(replacement || num_samples <= rows.categories,
        "multinomial: cannot sample n_sample > prob_dist.size(-1) samples without replacement",
        ". Draw fewer, or set replacement=True.");
  check(rows.categories <= (std::int64_t{1} << 24), "multinomial: number of categories cannot exceed 2^24");
  check(!out.given() || out[0].dtype() == DType::Int64,
        "multinomial expects Long tensor out, got: ", out.given() ? torch_name_of(out[0].dtype()) : "");
  Dims sizes;
  if (input.dim() == 2) sizes.push_back(rows.count);
  sizes.push_back(num_samples);
  const Tensor result = output("multinomial", out, 0, sizes, DType::Int64, input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  check(rows.categories > 0, "multinomial: expected at least one category, got input of shape ", input.sizes());
  const Tensor weights = contiguous(input);
  const Tensor dense = result.is_contiguous() ? result : empty(sizes, DType::Int64);
  dispatch_real_float("multinomial", input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (replacement && num_samples > 1) {  // one draw is a race either way, as in PyTorch
      Generator& g = generator_or_default(generator);
      const std::lock_guard lock(g.mutex);
      draw_with_replacement(weights.data<T>(), rows, num_samples, dense.data<std::int64_t>(), g);
      return;
    }
    check_weights(weights.data<T>(), rows);
    const Tensor clocks = empty_like(input);  // drawn in input's memory order
    fill_exponential(clocks, 1, generator);
    race(weights.data<T>(), contiguous(clocks).data<T>(), rows, num_samples, dense.data<std::int64_t>());
  });
  if (!dense.is(result)) copy_into(result, dense);
  return result;
}

// dropout in training mode: input * mask, where mask is 1 / (1 - p) with probability 1 - p and else 0.
std::tuple<Tensor, Tensor> dropout_with_mask(const Tensor& input, double p, Generator* generator) {
  check(is_floating(input.dtype()) || input.dtype() >= DType::Complex64,
        "dropout: expected a floating point input, got ", name_of(input.dtype()),
        ": result type Float can't be cast to "
        "the desired output type ",
        torch_name_of(input.dtype()));
  const Tensor mask = empty_like(input);
  fill_bernoulli(mask, 1 - p, generator);
  const Tensor result = empty_like(input);
  if (input.is_meta() || input.numel() == 0) return {result, mask};
  const Tensor* operands[] = {&result, &input, &mask};
  dispatch_real_float("dropout", input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const T scale = convert<T>(Wide(1) / static_cast<Wide>(1 - p));
    auto apply = [&](T& to, const T& from, T& keep) {
      if (convert<Wide>(keep) != 0) keep = scale;
      to = convert<T>(convert<Wide>(from) * convert<Wide>(keep));
    };
    if (input.is_contiguous()) {
      T* to = result.data<T>();
      const T* from = input.data<T>();
      T* keep = mask.data<T>();
      for (std::int64_t i = 0; i < input.numel(); ++i) apply(to[i], from[i], keep[i]);
      return;
    }
    SerialOrder(operands, 3).run([&](char* const* at) {
      apply(*reinterpret_cast<T*>(at[0]), *reinterpret_cast<const T*>(at[1]), *reinterpret_cast<T*>(at[2]));
    });
  });
  return {result, mask};
}

const Kernel bernoulli_kernel("bernoulli_draw", &bernoulli);
const Kernel bernoulli_p_kernel("bernoulli_p", &bernoulli_with_p);
const Kernel bernoulli_tensor_kernel("bernoulli_tensor_", &bernoulli_tensor_);
const Kernel poisson_kernel("poisson", &poisson_sample);
const Kernel binomial_kernel("binomial", &binomial_sample);
const Kernel gamma_kernel("_standard_gamma", &standard_gamma_sample);
const Kernel dirichlet_kernel("_sample_dirichlet", &sample_dirichlet);
const Kernel multinomial_kernel("multinomial", &multinomial);
const Kernel dropout_kernel("dropout_with_mask", &dropout_with_mask);

}  // namespace

}  // namespace flambeau::random
