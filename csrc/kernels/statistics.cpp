// Variance and standard deviation.
#include <cmath>

#include "core/copy.h"
#include "core/factory.h"
#include "kernels/reduce.h"

namespace flambeau {
namespace {

// The real (part 0) or imaginary (part 1) elements of a complex tensor, as a view.
Tensor complex_part(const Tensor& input, std::int64_t part) {
  Ref<Storage> storage = Ref<Storage>::share(input.storage());
  TensorImpl* impl = TensorImpl::create(std::move(storage), to_real(input.dtype()));
  Dims strides(input.strides());
  for (std::int64_t& stride : strides) stride *= 2;
  impl->offset = input.offset() * 2 + part;
  impl->set_geometry(input.sizes(), strides);
  return Tensor::adopt(impl);
}

struct Spread {
  Tensor spread, mean;
};

Spread real_spread(const Tensor& input, const DimMask& mask, bool keepdim, const ReduceParams& params, bool with_mean) {
  const Dims sizes = reduced_sizes(input.sizes(), mask, keepdim);
  Spread result{empty(sizes, input.dtype(), input.device()), Tensor()};
  if (with_mean) result.mean = empty(sizes, DType::Float64, input.device());
  if (!input.is_meta()) {
    run_reduce(*find_reduce(ReduceId::Var, input.dtype()), input, mask, result.spread, result.mean, params);
  }
  if (with_mean) result.mean = to_dtype(result.mean, input.dtype());
  return result;
}

template <class R, class F>
void for_each_element(const Tensor& a, const Tensor& b, F&& fn) {
  for (std::int64_t i = 0; i < a.numel(); ++i) fn(a.data<R>()[i], b.data<R>()[i], i);
}

// |z - mean|^2 = (re - mean_re)^2 + (im - mean_im)^2, so the variances of the parts add up.
Spread complex_spread(const Tensor& input, const DimMask& mask, bool keepdim, ReduceParams params, bool with_mean) {
  const bool root = params.root;
  params.root = false;
  const Spread re = real_spread(complex_part(input, 0), mask, keepdim, params, with_mean);
  const Spread im = real_spread(complex_part(input, 1), mask, keepdim, params, with_mean);
  Spread result{re.spread, Tensor()};
  if (with_mean) result.mean = empty(re.spread.sizes(), input.dtype(), input.device());
  if (input.is_meta()) return result;
  dispatch_floating("var", re.spread.dtype(), [&](auto tag) {
    using R = typename decltype(tag)::type;
    for_each_element<R>(re.spread, im.spread, [&](R& a, R b, std::int64_t) { a = root ? std::sqrt(a + b) : a + b; });
    if (!with_mean) return;
    for_each_element<R>(re.mean, im.mean,
                        [&](R a, R b, std::int64_t i) { result.mean.data<Complex<R>>()[i] = {a, b}; });
  });
  return result;
}

Spread spread(const char* op, const Tensor& input, std::optional<IntSpan> dim, const std::optional<Scalar>& correction,
              bool keepdim, bool root, bool with_mean) {
  check(is_differentiable(input.dtype()), "std, var: std and var only support floating point and complex dtypes",
        ". Convert the input, e.g. input.float().");
  const DimMask mask = reduced_dims(dim, input.dim());
  ReduceParams params;
  params.correction = correction ? correction->to_double() : 1;
  params.root = root;
  if (static_cast<double>(reduced_count(input.sizes(), mask)) - params.correction <= 0) {
    queue_warning(concat(op,
                         "(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
                         "(input numel divided by output numel)."));
  }
  return is_complex(input.dtype()) ? complex_spread(input, mask, keepdim, params, with_mean)
                                   : real_spread(input, mask, keepdim, params, with_mean);
}

using OptDims = std::optional<IntSpan>;
using OptScalar = std::optional<Scalar>;

Tensor var(const Tensor& input, OptDims dim, OptScalar correction, bool keepdim) {
  return spread("var", input, dim, correction, keepdim, false, false).spread;
}
Tensor std_(const Tensor& input, OptDims dim, OptScalar correction, bool keepdim) {
  return spread("std", input, dim, correction, keepdim, true, false).spread;
}
std::tuple<Tensor, Tensor> var_mean(const Tensor& input, OptDims dim, OptScalar correction, bool keepdim) {
  Spread both = spread("var_mean", input, dim, correction, keepdim, false, true);
  return {both.spread, both.mean};
}
std::tuple<Tensor, Tensor> std_mean(const Tensor& input, OptDims dim, OptScalar correction, bool keepdim) {
  Spread both = spread("std_mean", input, dim, correction, keepdim, true, true);
  return {both.spread, both.mean};
}

const Kernel var_kernel("var_correction", &var);
const Kernel std_kernel("std_correction", &std_);
const Kernel var_mean_kernel("var_mean_correction", &var_mean);
const Kernel std_mean_kernel("std_mean_correction", &std_mean);

}  // namespace
}  // namespace flambeau
