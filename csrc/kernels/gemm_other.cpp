// Matrix products of the remaining element types: half types through float32, complex through real planes, integers by
// plain loops that wrap around.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/parallel.h"
#include "kernels/gemm.h"
#include "kernels/scratch.h"
#include "onednn/onednn.h"

namespace flambeau {
namespace {

constexpr std::int64_t kGrain = 32768;

// to[i * columns + j] = from(i, j), converted.
template <class To, class From, class Convert>
void copy_matrix(To* to, const From* from, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t columns,
                 Convert&& convert_one) {
  parallel_for(0, rows, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(columns, 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const From* source = from + i * row;
                   To* target = to + i * columns;
                   for (std::int64_t j = 0; j < columns; ++j) target[j] = convert_one(source[j * col]);
                 }
               });
}

template <class T>
void write_matrix(const Gemm<T>& g, const Scratch<float>& product) {
  parallel_for(0, g.m, std::max<std::int64_t>(1, kGrain / g.n), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        const float before = g.accumulate ? static_cast<float>(g.c[i * g.ldc + j]) : 0.0F;
        g.c[i * g.ldc + j] = T(product[i * g.n + j] + before);
      }
    }
  });
}

template <class T>
void half_gemm(const Gemm<T>& g) {
  if (g.m == 0 || g.n == 0) return;
  Scratch<float> a(g.m * g.k), b(g.k * g.n), c(g.m * g.n);
  const auto widen = [](T value) { return static_cast<float>(value); };
  copy_matrix(a.data(), g.a, g.a_row, g.a_col, g.m, g.k, widen);
  // Keep B's k contiguous if it is (weights of linear), so that nothing is transposed twice.
  const bool columns = g.b_row == 1;
  if (columns) {
    copy_matrix(b.data(), g.b, g.b_col, g.b_row, g.n, g.k, widen);
  } else {
    copy_matrix(b.data(), g.b, g.b_row, g.b_col, g.k, g.n, widen);
  }
  Gemm<float> wide{g.m, g.n, g.k, a.data(), g.k, 1, b.data(), columns ? 1 : g.n, columns ? g.k : 1, c.data(), g.n};
  wide.alpha = static_cast<float>(g.alpha);
  gemm(wide);
  write_matrix(g, c);
}

template <class T>
void complex_small(const Gemm<Complex<T>>& g) {
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      Complex<T> sum(0);
      for (std::int64_t p = 0; p < g.k; ++p) sum += g.a[i * g.a_row + p * g.a_col] * g.b[p * g.b_row + j * g.b_col];
      Complex<T>& out = g.c[i * g.ldc + j];
      out = g.accumulate ? out + g.alpha * sum : g.alpha * sum;
    }
  }
}

// Four real products of the real and imaginary planes.
template <class T>
void complex_gemm(const Gemm<Complex<T>>& g) {
  if (g.m == 0 || g.n == 0) return;
  if (static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k) < 12.0 * 12 * 12)
    return complex_small(g);
  const std::int64_t mk = g.m * g.k, kn = g.k * g.n, mn = g.m * g.n;
  Scratch<T> a(2 * mk), b(2 * kn), c(2 * mn);
  const auto real = [](Complex<T> z) { return z.re; };
  const auto imag = [](Complex<T> z) { return z.im; };
  copy_matrix(a.data(), g.a, g.a_row, g.a_col, g.m, g.k, real);
  copy_matrix(a.data() + mk, g.a, g.a_row, g.a_col, g.m, g.k, imag);
  copy_matrix(b.data(), g.b, g.b_row, g.b_col, g.k, g.n, real);
  copy_matrix(b.data() + kn, g.b, g.b_row, g.b_col, g.k, g.n, imag);
  const auto plane = [&](bool a_imag, bool b_imag, bool c_imag, T alpha, bool accumulate) {
    Gemm<T> part{g.m,
                 g.n,
                 g.k,
                 a.data() + (a_imag ? mk : 0),
                 g.k,
                 1,
                 b.data() + (b_imag ? kn : 0),
                 g.n,
                 1,
                 c.data() + (c_imag ? mn : 0),
                 g.n};
    part.alpha = alpha;
    part.accumulate = accumulate;
    gemm(part);
  };
  plane(false, false, false, T(1), false);
  plane(true, true, false, T(-1), true);
  plane(false, true, true, T(1), false);
  plane(true, false, true, T(1), true);
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      const std::int64_t at = i * g.n + j;
      const Complex<T> value = g.alpha * Complex<T>(c[at], c[mn + at]);
      Complex<T>& out = g.c[i * g.ldc + j];
      out = g.accumulate ? out + value : value;
    }
  }
}

template <class T>
void integer_gemm(const Gemm<T>& g) {
  if (g.m == 0 || g.n == 0) return;
  using U = std::make_unsigned_t<std::conditional_t<(sizeof(T) < 4), int, T>>;  // unsigned: overflow wraps
  Scratch<T> b(g.k * g.n);
  copy_matrix(b.data(), g.b, g.b_row, g.b_col, g.k, g.n, [](T value) { return value; });
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, g.n * g.k));
  parallel_for(0, g.m, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<U> sums(static_cast<std::size_t>(g.n));
    for (std::int64_t i = begin; i < end; ++i) {
      std::fill(sums.begin(), sums.end(), U(0));
      for (std::int64_t p = 0; p < g.k; ++p) {
        const U x = static_cast<U>(g.a[i * g.a_row + p * g.a_col]);
        const T* row = b.data() + p * g.n;
        for (std::int64_t j = 0; j < g.n; ++j) sums[static_cast<std::size_t>(j)] += x * static_cast<U>(row[j]);
      }
      for (std::int64_t j = 0; j < g.n; ++j) {
        T& out = g.c[i * g.ldc + j];
        const U value = static_cast<U>(g.alpha) * sums[static_cast<std::size_t>(j)];
        out = static_cast<T>(g.accumulate ? static_cast<U>(out) + value : value);
      }
    }
  });
}

}  // namespace

template <>
void gemm(const Gemm<Half>& args) {
  half_gemm(args);
}
template <>
void gemm(const Gemm<BFloat16>& args) {
  if (!onednn::gemm(args)) half_gemm(args);
}
template <>
void gemm(const Gemm<c64>& args) {
  complex_gemm(args);
}
template <>
void gemm(const Gemm<c128>& args) {
  complex_gemm(args);
}
template <>
void gemm(const Gemm<std::uint8_t>& args) {
  integer_gemm(args);
}
template <>
void gemm(const Gemm<std::int8_t>& args) {
  integer_gemm(args);
}
template <>
void gemm(const Gemm<std::int16_t>& args) {
  integer_gemm(args);
}
template <>
void gemm(const Gemm<std::int32_t>& args) {
  integer_gemm(args);
}
template <>
void gemm(const Gemm<std::int64_t>& args) {
  integer_gemm(args);
}

}  // namespace flambeau
