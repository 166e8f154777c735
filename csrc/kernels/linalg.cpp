// Linear systems: LU, solve, inverse, determinants, Cholesky, triangular and symmetric-indefinite solves.
#include "kernels/linalg.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

namespace flambeau {
namespace linalg {

void check_extent(const char* op, std::int64_t m, std::int64_t n) {
  constexpr std::int64_t kSide = std::numeric_limits<std::int32_t>::max(), kElements = 900000000;
  check(m <= kSide && n <= kSide && m * n <= kElements, op, ": expected matrices of at most ", kElements,
        " elements, got ", m, " rows and ", n, " columns. LAPACK counts them in 32 bits.");
}

void check_matrix(const char* op, const Tensor& t, const char* name) {
  check(t.dim() >= 2, op, ": The input tensor ", name, " must have at least 2 dimensions, got shape ", t.sizes());
  check(is_floating(t.dtype()) || is_complex(t.dtype()), op, ": Expected a floating point or complex tensor as ", name,
        ". Got ", name_of(t.dtype()));
  check(!is_reduced_float(t.dtype()), op, ": Low precision dtypes not supported. Got ", name_of(t.dtype()),
        ". Convert to float32 first.");
  check_extent(op, rows(t), columns(t));
}

void check_square(const char* op, const Tensor& t, const char* name) {
  check_matrix(op, t, name);
  check(rows(t) == columns(t), op, ": ", name, " must be batches of square matrices, but they are ", rows(t), " by ",
        columns(t), " matrices");
}

Tensor column_major(const Dims& batch, std::int64_t m, std::int64_t n, DType dtype, Device device) {
  const Dims sizes = with(batch, {m, n});
  Dims strides = contiguous_strides(sizes);
  const std::int64_t d = sizes.size();
  strides[d - 2] = 1;
  strides[d - 1] = std::max<std::int64_t>(1, m);
  return empty_strided(sizes, strides, dtype, device);
}

Tensor copy_column_major(const Tensor& t) {
  Tensor result = column_major(batch_of(t), rows(t), columns(t), t.dtype(), t.device());
  if (!t.is_meta()) copy_into(result, t);
  return result;
}

std::int64_t first_failure(const Tensor& info, std::string& where) {
  for (std::int64_t i = 0; i < info.numel(); ++i) {
    if (info.data<std::int32_t>()[i] != 0) {
      where = info.dim() == 0 ? "" : concat("(Batch element ", i, "): ");
      return i;
    }
  }
  return -1;
}

}  // namespace linalg

namespace {

using namespace linalg;

void raise_singular(const char* op, const Tensor& info, const char* what) {
  std::string where;
  const std::int64_t i = first_failure(info, where);
  if (i >= 0)
    fail(ErrorKind::LinAlg, op, ": ", where, "The diagonal element ", info.data<std::int32_t>()[i], " is zero, ", what);
}

template <class T>
void factor(T* a, int m, int n, std::int32_t* pivots, std::int32_t& info) {
  info = m == 0 || n == 0 ? 0 : lapack::getrf<T>(m, n, a, leading(m), pivots);
}

// Right-hand sides in columns of b, solved in blocks whose width does not depend on the number of threads.
template <class T>
void substitute(const T* lu, const std::int32_t* pivots, T* b, std::int64_t n, std::int64_t nrhs) {
  constexpr std::int64_t kColumns = 128;
  parallel_for(
      0, nrhs, n >= kColumns ? kColumns : std::max<std::int64_t>(nrhs, 1), [&](std::int64_t begin, std::int64_t end) {
        lapack::getrs<T>('N', to_int(n), to_int(end - begin), lu, leading(n), pivots, b + begin * n, leading(n));
      });
}

std::tuple<Tensor, Tensor, Tensor> lu_factor_ex(const Tensor& input, bool pivot, bool check_errors) {
  check_matrix("linalg.lu_factor", input);
  check(pivot, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
  const std::int64_t m = rows(input), n = columns(input), k = std::min(m, n);
  const Dims batch = batch_of(input);
  Tensor lu = copy_column_major(input), pivots = empty(with(batch, {k}), DType::Int32, input.device()),
         info = zeros(batch, DType::Int32, input.device());
  if (lu.is_meta()) return {lu, pivots, info};
  dispatch("linalg.lu_factor", input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_batch(count(batch), static_cast<double>(m * n * k), [&](std::int64_t i) {
      factor(lu.data<T>() + i * m * n, to_int(m), to_int(n), pivots.data<std::int32_t>() + i * k,
             info.data<std::int32_t>()[i]);
    });
  });
  if (check_errors) {
    std::string where;
    const std::int64_t i = first_failure(info, where);
    check(i < 0, "torch.linalg.lu_factor: ", where, "U[", i < 0 ? 0 : info.data<std::int32_t>()[i], ",",
          i < 0 ? 0 : info.data<std::int32_t>()[i],
          "] is zero and using it on lu_solve would result in a division by zero.");
  }
  return {lu, pivots, info};
}

// P of A = P L U from LAPACK's row swaps (k of them, 1-based), applied to the identity.
Tensor permutation(const Tensor& pivots, std::int64_t m, DType dtype) {
  check(pivots.dtype() == DType::Int32, "lu_unpack: expected pivots of dtype int32, got ", name_of(pivots.dtype()));
  check(pivots.dim() >= 1 && m >= 0 && pivots.sizes()[pivots.dim() - 1] <= m, "lu_unpack: expected at most ", m,
        " pivots per matrix, got shape ", pivots.sizes());
  const std::int64_t k = pivots.sizes()[pivots.dim() - 1];
  const Dims batch(pivots.sizes().subspan(0, pivots.dim() - 1));
  Tensor result = zeros(with(batch, {m, m}), dtype, pivots.device());
  if (result.is_meta() || result.numel() == 0) return result;
  const Tensor swaps = contiguous(pivots);
  dispatch("lu_unpack", dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<std::int64_t> order(static_cast<std::size_t>(m));
    for (std::int64_t i = 0; i < count(batch); ++i) {
      std::iota(order.begin(), order.end(), 0);
      for (std::int64_t j = 0; j < k; ++j) {
        const std::int32_t p = swaps.data<std::int32_t>()[i * k + j];
        check(p >= 1 && p <= m, "lu_unpack: expected pivots between 1 and ", m, ", as lu_factor returns them, got ", p);
        std::swap(order[static_cast<std::size_t>(j)], order[static_cast<std::size_t>(p - 1)]);
      }
      // row j of P^T A is row order[j] of A
      for (std::int64_t j = 0; j < m; ++j)
        result.data<T>()[(i * m + order[static_cast<std::size_t>(j)]) * m + j] = T(1);
    }
  });
  return result;
}

// B has the batch of the factors already.
Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint) {
  check_square("linalg.lu_solve", lu, "LU");
  const std::int64_t n = rows(lu);
  check(pivots.dtype() == DType::Int32, "linalg.lu_solve: expected pivots of dtype int32, got ",
        name_of(pivots.dtype()));
  check(lu.dtype() == b.dtype(), "linalg.lu_solve: expected LU and B to have the same dtype, got ", name_of(lu.dtype()),
        " and ", name_of(b.dtype()));
  check(b.dim() == lu.dim() && (left ? rows(b) : columns(b)) == n && batch_of(b) == batch_of(lu),
        "linalg.lu_solve: Incompatible shapes of LU ", lu.sizes(), " and B ", b.sizes());
  check(pivots.numel() == count(batch_of(lu)) * n,
        "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix, got ",
        pivots.sizes());
  Tensor x;
  const Tensor factors = copy_column_major(lu), order = contiguous(pivots);
  if (!left) {
    // X A = B  <=>  A^T X^T = B^T; for the adjoint, conj(A) X^T = B^T is A^H's transposed system, solved conjugated.
    Dims sizes(b.sizes()), strides(b.strides());
    std::swap(sizes[b.dim() - 1], sizes[b.dim() - 2]);
    std::swap(strides[b.dim() - 1], strides[b.dim() - 2]);
    x = copy_column_major(alias(b, sizes, strides, b.offset()));
  } else {
    x = copy_column_major(b);
  }
  if (!x.is_meta() && x.numel() != 0) {
    const std::int64_t nrhs = columns(x);
    for (std::int64_t i = 0; i < order.numel(); ++i) {
      const std::int32_t p = order.data<std::int32_t>()[i];
      check(p >= 1 && p <= n, "lu_solve: Pivots given to lu_solve must all be greater or equal to 1 and at most ", n,
            ". Did you properly pass the result of lu_factor? Got ", p);
    }
    dispatch("linalg.lu_solve", lu.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      for_batch(count(batch_of(lu)), static_cast<double>(n * n * nrhs), [&](std::int64_t i) {
        T* target = x.data<T>() + i * n * nrhs;
        // Right side with adjoint: conj on both ends turns conj(A) Y = C into A conj(Y) = conj(C).
        const bool flip = !left && adjoint && is_complex(lu.dtype());
        if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>) {
          if (flip) {
            for (std::int64_t j = 0; j < n * nrhs; ++j) target[j] = conj(target[j]);
          }
        }
        lapack::getrs<T>(left ? (adjoint ? 'C' : 'N') : (adjoint ? 'N' : 'T'), to_int(n), to_int(nrhs),
                         factors.data<T>() + i * n * n, leading(n), order.data<std::int32_t>() + i * n, target,
                         leading(n));
        if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>) {
          if (flip) {
            for (std::int64_t j = 0; j < n * nrhs; ++j) target[j] = conj(target[j]);
          }
        }
      });
    });
  }
  if (left) return x;
  Dims sizes(x.sizes()), strides(x.strides());
  std::swap(sizes[x.dim() - 1], sizes[x.dim() - 2]);
  std::swap(strides[x.dim() - 1], strides[x.dim() - 2]);
  return alias(x, sizes, strides, x.offset());
}

