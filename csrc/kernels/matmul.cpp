// matmul, mm, bmm, mv, dot, vdot, outer, addmm, addmv, baddbmm, linear: argument rules and batches; the arithmetic is
// in gemm*.cpp.
#include "kernels/matmul.h"

#include <algorithm>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"

namespace flambeau {
namespace {

void check_dtypes(const char* op, const char* first, const Tensor& a, const char* second, const Tensor& b) {
  check(a.dtype() == b.dtype(), op, ": expected ", first, " and ", second, " to have the same dtype, got ",
        name_of(a.dtype()), " and ", name_of(b.dtype()), ". Convert one of them.");
  if (a.dtype() == DType::Bool) throw_bad_dtype(op, DType::Bool);
}

void check_dim(const char* op, const char* name, const Tensor& tensor, std::int64_t dim) {
  check(tensor.dim() == dim, op, ": expected ", name, " with ", dim, dim == 1 ? " dimension" : " dimensions",
        ", got shape ", tensor.sizes());
}

void check_inner(const char* op, const Tensor& a, const Tensor& b) {
  const std::int64_t k = a.dim() == 0 ? 1 : a.sizes().back(),
                     rows = b.dim() >= 2 ? b.sizes()[b.dim() - 2] : b.sizes()[0];
  if (k == rows) return;
  const bool hint = b.dim() >= 2 && b.sizes().back() == k;
  fail(ErrorKind::Runtime, op, ": mat1 and mat2 shapes cannot be multiplied: expected the last size of ", a.sizes(),
       " to equal the ", b.dim() >= 2 ? "second to last" : "only", " size of ", b.sizes(), ", got ", k, " and ", rows,
       ".", hint ? " Did you mean other.mT?" : "");
}

MatrixView matrix(const Tensor& t) { return {t.data(), t.strides()[t.dim() - 2], t.strides()[t.dim() - 1]}; }

// Can the leading dims of t be walked with one stride? Gives that stride for the rows of the flattened matrix.
bool flat_rows(const Tensor& t, std::int64_t& row) {
  const IntSpan sizes = t.sizes(), strides = t.strides();
  row = 0;
  std::int64_t expected = -1;
  for (std::int64_t d = t.dim() - 2; d >= 0; --d) {
    if (sizes[d] == 1) continue;
    if (expected < 0) {
      row = strides[d];
    } else if (strides[d] != expected) {
      return false;
    }
    expected = strides[d] * sizes[d];
  }
  return true;
}

Tensor plain_matmul(const char* op, const Tensor& input, const Tensor& other) {  // both 2-d, checked
  const std::int64_t m = input.sizes()[0], k = input.sizes()[1], n = other.sizes()[1];
  Tensor result = empty({m, n}, input.dtype(), input.device());
  if (result.is_meta() || m * n == 0) return result;
  (void)op;
  matrix_product(input.dtype(), m, n, k, matrix(input), matrix(other), result.data(), n, 1, false);
  return result;
}

Tensor dot_product(const Tensor& input, const Tensor& other) {
  Tensor result = empty({}, input.dtype(), input.device());
  if (result.is_meta()) return result;
  matrix_product(input.dtype(), 1, 1, input.numel(), {input.data(), 0, input.strides()[0]},
                 {other.data(), other.strides()[0], 0}, result.data(), 1, 1, false);
  return result;
}

Tensor mm(const Tensor& input, const Tensor& mat2) {
  check_dim("mm", "input", input, 2);
  check_dim("mm", "mat2", mat2, 2);
  check_inner("mm", input, mat2);
  check_dtypes("mm", "input", input, "mat2", mat2);
  return plain_matmul("mm", input, mat2);
}

Tensor matmul(const Tensor& input, const Tensor& other) {
  check(input.dim() != 0 && other.dim() != 0, "matmul: expected both arguments with at least 1 dimension, got shapes ",
        input.sizes(), " and ", other.sizes());
  check_inner("matmul", input, other);
  check_dtypes("matmul", "input", input, "other", other);
  if (input.dim() == 2 && other.dim() == 2) return plain_matmul("matmul", input, other);
  if (input.dim() == 1 && other.dim() == 1) return dot_product(input, other);
  // Vectors become matrices of one row or one column; that size is dropped from the result.
  Dims a_sizes(input.sizes()), a_strides(input.strides()), b_sizes(other.sizes()), b_strides(other.strides());
  const bool row = input.dim() == 1, column = other.dim() == 1;
  if (row) {
    a_sizes.insert(0, 1);
    a_strides.insert(0, 0);
  }
  if (column) {
    b_sizes.push_back(1);
    b_strides.push_back(0);
  }
  const std::int64_t m = a_sizes[a_sizes.size() - 2], n = b_sizes.back();
  Dims sizes = broadcast_shapes(IntSpan(a_sizes).subspan(0, a_sizes.size() - 2),
                                IntSpan(b_sizes).subspan(0, b_sizes.size() - 2), "matmul");
  Dims full(sizes);
  full.push_back(m);
  full.push_back(n);
  Dims kept(sizes);
  if (!row) kept.push_back(m);
  if (!column) kept.push_back(n);
  Tensor result = empty(kept, input.dtype(), input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  batched_product(alias(result, full, contiguous_strides(full), 0), alias(input, a_sizes, a_strides, input.offset()),
                  alias(other, b_sizes, b_strides, other.offset()), 1, false);
  return result;
}

Tensor bmm(const Tensor& input, const Tensor& mat2) {
  check(input.dim() == 3 && mat2.dim() == 3, "bmm: expected input and mat2 with 3 dimensions, got shapes ",
        input.sizes(), " and ", mat2.sizes());
  check(input.sizes()[0] == mat2.sizes()[0] && input.sizes()[2] == mat2.sizes()[1], "bmm: expected mat2 of shape [",
        input.sizes()[0], ", ", input.sizes()[2], ", *] for input ", input.sizes(), ", got ", mat2.sizes());
  check_dtypes("bmm", "input", input, "mat2", mat2);
  Tensor result = empty({input.sizes()[0], input.sizes()[1], mat2.sizes()[2]}, input.dtype(), input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  batched_product(result, input, mat2, 1, false);
  return result;
}

Tensor mv(const Tensor& input, const Tensor& vec) {
  check(input.dim() == 2 && vec.dim() == 1, "mv: expected input with 2 dimensions and vec with 1, got shapes ",
        input.sizes(), " and ", vec.sizes());
  check_inner("mv", input, vec);
  check_dtypes("mv", "input", input, "vec", vec);
  Tensor result = empty({input.sizes()[0]}, input.dtype(), input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  matrix_product(input.dtype(), input.sizes()[0], 1, input.sizes()[1], matrix(input), {vec.data(), vec.strides()[0], 0},
                 result.data(), 1, 1, false);
  return result;
}

void check_vectors(const char* op, const Tensor& input, const Tensor& other, const char* name) {
  check(input.dim() == 1 && other.dim() == 1, op, ": expected input and ", name, " with 1 dimension, got shapes ",
        input.sizes(), " and ", other.sizes());
  check(input.dtype() == other.dtype(), op, ": expected input and ", name, " to have the same dtype, got ",
        name_of(input.dtype()), " and ", name_of(other.dtype()));
  check(input.numel() == other.numel(), op, ": inconsistent tensor size, expected input and ", name,
        " of the same length, got ", input.numel(), " and ", other.numel());
  if (input.dtype() == DType::Bool) throw_bad_dtype(op, DType::Bool);
}

Tensor dot(const Tensor& input, const Tensor& tensor) {
  check_vectors("dot", input, tensor, "tensor");
  return dot_product(input, tensor);
}

Tensor vdot(const Tensor& input, const Tensor& other) {
  check_vectors("vdot", input, other, "other");
  if (!is_complex(input.dtype()) || input.is_meta()) return dot_product(input, other);
  Tensor conjugate = alias(input);
  conjugate.impl()->conj = true;
  return dot_product(resolve(conjugate), other);
}

// input broadcast to the result's shape, scaled by beta; beta == 0 ignores it (NaN does not propagate).
Tensor start_from(const char* op, const Tensor& input, IntSpan sizes, const Scalar& beta, const Tensor& like) {
  check(input.dtype() == like.dtype(), op, ": expected input and the matrices to have the same dtype, got ",
        name_of(input.dtype()), " and ", name_of(like.dtype()));
  const Tensor expanded = expand_to(input, sizes, op);
  Tensor result = empty(sizes, like.dtype(), like.device());
  if (result.is_meta() || beta.equals(0)) return result;
  copy_into(result, expanded);
  if (beta.equals(1)) return result;
  dispatch_all(result.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* data = result.data<T>();
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      const float factor = static_cast<float>(beta.to_double());
      for (std::int64_t i = 0; i < result.numel(); ++i) data[i] = T(static_cast<float>(data[i]) * factor);
    } else if constexpr (!std::is_same_v<T, bool>) {
      const T factor = beta.to<T>();
      for (std::int64_t i = 0; i < result.numel(); ++i) data[i] = static_cast<T>(data[i] * factor);
    }
  });
  return result;
}

// Half types with a factor: one rounding at the end instead of one for beta * input and one for the sum.
bool rounds_twice(const Tensor& matrix, const Scalar& beta) {
  return is_reduced_float(matrix.dtype()) && !beta.equals(0) && !beta.equals(1);
}

template <class F>
Tensor through_float(F&& op, const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta,
                     const Scalar& alpha) {
  const auto wide = [](const Tensor& t) {
    return t.is_meta() ? empty(t.sizes(), DType::Float32, t.device()) : to_dtype(t, DType::Float32);
  };
  const Tensor result = op(wide(input), wide(a), wide(b), beta, alpha);
  return result.is_meta() ? empty(result.sizes(), a.dtype(), a.device()) : to_dtype(result, a.dtype());
}

Tensor addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  check_dim("addmm", "mat1", mat1, 2);
  check_dim("addmm", "mat2", mat2, 2);
  check_inner("addmm", mat1, mat2);
  check_dtypes("addmm", "mat1", mat1, "mat2", mat2);
  const std::int64_t m = mat1.sizes()[0], n = mat2.sizes()[1];
  if (rounds_twice(mat1, beta)) return through_float(addmm, input, mat1, mat2, beta, alpha);
  Tensor result = start_from("addmm", input, {m, n}, beta, mat1);
  if (result.is_meta() || result.numel() == 0) return result;
  matrix_product(mat1.dtype(), m, n, mat1.sizes()[1], matrix(mat1), matrix(mat2), result.data(), n, alpha,
                 !beta.equals(0));
  return result;
}

Tensor addmv(const Tensor& input, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  check(mat.dim() == 2 && vec.dim() == 1, "addmv: expected mat with 2 dimensions and vec with 1, got shapes ",
        mat.sizes(), " and ", vec.sizes());
  check_inner("addmv", mat, vec);
  check_dtypes("addmv", "mat", mat, "vec", vec);
  if (rounds_twice(mat, beta)) return through_float(addmv, input, mat, vec, beta, alpha);
  Tensor result = start_from("addmv", input, {mat.sizes()[0]}, beta, mat);
  if (result.is_meta() || result.numel() == 0) return result;
  matrix_product(mat.dtype(), mat.sizes()[0], 1, mat.sizes()[1], matrix(mat), {vec.data(), vec.strides()[0], 0},
                 result.data(), 1, alpha, !beta.equals(0));
  return result;
}

Tensor baddbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
  check_dim("baddbmm", "batch1", batch1, 3);
  check_dim("baddbmm", "batch2", batch2, 3);
  check(batch1.sizes()[0] == batch2.sizes()[0] && batch1.sizes()[2] == batch2.sizes()[1],
        "baddbmm: expected batch2 of shape [", batch1.sizes()[0], ", ", batch1.sizes()[2], ", *] for batch1 ",
        batch1.sizes(), ", got ", batch2.sizes());
  check_dtypes("baddbmm", "batch1", batch1, "batch2", batch2);
  if (rounds_twice(batch1, beta)) return through_float(baddbmm, input, batch1, batch2, beta, alpha);
  Tensor result = start_from("baddbmm", input, {batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]}, beta, batch1);
  if (result.is_meta() || result.numel() == 0) return result;
  batched_product(result, batch1, batch2, alpha, !beta.equals(0));
  return result;
}

