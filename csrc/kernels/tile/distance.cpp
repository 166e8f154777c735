// Distances between rows: four rows of x against two vectors of rows of y at a time, over all their elements.
#include "kernels/distance_tile.h"

#include "simd/math.h"
#include "simd/math_special.h"
#include "simd/vec.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

constexpr int kLevel = FLAMBEAU_VEC_BYTES >= 64 ? 2 : FLAMBEAU_VEC_BYTES >= 32 ? 1 : 0;
template <class T>
constexpr std::int64_t kPanel = 2 * Vec<T>::size;
constexpr std::int64_t kBlock = 256;  // elements per partial sum: the error of long rows grows with their number only

double infinity() { return __builtin_inf(); }

#if FLAMBEAU_VEC_BYTES >= 32
Vec<double> positive_power(Vec<double> a, double p) { return pow_positive(a, Vec<double>(p)); }
#else
Vec<double> positive_power(Vec<double> a, double p) {
  for (int i = 0; i < Vec<double>::size; ++i) a.v[i] = __builtin_pow(a.v[i], p);
  return a;
}
#endif

// a^p for a >= 0 (subnormal numbers count as zero) and finite p > 0.
Vec<double> power(Vec<double> a, double p) {
  const Vec<double> tiny(2.2250738585072014e-308), huge(infinity());
  const Vec<double> y = positive_power(select(a >= tiny, select(a < huge, a, Vec<double>(1.0)), Vec<double>(1.0)), p);
  return select(a < tiny, Vec<double>(0.0), select(a < huge, y, a));  // infinity and NaN stay
}

struct Count {
  template <class T>
  [[gnu::always_inline]] void add(Vec<T>& sum, Vec<T> d) const {
    sum += select(d == Vec<T>(T(0)), Vec<T>(T(0)), Vec<T>(T(1)));
  }
};
struct Sum {
  template <class T>
  [[gnu::always_inline]] void add(Vec<T>& sum, Vec<T> d) const {
    sum += abs(d);
  }
};
struct Euclidean {
  template <class T>
  [[gnu::always_inline]] void add(Vec<T>& sum, Vec<T> d) const {
    sum = fma(d, d, sum);
  }
};
struct Largest {
  template <class T>
  [[gnu::always_inline]] void add(Vec<T>& sum, Vec<T> d) const {
    sum = select(sum != sum, sum, max(sum, abs(d)));  // max keeps a NaN of its second operand
  }
};
struct Whole {
  int p;
  template <class T>
  [[gnu::always_inline]] void add(Vec<T>& sum, Vec<T> d) const {
    Vec<T> base = abs(d), y = (p & 1) != 0 ? base : Vec<T>(T(1));
    for (int rest = p >> 1; rest != 0; rest >>= 1) {
      base = base * base;
      if ((rest & 1) != 0) y = y * base;
    }
    sum += y;
  }
};
struct Real {
  double p;
  [[gnu::always_inline]] void add(Vec<double>& sum, Vec<double> d) const { sum += power(abs(d), p); }
};

template <class T, class Norm, int R>
void block(T* out, std::int64_t ld, const T* x, const T* panel, std::int64_t columns, std::int64_t d,
           const Norm& norm) {
  constexpr int W = Vec<T>::size;
  alignas(64) T total[R][kPanel<T>] = {};
  for (std::int64_t from = 0; from < d; from += kBlock) {
    const std::int64_t to = from + kBlock < d ? from + kBlock : d;
    Vec<T> sum[R][2];
    for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = Vec<T>(T(0));
    for (std::int64_t k = from; k < to; ++k) {
      const Vec<T> y0 = Vec<T>::load(panel + k * kPanel<T>), y1 = Vec<T>::load(panel + k * kPanel<T> + W);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const Vec<T> v(x[r * d + k]);
        norm.add(sum[r][0], v - y0);
        norm.add(sum[r][1], v - y1);
      }
    }
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < 2; ++v) {
        Vec<T> all = Vec<T>::load(total[r] + v * W);
        if constexpr (__is_same(Norm, Largest)) {
          norm.add(all, sum[r][v]);
        } else {
          all += sum[r][v];
        }
        all.store(total[r] + v * W);
      }
    }
  }
  for (int r = 0; r < R; ++r) {
    for (std::int64_t j = 0; j < columns; ++j) out[r * ld + j] = total[r][j];
  }
}

template <class T, class Norm>
void sweep(T* out, std::int64_t ld, const T* x, std::int64_t m, const T* panels, std::int64_t n, std::int64_t d,
           const Norm& norm) {
  for (std::int64_t j = 0; j < n; j += kPanel<T>) {
    const std::int64_t columns = n - j < kPanel<T> ? n - j : kPanel<T>;
    const T* panel = panels + j * d;
    if (m == kDistanceRows) {
      block<T, Norm, kDistanceRows>(out + j, ld, x, panel, columns, d, norm);
    } else {
      for (std::int64_t i = 0; i < m; ++i) block<T, Norm, 1>(out + i * ld + j, ld, x + i * d, panel, columns, d, norm);
    }
  }
}

template <class T>
void root(T* row, std::int64_t n, T add) noexcept {
  for (std::int64_t j = 0; j < n; j += Vec<T>::size) {
    const std::int64_t count = n - j < Vec<T>::size ? n - j : Vec<T>::size;
    const Vec<T> square =
        (count == Vec<T>::size ? Vec<T>::load(row + j) : Vec<T>::load_part(row + j, count)) + Vec<T>(add);
    const Vec<T> y = sqrt(select(square < Vec<T>(T(0)), Vec<T>(T(0)), square));
    if (count == Vec<T>::size) {
      y.store(row + j);
    } else {
      y.store_part(row + j, count);
    }
  }
}