// A X = B for matrices of one batch shape; A is factored in place in a copy.
std::tuple<Tensor, Tensor> solve_ex(const Tensor& a, const Tensor& b, bool check_errors) {
  check_square("linalg.solve", a);
  check(a.dtype() == b.dtype(), "linalg.solve: Expected A and B to have the same dtype, but found A of type ",
        name_of(a.dtype()), " and B of type ", name_of(b.dtype()), " instead");
  check(b.dim() == a.dim() && rows(b) == rows(a) && batch_of(a) == batch_of(b),
        "linalg.solve: Incompatible shapes of A and B for the equation AX = B: ", a.sizes(), " and ", b.sizes());
  const std::int64_t n = rows(a), nrhs = columns(b);
  const Dims batch = batch_of(a);
  Tensor lu = copy_column_major(a), x = copy_column_major(b), info = zeros(batch, DType::Int32, a.device());
  if (x.is_meta()) return {x, info};
  dispatch("linalg.solve", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_batch(count(batch), static_cast<double>(n * n * (n + nrhs)), [&](std::int64_t i) {
      std::vector<std::int32_t> pivots(static_cast<std::size_t>(std::max<std::int64_t>(1, n)));
      if (has_nan(lu.data<T>() + i * n * n, n * n)) {  // OpenBLAS skips zeros, and with them 0 * NaN
        std::fill_n(x.data<T>() + i * n * nrhs, n * nrhs, T(static_cast<lapack::Real<T>>(NAN)));
        return;
      }
      factor(lu.data<T>() + i * n * n, to_int(n), to_int(n), pivots.data(), info.data<std::int32_t>()[i]);
      if (n != 0 && nrhs != 0) substitute(lu.data<T>() + i * n * n, pivots.data(), x.data<T>() + i * n * nrhs, n, nrhs);
    });
  });
  if (check_errors)
    raise_singular("torch.linalg.solve", info,
                   "the solve could not be completed because the input matrix is singular.");
  return {x, info};
}

