// Inner loops of the normalisations: see kernels/norm.h.
#include "kernels/norm.h"

#include <cmath>

#include "kernels/level_table.h"
#include "kernels/tile/moments.h"
#include "kernels/tile/sweep.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

template <class T>
void moments_run(const T* x, std::int64_t n, Moments& acc) {
  for (std::int64_t i = 0; i < n; i += kRowBlock) moments_block(x + i, n - i < kRowBlock ? n - i : kRowBlock, acc);
}

template <class T>
void layer_forward(const void* in, const void* weight, const void* bias, void* out, void* mean, void* rstd,
                   std::int64_t n, std::int64_t count, double eps, bool rms) noexcept {
  using L = typename LaneOf<T>::type;
  const auto *w = static_cast<const L*>(weight), *b = static_cast<const L*>(bias);
  for (std::int64_t row = 0; row < count; ++row) {
    const T* x = static_cast<const T*>(in) + row * n;
    T* y = static_cast<T*>(out) + row * n;
    Moments m;
    moments_run(x, n, m);
    const double variance = m.squares / static_cast<double>(n) + (rms ? m.mean * m.mean : 0);
    const L centre = rms ? L(0) : static_cast<L>(m.mean), scale = static_cast<L>(1 / std::sqrt(variance + eps));
    if (mean != nullptr) static_cast<L*>(mean)[row] = centre;
    if (rstd != nullptr) static_cast<L*>(rstd)[row] = scale;
    if (w != nullptr && b != nullptr) {
      apply<L>(n, [&](auto get, auto keep) { keep(y, (get(x) - centre) * scale * get(w) + get(b)); });
    } else if (w != nullptr) {
      apply<L>(n, [&](auto get, auto keep) { keep(y, (get(x) - centre) * scale * get(w)); });
    } else if (b != nullptr) {
      apply<L>(n, [&](auto get, auto keep) { keep(y, (get(x) - centre) * scale + get(b)); });
    } else {
      apply<L>(n, [&](auto get, auto keep) { keep(y, (get(x) - centre) * scale); });
    }
  }
}

// sums[0] += sum(g w), sums[1] += sum(g w xhat) over one row; blocks go to double.
template <class T, bool kWeight, class L>
void row_sums(const T* grad, const T* in, const L* weight, std::int64_t n, L centre, L scale, double* sums) {
  constexpr int w = kWidth<L>, unroll = 4;
  for (std::int64_t start = 0; start < n; start += kRowBlock) {
    const std::int64_t m = n - start < kRowBlock ? n - start : kRowBlock;
    const T *g = grad + start, *x = in + start;
    const L* scales = kWeight ? weight + start : nullptr;
    V<L> a[unroll] = {}, b[unroll] = {};
    L rest_a = 0, rest_b = 0;
    const auto step = [&](int r, std::int64_t at) {
      V<L> gw = load<L>(g + at);
      if constexpr (kWeight) gw *= load<L>(scales + at);
      a[r] += gw;
      b[r] += gw * (load<L>(x + at) - centre);
    };
    std::int64_t i = 0;
    for (; i + unroll * w <= m; i += unroll * w) {
#pragma GCC unroll 4
      for (int r = 0; r < unroll; ++r) step(r, i + r * w);
    }
    for (; i + w <= m; i += w) step(0, i);
    for (; i < m; ++i) {
      L gw = load_one<L>(g[i]);
      if constexpr (kWeight) gw *= scales[i];
      rest_a += gw;
      rest_b += gw * (load_one<L>(x[i]) - centre);
    }
    sums[0] += static_cast<double>(sum_lanes<L>((a[0] + a[1]) + (a[2] + a[3])) + rest_a);
    sums[1] += static_cast<double>((sum_lanes<L>((b[0] + b[1]) + (b[2] + b[3])) + rest_b) * scale);
  }
}

