// Orthogonal factorisations and spectra: QR, Householder products, SVD, eigenvalues of general matrices, least squares.
// Hermitian eigenvalues are in linalg_eigh.cpp.
#include <cmath>
#include <tuple>
#include <vector>

#include "kernels/linalg.h"
#include "kernels/reflectors.h"

namespace flambeau {
namespace {

using namespace linalg;

// From this size on, blocks of reflectors shared by threads are faster than LAPACK's.
template <class T>
bool in_blocks(std::int64_t m, std::int64_t n) {
  return std::is_same_v<T, lapack::Real<T>> && std::min(m, n) >= 64;
}

template <class T>
void one_geqrf(T* a, std::int64_t m, std::int64_t n, T* tau) {
  if constexpr (std::is_same_v<T, lapack::Real<T>>) {
    if (in_blocks<T>(m, n)) {
      factor(a, m, m, n, tau);
      return;
    }
  }
  lapack::geqrf<T>(to_int(m), to_int(n), a, leading(m), tau);
}

// The reflectors below the diagonal of a become the first n columns of their product.
template <class T>
void one_orgqr(T* a, std::int64_t m, std::int64_t n, std::int64_t k, const T* tau) {
  if constexpr (std::is_same_v<T, lapack::Real<T>>) {
    if (in_blocks<T>(m, k)) {
      const std::vector<ReflectorBlock<T>> blocks = blocks_of(a, m, m, k, tau);
      std::fill_n(a, m * n, T(0));
      for (std::int64_t j = 0; j < n; ++j) a[j * m + j] = T(1);
      apply(blocks, a, m, n, true);
      return;
    }
  }
  lapack::orgqr<T>(to_int(m), to_int(n), to_int(k), a, leading(m), tau);
}

std::tuple<Tensor, Tensor> geqrf(const Tensor& a) {
  check_matrix("geqrf", a, "input");
  const std::int64_t m = rows(a), n = columns(a), k = std::min(m, n);
  const Dims batch = batch_of(a);
  Tensor qr = copy_column_major(a), tau = empty(with(batch, {k}), a.dtype(), a.device());
  if (qr.is_meta() || qr.numel() == 0) return {qr, tau};
  dispatch("geqrf", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_batch(count(batch), static_cast<double>(m * n * k),
              [&](std::int64_t i) { one_geqrf(qr.data<T>() + i * m * n, m, n, tau.data<T>() + i * k); });
  });
  return {qr, tau};
}

std::tuple<Tensor, Tensor> qr(const Tensor& a, std::string_view mode) {
  check_matrix("linalg.qr", a);
  check(mode == "reduced" || mode == "complete" || mode == "r", "linalg.qr: qr received unrecognized mode '",
        std::string(mode), "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const std::int64_t m = rows(a), n = columns(a), k = std::min(m, n), width = mode == "complete" ? m : k;
  check_extent("linalg.qr", m, width);
  const Dims batch = batch_of(a);
  const auto [factors, tau] = geqrf(a);
  Tensor r = column_major(batch, mode == "complete" ? m : k, n, a.dtype(), a.device());
  Tensor q = mode == "r" ? empty({0}, a.dtype(), a.device()) : column_major(batch, m, width, a.dtype(), a.device());
  if (r.is_meta()) return {q, r};
  const Tensor reflectors = factors, scales = tau;
  dispatch("linalg.qr", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::int64_t height = rows(r);
    for_batch(count(batch), static_cast<double>(m * width * (k + 1)), [&](std::int64_t i) {
      const T* f = reflectors.data<T>() + i * m * n;
      T* upper = r.data<T>() + i * height * n;
      for (std::int64_t c = 0; c < n; ++c) {
        for (std::int64_t row = 0; row < height; ++row)
          upper[c * height + row] = row <= c && row < k ? f[c * m + row] : T(0);
      }
      if (mode == "r" || m == 0 || width == 0) return;
      T* out = q.data<T>() + i * m * width;
      std::fill_n(out, m * width, T(0));
      std::copy_n(f, m * std::min(n, width), out);
      if (k == 0) {
        for (std::int64_t c = 0; c < width; ++c) out[c * m + c] = T(1);
        return;
      }
      one_orgqr(out, m, width, k, scales.data<T>() + i * k);
    });
  });
  return {q, r};
}

Tensor householder_product(const Tensor& a, const Tensor& tau) {
  check_matrix("linalg.householder_product", a, "input");
  const std::int64_t m = rows(a), n = columns(a);
  check(m >= n, "linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1], got ",
        a.sizes());
  check(tau.dim() == a.dim() - 1,
        "linalg.householder_product: Expected tau to have one dimension less than input, got ", tau.sizes(),
        " for input ", a.sizes());
  const std::int64_t k = tau.sizes()[tau.dim() - 1];
  check(n >= k, "linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1], got ",
        a.sizes(), " and ", tau.sizes());
  check(Dims(tau.sizes().subspan(0, tau.dim() - 1)) == batch_of(a),
        "linalg.householder_product: Expected batch dimensions of tau to be equal to input.shape[:-2], got ",
        tau.sizes());
  check(tau.dtype() == a.dtype(), "linalg.householder_product: tau dtype ", name_of(tau.dtype()),
        " does not match input dtype ", name_of(a.dtype()));
  Tensor q = copy_column_major(a);
  if (q.is_meta() || q.numel() == 0) return q;
  const Tensor scales = contiguous(tau);
  dispatch("linalg.householder_product", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_batch(count(batch_of(a)), static_cast<double>(m * n * (k + 1)),
              [&](std::int64_t i) { one_orgqr(q.data<T>() + i * m * n, m, n, k, scales.data<T>() + i * k); });
  });
  return q;
}