std::tuple<Tensor, Tensor> inv_ex(const Tensor& a, bool check_errors) {
  check_square("linalg.inv", a);
  const std::int64_t n = rows(a);
  const Dims batch = batch_of(a);
  Tensor lu = copy_column_major(a), inverse = column_major(batch, n, n, a.dtype(), a.device()),
         info = zeros(batch, DType::Int32, a.device());
  if (inverse.is_meta()) return {inverse, info};
  dispatch("linalg.inv", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_batch(count(batch), static_cast<double>(2 * n * n * n), [&](std::int64_t i) {
      std::vector<std::int32_t> pivots(static_cast<std::size_t>(std::max<std::int64_t>(1, n)));
      if (has_nan(lu.data<T>() + i * n * n, n * n)) {
        std::fill_n(inverse.data<T>() + i * n * n, n * n, T(static_cast<lapack::Real<T>>(NAN)));
        return;
      }
      factor(lu.data<T>() + i * n * n, to_int(n), to_int(n), pivots.data(), info.data<std::int32_t>()[i]);
      T* out = inverse.data<T>() + i * n * n;
      std::fill_n(out, n * n, T(0));
      for (std::int64_t j = 0; j < n; ++j) out[j * n + j] = T(1);
      if (n != 0) substitute(lu.data<T>() + i * n * n, pivots.data(), out, n, n);
    });
  });
  if (check_errors)
    raise_singular("linalg.inv", info, "the inversion could not be completed because the input matrix is singular.");
  return {inverse, info};
}

