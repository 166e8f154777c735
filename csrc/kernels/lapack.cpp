// Declarations of OpenBLAS's LAPACK (symbols carry the scipy_ prefix), one table per element type, and the wrappers
// over them. Only this file knows the Fortran calling convention: everything by pointer, lengths of strings at the end.
#include "kernels/lapack.h"

#include <algorithm>
#include <cstddef>
#include <vector>

using flambeau::c128;
using flambeau::c64;

extern "C" {
void scipy_openblas_set_num_threads(int threads);
void scipy_sgetrf_(const int*, const int*, float*, const int*, int*, int*);
void scipy_dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void scipy_cgetrf_(const int*, const int*, c64*, const int*, int*, int*);
void scipy_zgetrf_(const int*, const int*, c128*, const int*, int*, int*);
void scipy_sgetrs_(const char*, const int*, const int*, const float*, const int*, const int*, float*, const int*, int*,
                   std::size_t);
void scipy_dgetrs_(const char*, const int*, const int*, const double*, const int*, const int*, double*, const int*,
                   int*, std::size_t);
void scipy_cgetrs_(const char*, const int*, const int*, const c64*, const int*, const int*, c64*, const int*, int*,
                   std::size_t);
void scipy_zgetrs_(const char*, const int*, const int*, const c128*, const int*, const int*, c128*, const int*, int*,
                   std::size_t);
void scipy_spotrf_(const char*, const int*, float*, const int*, int*, std::size_t);
void scipy_dpotrf_(const char*, const int*, double*, const int*, int*, std::size_t);
void scipy_cpotrf_(const char*, const int*, c64*, const int*, int*, std::size_t);
void scipy_zpotrf_(const char*, const int*, c128*, const int*, int*, std::size_t);
void scipy_sgeqrf_(const int*, const int*, float*, const int*, float*, float*, const int*, int*);
void scipy_dgeqrf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void scipy_cgeqrf_(const int*, const int*, c64*, const int*, c64*, c64*, const int*, int*);
void scipy_zgeqrf_(const int*, const int*, c128*, const int*, c128*, c128*, const int*, int*);
void scipy_sorgqr_(const int*, const int*, const int*, float*, const int*, const float*, float*, const int*, int*);
void scipy_dorgqr_(const int*, const int*, const int*, double*, const int*, const double*, double*, const int*, int*);
void scipy_cungqr_(const int*, const int*, const int*, c64*, const int*, const c64*, c64*, const int*, int*);
void scipy_zungqr_(const int*, const int*, const int*, c128*, const int*, const c128*, c128*, const int*, int*);
void scipy_sgesdd_(const char*, const int*, const int*, float*, const int*, float*, float*, const int*, float*,
                   const int*, float*, const int*, int*, int*, std::size_t);
void scipy_dgesdd_(const char*, const int*, const int*, double*, const int*, double*, double*, const int*, double*,
                   const int*, double*, const int*, int*, int*, std::size_t);
void scipy_cgesdd_(const char*, const int*, const int*, c64*, const int*, float*, c64*, const int*, c64*, const int*,
                   c64*, const int*, float*, int*, int*, std::size_t);
void scipy_zgesdd_(const char*, const int*, const int*, c128*, const int*, double*, c128*, const int*, c128*,
                   const int*, c128*, const int*, double*, int*, int*, std::size_t);
void scipy_ssyevd_(const char*, const char*, const int*, float*, const int*, float*, float*, const int*, int*,
                   const int*, int*, std::size_t, std::size_t);
void scipy_dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*,
                   const int*, int*, std::size_t, std::size_t);
void scipy_cheevd_(const char*, const char*, const int*, c64*, const int*, float*, c64*, const int*, float*, const int*,
                   int*, const int*, int*, std::size_t, std::size_t);
void scipy_zheevd_(const char*, const char*, const int*, c128*, const int*, double*, c128*, const int*, double*,
                   const int*, int*, const int*, int*, std::size_t, std::size_t);
void scipy_sgeev_(const char*, const char*, const int*, float*, const int*, float*, float*, float*, const int*, float*,
                  const int*, float*, const int*, int*, std::size_t, std::size_t);
void scipy_dgeev_(const char*, const char*, const int*, double*, const int*, double*, double*, double*, const int*,
                  double*, const int*, double*, const int*, int*, std::size_t, std::size_t);
void scipy_cgeev_(const char*, const char*, const int*, c64*, const int*, c64*, c64*, const int*, c64*, const int*,
                  c64*, const int*, float*, int*, std::size_t, std::size_t);