// Q other, other Q, or with Q^H; `other` has input's batch.
Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& other, bool left, bool transpose) {
  check_matrix("ormqr", a, "input");
  check(other.dtype() == a.dtype() && tau.dtype() == a.dtype(),
        "ormqr: expected input, tau and other of one dtype, got ", name_of(a.dtype()), ", ", name_of(tau.dtype()),
        " and ", name_of(other.dtype()));
  const std::int64_t m = rows(a), n = columns(a), k = tau.dim() == 0 ? -1 : tau.sizes()[tau.dim() - 1];
  check(other.dim() == a.dim() && batch_of(other) == batch_of(a) && tau.dim() == a.dim() - 1 &&
            Dims(tau.sizes().subspan(0, tau.dim() - 1)) == batch_of(a),
        "ormqr: expected one batch shape, got input ", a.sizes(), ", tau ", tau.sizes(), " and other ", other.sizes());
  check((left ? rows(other) : columns(other)) == m && k >= 0 && k <= std::min(m, n),
        "ormqr: expected other to fit the reflectors of input, got input ", a.sizes(), ", tau ", tau.sizes(),
        " and other ", other.sizes());
  Tensor result = copy_column_major(other);
  if (result.is_meta() || result.numel() == 0 || k == 0) return result;
  const Tensor reflectors = copy_column_major(a), scales = contiguous(tau);
  const std::int64_t p = rows(other), q = columns(other);
  dispatch("ormqr", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_batch(count(batch_of(a)), static_cast<double>(p * q * (k + 1)), [&](std::int64_t i) {
      lapack::ormqr<T>(left ? 'L' : 'R', transpose, to_int(p), to_int(q), to_int(k), reflectors.data<T>() + i * m * n,
                       leading(m), scales.data<T>() + i * k, result.data<T>() + i * p * q, leading(p));
    });
  });
  return result;
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& a, bool full_matrices, bool compute_uv) {
  check_matrix("linalg.svd", a);
  const std::int64_t m = rows(a), n = columns(a), k = std::min(m, n), uw = full_matrices ? m : k,
                     vw = full_matrices ? n : k;
  check_extent("linalg.svd", m, uw);
  check_extent("linalg.svd", vw, n);
  check(k <= 20000,
        "linalg.svd: expected at most 20000 rows or columns, so that LAPACK's workspace has a 32-bit size, got ",
        a.sizes());
  const Dims batch = batch_of(a);
  Tensor s = empty(with(batch, {k}), to_real(a.dtype()), a.device());
  Tensor u = compute_uv ? column_major(batch, m, uw, a.dtype(), a.device()) : empty({0}, a.dtype(), a.device());
  Tensor vh = compute_uv ? column_major(batch, vw, n, a.dtype(), a.device()) : empty({0}, a.dtype(), a.device());
  if (s.is_meta()) return {u, s, vh};
  Tensor copy = copy_column_major(a), info = zeros(batch, DType::Int32, a.device());
  dispatch("linalg.svd", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using R = lapack::Real<T>;
    for_batch(count(batch), static_cast<double>(8 * m * n * (k + 1)), [&](std::int64_t i) {
      T* pu = compute_uv ? u.data<T>() + i * m * uw : nullptr;
      T* pv = compute_uv ? vh.data<T>() + i * vw * n : nullptr;
      if (k == 0) {
        if (!compute_uv) return;
        std::fill_n(pu, m * uw, T(0));
        std::fill_n(pv, vw * n, T(0));
        for (std::int64_t j = 0; j < uw; ++j) pu[j * m + j] = T(1);
        for (std::int64_t j = 0; j < vw; ++j) pv[j * vw + j] = T(1);
        return;
      }
      T* data = copy.data<T>() + i * m * n;
      // LAPACK may loop for ever on NaN.
      info.data<std::int32_t>()[i] = !all_finite(data, m * n)
                                         ? to_int(k + 1)
                                         : lapack::gesdd<T>(!compute_uv     ? 'N'
                                                            : full_matrices ? 'A'
                                                                            : 'S',
                                                            to_int(m), to_int(n), data, leading(m), s.data<R>() + i * k,
                                                            pu, leading(m), pv, leading(vw));
    });
  });
  std::string where;
  const std::int64_t i = first_failure(info, where);
  if (i >= 0) {
    fail(ErrorKind::LinAlg, "linalg.svd: ", where,
         "The algorithm failed to converge because the input matrix contained non-finite values or is ill-conditioned "
         "(error code: ",
         info.data<std::int32_t>()[i], ").");
  }
  return {u, s, vh};
}