template <class T>
lapack::Real<T> modulus(T value) {
  if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>)
    return std::hypot(value.re, value.im);
  else
    return std::abs(value);
}

// fn(i, diagonal of U, sign of the permutation) per matrix.
template <class T, class F>
void for_diagonals(const Tensor& a, F&& fn) {
  const std::int64_t n = rows(a);
  Tensor lu = copy_column_major(a);
  for_batch(count(batch_of(a)), static_cast<double>(n * n * n), [&](std::int64_t i) {
    std::vector<std::int32_t> pivots(static_cast<std::size_t>(std::max<std::int64_t>(1, n)));
    std::int32_t info = 0;
    T* data = lu.data<T>() + i * n * n;
    if (has_nan(data, n * n))
      std::fill_n(data, n * n, T(static_cast<lapack::Real<T>>(NAN)));
    else
      factor(data, to_int(n), to_int(n), pivots.data(), info);
    bool odd = false;
    for (std::int64_t j = 0; j < n && pivots[0] != 0; ++j) odd ^= pivots[static_cast<std::size_t>(j)] != j + 1;
    fn(i, data, n, odd);
  });
}

Tensor det(const Tensor& a) {
  check_square("linalg.det", a);
  Tensor result = empty(batch_of(a), a.dtype(), a.device());
  if (result.is_meta()) return result;
  dispatch("linalg.det", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_diagonals<T>(a, [&](std::int64_t i, const T* u, std::int64_t n, bool odd) {
      T product = odd ? T(-1) : T(1);
      for (std::int64_t j = 0; j < n; ++j) product = product * u[j * n + j];
      result.data<T>()[i] = product;
    });
  });
  return result;
}

std::tuple<Tensor, Tensor> slogdet(const Tensor& a) {
  check_square("linalg.slogdet", a);
  Tensor sign = empty(batch_of(a), a.dtype(), a.device()),
         logabsdet = empty(batch_of(a), to_real(a.dtype()), a.device());
  if (sign.is_meta()) return {sign, logabsdet};
  dispatch("linalg.slogdet", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using R = lapack::Real<T>;
    for_diagonals<T>(a, [&](std::int64_t i, const T* u, std::int64_t n, bool odd) {
      T product = odd ? T(-1) : T(1);
      R total(0);
      for (std::int64_t j = 0; j < n; ++j) {
        const T value = u[j * n + j];
        const R size = modulus(value);
        total += std::log(size);
        if constexpr (std::is_same_v<T, R>)
          product *= value > R(0) ? R(1) : value < R(0) ? R(-1) : value * R(0);  // the sign of inf is 1, of NaN NaN
        else
          product = size == R(0) ? T(0) : product * (value / T(size));
      }
      sign.data<T>()[i] = product;
      logabsdet.data<R>()[i] = total;
    });
  });
  return {sign, logabsdet};
}

