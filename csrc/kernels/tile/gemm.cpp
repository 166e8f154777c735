// Register-blocked matrix product kernels, for float32 and float64.
// A tile of C (kRows x two vectors) stays in registers while k runs: per step two loads of B and one broadcast of A per
// row. Written on compiler vectors of the level's width; products and sums are fused where the level has fma.
#include "kernels/gemm_tile.h"

#pragma GCC optimize("fp-contract=fast")

namespace flambeau::FLAMBEAU_ISA {
namespace {

constexpr int kBytes = FLAMBEAU_VEC_BYTES;
// 32 vector registers with AVX-512 (and arm64), 16 below.
constexpr int kRows = kBytes >= 64 ? 12 : 6;

template <class T>
struct VecOf;
template <>
struct VecOf<float> {
  typedef float type __attribute__((vector_size(kBytes)));
  typedef float loose __attribute__((vector_size(kBytes), aligned(4), may_alias));
};
template <>
struct VecOf<double> {
  typedef double type __attribute__((vector_size(kBytes)));
  typedef double loose __attribute__((vector_size(kBytes), aligned(8), may_alias));
};
template <class T>
constexpr int kWidth = kBytes / static_cast<int>(sizeof(T));

template <class T>
inline typename VecOf<T>::type load(const T* p) {
  return *reinterpret_cast<const typename VecOf<T>::loose*>(p);
}
template <class T>
inline void store(T* p, typename VecOf<T>::type v) {
  *reinterpret_cast<typename VecOf<T>::loose*>(p) = v;
}

// C[R, NV vectors] = alpha * A B (+ start). a(r, p) = a[r * row + p * col]; the packed form knows its strides.
template <class T, int R, int NV, bool kPacked>
void micro(std::int64_t k, const T* a, std::int64_t row, std::int64_t col, const T* b, std::int64_t ldb, T* c,
           std::int64_t ldc, T alpha, const T* start, std::int64_t start_ld) {
  using V = typename VecOf<T>::type;
  constexpr int W = kWidth<T>;
  V acc[R][NV];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) acc[r][v] = V{};
  }
  const std::int64_t a_row = kPacked ? 1 : row, a_col = kPacked ? kRows : col, b_step = kPacked ? 2 * W : ldb;
  for (std::int64_t p = 0; p < k; ++p) {
    V bv[NV];
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) bv[v] = load(b + v * W);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const T x = a[r * a_row];
#pragma GCC unroll 4
      for (int v = 0; v < NV; ++v) acc[r][v] += x * bv[v];
    }
    a += a_col;
    b += b_step;
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) {
      V value = acc[r][v] * alpha;
      if (start != nullptr) value += load(start + r * start_ld + v * W);
      store(c + r * ldc + v * W, value);
    }
  }
}

template <class T>
using Micro = void (*)(std::int64_t, const T*, std::int64_t, std::int64_t, const T*, std::int64_t, T*, std::int64_t, T,
                       const T*, std::int64_t);
template <class T>
const T* at(const T* start, std::int64_t offset) {
  return start == nullptr ? nullptr : start + offset;
}

template <class T, int NV, bool kPacked, int R = kRows>
Micro<T> micro_for(std::int64_t rows) {
  if (rows == R) return &micro<T, R, NV, kPacked>;
  if constexpr (R > 1) return micro_for<T, NV, kPacked, R - 1>(rows);
  return nullptr;
}

// A tile at the right edge: computed into a full-width buffer, of which only n columns are kept.
template <class T>
void write_edge(const T* tile, std::int64_t ld, std::int64_t m, std::int64_t n, T* c, std::int64_t ldc, T alpha,
                const T* start, std::int64_t start_ld) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const T value = tile[i * ld + j] * alpha;
      c[i * ldc + j] = start == nullptr ? value : start[i * start_ld + j] + value;
    }
  }
}

