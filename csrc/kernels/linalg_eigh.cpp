// Eigenvalues and eigenvectors of Hermitian matrices: LAPACK's divide and conquer in its three steps, so that the last
// one, which multiplies the eigenvectors with the reflectors, can be shared by threads.
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "kernels/linalg.h"
#include "kernels/reflectors.h"

namespace flambeau {
namespace {

using namespace linalg;

// Below this many rows LAPACK's syevd is as fast.
constexpr std::int64_t kSplit = 128;
// Eigenvectors per task: the same whatever the number of threads.
constexpr std::int64_t kColumns = 64;

template <class T>
lapack::Real<T> modulus(T value) {
  if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>)
    return std::hypot(value.re, value.im);
  else
    return std::abs(value);
}

template <class T>
bool triangle_is_finite(const T* a, std::int64_t n, bool upper) {
  for (std::int64_t j = 0; j < n; ++j) {
    if (!(upper ? all_finite(a + j * n, j + 1) : all_finite(a + j * n + j, n - j))) return false;
  }
  return true;
}

// What to multiply the matrix with so that its squares neither overflow nor vanish; 1 for nearly all.
template <class T>
lapack::Real<T> scale_of(const T* a, std::int64_t n, bool upper) {
  using R = lapack::Real<T>;
  R largest(0);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = upper ? 0 : j; i < (upper ? j + 1 : n); ++i)
      largest = std::max(largest, modulus(a[j * n + i]));
  }
  const R small = std::sqrt(std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon()), big = R(1) / small;
  if (largest > R(0) && largest < small) return small / largest;
  return largest > big ? big / largest : R(1);
}

// Eigenvalues (ascending, into d) and eigenvectors (columns of the result) of the tridiagonal matrix of diagonal d and
// off-diagonal e. LAPACK's divide and conquer, whose two halves are two tasks.
template <class R>
int tridiagonal(std::int64_t n, R* d, R* e, std::vector<R>& vectors) {
  R largest(0);
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(d[i]));
  for (std::int64_t i = 0; i + 1 < n; ++i) largest = std::max(largest, std::abs(e[i]));
  if (largest == R(0)) largest = R(1);
  for (std::int64_t i = 0; i < n; ++i) d[i] /= largest;
  for (std::int64_t i = 0; i + 1 < n; ++i) e[i] /= largest;
  const std::int64_t cut = n / 2, rest = n - cut;
  const R rho = e[cut - 1];
  d[cut - 1] -= std::abs(rho);
  d[cut] -= std::abs(rho);
  const auto size = static_cast<std::size_t>(n);
  std::vector<R> q(size * size);
  int info[2] = {0, 0};
  parallel_for(0, 2, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t half = begin; half < end; ++half) {
      info[half] = half == 0 ? lapack::stedc<R>(to_int(cut), d, e, q.data(), leading(n))
                             : lapack::stedc<R>(to_int(rest), d + cut, e + cut, q.data() + cut * n + cut, leading(n));
    }
  });
  if (info[0] != 0 || info[1] != 0) return info[0] != 0 ? info[0] : info[1];
  std::vector<int> order(size);
  std::iota(order.begin(), order.begin() + cut, 1);
  std::iota(order.begin() + cut, order.end(), 1);
  const int failed = lapack::laed1<R>(to_int(n), d, q.data(), leading(n), order.data(), rho, to_int(cut));
  if (failed != 0) return failed;
  std::vector<R> values(d, d + n);
  vectors.resize(size * size);
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t from = order[static_cast<std::size_t>(j)] - 1;
    d[j] = values[static_cast<std::size_t>(from)] * largest;
    std::copy_n(q.data() + from * n, n, vectors.data() + j * n);
  }
  return 0;
}

