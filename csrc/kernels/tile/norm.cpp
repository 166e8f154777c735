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
void layer_forward(const void* in, const void* weight, const void* bias, void* out, void* mean, void* rstd, std::int64_t n,
                   std::int64_t count, double eps, bool rms) noexcept {
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
template <class T, class L>
void row_sums(const T* g, const T* x, const L* w, std::int64_t n, L centre, L scale, double* sums) {
  for (std::int64_t start = 0; start < n; start += kRowBlock) {
    const std::int64_t m = n - start < kRowBlock ? n - start : kRowBlock;
    V<L> a = {}, b = {};
    L rest_a = 0, rest_b = 0;
    sweep<L>(m, [&](std::int64_t i, auto vector) {
      if constexpr (decltype(vector)::value) {
        V<L> gw = load<L>(g + start + i);
        if (w != nullptr) gw *= load<L>(w + start + i);
        a += gw;
        b += gw * ((load<L>(x + start + i) - centre) * scale);
      } else {
        L gw = load_one<L>(g[start + i]);
        if (w != nullptr) gw *= w[start + i];
        rest_a += gw;
        rest_b += gw * ((load_one<L>(x[start + i]) - centre) * scale);
      }
    });
    for (int t = 0; t < kWidth<L>; ++t) {
      sums[0] += static_cast<double>(a[t]);
      sums[1] += static_cast<double>(b[t]);
    }
    sums[0] += static_cast<double>(rest_a);
    sums[1] += static_cast<double>(rest_b);
  }
}

template <class T>
void layer_backward(const void* grad, const void* in, const void* weight, const void* mean, const void* rstd, void* dx,
                    void* d_weight, void* d_bias, std::int64_t n, std::int64_t count, bool rms) noexcept {
  using L = typename LaneOf<T>::type;
  const auto* w = static_cast<const L*>(weight);
  auto *dw = static_cast<L*>(d_weight), *db = static_cast<L*>(d_bias);
  for (std::int64_t row = 0; row < count; ++row) {
    const T* g = static_cast<const T*>(grad) + row * n;
    const T* x = static_cast<const T*>(in) + row * n;
    const L centre = static_cast<const L*>(mean)[row], scale = static_cast<const L*>(rstd)[row];
    if (dx != nullptr) {
      T* to = static_cast<T*>(dx) + row * n;
      double sums[2] = {0, 0};
      row_sums(g, x, w, n, centre, scale, sums);
      const L a = rms ? L(0) : static_cast<L>(sums[0] / static_cast<double>(n)), b = static_cast<L>(sums[1] / static_cast<double>(n));
      if (w != nullptr) {
        apply<L>(n, [&](auto get, auto keep) { keep(to, scale * (get(g) * get(w) - a - (get(x) - centre) * scale * b)); });
      } else {
        apply<L>(n, [&](auto get, auto keep) { keep(to, scale * (get(g) - a - (get(x) - centre) * scale * b)); });
      }
    }
    if (dw != nullptr) {
      apply<L>(n, [&](auto get, auto keep) { keep(dw, get(dw) + get(g) * ((get(x) - centre) * scale)); });
    }
    if (db != nullptr) apply<L>(n, [&](auto get, auto keep) { keep(db, get(db) + get(g)); });
  }
}

template <class T>
void run_moments(const void* x, std::int64_t n, Moments* acc) noexcept { moments_run(static_cast<const T*>(x), n, *acc); }

template <class T>
void affine(const void* in, void* out, std::int64_t n, double a, double b) noexcept {
  using L = typename LaneOf<T>::type;
  const auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
  const L scale = static_cast<L>(a), shift = static_cast<L>(b);
  apply<L>(n, [&](auto get, auto keep) { keep(y, get(x) * scale + shift); });
}

template <class T>
void dots(const void* grad, const void* in, std::int64_t n, double shift, double* sums) noexcept {
  using L = typename LaneOf<T>::type;
  row_sums<T, L>(static_cast<const T*>(grad), static_cast<const T*>(in), nullptr, n, static_cast<L>(shift), L(1), sums);
}

template <class T>
void affine3(const void* grad, const void* in, void* dx, std::int64_t n, double a, double b, double c) noexcept {
  using L = typename LaneOf<T>::type;
  const auto *g = static_cast<const T*>(grad), *x = static_cast<const T*>(in);
  auto* to = static_cast<T*>(dx);
  const L ga = static_cast<L>(a), xb = static_cast<L>(b), shift = static_cast<L>(c);
  apply<L>(n, [&](auto get, auto keep) { keep(to, get(g) * ga + get(x) * xb + shift); });
}

template <class T>
void columns_moments(const void* x, std::int64_t rows, std::int64_t stride, std::int64_t k, Moments* acc) noexcept {
  moments_columns<T>(x, rows, stride, k, acc, 0, ReduceParams{});
}

template <class T>
void affine_columns(const void* in, void* out, std::int64_t rows, std::int64_t stride, std::int64_t k, const void* a,
                    const void* b) noexcept {
  using L = typename LaneOf<T>::type;
  const auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
  const auto *scale = static_cast<const L*>(a), *shift = static_cast<const L*>(b);
  for (std::int64_t r = 0; r < rows; ++r, x += stride, y += stride) {
    apply<L>(k, [&](auto get, auto keep) { keep(y, get(x) * get(scale) + get(shift)); });
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
    for (std::int64_t r = start; r < stop; ++r) {
      const T *gr = g + r * stride, *xr = x + r * stride;
      apply<L>(k, [&](auto get, auto keep) {
        const auto value = get(gr);
        keep(a, get(a) + value);
        keep(b, get(b) + value * (get(xr) - get(centre)));
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
                     const void* a, const void* b, const void* c) noexcept {
  using L = typename LaneOf<T>::type;
  const auto *g = static_cast<const T*>(grad), *x = static_cast<const T*>(in);
  auto* to = static_cast<T*>(dx);
  const auto *ga = static_cast<const L*>(a), *xb = static_cast<const L*>(b), *shift = static_cast<const L*>(c);
  for (std::int64_t r = 0; r < rows; ++r, g += stride, x += stride, to += stride) {
    apply<L>(k, [&](auto get, auto keep) { keep(to, get(g) * get(ga) + get(x) * get(xb) + get(shift)); });
  }
}

template <class T>
void add() {
  static constexpr NormTable table{&layer_forward<T>,   &layer_backward<T>, &run_moments<T>,
                                   &affine<T>,          &dots<T>,           &affine3<T>,
                                   &columns_moments<T>, &affine_columns<T>, &dots_columns<T>,
                                   &affine3_columns<T>};
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