template <class T>
void packed(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c, std::int64_t ldc, T alpha,
            const T* start, std::int64_t start_ld) noexcept {
  constexpr std::int64_t NR = 2 * kWidth<T>;
  alignas(64) T edge[kRows * NR];
  for (std::int64_t j = 0; j < n; j += NR, b += NR * k) {
    const std::int64_t columns = n - j < NR ? n - j : NR;
    const T* panel = a;
    for (std::int64_t i = 0; i < m; i += kRows, panel += kRows * k) {
      const std::int64_t rows = m - i < kRows ? m - i : kRows;
      T* out = c + i * ldc + j;
      const T* from = at(start, i * start_ld + j);
      if (columns == NR) {
        if (rows == kRows) {
          micro<T, kRows, 2, true>(k, panel, 0, 0, b, 0, out, ldc, alpha, from, start_ld);
        } else {
          micro_for<T, 2, true>(rows)(k, panel, 0, 0, b, 0, out, ldc, alpha, from, start_ld);
        }
      } else {
        micro_for<T, 2, true>(rows)(k, panel, 0, 0, b, 0, edge, NR, T(1), nullptr, 0);
        write_edge<T>(edge, NR, rows, columns, out, ldc, alpha, from, start_ld);
      }
    }
  }
}

template <class T, int NV>
void direct_columns(std::int64_t m, std::int64_t k, const T* a, std::int64_t row, std::int64_t col, const T* b,
                    std::int64_t ldb, T* c, std::int64_t ldc, T alpha, const T* start, std::int64_t start_ld) {
  // Even blocks: 16 rows as 8 and 8, since a tile of 4 rows would wait for its own sums.
  const std::int64_t blocks = (m + kRows - 1) / kRows, size = (m + blocks - 1) / blocks;
  const Micro<T> whole = micro_for<T, NV, false>(size);
  std::int64_t i = 0;
  for (; i + size <= m; i += size)
    whole(k, a + i * row, row, col, b, ldb, c + i * ldc, ldc, alpha, at(start, i * start_ld), start_ld);
  if (i < m)
    micro_for<T, NV, false>(m - i)(k, a + i * row, row, col, b, ldb, c + i * ldc, ldc, alpha, at(start, i * start_ld),
                                   start_ld);
}

template <class T>
void direct(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t row, std::int64_t col, const T* b,
            std::int64_t ldb, T* c, std::int64_t ldc, T alpha, const T* start, std::int64_t start_ld) noexcept {
  constexpr std::int64_t W = kWidth<T>;
  if (m <= 0) return;
  std::int64_t j = 0;
  for (; j + 2 * W <= n; j += 2 * W)
    direct_columns<T, 2>(m, k, a, row, col, b + j, ldb, c + j, ldc, alpha, at(start, j), start_ld);
  for (; j + W <= n; j += W)
    direct_columns<T, 1>(m, k, a, row, col, b + j, ldb, c + j, ldc, alpha, at(start, j), start_ld);
  if (j == n) return;
  // Fewer columns than a vector: a zero-padded copy of them, since loads past the last row's end are not ours to make.
  const std::int64_t rest = n - j;
  alignas(64) T tail[kSmallK * W];
  for (std::int64_t p = 0; p < k; ++p) {
    for (std::int64_t x = 0; x < W; ++x) tail[p * W + x] = x < rest ? b[p * ldb + j + x] : T(0);
  }
  alignas(64) T edge[kRows * W];
  for (std::int64_t i = 0; i < m; i += kRows) {
    const std::int64_t rows = m - i < kRows ? m - i : kRows;
    micro_for<T, 1, false>(rows)(k, a + i * row, row, col, tail, W, edge, W, T(1), nullptr, 0);
    write_edge<T>(edge, W, rows, rest, c + i * ldc + j, ldc, alpha, at(start, i * start_ld + j), start_ld);
  }
}