template <class T>
T conjugate(T value) {
  if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>)
    return conj(value);
  else
    return value;
}

// L into `l` (n by n, column-major) from the wanted triangle of a strided matrix; U = L^H is written for `upper`.
// For small matrices, where a call of OpenBLAS and a transposing copy cost more than the arithmetic.
template <class T>
int small_cholesky(const T* a, std::int64_t row_stride, std::int64_t column_stride, T* l, std::int64_t n, bool upper) {
  using R = lapack::Real<T>;
  for (std::int64_t c = 0; c < n; ++c) {
    std::fill_n(l + c * n, c, T(0));
    for (std::int64_t r = c; r < n; ++r)
      l[c * n + r] = upper ? conjugate(a[c * row_stride + r * column_stride]) : a[r * row_stride + c * column_stride];
  }
  for (std::int64_t j = 0; j < n; ++j) {
    T* column = l + j * n;
    R square;
    if constexpr (std::is_same_v<T, R>)
      square = column[j];
    else
      square = column[j].re;
    if (!(square > R(0)) || !std::isfinite(square)) return to_int(j + 1);
    const R pivot = std::sqrt(square), scale = R(1) / pivot;
    column[j] = T(pivot);
    for (std::int64_t r = j + 1; r < n; ++r) column[r] = column[r] * T(scale);
    for (std::int64_t c = j + 1; c < n; ++c) {
      const T factor = conjugate(column[c]);
      T* target = l + c * n;
      for (std::int64_t r = c; r < n; ++r) target[r] = target[r] - column[r] * factor;
    }
  }
  for (std::int64_t c = 0; c < n && upper; ++c) {
    for (std::int64_t r = c + 1; r < n; ++r) {
      l[r * n + c] = conjugate(l[c * n + r]);
      l[c * n + r] = T(0);
    }
  }
  return 0;
}

// In place, column-major.
template <class T>
int large_cholesky(T* a, std::int64_t n, bool upper) {
  for (std::int64_t c = 0; c < n; ++c) {
    for (std::int64_t r = upper ? c + 1 : 0; r < (upper ? n : c); ++r) a[c * n + r] = T(0);
  }
  const int info = lapack::potrf<T>(upper ? 'U' : 'L', to_int(n), a, leading(n));
  if (info != 0) return info;
  for (std::int64_t c = 0; c < n; ++c) {  // OpenBLAS goes on after NaN and inf
    if (!all_finite(a + c * n + c, 1)) return to_int(c + 1);
  }
  return 0;
}

std::tuple<Tensor, Tensor> cholesky_ex(const Tensor& a, bool upper, bool check_errors) {
  check_square("linalg.cholesky", a);
  const std::int64_t n = rows(a);
  const Dims batch = batch_of(a);
  const bool small = n <= 32;
  const Tensor source = small ? contiguous(a) : a;
  Tensor l = small ? column_major(batch, n, n, a.dtype(), a.device()) : copy_column_major(a),
         info = empty(batch, DType::Int32, a.device());
  if (l.is_meta()) return {l, info};
  dispatch("linalg.cholesky", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_batch(count(batch), static_cast<double>(n * n * n), [&](std::int64_t i) {
      T* data = l.data<T>() + i * n * n;
      info.data<std::int32_t>()[i] =
          small ? small_cholesky(source.data<T>() + i * n * n, n, std::int64_t{1}, data, n, upper)
                : large_cholesky(data, n, upper);
    });
  });
  if (check_errors) {
    std::string where;
    const std::int64_t i = first_failure(info, where);
    if (i >= 0) {
      fail(ErrorKind::LinAlg, "linalg.cholesky: ", where,
           "The factorization could not be completed because the input is not positive-definite (the leading minor of "
           "order ",
           info.data<std::int32_t>()[i], " is not positive-definite).");
    }
  }
  return {l, info};
}

