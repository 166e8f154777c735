// Blocks of Householder reflectors in compact WY form, H_1 ... H_w = I - V T V^T (Schreiber, Van Loan, 1989), for real
// matrices. LAPACK's geqrf, orgqr and ormtr do the same on one thread; here the columns of the matrix that a block acts
// on are shared by threads, in pieces that do not depend on their number.
#pragma once

#include <cstdint>
#include <vector>

namespace flambeau::linalg {

template <class R>
struct ReflectorBlock {
  std::int64_t start, rows, width;  // acts on `rows` rows from `start` on
  std::vector<R> v;                 // (rows, width), unit lower trapezoidal, zeros written out; column-major
  std::vector<R> t;                 // (width, width), upper triangular
};

// a (rows, columns), column-major with leading dimension lda, becomes R and the vectors below it, as geqrf leaves them.
template <class R>
std::vector<ReflectorBlock<R>> factor(R* a, std::int64_t lda, std::int64_t rows, std::int64_t columns, R* tau);

// The blocks of `count` reflectors that lie below the diagonal of a, as geqrf leaves them.
template <class R>
std::vector<ReflectorBlock<R>> blocks_of(const R* a, std::int64_t lda, std::int64_t rows, std::int64_t count,
                                         const R* tau);

// c = Q c for c (rows, columns): Q is the product of all reflectors. identity: c is the identity, whose zeros are used.
template <class R>
void apply(const std::vector<ReflectorBlock<R>>& blocks, R* c, std::int64_t ldc, std::int64_t columns, bool identity);

}  // namespace flambeau::linalg