// One width-long run of B down k, transposed from k-contiguous memory four by four (two by two for float64).
typedef float F4 __attribute__((vector_size(16)));
typedef float F4Loose __attribute__((vector_size(16), aligned(4), may_alias));
typedef int I4 __attribute__((vector_size(16)));
inline void transpose4(const float* source, std::int64_t stride, float* target, std::int64_t ld) {
  const F4 r0 = *reinterpret_cast<const F4Loose*>(source), r1 = *reinterpret_cast<const F4Loose*>(source + stride);
  const F4 r2 = *reinterpret_cast<const F4Loose*>(source + 2 * stride);
  const F4 r3 = *reinterpret_cast<const F4Loose*>(source + 3 * stride);
  const F4 lo01 = __builtin_shuffle(r0, r1, I4{0, 4, 1, 5}), hi01 = __builtin_shuffle(r0, r1, I4{2, 6, 3, 7});
  const F4 lo23 = __builtin_shuffle(r2, r3, I4{0, 4, 1, 5}), hi23 = __builtin_shuffle(r2, r3, I4{2, 6, 3, 7});
  *reinterpret_cast<F4Loose*>(target) = __builtin_shuffle(lo01, lo23, I4{0, 1, 4, 5});
  *reinterpret_cast<F4Loose*>(target + ld) = __builtin_shuffle(lo01, lo23, I4{2, 3, 6, 7});
  *reinterpret_cast<F4Loose*>(target + 2 * ld) = __builtin_shuffle(hi01, hi23, I4{0, 1, 4, 5});
  *reinterpret_cast<F4Loose*>(target + 3 * ld) = __builtin_shuffle(hi01, hi23, I4{2, 3, 6, 7});
}
inline void transpose4(const double* source, std::int64_t stride, double* target, std::int64_t ld) {
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) target[j * ld + i] = source[i * stride + j];
  }
}

template <class T, int kLanes>
void copy_lanes(T* out, const T* source, std::int64_t along, std::int64_t k) {
  for (std::int64_t p = 0; p < k; ++p) __builtin_memcpy(out + p * kLanes, source + p * along, kLanes * sizeof(T));
}

// Panel of `width` lanes (rows of A, columns of B): packed[p * width + lane] = source[lane * step + p * along].
template <class T>
void pack_panel(T* out, const T* source, std::int64_t step, std::int64_t along, std::int64_t lanes, std::int64_t width,
                std::int64_t k) {
  if (step == 1) {
    if (lanes == kRows && width == kRows) return copy_lanes<T, kRows>(out, source, along, k);
    if (lanes == 2 * kWidth<T> && width == lanes) return copy_lanes<T, 2 * kWidth<T>>(out, source, along, k);
    for (std::int64_t p = 0; p < k; ++p) {
      std::int64_t lane = 0;
      for (; lane < lanes; ++lane) out[p * width + lane] = source[p * along + lane];
      for (; lane < width; ++lane) out[p * width + lane] = T(0);
    }
    return;
  }
  std::int64_t lane = 0;
  if (along == 1) {
    for (; lane + 4 <= lanes; lane += 4) {
      std::int64_t p = 0;
      for (; p + 4 <= k; p += 4) transpose4(source + lane * step + p, step, out + p * width + lane, width);
      for (; p < k; ++p) {
        for (int i = 0; i < 4; ++i) out[p * width + lane + i] = source[(lane + i) * step + p];
      }
    }
  }
  for (; lane < width; ++lane) {
    for (std::int64_t p = 0; p < k; ++p) {
      out[p * width + lane] = lane < lanes ? source[lane * step + p * along] : T(0);
    }
  }
}

template <class T>
void pack_a(T* out, const T* a, std::int64_t row, std::int64_t col, std::int64_t m, std::int64_t k) noexcept {
  for (std::int64_t i = 0; i < m; i += kRows, out += kRows * k) {
    pack_panel(out, a + i * row, row, col, m - i < kRows ? m - i : kRows, kRows, k);
  }
}
template <class T>
void pack_b(T* out, const T* b, std::int64_t row, std::int64_t col, std::int64_t k, std::int64_t n) noexcept {
  constexpr std::int64_t NR = 2 * kWidth<T>;
  for (std::int64_t j = 0; j < n; j += NR, out += NR * k) {
    pack_panel(out, b + j * col, col, row, n - j < NR ? n - j : NR, NR, k);
  }
}

template <class T>
inline T horizontal(typename VecOf<T>::type v) {
  alignas(64) T lanes[kWidth<T>];
  store(lanes, v);
  for (int step = kWidth<T> / 2; step > 0; step /= 2) {
    for (int i = 0; i < step; ++i) lanes[i] += lanes[i + step];
  }
  return lanes[0];
}

