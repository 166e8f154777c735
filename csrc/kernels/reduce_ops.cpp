// Reductions with one result: sum, mean, prod, any, all, amax, amin, counts and vector norms.
#include <cmath>
#include <limits>

#include "core/copy.h"
#include "core/factory.h"
#include "core/promotion.h"
#include "kernels/reduce.h"

namespace flambeau {
namespace {

using OptDims = std::optional<IntSpan>;
using OptDType = std::optional<DType>;

DType sum_dtype(DType input) { return is_integral(input, true) ? DType::Int64 : input; }

Tensor converted(const Tensor& input, OptDType dtype) { return dtype ? to_dtype(input, *dtype) : input; }

// The kernel gives int64 for integers; `dtype` may ask for a narrower one.
Tensor sum_like(const char* op, ReduceId id, const Tensor& input, const DimMask& mask, bool keepdim, OptDType dtype) {
  const Tensor source = converted(input, dtype);
  Tensor out = reduce(op, id, source, mask, keepdim, sum_dtype(source.dtype()));
  return dtype ? to_dtype(out, *dtype) : out;
}

Tensor sum(const Tensor& input, OptDims dim, bool keepdim, OptDType dtype) {
  return sum_like("sum", ReduceId::Sum, input, reduced_dims(dim, input.dim()), keepdim, dtype);
}
Tensor nansum(const Tensor& input, OptDims dim, bool keepdim, OptDType dtype) {
  check(!is_complex(input.dtype()), "nansum: nansum on CPU does not support complex inputs");
  return sum_like("nansum", ReduceId::NanSum, input, reduced_dims(dim, input.dim()), keepdim, dtype);
}
Tensor prod_all(const Tensor& input, OptDType dtype) {
  return sum_like("prod", ReduceId::Prod, input, reduced_dims({}, input.dim()), false, dtype);
}
Tensor prod_dim(const Tensor& input, std::int64_t dim, bool keepdim, OptDType dtype) {
  return sum_like("prod", ReduceId::Prod, input, reduced_dims(IntSpan(&dim, 1), input.dim()), keepdim, dtype);
}

Tensor mean(const Tensor& input, OptDims dim, bool keepdim, OptDType dtype) {
  const DType work = dtype.value_or(input.dtype());
  check(work >= DType::Float16, "mean(): could not infer output dtype. ", dtype ? "Optional dtype" : "Input dtype",
        " must be either a floating point or complex dtype. Got: ", torch_name_of(work));
  const DimMask mask = reduced_dims(dim, input.dim());
  ReduceParams params;
  const std::int64_t count = reduced_count(input.sizes(), mask);
  params.divisor = count == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(count);
  return reduce("mean", ReduceId::Sum, converted(input, dtype), mask, keepdim, work, params);
}

// Result bool, but uint8 for uint8. An explicitly empty list of dims reduces nothing.
Tensor truth(const char* op, ReduceId id, const Tensor& input, OptDims dim, bool keepdim) {
  const DimMask mask = reduced_dims(dim, input.dim(), true);
  return reduce(op, id, input, mask, keepdim, input.dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool);
}
Tensor any(const Tensor& input, OptDims dim, bool keepdim) { return truth("any", ReduceId::Any, input, dim, keepdim); }
Tensor all(const Tensor& input, OptDims dim, bool keepdim) { return truth("all", ReduceId::All, input, dim, keepdim); }

Tensor count_nonzero(const Tensor& input, OptDims dim) {
  return reduce("count_nonzero", ReduceId::CountNonzero, input, reduced_dims(dim, input.dim()), false, DType::Int64);
}

// Without an identity there is nothing to return for an empty reduction.
void check_not_empty(const char* op, const Tensor& input, const DimMask& mask, bool whole, ErrorKind whole_kind) {
  if (input.numel() != 0) return;
  check(!whole, whole_kind, op, "(): Expected reduction dim to be specified for input.numel() == 0.",
        whole_kind == ErrorKind::Runtime ? " Specify the reduction dim with the 'dim' argument." : "");
  for (std::int64_t d = 0; d < input.dim(); ++d) {
    check(!mask[static_cast<std::size_t>(d)] || input.sizes()[d] != 0, ErrorKind::Index, op,
          "(): Expected reduction dim ", d, " to have non-zero size.");
  }
}

Tensor extreme(const char* op, ReduceId id, const Tensor& input, IntSpan dim, bool keepdim) {
  const DimMask mask = reduced_dims(dim, input.dim());
  check_not_empty(op, input, mask, dim.empty(), ErrorKind::Runtime);
  return reduce(op, id, input, mask, keepdim, input.dtype());
}
Tensor amax(const Tensor& input, IntSpan dim, bool keepdim) {
  return extreme("amax", ReduceId::Max, input, dim, keepdim);
}
Tensor amin(const Tensor& input, IntSpan dim, bool keepdim) {
  return extreme("amin", ReduceId::Min, input, dim, keepdim);
}
Tensor max_all(const Tensor& input) { return extreme("max", ReduceId::Max, input, {}, false); }
Tensor min_all(const Tensor& input) { return extreme("min", ReduceId::Min, input, {}, false); }

// Value and position along one dim.
std::tuple<Tensor, Tensor> located(const char* op, ReduceId id, const Tensor& input, std::int64_t dim, bool keepdim) {
  check(!is_complex(input.dtype()), op, "(): does not support complex input");
  const DimMask mask = reduced_dims(IntSpan(&dim, 1), input.dim());
  check_not_empty(op, input, mask, false, ErrorKind::Index);
  const Dims sizes = reduced_sizes(input.sizes(), mask, keepdim);
  Tensor values = empty(sizes, input.dtype(), input.device()), indices = empty(sizes, DType::Int64, input.device());
  if (!input.is_meta()) run_reduce(*find_reduce(id, input.dtype()), input, mask, values, indices, {});
  return {values, indices};
}
std::tuple<Tensor, Tensor> max_dim(const Tensor& input, std::int64_t dim, bool keepdim) {
  return located("max", ReduceId::ArgMax, input, dim, keepdim);
}
std::tuple<Tensor, Tensor> min_dim(const Tensor& input, std::int64_t dim, bool keepdim) {
  return located("min", ReduceId::ArgMin, input, dim, keepdim);
}

Tensor position(const char* op, ReduceId id, const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  check(!is_complex(input.dtype()), op, "(): does not support complex input");
  check(input.dtype() != DType::Bool, op, "(): does not support bool input");
  const DimMask mask = dim ? reduced_dims(IntSpan(&*dim, 1), input.dim()) : reduced_dims({}, input.dim());
  check_not_empty(op, input, mask, !dim, ErrorKind::Index);
  Tensor out = empty(reduced_sizes(input.sizes(), mask, keepdim), DType::Int64, input.device());
  if (input.is_meta()) return out;
  const ReduceKernel& kernel = *find_reduce(id, input.dtype());
  if (dim) {
    run_reduce(kernel, input, mask, out, Tensor(), {});
  } else {
    const Tensor flat = contiguous(input);
    const std::int64_t sizes[] = {flat.numel()}, strides[] = {1};
    run_reduce(kernel, alias(flat, IntSpan(sizes, 1), IntSpan(strides, 1), flat.offset()), DimMask(1), out, Tensor(),
               {});
  }
  return out;
}
Tensor argmax(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return position("argmax", ReduceId::ArgMax, input, dim, keepdim);
}
Tensor argmin(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return position("argmin", ReduceId::ArgMin, input, dim, keepdim);
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim, const Out& out) {
  const DimMask mask = dim ? reduced_dims(IntSpan(&*dim, 1), input.dim()) : reduced_dims({}, input.dim());
  if (dim) {
    check_not_empty("aminmax", input, mask, false, ErrorKind::Index);
  } else {
    check(input.numel() > 0,
          "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
  }
  for (std::int64_t i = 0; i < out.count; ++i) {
    check(out[i].dtype() == input.dtype(), "Expected out tensor to have dtype ", name_of(input.dtype()), ", but got ",
          name_of(out[i].dtype()), " instead");
  }
  const auto one = [&](ReduceId id, std::int64_t i) {
    Tensor result = reduce("aminmax", id, input, mask, keepdim, input.dtype());
    if (!out.given()) return result;
    Tensor target = output("aminmax", out, i, result.sizes(), result.dtype(), result.device());
    if (!target.is_meta()) copy_into(target, result);
    return target;
  };
  Tensor low = one(ReduceId::Min, 0);
  return {low, one(ReduceId::Max, 1)};
}

ReduceId norm_id(double ord) {
  if (ord == 0) return ReduceId::Norm0;
  if (ord == 1) return ReduceId::Norm1;
  if (ord == 2) return ReduceId::Norm2;
  if (std::isinf(ord)) return ord > 0 ? ReduceId::NormInf : ReduceId::NormNegInf;
  return ReduceId::NormP;
}

void check_norm_identity(const Tensor& input, double ord, const DimMask& mask, bool whole) {
  if (!(ord < 0 || std::isinf(ord)) || input.numel() != 0) return;
  check(!whole, "linalg.vector_norm cannot compute the ", ord,
        " norm on an empty tensor because the operation does not have an identity");
  for (std::int64_t d = 0; d < input.dim(); ++d) {
    check(!mask[static_cast<std::size_t>(d)] || input.sizes()[d] != 0, "linalg.vector_norm cannot compute the ", ord,
          " norm on the dimension ", d, " because this dimension is empty and the operation does not have an identity");
  }
}

Tensor vector_norm(const Tensor& input, const Scalar& ord, OptDims dim, bool keepdim, OptDType dtype) {
  check(is_differentiable(input.dtype()),
        "linalg.vector_norm: Expected a floating point or complex tensor as input. Got ", torch_name_of(input.dtype()));
  check(!ord.is_complex(), "linalg.vector_norm: Expected a non-complex scalar as the order of norm.");
  if (dtype) {
    check(is_differentiable(*dtype), "linalg.vector_norm: dtype should be floating point or complex. Got ",
          torch_name_of(*dtype));
    check(is_complex(input.dtype()) == is_complex(*dtype), "linalg.vector_norm: dtype should be ",
          is_complex(input.dtype()) ? "complex for complex" : "real for real", " inputs, but got ",
          torch_name_of(*dtype));
    check(promote_types(input.dtype(), *dtype) == *dtype, "linalg.vector_norm: the dtype of the input (",
          torch_name_of(input.dtype()), ") should be convertible without narrowing to the specified dtype (",
          torch_name_of(*dtype), ")");
  }
  const DimMask mask = reduced_dims(dim, input.dim());
  ReduceParams params;
  params.p = ord.to_double();
  check_norm_identity(input, params.p, mask, !dim || dim->empty());
  const Tensor source = converted(input, dtype);
  return reduce("linalg_vector_norm", norm_id(params.p), source, mask, keepdim, to_real(source.dtype()), params);
}

const Kernel sum_kernel("sum", &sum);
const Kernel nansum_kernel("nansum", &nansum);
const Kernel prod_all_kernel("prod_all", &prod_all);
const Kernel prod_dim_kernel("prod_dim", &prod_dim);
const Kernel mean_kernel("mean", &mean);
const Kernel any_kernel("any", &any);
const Kernel all_kernel("all", &all);
const Kernel count_nonzero_kernel("count_nonzero", &count_nonzero);
const Kernel amax_kernel("amax", &amax);
const Kernel amin_kernel("amin", &amin);
const Kernel max_all_kernel("max_all", &max_all);
const Kernel min_all_kernel("min_all", &min_all);
const Kernel max_dim_kernel("max_dim", &max_dim);
const Kernel min_dim_kernel("min_dim", &min_dim);
const Kernel argmax_kernel("argmax", &argmax);
const Kernel argmin_kernel("argmin", &argmin);
const Kernel aminmax_kernel("aminmax", &aminmax);
const Kernel vector_norm_kernel("vector_norm", &vector_norm);

}  // namespace
}  // namespace flambeau