// op(A) X = B or X op(A) = B with A triangular, one batch shape. The other triangle of A is not read.
Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left, bool unitriangular) {
  check_square("linalg.solve_triangular", a);
  check_matrix("linalg.solve_triangular", b, "B");
  check(a.dtype() == b.dtype(),
        "linalg.solve_triangular: Expected A and B to have the same dtype, but found A of type ", name_of(a.dtype()),
        " and B of type ", name_of(b.dtype()));
  const std::int64_t n = rows(a);
  check((left ? rows(b) : columns(b)) == n && a.dim() == b.dim() && batch_of(a) == batch_of(b),
        "linalg.solve_triangular: Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (",
        rows(a), "x", columns(a), " and ", rows(b), "x", columns(b), ")");
  const auto swapped = [](const Tensor& t) {
    Dims sizes(t.sizes()), strides(t.strides());
    std::swap(sizes[t.dim() - 1], sizes[t.dim() - 2]);
    std::swap(strides[t.dim() - 1], strides[t.dim() - 2]);
    return alias(t, sizes, strides, t.offset());
  };
  // X A = B  <=>  A^T X^T = B^T
  const Tensor factors = copy_column_major(a);
  Tensor x = copy_column_major(left ? b : swapped(b));
  if (!x.is_meta() && x.numel() != 0) {
    const std::int64_t nrhs = columns(x);
    dispatch("linalg.solve_triangular", a.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      for_batch(count(batch_of(a)), static_cast<double>(n * n * nrhs), [&](std::int64_t i) {
        const T* f = factors.data<T>() + i * n * n;
        T* out = x.data<T>() + i * n * nrhs;
        bool singular = false;
        for (std::int64_t j = 0; j < n && !unitriangular; ++j) singular = singular || f[j * n + j] == T(0);
        if (!singular) {
          lapack::trtrs<T>(upper ? 'U' : 'L', left ? 'N' : 'T', unitriangular ? 'U' : 'N', to_int(n), to_int(nrhs), f,
                           leading(n), out, leading(n));
          return;
        }
        // LAPACK refuses; PyTorch divides by zero and goes on.
        const bool backward = left == upper;
        for (std::int64_t c = 0; c < nrhs; ++c) {
          T* y = out + c * n;
          for (std::int64_t s = 0; s < n; ++s) {
            const std::int64_t r = backward ? n - 1 - s : s;
            T sum = y[r];
            for (std::int64_t k = backward ? r + 1 : 0; k < (backward ? n : r); ++k)
              sum = sum - (left ? f[k * n + r] : f[r * n + k]) * y[k];
            y[r] = sum / f[r * n + r];
          }
        }
      });
    });
  }
  return left ? x : swapped(x);
}

// A = L L^H (or U^H U): two triangular solves.
Tensor cholesky_solve(const Tensor& b, const Tensor& factor, bool upper) {
  check_square("cholesky_solve", factor, "input2");
  check(b.dtype() == factor.dtype(), "cholesky_solve: Expected b and A to have the same dtype, got ",
        name_of(b.dtype()), " and ", name_of(factor.dtype()));
  check(b.dim() == factor.dim() && rows(b) == rows(factor) && batch_of(b) == batch_of(factor),
        "cholesky_solve: Incompatible matrix sizes, got ", b.sizes(), " and ", factor.sizes());
  const std::int64_t n = rows(factor), nrhs = columns(b);
  const Tensor l = copy_column_major(factor);
  Tensor x = copy_column_major(b);
  if (x.is_meta() || x.numel() == 0) return x;
  dispatch("cholesky_solve", b.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_batch(count(batch_of(b)), static_cast<double>(2 * n * n * nrhs), [&](std::int64_t i) {
      const T* f = l.data<T>() + i * n * n;
      T* out = x.data<T>() + i * n * nrhs;
      lapack::trtrs<T>(upper ? 'U' : 'L', upper ? 'C' : 'N', 'N', to_int(n), to_int(nrhs), f, leading(n), out,
                       leading(n));
      lapack::trtrs<T>(upper ? 'U' : 'L', upper ? 'N' : 'C', 'N', to_int(n), to_int(nrhs), f, leading(n), out,
                       leading(n));
    });
  });
  return x;
}