template <class T>
void power_root(T* row, std::int64_t n, double p) {
  constexpr int W = Vec<double>::size;
  for (std::int64_t j = 0; j < n; j += W) {
    alignas(64) double lanes[W] = {};
    const int count = static_cast<int>(n - j < W ? n - j : W);
    for (int i = 0; i < count; ++i) lanes[i] = static_cast<double>(row[j + i]);
    power(Vec<double>::load(lanes), 1 / p).store(lanes);
    for (int i = 0; i < count; ++i) row[j + i] = static_cast<T>(lanes[i]);
  }
}

template <class T>
void rows(Distance kind, T* out, std::int64_t ld, const T* x, std::int64_t m, const T* panels, std::int64_t n,
          std::int64_t d, double p) noexcept {
  switch (kind) {
    case Distance::Count: return sweep(out, ld, x, m, panels, n, d, Count{});
    case Distance::Sum: return sweep(out, ld, x, m, panels, n, d, Sum{});
    case Distance::Largest: return sweep(out, ld, x, m, panels, n, d, Largest{});
    case Distance::Euclidean:
      sweep(out, ld, x, m, panels, n, d, Euclidean{});
      for (std::int64_t i = 0; i < m; ++i) root(out + i * ld, n, T(0));
      return;
    case Distance::Whole: sweep(out, ld, x, m, panels, n, d, Whole{static_cast<int>(p)}); break;
    case Distance::Real:
      if constexpr (sizeof(T) == 8) sweep(out, ld, x, m, panels, n, d, Real{p});
  }
  for (std::int64_t i = 0; i < m; ++i) power_root(out + i * ld, n, p);
}

// out[k] += slope(x[k] - y[k]), the part of one row of y.
template <class T, class F>
void add_slope(T* out, const T* x, const T* y, std::int64_t d, F&& slope) {
  std::int64_t k = 0;
  for (; k + Vec<T>::size <= d; k += Vec<T>::size)
    (Vec<T>::load(out + k) + slope(Vec<T>::load(x + k) - Vec<T>::load(y + k))).store(out + k);
  const std::int64_t rest = d - k;
  if (rest == 0) return;
  const Vec<T> difference = Vec<T>::load_part(x + k, rest) - Vec<T>::load_part(y + k, rest);
  (Vec<T>::load_part(out + k, rest) + slope(difference)).store_part(out + k, rest);
}

template <class T>
[[gnu::always_inline]] inline Vec<T> with_sign(Vec<T> size, Vec<T> d) {
  const Vec<T> zero(T(0));
  return select(d > zero, size, select(d < zero, zero - size, select(d == zero, zero, d)));  // NaN stays
}

template <class T>
void slope(Distance kind, T* out, const T* x, const T* y, const T* grad, const T* distance, std::int64_t n,
           std::int64_t d, double p) noexcept {
  for (std::int64_t k = 0; k < d; ++k) out[k] = T(0);
  for (std::int64_t j = 0; j < n; ++j, y += d) {
    if (kind == Distance::Count || distance[j] == T(0)) continue;
    const Vec<T> g(grad[j]), far(distance[j]);
    switch (kind) {
      case Distance::Sum: add_slope(out, x, y, d, [&](Vec<T> v) { return with_sign(g, v); }); break;
      case Distance::Euclidean: {
        const Vec<T> ratio = g / far;
        add_slope(out, x, y, d, [&](Vec<T> v) { return ratio * v; });
        break;
      }
      case Distance::Largest:
        add_slope(out, x, y, d, [&](Vec<T> v) { return select(abs(v) == far, with_sign(g, v), Vec<T>(T(0))); });
        break;
      default: {
        const Vec<T> scaled(
            static_cast<T>(static_cast<double>(grad[j]) / __builtin_pow(static_cast<double>(distance[j]), p - 1)));
        if constexpr (sizeof(T) == 8) {
          if (kind == Distance::Real) {
            add_slope(out, x, y, d, [&](Vec<T> v) { return with_sign(scaled * power(abs(v), p - 1), v); });
            break;
          }
        }
        const Whole whole{static_cast<int>(p) - 1};
        add_slope(out, x, y, d, [&](Vec<T> v) {
          Vec<T> size(T(0));
          whole.add(size, v);
          return with_sign(scaled * size, v);
        });
      }
    }
  }
}

template <class T>
void pack(T* panels, const T* y, std::int64_t n, std::int64_t d) noexcept {
  for (std::int64_t j = 0; j < n; j += kPanel<T>, panels += kPanel<T> * d) {
    const std::int64_t columns = n - j < kPanel<T> ? n - j : kPanel<T>;
    for (std::int64_t lane = 0; lane < kPanel<T>; ++lane) {
      for (std::int64_t k = 0; k < d; ++k) panels[k * kPanel<T> + lane] = lane < columns ? y[(j + lane) * d + k] : T(0);
    }
  }
}

template <class T>
constexpr DistanceTile<T> kTable{kPanel<T>, &pack<T>, &rows<T>, &slope<T>, &root<T>};
const DistanceTileEntry entry(kLevel, &kTable<float>, &kTable<double>);

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