void scipy_zgeev_(const char*, const char*, const int*, c128*, const int*, c128*, c128*, const int*, c128*, const int*,
                  c128*, const int*, double*, int*, std::size_t, std::size_t);
void scipy_strtrs_(const char*, const char*, const char*, const int*, const int*, const float*, const int*, float*,
                   const int*, int*, std::size_t, std::size_t, std::size_t);
void scipy_dtrtrs_(const char*, const char*, const char*, const int*, const int*, const double*, const int*, double*,
                   const int*, int*, std::size_t, std::size_t, std::size_t);
void scipy_ctrtrs_(const char*, const char*, const char*, const int*, const int*, const c64*, const int*, c64*,
                   const int*, int*, std::size_t, std::size_t, std::size_t);
void scipy_ztrtrs_(const char*, const char*, const char*, const int*, const int*, const c128*, const int*, c128*,
                   const int*, int*, std::size_t, std::size_t, std::size_t);
void scipy_sgels_(const char*, const int*, const int*, const int*, float*, const int*, float*, const int*, float*,
                  const int*, int*, std::size_t);
void scipy_dgels_(const char*, const int*, const int*, const int*, double*, const int*, double*, const int*, double*,
                  const int*, int*, std::size_t);
void scipy_cgels_(const char*, const int*, const int*, const int*, c64*, const int*, c64*, const int*, c64*, const int*,
                  int*, std::size_t);
void scipy_zgels_(const char*, const int*, const int*, const int*, c128*, const int*, c128*, const int*, c128*,
                  const int*, int*, std::size_t);
void scipy_sgelsd_(const int*, const int*, const int*, float*, const int*, float*, const int*, float*, const float*,
                   int*, float*, const int*, int*, int*);
void scipy_dgelsd_(const int*, const int*, const int*, double*, const int*, double*, const int*, double*, const double*,
                   int*, double*, const int*, int*, int*);
void scipy_cgelsd_(const int*, const int*, const int*, c64*, const int*, c64*, const int*, float*, const float*, int*,
                   c64*, const int*, float*, int*, int*);
void scipy_zgelsd_(const int*, const int*, const int*, c128*, const int*, c128*, const int*, double*, const double*,
                   int*, c128*, const int*, double*, int*, int*);
void scipy_sgelsy_(const int*, const int*, const int*, float*, const int*, float*, const int*, int*, const float*, int*,
                   float*, const int*, int*);
void scipy_dgelsy_(const int*, const int*, const int*, double*, const int*, double*, const int*, int*, const double*,
                   int*, double*, const int*, int*);
void scipy_cgelsy_(const int*, const int*, const int*, c64*, const int*, c64*, const int*, int*, const float*, int*,
                   c64*, const int*, float*, int*);
void scipy_zgelsy_(const int*, const int*, const int*, c128*, const int*, c128*, const int*, int*, const double*, int*,
                   c128*, const int*, double*, int*);
void scipy_ssytrf_(const char*, const int*, float*, const int*, int*, float*, const int*, int*, std::size_t);
void scipy_dsytrf_(const char*, const int*, double*, const int*, int*, double*, const int*, int*, std::size_t);
void scipy_csytrf_(const char*, const int*, c64*, const int*, int*, c64*, const int*, int*, std::size_t);
void scipy_zsytrf_(const char*, const int*, c128*, const int*, int*, c128*, const int*, int*, std::size_t);
void scipy_ssytrs_(const char*, const int*, const int*, const float*, const int*, const int*, float*, const int*, int*,
                   std::size_t);
void scipy_dsytrs_(const char*, const int*, const int*, const double*, const int*, const int*, double*, const int*,
                   int*, std::size_t);
void scipy_csytrs_(const char*, const int*, const int*, const c64*, const int*, const int*, c64*, const int*, int*,
                   std::size_t);
void scipy_zsytrs_(const char*, const int*, const int*, const c128*, const int*, const int*, c128*, const int*, int*,
                   std::size_t);
void scipy_chetrf_(const char*, const int*, c64*, const int*, int*, c64*, const int*, int*, std::size_t);
void scipy_zhetrf_(const char*, const int*, c128*, const int*, int*, c128*, const int*, int*, std::size_t);
void scipy_chetrs_(const char*, const int*, const int*, const c64*, const int*, const int*, c64*, const int*, int*,
                   std::size_t);
void scipy_zhetrs_(const char*, const int*, const int*, const c128*, const int*, const int*, c128*, const int*, int*,
                   std::size_t);
void scipy_sgelss_(const int*, const int*, const int*, float*, const int*, float*, const int*, float*, const float*,
                   int*, float*, const int*, int*);