// R rows of A against C rows of B, U vectors of k at a time (enough independent sums to hide the latency of fma).
template <class T, int R, int C, int U>
void dot_block(std::int64_t k, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* c, std::int64_t ldc,
               T alpha, bool accumulate) {
  using V = typename VecOf<T>::type;
  constexpr int W = kWidth<T>;
  V acc[R][C][U];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int q = 0; q < C; ++q) {
#pragma GCC unroll 4
      for (int u = 0; u < U; ++u) acc[r][q][u] = V{};
    }
  }
  std::int64_t p = 0;
  for (; p + U * W <= k; p += U * W) {
#pragma GCC unroll 4
    for (int u = 0; u < U; ++u) {
      V av[R];
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) av[r] = load(a + r * lda + p + u * W);
#pragma GCC unroll 4
      for (int q = 0; q < C; ++q) {
        const V bv = load(b + q * ldb + p + u * W);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) acc[r][q][u] += av[r] * bv;
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int q = 0; q < C; ++q) {
      V total = acc[r][q][0];
#pragma GCC unroll 4
      for (int u = 1; u < U; ++u) total += acc[r][q][u];
      T sum = horizontal<T>(total);
      for (std::int64_t s = p; s < k; ++s) sum += a[r * lda + s] * b[q * ldb + s];
      sum *= alpha;
      T& out = c[r * ldc + q];
      out = accumulate ? out + sum : sum;
    }
  }
}

template <class T, int C>
void dot_columns(std::int64_t m, std::int64_t k, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* c,
                 std::int64_t ldc, T alpha, bool accumulate) {
  constexpr int R = kBytes >= 64 ? 4 : 2;
  std::int64_t i = 0;
  for (; i + R <= m; i += R)
    dot_block<T, R, C, C == 1 ? 2 : 1>(k, a + i * lda, lda, b, ldb, c + i * ldc, ldc, alpha, accumulate);
  for (; i < m; ++i)
    dot_block<T, 1, C, C == 1 ? 4 : 2>(k, a + i * lda, lda, b, ldb, c + i * ldc, ldc, alpha, accumulate);
}

template <class T>
void dots(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, const T* b, std::int64_t ldb,
          T* c, std::int64_t ldc, T alpha, bool accumulate) noexcept {
  std::int64_t j = 0;
  for (; j + 4 <= n; j += 4) dot_columns<T, 4>(m, k, a, lda, b + j * ldb, ldb, c + j, ldc, alpha, accumulate);
  for (; j < n; ++j) dot_columns<T, 1>(m, k, a, lda, b + j * ldb, ldb, c + j, ldc, alpha, accumulate);
}

template <class T>
void combine(std::int64_t n, std::int64_t k, const T* x, std::int64_t incx, const T* b, std::int64_t ldb, T* y, T alpha,
             bool accumulate) noexcept {
  using V = typename VecOf<T>::type;
  constexpr std::int64_t W = kWidth<T>;
  std::int64_t done = 0;
  // Four rows of B per pass over y; the first pass may overwrite.
  if (!accumulate) {
    for (std::int64_t j = 0; j < n; ++j) y[j] = T(0);
  }
  for (; done + 4 <= k; done += 4) {
    const T x0 = alpha * x[done * incx], x1 = alpha * x[(done + 1) * incx], x2 = alpha * x[(done + 2) * incx],
            x3 = alpha * x[(done + 3) * incx];
    const T *b0 = b + done * ldb, *b1 = b0 + ldb, *b2 = b1 + ldb, *b3 = b2 + ldb;
    std::int64_t j = 0;
    for (; j + W <= n; j += W) {
      V sum = load(y + j);
      sum += x0 * load(b0 + j);
      sum += x1 * load(b1 + j);
      sum += x2 * load(b2 + j);
      sum += x3 * load(b3 + j);
      store(y + j, sum);
    }
    for (; j < n; ++j) y[j] += x0 * b0[j] + x1 * b1[j] + x2 * b2[j] + x3 * b3[j];
  }
  for (; done < k; ++done) {
    const T x0 = alpha * x[done * incx];
    const T* b0 = b + done * ldb;
    for (std::int64_t j = 0; j < n; ++j) y[j] += x0 * b0[j];
  }
}

template <class T>
constexpr GemmTile<T> kTable{kRows,      2 * kWidth<T>, &pack_a<T>, &pack_b<T>,
                             &packed<T>, &direct<T>,    &dots<T>,   &combine<T>};

constexpr int kLevel = kBytes >= 64 ? 2 : kBytes >= 32 ? 1 : 0;
const GemmTileEntry entry(kLevel, &kTable<float>, &kTable<double>);

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
