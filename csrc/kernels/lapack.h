// The LAPACK routines that linalg*.cpp uses, as C++ overloads per element type. Column-major, as LAPACK is; every
// function returns its info. Workspaces are sized and owned inside. OpenBLAS runs on the calling thread only: batches
// are split by us, so that results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/dtype.h"

namespace flambeau::lapack {

template <class T>
using Real = std::conditional_t<std::is_same_v<T, c64>, float, std::conditional_t<std::is_same_v<T, c128>, double, T>>;

// c = alpha op(a) b + beta c; float and double only.
template <class R>
void gemm(bool transpose_a, int m, int n, int k, R alpha, const R* a, int lda, const R* b, int ldb, R beta, R* c,
          int ldc);

// Each of the rest is defined for float, double, c64 and c128 unless it says otherwise.
template <class T>
int getrf(int m, int n, T* a, int lda, int* pivots);
template <class T>
int getrs(char trans, int n, int nrhs, const T* lu, int lda, const int* pivots, T* b, int ldb);
template <class T>
int potrf(char uplo, int n, T* a, int lda);
template <class T>
int geqrf(int m, int n, T* a, int lda, T* tau);
template <class T>
int orgqr(int m, int n, int k, T* a, int lda, const T* tau);
template <class T>
int gesdd(char job, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vh, int ldvh);
template <class T>
int syevd(char job, char uplo, int n, T* a, int lda, Real<T>* w);
template <class T>
int geev(bool vectors, int n, T* a, int lda, std::conditional_t<sizeof(Real<T>) == 4, c64, c128>* w,
         std::conditional_t<sizeof(Real<T>) == 4, c64, c128>* v, int ldv);
template <class T>
int trtrs(char uplo, char trans, char diag, int n, int nrhs, const T* a, int lda, T* b, int ldb);
template <class T>
int gels(int m, int n, int nrhs, T* a, int lda, T* b, int ldb);
template <class T>
int gelsd(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, Real<T>* s, Real<T> rcond, int* rank);
template <class T>
int gelsy(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, Real<T> rcond, int* rank);
template <class T>
int gelss(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, Real<T>* s, Real<T> rcond, int* rank);
// The three steps of syevd: a = Q T Q^H with T tridiagonal (diagonal d, off-diagonal e); eigenvalues (into d) and
// eigenvectors of T; Q times those.
template <class T>
int sytrd(char uplo, int n, T* a, int lda, Real<T>* d, Real<T>* e, T* tau);
template <class R>  // float and double only
int stedc(int n, R* d, R* e, R* z, int ldz);
// One merge of stedc's divide and conquer: the spectra of the leading `cut` rows and of the rest, in d and the diagonal
// blocks of q, become that of the whole; order sorts each half before, and everything after.
template <class R>  // float and double only
int laed1(int n, R* d, R* q, int ldq, int* order, R rho, int cut);
template <class T>
int ormtr(char uplo, int n, int columns, const T* a, int lda, const T* tau, T* c, int ldc);
// c = Q c or c Q (side 'L' or 'R'; Q^H if adjoint), Q from geqrf's a and tau; c is (m, n).
template <class T>
int ormqr(char side, bool adjoint, int m, int n, int k, const T* a, int lda, const T* tau, T* c, int ldc);
template <class T>
int sytrf(bool hermitian, char uplo, int n, T* a, int lda, int* pivots);
template <class T>
int sytrs(bool hermitian, char uplo, int n, int nrhs, const T* a, int lda, const int* pivots, T* b, int ldb);

}  // namespace flambeau::lapack