template <class T, bool kWeight>
void input_gradient(const T* g, const T* x, const typename LaneOf<T>::type* w, T* to, std::int64_t n,
                    typename LaneOf<T>::type centre, typename LaneOf<T>::type scale, bool rms, std::int64_t ahead) {
  using L = typename LaneOf<T>::type;
  double sums[2] = {0, 0};
  row_sums<T, kWeight>(g, x, w, n, centre, scale, sums);
  // dx = scale (g w - a - (x - centre) scale b), as g w scale + (x - centre) slope + shift
  const double count = static_cast<double>(n), slope = -sums[1] / count * scale * scale;
  const L b = static_cast<L>(slope);
  const L shift = static_cast<L>(rms ? 0 : -sums[0] / count * scale);
  // What follows `ahead` elements later is asked for meanwhile: otherwise memory would idle during this pass, whose
  // rows are in cache.
  constexpr int width = kWidth<L>;
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    V<L> gw = load<L>(g + i) * scale;
    if constexpr (kWeight) gw *= load<L>(w + i);
    store_vec<T, L>(to + i, gw + (load<L>(x + i) - centre) * b + shift);
    __builtin_prefetch(x + i + ahead, 0, 2);
    __builtin_prefetch(g + i + ahead, 0, 2);
  }
  for (; i < n; ++i) {
    L gw = load_one<L>(g[i]) * scale;
    if constexpr (kWeight) gw = gw * w[i];
    to[i] = store_one<T>(gw + (load_one<L>(x[i]) - centre) * b + shift);
  }
}

// d_weight += sum over kRows rows of g xhat, d_bias += sum of g.
template <class T, int kRows, class L>
void parameter_gradients(const T* g, const T* x, const L* centre, const L* scale, L* dw, L* db, std::int64_t n) {
  apply<L>(n, [&](auto get, auto keep) {
    auto bias = get(g), weight = bias * ((get(x) - centre[0]) * scale[0]);
    for (int r = 1; r < kRows; ++r) {
      const auto value = get(g + r * n);
      bias = bias + value;
      weight = weight + value * ((get(x + r * n) - centre[r]) * scale[r]);
    }
    if (dw != nullptr) keep(dw, get(dw) + weight);
    if (db != nullptr) keep(db, get(db) + bias);
  });
}

template <class T>
void layer_backward(const void* grad, const void* in, const void* weight, const void* mean, const void* rstd, void* dx,
                    void* d_weight, void* d_bias, std::int64_t n, std::int64_t count, bool rms) noexcept {
  using L = typename LaneOf<T>::type;
  const auto *w = static_cast<const L*>(weight), *centre = static_cast<const L*>(mean),
             *scale = static_cast<const L*>(rstd);
  auto *dw = static_cast<L*>(d_weight), *db = static_cast<L*>(d_bias);
  const auto *g = static_cast<const T*>(grad), *x = static_cast<const T*>(in);
  auto* to = static_cast<T*>(dx);
  for (std::int64_t row = 0; to != nullptr && row < count; ++row) {
    const std::int64_t at = row * n;
    if (w != nullptr) {
      input_gradient<T, true>(g + at, x + at, w, to + at, n, centre[row], scale[row], rms, count * n);
    } else {
      input_gradient<T, false>(g + at, x + at, w, to + at, n, centre[row], scale[row], rms, count * n);
    }
  }
  if (dw == nullptr && db == nullptr) return;
  std::int64_t row = 0;
  for (; row + 4 <= count; row += 4)
    parameter_gradients<T, 4>(g + row * n, x + row * n, centre + row, scale + row, dw, db, n);
  for (; row < count; ++row) parameter_gradients<T, 1>(g + row * n, x + row * n, centre + row, scale + row, dw, db, n);
}

template <class T>
void run_moments(const void* x, std::int64_t n, Moments* acc) noexcept {
  moments_run(static_cast<const T*>(x), n, *acc);
}

template <class T>
void affine(const void* in, void* out, std::int64_t n, double mean, double a, double b) noexcept {
  using L = typename LaneOf<T>::type;
  const auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
  const L centre = static_cast<L>(mean), scale = static_cast<L>(a), shift = static_cast<L>(b);
  apply<L>(n, [&](auto get, auto keep) { keep(y, (get(x) - centre) * scale + shift); });
}

template <class T>
void dots(const void* grad, const void* in, std::int64_t n, double shift, double* sums) noexcept {
  using L = typename LaneOf<T>::type;
  row_sums<T, false, L>(static_cast<const T*>(grad), static_cast<const T*>(in), nullptr, n, static_cast<L>(shift), L(1),
                        sums);
}