// a becomes the eigenvectors.
template <class T>
int decompose(T* a, std::int64_t n, bool upper, lapack::Real<T>* w) {
  using R = lapack::Real<T>;
  const R scale = scale_of(a, n, upper);
  if (scale != R(1)) {
    for (std::int64_t i = 0; i < n * n; ++i) a[i] = a[i] * T(scale);
  }
  const auto size = static_cast<std::size_t>(n);
  std::vector<R> off(size);
  std::vector<T> tau(size);
  constexpr bool kReal = std::is_same_v<T, R>;
  if (kReal && upper) {  // the reflectors of the lower triangle lie as those of a QR factorisation do
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) a[i * n + j] = a[j * n + i];
    }
  }
  const char uplo = upper && !kReal ? 'U' : 'L';
  int info = lapack::sytrd<T>(uplo, to_int(n), a, leading(n), w, off.data(), tau.data());
  if (info != 0) return info;
  if constexpr (kReal) {
    const std::vector<ReflectorBlock<R>> blocks = blocks_of(a + 1, n, n - 1, n - 1, tau.data());
    std::vector<R> z;
    info = tridiagonal(n, w, off.data(), z);
    if (info != 0) return info;
    std::copy(z.begin(), z.end(), a);
    apply(blocks, a + 1, n, n, false);
  } else {
    std::vector<R> z;
    info = tridiagonal(n, w, off.data(), z);
    if (info != 0) return info;
    std::vector<T> vectors(z.begin(), z.end());
    parallel_for(0, n, kColumns, [&](std::int64_t begin, std::int64_t end) {
      lapack::ormtr<T>(uplo, to_int(n), to_int(end - begin), a, leading(n), tau.data(), vectors.data() + begin * n,
                       leading(n));
    });
    std::copy(vectors.begin(), vectors.end(), a);
  }
  if (scale != R(1)) {
    for (std::int64_t j = 0; j < n; ++j) w[j] /= scale;
  }
  return 0;
}

std::tuple<Tensor, Tensor> eigh(const Tensor& a, std::string_view uplo, bool compute_v) {
  check_square("linalg.eigh", a);
  check(uplo.size() == 1 && std::string_view("LlUu").find(uplo[0]) != std::string_view::npos,
        "linalg.eigh: Expected UPLO argument to be 'L' or 'U', but got ", std::string(uplo));
  const std::int64_t n = rows(a);
  const Dims batch = batch_of(a);
  const bool upper = uplo[0] == 'U' || uplo[0] == 'u';
  Tensor w = empty(with(batch, {n}), to_real(a.dtype()), a.device()), v = copy_column_major(a),
         info = zeros(batch, DType::Int32, a.device());
  if (!w.is_meta() && n != 0) {
    dispatch("linalg.eigh", a.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using R = lapack::Real<T>;
      for_batch(count(batch), static_cast<double>(8 * n * n * n), [&](std::int64_t i) {
        T* data = v.data<T>() + i * n * n;
        R* values = w.data<R>() + i * n;
        if (!triangle_is_finite(data, n, upper)) {  // NaN in, NaN out: every value, never finite numbers
          std::fill_n(values, n, static_cast<R>(NAN));
          std::fill_n(data, n * n, T(static_cast<R>(NAN)));
          return;
        }
        std::int32_t& status = info.data<std::int32_t>()[i];
        if (compute_v && n >= kSplit)
          status = decompose<T>(data, n, upper, values);
        else
          status = lapack::syevd<T>(compute_v ? 'V' : 'N', upper ? 'U' : 'L', to_int(n), data, leading(n), values);
      });
    });
    std::string where;
    const std::int64_t i = first_failure(info, where);
    if (i >= 0) {
      fail(ErrorKind::LinAlg, "linalg.eigh: ", where,
           "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
           "eigenvalues (error code: ",
           info.data<std::int32_t>()[i], ").");
    }
  }
  if (!compute_v) v = empty({0}, a.dtype(), a.device());
  return {w, v};
}

const Kernel eigh_kernel("linalg_eigh_raw", &eigh);

}  // namespace
}  // namespace flambeau