// y = x W^T + b in one pass.
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check(input.dim() >= 1 && (weight.dim() == 2 || weight.dim() == 1),
        "linear: expected input with at least 1 dimension and weight with 1 or 2, got shapes ", input.sizes(), " and ",
        weight.sizes());
  const std::int64_t k = input.sizes().back(), n = weight.dim() == 2 ? weight.sizes()[0] : 1;
  check(weight.sizes().back() == k,
        "linear: mat1 and mat2 shapes cannot be multiplied: expected input.shape[-1] == weight.shape[-1], got input ",
        input.sizes(), " and weight ", weight.sizes());
  check_dtypes("linear", "input", input, "weight", weight);
  Dims sizes(input.sizes().subspan(0, input.dim() - 1));
  if (weight.dim() == 2) sizes.push_back(n);
  if (bias.defined()) {
    check(bias.dtype() == input.dtype(), "linear: expected input and bias to have the same dtype, got ",
          name_of(input.dtype()), " and ", name_of(bias.dtype()));
    check(bias.dim() <= 1 && (bias.numel() == n || bias.numel() == 1), "linear: expected bias of shape [", n, "], got ",
          bias.sizes());
  }
  Tensor result = empty(sizes, input.dtype(), input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  const std::int64_t rows = result.numel() / n;
  Tensor flat = input;
  std::int64_t row = 0;
  if (!flat_rows(input, row)) {
    flat = contiguous(input);
    row = k;
  }
  const MatrixView x{flat.data(), row, flat.strides().back()},
      w{weight.data(), weight.strides().back(), weight.dim() == 2 ? weight.strides()[0] : 0};
  if (!bias.defined()) {
    matrix_product(input.dtype(), rows, n, k, x, w, result.data(), n, 1, false);
    return result;
  }
  const Tensor start = bias.numel() == n && bias.is_contiguous() ? bias : contiguous(expand_to(bias, {n}, "linear"));
  dispatch_all(result.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      gemm(Gemm<T>{rows, n, k, static_cast<const T*>(x.data), x.row, x.col, static_cast<const T*>(w.data), w.row, w.col,
                   result.data<T>(), n, T(1), false, start.data<T>()});
    } else {
      T* out = result.data<T>();
      parallel_for(0, rows, std::max<std::int64_t>(1, 65536 / n), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) std::copy_n(start.data<T>(), n, out + i * n);
      });
      matrix_product(input.dtype(), rows, n, k, x, w, out, n, 1, true);
    }
  });
  return result;
}