std::tuple<Tensor, Tensor> eig(const Tensor& a, bool compute_v) {
  check_square("linalg.eig", a);
  const std::int64_t n = rows(a);
  const Dims batch = batch_of(a);
  const DType complex = to_complex(a.dtype());
  Tensor w = empty(with(batch, {n}), complex, a.device()),
         v = compute_v ? column_major(batch, n, n, complex, a.device()) : empty({0}, complex, a.device());
  if (w.is_meta() || n == 0) return {w, v};
  Tensor copy = copy_column_major(a), info = zeros(batch, DType::Int32, a.device());
  dispatch("linalg.eig", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using R = lapack::Real<T>;
    using C = std::conditional_t<sizeof(R) == 4, c64, c128>;
    check(all_finite(copy.data<T>(), copy.numel()), "linalg.eig: input tensor should not contain infs or NaNs.");
    for_batch(count(batch), static_cast<double>(20 * n * n * n), [&](std::int64_t i) {
      info.data<std::int32_t>()[i] =
          lapack::geev<T>(compute_v, to_int(n), copy.data<T>() + i * n * n, leading(n), w.data<C>() + i * n,
                          compute_v ? v.data<C>() + i * n * n : nullptr, leading(n));
    });
  });
  std::string where;
  const std::int64_t i = first_failure(info, where);
  if (i >= 0)
    fail(ErrorKind::LinAlg, "linalg.eig: ", where,
         "The algorithm failed to converge because the input matrix is ill-conditioned (error code: ",
         info.data<std::int32_t>()[i], ").");
  return {w, v};
}