std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& a, bool hermitian, bool check_errors) {
  check_square("linalg.ldl_factor", a);
  const std::int64_t n = rows(a);
  const Dims batch = batch_of(a);
  Tensor ld = copy_column_major(a), pivots = empty(with(batch, {n}), DType::Int32, a.device()),
         info = zeros(batch, DType::Int32, a.device());
  if (ld.is_meta()) return {ld, pivots, info};
  dispatch("linalg.ldl_factor", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_batch(count(batch), static_cast<double>(n * n * n), [&](std::int64_t i) {
      T* data = ld.data<T>() + i * n * n;
      for (std::int64_t j = 0; j < n; ++j) std::fill_n(data + j * n, j, T(0));
      info.data<std::int32_t>()[i] =
          n == 0 ? 0
                 : lapack::sytrf<T>(hermitian, 'L', to_int(n), data, leading(n), pivots.data<std::int32_t>() + i * n);
    });
  });
  if (check_errors) {
    std::string where;
    const std::int64_t i = first_failure(info, where);
    if (i >= 0)
      fail(ErrorKind::LinAlg, "torch.linalg.ldl_factor_ex: ", where, "The factorization could not be completed: D[",
           info.data<std::int32_t>()[i], "] is zero.");
  }
  return {ld, pivots, info};
}

Tensor ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b, bool hermitian) {
  check_square("linalg.ldl_solve", ld, "LD");
  check(ld.dtype() == b.dtype(), "linalg.ldl_solve: Expected LD and B to have the same dtype, got ",
        name_of(ld.dtype()), " and ", name_of(b.dtype()));
  check(is_integral(pivots.dtype(), false), "linalg.ldl_solve: Expected pivots to be integers. Got ",
        name_of(pivots.dtype()));
  check(b.dim() == ld.dim() && rows(b) == rows(ld) && batch_of(b) == batch_of(ld),
        "linalg.ldl_solve: Incompatible shapes of LD ", ld.sizes(), " and B ", b.sizes());
  check(pivots.numel() == count(batch_of(ld)) * rows(ld),
        "linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, got ", pivots.sizes());
  Tensor x = copy_column_major(b);
  if (x.is_meta() || x.numel() == 0) return x;
  const std::int64_t n = rows(ld), nrhs = columns(b);
  const Tensor factors = copy_column_major(ld), order = contiguous(to_dtype(pivots, DType::Int32));
  for (std::int64_t i = 0; i < order.numel(); ++i) {
    const std::int32_t p = order.data<std::int32_t>()[i];
    check(p != 0 && std::abs(p) <= n, "linalg.ldl_solve: expected pivots of ldl_factor, between 1 and ", n,
          " in size, got ", p);
  }
  dispatch("linalg.ldl_solve", ld.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_batch(count(batch_of(ld)), static_cast<double>(n * n * nrhs), [&](std::int64_t i) {
      lapack::sytrs<T>(hermitian, 'L', to_int(n), to_int(nrhs), factors.data<T>() + i * n * n, leading(n),
                       order.data<std::int32_t>() + i * n, x.data<T>() + i * n * nrhs, leading(n));
    });
  });
  return x;
}

const Kernel kernels[] = {
    {"linalg_lu_factor_ex", &lu_factor_ex},
    {"linalg_permutation", &permutation},
    {"linalg_lu_solve_raw", &lu_solve},
    {"linalg_solve_raw", &solve_ex},
    {"linalg_inv_ex", &inv_ex},
    {"linalg_det", &det},
    {"linalg_slogdet", &slogdet},
    {"linalg_cholesky_ex", &cholesky_ex},
    {"linalg_solve_triangular_raw", &solve_triangular},
    {"cholesky_solve_raw", &cholesky_solve},
    {"linalg_ldl_factor_ex", &ldl_factor_ex},
    {"linalg_ldl_solve_raw", &ldl_solve},
};

}  // namespace
}  // namespace flambeau