const Kernel kernels[] = {
    {"matmul", &matmul}, {"mm", &mm},       {"bmm", &bmm},     {"mv", &mv},           {"dot", &dot},
    {"vdot", &vdot},     {"addmm", &addmm}, {"addmv", &addmv}, {"baddbmm", &baddbmm}, {"linear", &linear},
};

}  // namespace

void matrix_product(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, MatrixView a, MatrixView b, void* c,
                    std::int64_t ldc, const Scalar& alpha, bool accumulate) {
  if (dtype == DType::Bool) throw_bad_dtype("matmul", dtype);
  dispatch_all(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) {
      gemm(Gemm<T>{m, n, k, static_cast<const T*>(a.data), a.row, a.col, static_cast<const T*>(b.data), b.row, b.col,
                   static_cast<T*>(c), ldc, alpha.to<T>(), accumulate});
    }
  });
}

void batched_product(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& alpha, bool accumulate) {
  const std::int64_t dims = c.dim(), m = c.sizes()[dims - 2], n = c.sizes()[dims - 1], k = a.sizes().back();
  std::int64_t batch = c.numel() / (m * n);
  std::int64_t row = 0;
  // One matrix on the right: all rows of all batches in one product.
  if (b.dim() == 2 && a.dim() > 2 && flat_rows(a, row)) {
    return matrix_product(c.dtype(), batch * m, n, k, {a.data(), row, a.strides().back()}, matrix(b), c.data(), n,
                          alpha, accumulate);
  }
  const MatrixView am = matrix(a), bm = matrix(b);
  const std::int64_t size = c.itemsize();
  // Offsets of batch item i, with size-1 dims broadcast.
  const auto offset = [&](const Tensor& t, std::int64_t index) {
    std::int64_t total = 0;
    for (std::int64_t d = dims - 3, td = t.dim() - 3; d >= 0 && td >= 0; --d, --td) {
      if (t.sizes()[td] != 1) total += index % c.sizes()[d] * t.strides()[td];
      index /= c.sizes()[d];
    }
    return total * size;
  };
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      matrix_product(c.dtype(), m, n, k, {static_cast<const char*>(am.data) + offset(a, i), am.row, am.col},
                     {static_cast<const char*>(bm.data) + offset(b, i), bm.row, bm.col},
                     static_cast<char*>(c.data()) + i * m * n * size, n, alpha, accumulate);
    }
  };
  const double work =
      static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::max<std::int64_t>(k, 1));
  if (batch < 4 && work > 1e6) return run(0, batch);  // few and large: threads inside each product
  parallel_for(0, batch, std::max<std::int64_t>(1, static_cast<std::int64_t>(2e5 / work)), run);
}

}  // namespace flambeau