// B is a matrix of A's batch. The solution has n rows; all that gels leaves below it in B's rows comes back for
// residuals.
std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(const Tensor& a, const Tensor& b, double rcond,
                                                 std::string_view driver) {
  check_matrix("linalg.lstsq", a, "input");
  check(b.dim() == a.dim() && rows(b) == rows(a) && batch_of(a) == batch_of(b) && a.dtype() == b.dtype(),
        "linalg.lstsq: expected other to match input, got shapes ", a.sizes(), " and ", b.sizes());
  const std::int64_t m = rows(a), n = columns(a), nrhs = columns(b), tall = std::max(m, n), k = std::min(m, n);
  const Dims batch = batch_of(a);
  Tensor x = column_major(batch, tall, nrhs, a.dtype(), a.device()), rank = zeros(batch, DType::Int64, a.device()),
         s = zeros(with(batch, {k}), to_real(a.dtype()), a.device());
  Tensor info = zeros(batch, DType::Int32, a.device());
  if (x.is_meta()) return {x, rank, s, info};
  Tensor copy = copy_column_major(a), right = copy_column_major(b);
  dispatch("linalg.lstsq", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using R = lapack::Real<T>;
    for_batch(count(batch), static_cast<double>(8 * m * n * (k + nrhs)), [&](std::int64_t i) {
      T* out = x.data<T>() + i * tall * nrhs;
      std::fill_n(out, tall * nrhs, T(0));
      for (std::int64_t c = 0; c < nrhs; ++c) std::copy_n(right.data<T>() + (i * nrhs + c) * m, m, out + c * tall);
      if (k == 0 || nrhs == 0) {
        std::fill_n(out, tall * nrhs, T(0));
        return;
      }
      int r = 0;
      T* data = copy.data<T>() + i * m * n;
      std::int32_t& status = info.data<std::int32_t>()[i];
      if (!all_finite(data, m * n)) {
        status = -1;
        return;
      }
      // A column of B that is not finite has no solution; it must not disturb the others' scaling.
      std::vector<bool> spoilt(static_cast<std::size_t>(nrhs));
      for (std::int64_t c = 0; c < nrhs; ++c) {
        spoilt[static_cast<std::size_t>(c)] = !all_finite(out + c * tall, m);
        if (spoilt[static_cast<std::size_t>(c)]) std::fill_n(out + c * tall, tall, T(0));
      }
      if (driver == "gels") {
        status = lapack::gels<T>(to_int(m), to_int(n), to_int(nrhs), data, leading(m), out, leading(tall));
      } else if (driver == "gelsy") {
        status = lapack::gelsy<T>(to_int(m), to_int(n), to_int(nrhs), data, leading(m), out, leading(tall),
                                  static_cast<R>(rcond), &r);
      } else {
        status = (driver == "gelsd" ? lapack::gelsd<T>
                                    : lapack::gelss<T>)(to_int(m), to_int(n), to_int(nrhs), data, leading(m), out,
                                                        leading(tall), s.data<R>() + i * k, static_cast<R>(rcond), &r);
      }
      for (std::int64_t c = 0; c < nrhs; ++c) {
        if (spoilt[static_cast<std::size_t>(c)]) std::fill_n(out + c * tall, tall, T(static_cast<R>(NAN)));
      }
      rank.data<std::int64_t>()[i] = r;
    });
  });
  return {x, rank, s, info};
}

// Carries the gradient rule of pinv; the value was computed from the singular values.
Tensor pinv_raw(const Tensor& a, const Tensor& value) {
  check_matrix("linalg.pinv", a);
  return value.is_meta() ? empty(value.sizes(), value.dtype(), value.device()) : clone(value);
}

// Carries the gradient rule of lstsq; the value is LAPACK's.
Tensor lstsq_solution(const Tensor& a, const Tensor&, const Tensor& solution, double) {
  check_matrix("linalg.lstsq", a, "input");
  return solution.is_meta() ? empty(solution.sizes(), solution.dtype(), solution.device()) : clone(solution);
}

const Kernel kernels[] = {
    {"linalg_lstsq_solution", &lstsq_solution},
    {"geqrf", &geqrf},
    {"linalg_qr", &qr},
    {"linalg_householder_product", &householder_product},
    {"linalg_ormqr_raw", &ormqr},
    {"linalg_svd_raw", &svd},
    {"linalg_eig_raw", &eig},
    {"linalg_lstsq_raw", &lstsq},
    {"linalg_pinv_raw", &pinv_raw},
};

}  // namespace
}  // namespace flambeau