template <class T>
void affine3(const void* grad, const void* in, void* dx, std::int64_t n, double mean, double a, double b,
             double c) noexcept {
  using L = typename LaneOf<T>::type;
  const auto *g = static_cast<const T*>(grad), *x = static_cast<const T*>(in);
  auto* to = static_cast<T*>(dx);
  const L centre = static_cast<L>(mean), ga = static_cast<L>(a), xb = static_cast<L>(b), shift = static_cast<L>(c);
  apply<L>(n, [&](auto get, auto keep) { keep(to, get(g) * ga + (get(x) - centre) * xb + shift); });
}

template <class T>
void columns_moments(const void* x, std::int64_t rows, std::int64_t stride, std::int64_t k, Moments* acc) noexcept {
  moments_columns<T>(x, rows, stride, k, acc, 0, ReduceParams{});
}

template <class T>
void affine_columns(const void* in, void* out, std::int64_t rows, std::int64_t stride, std::int64_t k, const void* mean,
                    const void* a, const void* b) noexcept {
  using L = typename LaneOf<T>::type;
  const auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
  const auto *centre = static_cast<const L*>(mean), *scale = static_cast<const L*>(a),
             *shift = static_cast<const L*>(b);
  for (std::int64_t r = 0; r < rows; ++r, x += stride, y += stride) {
    apply<L>(k, [&](auto get, auto keep) { keep(y, (get(x) - get(centre)) * get(scale) + get(shift)); });
  }
}

template <class T>
void dots_columns(const void* grad, const void* in, std::int64_t rows, std::int64_t stride, std::int64_t k,
                  const void* shift, double* sum_grad, double* sum_product) noexcept {
  using L = typename LaneOf<T>::type;
  const auto *g = static_cast<const T*>(grad), *x = static_cast<const T*>(in);
  const auto* centre = static_cast<const L*>(shift);
  alignas(64) L a[kReduceColumns], b[kReduceColumns];
  for (std::int64_t start = 0; start < rows; start += kColumnRows) {
    const std::int64_t stop = rows - start < kColumnRows ? rows : start + kColumnRows;
    for (std::int64_t j = 0; j < k; ++j) a[j] = b[j] = 0;
    constexpr std::int64_t together = 16;  // rows per pass over the columns' sums
    for (std::int64_t r = start; r < stop; r += together) {
      const T *gr = g + r * stride, *xr = x + r * stride;
      const std::int64_t count = stop - r < together ? stop - r : together;
      apply<L>(k, [&](auto get, auto keep) {
        auto sum = get(a), product = get(b);
        const auto c = get(centre);
        for (std::int64_t q = 0; q < count; ++q) {
          const auto value = get(gr + q * stride);
          sum = sum + value;
          product = product + value * (get(xr + q * stride) - c);
        }
        keep(a, sum);
        keep(b, product);
      });
    }
    for (std::int64_t j = 0; j < k; ++j) {
      sum_grad[j] += static_cast<double>(a[j]);
      sum_product[j] += static_cast<double>(b[j]);
    }
  }
}

template <class T>
void affine3_columns(const void* grad, const void* in, void* dx, std::int64_t rows, std::int64_t stride, std::int64_t k,
                     const void* mean, const void* a, const void* b, const void* c) noexcept {
  using L = typename LaneOf<T>::type;
  const auto *g = static_cast<const T*>(grad), *x = static_cast<const T*>(in);
  auto* to = static_cast<T*>(dx);
  const auto *centre = static_cast<const L*>(mean), *ga = static_cast<const L*>(a);
  const auto *xb = static_cast<const L*>(b), *shift = static_cast<const L*>(c);
  for (std::int64_t r = 0; r < rows; ++r, g += stride, x += stride, to += stride) {
    apply<L>(k,
             [&](auto get, auto keep) { keep(to, get(g) * get(ga) + (get(x) - get(centre)) * get(xb) + get(shift)); });
  }
}

template <class T>
void add() {
  static constexpr NormTable table{&layer_forward<T>, &layer_backward<T>, &run_moments<T>,     &affine<T>,
                                   &affine3<T>,       &dots<T>,           &columns_moments<T>, &affine_columns<T>,
                                   &dots_columns<T>,  &affine3_columns<T>};
  add_table(TableId::Norm, dtype_of<T>, &table, kLevel);
}

[[maybe_unused]] const bool added = [] {
  add<Half>();
  add<BFloat16>();
  add<float>();
  add<double>();
  return true;
}();

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