void scipy_ssytrd_(const char*, const int*, float*, const int*, float*, float*, float*, float*, const int*, int*,
                   std::size_t);
void scipy_sormtr_(const char*, const char*, const char*, const int*, const int*, const float*, const int*,
                   const float*, float*, const int*, float*, const int*, int*, std::size_t, std::size_t, std::size_t);
void scipy_sormqr_(const char*, const char*, const int*, const int*, const int*, const float*, const int*, const float*,
                   float*, const int*, float*, const int*, int*, std::size_t, std::size_t);
void scipy_sstedc_(const char*, const int*, float*, float*, float*, const int*, float*, const int*, int*, const int*,
                   int*, std::size_t);
void scipy_dgelss_(const int*, const int*, const int*, double*, const int*, double*, const int*, double*, const double*,
                   int*, double*, const int*, int*);
void scipy_dsytrd_(const char*, const int*, double*, const int*, double*, double*, double*, double*, const int*, int*,
                   std::size_t);
void scipy_dormtr_(const char*, const char*, const char*, const int*, const int*, const double*, const int*,
                   const double*, double*, const int*, double*, const int*, int*, std::size_t, std::size_t,
                   std::size_t);
void scipy_dormqr_(const char*, const char*, const int*, const int*, const int*, const double*, const int*,
                   const double*, double*, const int*, double*, const int*, int*, std::size_t, std::size_t);
void scipy_dstedc_(const char*, const int*, double*, double*, double*, const int*, double*, const int*, int*,
                   const int*, int*, std::size_t);
void scipy_cgelss_(const int*, const int*, const int*, c64*, const int*, c64*, const int*, float*, const float*, int*,
                   c64*, const int*, float*, int*);
void scipy_chetrd_(const char*, const int*, c64*, const int*, float*, float*, c64*, c64*, const int*, int*,
                   std::size_t);
void scipy_cunmtr_(const char*, const char*, const char*, const int*, const int*, const c64*, const int*, const c64*,
                   c64*, const int*, c64*, const int*, int*, std::size_t, std::size_t, std::size_t);
void scipy_cunmqr_(const char*, const char*, const int*, const int*, const int*, const c64*, const int*, const c64*,
                   c64*, const int*, c64*, const int*, int*, std::size_t, std::size_t);
void scipy_zgelss_(const int*, const int*, const int*, c128*, const int*, c128*, const int*, double*, const double*,
                   int*, c128*, const int*, double*, int*);
void scipy_zhetrd_(const char*, const int*, c128*, const int*, double*, double*, c128*, c128*, const int*, int*,
                   std::size_t);
void scipy_zunmtr_(const char*, const char*, const char*, const int*, const int*, const c128*, const int*, const c128*,
                   c128*, const int*, c128*, const int*, int*, std::size_t, std::size_t, std::size_t);
void scipy_zunmqr_(const char*, const char*, const int*, const int*, const int*, const c128*, const int*, const c128*,
                   c128*, const int*, c128*, const int*, int*, std::size_t, std::size_t);
void scipy_sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
                  const float*, const int*, const float*, float*, const int*, std::size_t, std::size_t);
void scipy_dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                  const int*, const double*, const int*, const double*, double*, const int*, std::size_t, std::size_t);
void scipy_slaed1_(const int*, float*, float*, const int*, int*, const float*, const int*, float*, int*, int*);
void scipy_dlaed1_(const int*, double*, double*, const int*, int*, const double*, const int*, double*, int*, int*);
}

namespace flambeau::lapack {
namespace {

template <class T>
struct Routines;
template <>
struct Routines<float> {
  static constexpr auto laed1 = &scipy_slaed1_;
  static constexpr auto gemm = &scipy_sgemm_;
  static constexpr auto gelss = &scipy_sgelss_;
  static constexpr auto sytrd = &scipy_ssytrd_;
  static constexpr auto ormtr = &scipy_sormtr_;
  static constexpr auto ormqr = &scipy_sormqr_;
  static constexpr auto stedc = &scipy_sstedc_;
  static constexpr auto getrf = &scipy_sgetrf_;
  static constexpr auto getrs = &scipy_sgetrs_;
  static constexpr auto potrf = &scipy_spotrf_;
  static constexpr auto geqrf = &scipy_sgeqrf_;
  static constexpr auto orgqr = &scipy_sorgqr_;
  static constexpr auto gesdd = &scipy_sgesdd_;
  static constexpr auto syevd = &scipy_ssyevd_;
  static constexpr auto geev = &scipy_sgeev_;
  static constexpr auto trtrs = &scipy_strtrs_;
  static constexpr auto gels = &scipy_sgels_;
  static constexpr auto gelsd = &scipy_sgelsd_;
  static constexpr auto gelsy = &scipy_sgelsy_;
  static constexpr auto sytrf = &scipy_ssytrf_;
  static constexpr auto sytrs = &scipy_ssytrs_;
};
template <>
struct Routines<double> {
  static constexpr auto laed1 = &scipy_dlaed1_;
  static constexpr auto gemm = &scipy_dgemm_;
  static constexpr auto gelss = &scipy_dgelss_;
  static constexpr auto sytrd = &scipy_dsytrd_;
  static constexpr auto ormtr = &scipy_dormtr_;
  static constexpr auto ormqr = &scipy_dormqr_;
  static constexpr auto stedc = &scipy_dstedc_;
  static constexpr auto getrf = &scipy_dgetrf_;
  static constexpr auto getrs = &scipy_dgetrs_;
  static constexpr auto potrf = &scipy_dpotrf_;
  static constexpr auto geqrf = &scipy_dgeqrf_;
  static constexpr auto orgqr = &scipy_dorgqr_;
  static constexpr auto gesdd = &scipy_dgesdd_;
  static constexpr auto syevd = &scipy_dsyevd_;
  static constexpr auto geev = &scipy_dgeev_;
  static constexpr auto trtrs = &scipy_dtrtrs_;
  static constexpr auto gels = &scipy_dgels_;
  static constexpr auto gelsd = &scipy_dgelsd_;
  static constexpr auto gelsy = &scipy_dgelsy_;
  static constexpr auto sytrf = &scipy_dsytrf_;
  static constexpr auto sytrs = &scipy_dsytrs_;
};
template <>
struct Routines<c64> {
  static constexpr auto gelss = &scipy_cgelss_;
  static constexpr auto sytrd = &scipy_chetrd_;
  static constexpr auto ormtr = &scipy_cunmtr_;
  static constexpr auto ormqr = &scipy_cunmqr_;
  static constexpr auto getrf = &scipy_cgetrf_;
  static constexpr auto getrs = &scipy_cgetrs_;
  static constexpr auto potrf = &scipy_cpotrf_;
  static constexpr auto geqrf = &scipy_cgeqrf_;
  static constexpr auto orgqr = &scipy_cungqr_;
  static constexpr auto gesdd = &scipy_cgesdd_;
  static constexpr auto syevd = &scipy_cheevd_;
  static constexpr auto geev = &scipy_cgeev_;
  static constexpr auto trtrs = &scipy_ctrtrs_;
  static constexpr auto gels = &scipy_cgels_;
  static constexpr auto gelsd = &scipy_cgelsd_;
  static constexpr auto gelsy = &scipy_cgelsy_;
  static constexpr auto sytrf = &scipy_csytrf_;
  static constexpr auto sytrs = &scipy_csytrs_;
  static constexpr auto hetrf = &scipy_chetrf_;
  static constexpr auto hetrs = &scipy_chetrs_;
};
template <>
struct Routines<c128> {
  static constexpr auto gelss = &scipy_zgelss_;
  static constexpr auto sytrd = &scipy_zhetrd_;
  static constexpr auto ormtr = &scipy_zunmtr_;
  static constexpr auto ormqr = &scipy_zunmqr_;
  static constexpr auto getrf = &scipy_zgetrf_;
  static constexpr auto getrs = &scipy_zgetrs_;
  static constexpr auto potrf = &scipy_zpotrf_;
  static constexpr auto geqrf = &scipy_zgeqrf_;
  static constexpr auto orgqr = &scipy_zungqr_;
  static constexpr auto gesdd = &scipy_zgesdd_;
  static constexpr auto syevd = &scipy_zheevd_;
  static constexpr auto geev = &scipy_zgeev_;
  static constexpr auto trtrs = &scipy_ztrtrs_;
  static constexpr auto gels = &scipy_zgels_;
  static constexpr auto gelsd = &scipy_zgelsd_;
  static constexpr auto gelsy = &scipy_zgelsy_;
  static constexpr auto sytrf = &scipy_zsytrf_;
  static constexpr auto sytrs = &scipy_zsytrs_;
  static constexpr auto hetrf = &scipy_zhetrf_;
  static constexpr auto hetrs = &scipy_zhetrs_;
};

// One thread: our batches are the parallel loop, and its pool would compete with ours.
const bool single_threaded = [] {
  scipy_openblas_set_num_threads(1);
  return true;
}();

template <class T>
constexpr bool kComplex = std::is_same_v<T, c64> || std::is_same_v<T, c128>;

template <class T>
int as_size(T value) {
  if constexpr (kComplex<T>)
    return static_cast<int>(value.re);
  else
    return static_cast<int>(value);
}

// Asks for the best workspace with length -1, then runs.
template <class T, class Call>
void with_workspace(Call&& call) {
  T best(0);
  call(&best, -1);
  // Sizes above 2^24 may have been rounded down on their way through a float.
  const int answer = as_size(best), size = std::max(1, answer > (1 << 24) ? answer + answer / (1 << 22) : answer);
  std::vector<T> work(static_cast<std::size_t>(size));
  call(work.data(), size);
}

std::size_t count(int n) { return static_cast<std::size_t>(std::max(1, n)); }

}  // namespace

template <class R>
void gemm(bool transpose_a, int m, int n, int k, R alpha, const R* a, int lda, const R* b, int ldb, R beta, R* c,
          int ldc) {
  const char first = transpose_a ? 'T' : 'N', second = 'N';
  Routines<R>::gemm(&first, &second, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
}

template <class T>
int getrf(int m, int n, T* a, int lda, int* pivots) {
  int info = 0;
  Routines<T>::getrf(&m, &n, a, &lda, pivots, &info);
  return info;
}

template <class T>
int getrs(char trans, int n, int nrhs, const T* lu, int lda, const int* pivots, T* b, int ldb) {
  int info = 0;
  Routines<T>::getrs(&trans, &n, &nrhs, lu, &lda, pivots, b, &ldb, &info, 1);
  return info;
}

template <class T>
int potrf(char uplo, int n, T* a, int lda) {
  int info = 0;
  Routines<T>::potrf(&uplo, &n, a, &lda, &info, 1);
  return info;
}

template <class T>
int geqrf(int m, int n, T* a, int lda, T* tau) {
  int info = 0;
  with_workspace<T>([&](T* work, int size) { Routines<T>::geqrf(&m, &n, a, &lda, tau, work, &size, &info); });
  return info;
}

template <class T>
int orgqr(int m, int n, int k, T* a, int lda, const T* tau) {
  int info = 0;
  with_workspace<T>([&](T* work, int size) { Routines<T>::orgqr(&m, &n, &k, a, &lda, tau, work, &size, &info); });
  return info;
}

template <class T>
int gesdd(char job, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vh, int ldvh) {
  int info = 0;
  const int small = std::min(m, n), large = std::max(m, n);
  std::vector<int> iwork(count(8 * small));
  if constexpr (kComplex<T>) {
    const std::size_t real =
        job == 'N' ? count(7 * small)
                   : count(small) * static_cast<std::size_t>(std::max(5 * small + 7, 2 * large + 2 * small + 1));
    std::vector<Real<T>> rwork(real);
    with_workspace<T>([&](T* work, int size) {
      Routines<T>::gesdd(&job, &m, &n, a, &lda, s, u, &ldu, vh, &ldvh, work, &size, rwork.data(), iwork.data(), &info,
                         1);
    });
  } else {
    with_workspace<T>([&](T* work, int size) {
      Routines<T>::gesdd(&job, &m, &n, a, &lda, s, u, &ldu, vh, &ldvh, work, &size, iwork.data(), &info, 1);
    });
  }
  return info;
}

template <class T>
int syevd(char job, char uplo, int n, T* a, int lda, Real<T>* w) {
  int info = 0;
  std::vector<int> iwork(count(3 + 5 * n));
  const int liwork = static_cast<int>(iwork.size());
  if constexpr (kComplex<T>) {
    std::vector<Real<T>> rwork(count(1 + 5 * n + 2 * n * n));
    const int lrwork = static_cast<int>(rwork.size());
    with_workspace<T>([&](T* work, int size) {
      // A query must ask for all three sizes at once.
      const int real = size < 0 ? -1 : lrwork, whole = size < 0 ? -1 : liwork;
      Routines<T>::syevd(&job, &uplo, &n, a, &lda, w, work, &size, rwork.data(), &real, iwork.data(), &whole, &info, 1,
                         1);
    });
  } else {
    with_workspace<T>([&](T* work, int size) {
      const int whole = size < 0 ? -1 : liwork;
      Routines<T>::syevd(&job, &uplo, &n, a, &lda, w, work, &size, iwork.data(), &whole, &info, 1, 1);
    });
  }
  return info;
}

template <class T>
int geev(bool vectors, int n, T* a, int lda, std::conditional_t<sizeof(Real<T>) == 4, c64, c128>* w,
         std::conditional_t<sizeof(Real<T>) == 4, c64, c128>* v, int ldv) {
  int info = 0;
  const char none = 'N', right = vectors ? 'V' : 'N';
  const int one = 1;
  if constexpr (kComplex<T>) {
    std::vector<Real<T>> rwork(count(2 * n));
    with_workspace<T>([&](T* work, int size) {
      Routines<T>::geev(&none, &right, &n, a, &lda, w, nullptr, &one, v, &ldv, work, &size, rwork.data(), &info, 1, 1);
    });
  } else {
    // Conjugate pairs come as two real columns: real and imaginary part.
    std::vector<T> re(count(n)), im(count(n)), columns(vectors ? count(n * n) : 1);
    const int ld = std::max(1, n);
    with_workspace<T>([&](T* work, int size) {
      Routines<T>::geev(&none, &right, &n, a, &lda, re.data(), im.data(), nullptr, &one, columns.data(), &ld, work,
                        &size, &info, 1, 1);
    });
    for (int j = 0; j < n; ++j) {
      w[j] = {re[static_cast<std::size_t>(j)], im[static_cast<std::size_t>(j)]};
      if (!vectors) continue;
      const bool second = im[static_cast<std::size_t>(j)] < T(0) && j > 0;
      const bool pair = im[static_cast<std::size_t>(j)] != T(0);
      const T* x = columns.data() + (second ? j - 1 : j) * n;
      for (int i = 0; i < n; ++i) v[j * ldv + i] = {x[i], pair ? (second ? -x[n + i] : x[n + i]) : T(0)};
    }
  }
  return info;
}

template <class T>
int trtrs(char uplo, char trans, char diag, int n, int nrhs, const T* a, int lda, T* b, int ldb) {
  int info = 0;
  Routines<T>::trtrs(&uplo, &trans, &diag, &n, &nrhs, a, &lda, b, &ldb, &info, 1, 1, 1);
  return info;
}

template <class T>
int gels(int m, int n, int nrhs, T* a, int lda, T* b, int ldb) {
  int info = 0;
  const char trans = 'N';
  with_workspace<T>(
      [&](T* work, int size) { Routines<T>::gels(&trans, &m, &n, &nrhs, a, &lda, b, &ldb, work, &size, &info, 1); });
  return info;
}

template <class T>
int gelsd(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, Real<T>* s, Real<T> rcond, int* rank) {
  int info = 0;
  // Bounds that hold for every size of the divide-and-conquer tree (smlsiz is 25; 32 levels are more than any int
  // needs).
  const int small = std::max(1, std::min(m, n));
  std::vector<int> iwork(count(3 * small * 32 + 11 * small));
  if constexpr (kComplex<T>) {
    const std::size_t k = count(small);
    std::vector<Real<T>> rwork(10 * count(std::max(m, n)) + 2 * k * 25 + 8 * k * 32 + 3 * 25 * count(nrhs) +
                               std::max<std::size_t>(26 * 26, k * (1 + count(nrhs)) + 2 * count(nrhs)));
    with_workspace<T>([&](T* work, int size) {
      Routines<T>::gelsd(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work, &size, rwork.data(), iwork.data(),
                         &info);
    });
  } else {
    with_workspace<T>([&](T* work, int size) {
      Routines<T>::gelsd(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work, &size, iwork.data(), &info);
    });
  }
  return info;
}

template <class T>
int gelsy(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, Real<T> rcond, int* rank) {
  int info = 0;
  std::vector<int> order(count(n), 0);
  if constexpr (kComplex<T>) {
    std::vector<Real<T>> rwork(count(2 * n));
    with_workspace<T>([&](T* work, int size) {
      Routines<T>::gelsy(&m, &n, &nrhs, a, &lda, b, &ldb, order.data(), &rcond, rank, work, &size, rwork.data(), &info);
    });
  } else {
    with_workspace<T>([&](T* work, int size) {
      Routines<T>::gelsy(&m, &n, &nrhs, a, &lda, b, &ldb, order.data(), &rcond, rank, work, &size, &info);
    });
  }
  return info;
}

template <class T>
int gelss(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, Real<T>* s, Real<T> rcond, int* rank) {
  int info = 0;
  if constexpr (kComplex<T>) {
    std::vector<Real<T>> rwork(5 * count(std::min(m, n)));
    with_workspace<T>([&](T* work, int size) {
      Routines<T>::gelss(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work, &size, rwork.data(), &info);
    });
  } else {
    with_workspace<T>([&](T* work, int size) {
      Routines<T>::gelss(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work, &size, &info);
    });
  }
  return info;
}

template <class T>
int sytrd(char uplo, int n, T* a, int lda, Real<T>* d, Real<T>* e, T* tau) {
  int info = 0;
  with_workspace<T>(
      [&](T* work, int size) { Routines<T>::sytrd(&uplo, &n, a, &lda, d, e, tau, work, &size, &info, 1); });
  return info;
}

template <class R>
int stedc(int n, R* d, R* e, R* z, int ldz) {
  int info = 0;
  const char all = 'I';
  std::vector<int> iwork(count(3 + 5 * n));
  const int whole = static_cast<int>(iwork.size());
  with_workspace<R>([&](R* work, int size) {
    const int integers = size < 0 ? -1 : whole;
    Routines<R>::stedc(&all, &n, d, e, z, &ldz, work, &size, iwork.data(), &integers, &info, 1);
  });
  return info;
}

template <class R>
int laed1(int n, R* d, R* q, int ldq, int* order, R rho, int cut) {
  int info = 0;
  std::vector<int> iwork(4 * count(n));
  std::vector<R> work(4 * count(n) + count(n) * count(n));
  Routines<R>::laed1(&n, d, q, &ldq, order, &rho, &cut, work.data(), iwork.data(), &info);
  return info;
}

template <class T>
int ormtr(char uplo, int n, int columns, const T* a, int lda, const T* tau, T* c, int ldc) {
  int info = 0;
  const char left = 'L', plain = 'N';
  with_workspace<T>([&](T* work, int size) {
    Routines<T>::ormtr(&left, &uplo, &plain, &n, &columns, a, &lda, tau, c, &ldc, work, &size, &info, 1, 1, 1);
  });
  return info;
}

template <class T>
int ormqr(char side, bool adjoint, int m, int n, int k, const T* a, int lda, const T* tau, T* c, int ldc) {
  int info = 0;
  const char trans = !adjoint ? 'N' : kComplex<T> ? 'C' : 'T';
  with_workspace<T>([&](T* work, int size) {
    Routines<T>::ormqr(&side, &trans, &m, &n, &k, a, &lda, tau, c, &ldc, work, &size, &info, 1, 1);
  });
  return info;
}

template <class T>
int sytrf(bool hermitian, char uplo, int n, T* a, int lda, int* pivots) {
  int info = 0;
  with_workspace<T>([&](T* work, int size) {
    if constexpr (kComplex<T>) {
      (hermitian ? Routines<T>::hetrf : Routines<T>::sytrf)(&uplo, &n, a, &lda, pivots, work, &size, &info, 1);
    } else {
      (void)hermitian;
      Routines<T>::sytrf(&uplo, &n, a, &lda, pivots, work, &size, &info, 1);
    }
  });
  return info;
}

template <class T>
int sytrs(bool hermitian, char uplo, int n, int nrhs, const T* a, int lda, const int* pivots, T* b, int ldb) {
  int info = 0;
  if constexpr (kComplex<T>) {
    (hermitian ? Routines<T>::hetrs : Routines<T>::sytrs)(&uplo, &n, &nrhs, a, &lda, pivots, b, &ldb, &info, 1);
  } else {
    (void)hermitian;
    Routines<T>::sytrs(&uplo, &n, &nrhs, a, &lda, pivots, b, &ldb, &info, 1);
  }
  return info;
}

// Instantiations.
template int getrf<float>(int, int, float*, int, int*);
template int getrs<float>(char, int, int, const float*, int, const int*, float*, int);
template int potrf<float>(char, int, float*, int);
template int geqrf<float>(int, int, float*, int, float*);
template int orgqr<float>(int, int, int, float*, int, const float*);
template int gesdd<float>(char, int, int, float*, int, float*, float*, int, float*, int);
template int syevd<float>(char, char, int, float*, int, float*);
template int geev<float>(bool, int, float*, int, c64*, c64*, int);
template int trtrs<float>(char, char, char, int, int, const float*, int, float*, int);
template int gels<float>(int, int, int, float*, int, float*, int);
template int gelsd<float>(int, int, int, float*, int, float*, int, float*, float, int*);
template int gelsy<float>(int, int, int, float*, int, float*, int, float, int*);
template int sytrf<float>(bool, char, int, float*, int, int*);
template int sytrs<float>(bool, char, int, int, const float*, int, const int*, float*, int);
template int getrf<double>(int, int, double*, int, int*);
template int getrs<double>(char, int, int, const double*, int, const int*, double*, int);
template int potrf<double>(char, int, double*, int);
template int geqrf<double>(int, int, double*, int, double*);
template int orgqr<double>(int, int, int, double*, int, const double*);
template int gesdd<double>(char, int, int, double*, int, double*, double*, int, double*, int);
template int syevd<double>(char, char, int, double*, int, double*);
template int geev<double>(bool, int, double*, int, c128*, c128*, int);
template int trtrs<double>(char, char, char, int, int, const double*, int, double*, int);
template int gels<double>(int, int, int, double*, int, double*, int);
template int gelsd<double>(int, int, int, double*, int, double*, int, double*, double, int*);
template int gelsy<double>(int, int, int, double*, int, double*, int, double, int*);
template int sytrf<double>(bool, char, int, double*, int, int*);
template int sytrs<double>(bool, char, int, int, const double*, int, const int*, double*, int);
template int getrf<c64>(int, int, c64*, int, int*);
template int getrs<c64>(char, int, int, const c64*, int, const int*, c64*, int);
template int potrf<c64>(char, int, c64*, int);
template int geqrf<c64>(int, int, c64*, int, c64*);
template int orgqr<c64>(int, int, int, c64*, int, const c64*);
template int gesdd<c64>(char, int, int, c64*, int, float*, c64*, int, c64*, int);
template int syevd<c64>(char, char, int, c64*, int, float*);
template int geev<c64>(bool, int, c64*, int, c64*, c64*, int);
template int trtrs<c64>(char, char, char, int, int, const c64*, int, c64*, int);
template int gels<c64>(int, int, int, c64*, int, c64*, int);
template int gelsd<c64>(int, int, int, c64*, int, c64*, int, float*, float, int*);
template int gelsy<c64>(int, int, int, c64*, int, c64*, int, float, int*);
template int sytrf<c64>(bool, char, int, c64*, int, int*);
template int sytrs<c64>(bool, char, int, int, const c64*, int, const int*, c64*, int);
template int getrf<c128>(int, int, c128*, int, int*);
template int getrs<c128>(char, int, int, const c128*, int, const int*, c128*, int);
template int potrf<c128>(char, int, c128*, int);
template int geqrf<c128>(int, int, c128*, int, c128*);
template int orgqr<c128>(int, int, int, c128*, int, const c128*);
template int gesdd<c128>(char, int, int, c128*, int, double*, c128*, int, c128*, int);
template int syevd<c128>(char, char, int, c128*, int, double*);
template int geev<c128>(bool, int, c128*, int, c128*, c128*, int);
template int trtrs<c128>(char, char, char, int, int, const c128*, int, c128*, int);
template int gels<c128>(int, int, int, c128*, int, c128*, int);
template int gelsd<c128>(int, int, int, c128*, int, c128*, int, double*, double, int*);
template int gelsy<c128>(int, int, int, c128*, int, c128*, int, double, int*);
template int sytrf<c128>(bool, char, int, c128*, int, int*);
template int sytrs<c128>(bool, char, int, int, const c128*, int, const int*, c128*, int);
template int gelss<float>(int, int, int, float*, int, float*, int, float*, float, int*);
template int sytrd<float>(char, int, float*, int, float*, float*, float*);
template int ormtr<float>(char, int, int, const float*, int, const float*, float*, int);
template int ormqr<float>(char, bool, int, int, int, const float*, int, const float*, float*, int);
template int gelss<double>(int, int, int, double*, int, double*, int, double*, double, int*);
template int sytrd<double>(char, int, double*, int, double*, double*, double*);
template int ormtr<double>(char, int, int, const double*, int, const double*, double*, int);
template int ormqr<double>(char, bool, int, int, int, const double*, int, const double*, double*, int);
template int gelss<c64>(int, int, int, c64*, int, c64*, int, float*, float, int*);
template int sytrd<c64>(char, int, c64*, int, float*, float*, c64*);
template int ormtr<c64>(char, int, int, const c64*, int, const c64*, c64*, int);
template int ormqr<c64>(char, bool, int, int, int, const c64*, int, const c64*, c64*, int);
template int gelss<c128>(int, int, int, c128*, int, c128*, int, double*, double, int*);
template int sytrd<c128>(char, int, c128*, int, double*, double*, c128*);
template int ormtr<c128>(char, int, int, const c128*, int, const c128*, c128*, int);
template int ormqr<c128>(char, bool, int, int, int, const c128*, int, const c128*, c128*, int);
template int stedc<float>(int, float*, float*, float*, int);
template int stedc<double>(int, double*, double*, double*, int);
template void gemm<float>(bool, int, int, int, float, const float*, int, const float*, int, float, float*, int);
template void gemm<double>(bool, int, int, int, double, const double*, int, const double*, int, double, double*, int);
template int laed1<float>(int, float*, float*, int, int*, float, int);
template int laed1<double>(int, double*, double*, int, int*, double, int);

}  // namespace flambeau::lapack
