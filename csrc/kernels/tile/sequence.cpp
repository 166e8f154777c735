// Row loops of attention (softmax of scores) and of the recurrent cells.
#include "kernels/sequence_tile.h"

#include "simd/math.h"
#include "simd/vec.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

// fn(offset, lanes): whole vectors, then the rest.
template <class T, class F>
[[gnu::always_inline]] inline void sweep(std::int64_t n, F&& fn) {
  constexpr int w = Vec<T>::size;
  std::int64_t i = 0;
  for (; i + w <= n; i += w) fn(i, w);
  if (i < n) fn(i, static_cast<int>(n - i));
}
template <class T>
[[gnu::always_inline]] inline Vec<T> get(const T* p, int lanes) {
  return lanes == Vec<T>::size ? Vec<T>::load(p) : Vec<T>::load_part(p, lanes);
}
template <class T>
[[gnu::always_inline]] inline void put(T* p, Vec<T> v, int lanes) {
  if (lanes == Vec<T>::size)
    v.store(p);
  else
    v.store_part(p, lanes);
}
template <class T>
[[gnu::always_inline]] inline T lanes_sum(Vec<T> v) {
  T lanes[Vec<T>::size];
  v.store(lanes);
  for (int step = Vec<T>::size / 2; step > 0; step /= 2) {
    for (int i = 0; i < step; ++i) lanes[i] += lanes[i + step];
  }
  return lanes[0];
}

template <class T>
T row_max(const T* row, std::int64_t n) noexcept {
  constexpr int w = Vec<T>::size;
  const T low = -static_cast<T>(__builtin_inf());
  T best = low;
  std::int64_t i = 0;
  if (n >= w) {
    Vec<T> top(low);
    for (; i + w <= n; i += w) top = max(Vec<T>::load(row + i), top);
    for (int lane = 0; lane < w; ++lane) best = top[lane] > best ? top[lane] : best;
  }
  for (; i < n; ++i) best = row[i] > best ? row[i] : best;
  return best;
}

template <class T>
T exp_sum(T* row, std::int64_t n, T shift) noexcept {
  constexpr int w = Vec<T>::size;
  Vec<T> total(T(0)), total2(T(0));
  const Vec<T> by(shift);
  std::int64_t i = 0;
  for (; i + 2 * w <= n; i += 2 * w) {
    const Vec<T> a = exp(Vec<T>::load(row + i) - by), b = exp(Vec<T>::load(row + i + w) - by);
    a.store(row + i);
    b.store(row + i + w);
    total = total + a;
    total2 = total2 + b;
  }
  T sum = lanes_sum<T>(total + total2);
  for (; i < n; i += w) {
    const int lanes = n - i < w ? static_cast<int>(n - i) : w;
    const Vec<T> e = exp(get(row + i, lanes) - by);
    put(row + i, e, lanes);
    for (int lane = 0; lane < lanes; ++lane) sum += e[lane];
  }
  return sum;
}

template <class T>
void scale_row(T* row, std::int64_t n, T factor) noexcept {
  for (std::int64_t i = 0; i < n; ++i) row[i] *= factor;
}
template <class T>
void softmax_grad(T* row, const T* p, std::int64_t n, T delta) noexcept {
  for (std::int64_t i = 0; i < n; ++i) row[i] = p[i] * (row[i] - delta);
}
template <class T>
T dot(const T* a, const T* b, std::int64_t n) noexcept {
  Vec<T> total(T(0));
  sweep<T>(n, [&](std::int64_t i, int lanes) { total = total + get(a + i, lanes) * get(b + i, lanes); });
  return lanes_sum<T>(total);
}

template <class T>
void lstm(std::int64_t n, T* gates, const T* c, T* c_out, T* h) noexcept {
  sweep<T>(n, [&](std::int64_t j, int lanes) {
    const Vec<T> i = sigmoid(get(gates + j, lanes)), f = sigmoid(get(gates + n + j, lanes));
    const Vec<T> g = tanh(get(gates + 2 * n + j, lanes)), o = sigmoid(get(gates + 3 * n + j, lanes));
    put(gates + j, i, lanes);
    put(gates + n + j, f, lanes);
    put(gates + 2 * n + j, g, lanes);
    put(gates + 3 * n + j, o, lanes);
    const Vec<T> cell = f * get(c + j, lanes) + i * g;
    put(c_out + j, cell, lanes);
    put(h + j, o * tanh(cell), lanes);
  });
}

template <class T>
void lstm_grad(std::int64_t n, T* gates, const T* c, const T* c_out, const T* dh, T* dc) noexcept {
  const Vec<T> one(T(1));
  sweep<T>(n, [&](std::int64_t j, int lanes) {
    const Vec<T> i = get(gates + j, lanes), f = get(gates + n + j, lanes), g = get(gates + 2 * n + j, lanes),
                 o = get(gates + 3 * n + j, lanes);
    const Vec<T> tc = tanh(get(c_out + j, lanes)), up = get(dh + j, lanes);
    const Vec<T> cell = get(dc + j, lanes) + up * o * (one - tc * tc);
    put(gates + j, cell * g * i * (one - i), lanes);
    put(gates + n + j, cell * get(c + j, lanes) * f * (one - f), lanes);
    put(gates + 2 * n + j, cell * i * (one - g * g), lanes);
    put(gates + 3 * n + j, up * tc * o * (one - o), lanes);
    put(dc + j, cell * f, lanes);
  });
}

template <class T>
void gru(std::int64_t n, const T* x, const T* hh, const T* h, T* h_out, T* saved) noexcept {
  sweep<T>(n, [&](std::int64_t j, int lanes) {
    const Vec<T> r = sigmoid(get(x + j, lanes) + get(hh + j, lanes)),
                 z = sigmoid(get(x + n + j, lanes) + get(hh + n + j, lanes));
    const Vec<T> inner = get(hh + 2 * n + j, lanes), fresh = tanh(get(x + 2 * n + j, lanes) + r * inner);
    put(h_out + j, fresh + z * (get(h + j, lanes) - fresh), lanes);
    if (saved == nullptr) return;
    put(saved + j, r, lanes);
    put(saved + n + j, z, lanes);
    put(saved + 2 * n + j, fresh, lanes);
    put(saved + 3 * n + j, inner, lanes);
  });
}

template <class T>
void gru_grad(std::int64_t n, const T* saved, const T* h, T* dh, T* dx, T* dhh) noexcept {
  const Vec<T> one(T(1));
  sweep<T>(n, [&](std::int64_t j, int lanes) {
    const Vec<T> r = get(saved + j, lanes), z = get(saved + n + j, lanes), fresh = get(saved + 2 * n + j, lanes),
                 inner = get(saved + 3 * n + j, lanes);
    const Vec<T> up = get(dh + j, lanes);
    const Vec<T> dn = up * (one - z) * (one - fresh * fresh), dr = dn * inner * r * (one - r),
                 dz = up * (get(h + j, lanes) - fresh) * z * (one - z);
    put(dx + j, dr, lanes);
    put(dx + n + j, dz, lanes);
    put(dx + 2 * n + j, dn, lanes);
    put(dhh + j, dr, lanes);
    put(dhh + n + j, dz, lanes);
    put(dhh + 2 * n + j, dn * r, lanes);
    put(dh + j, up * z, lanes);
  });
}

template <class T>
void rnn(std::int64_t n, const T* pre, T* h, bool relu) noexcept {
  if (relu) {
    for (std::int64_t j = 0; j < n; ++j) h[j] = pre[j] > T(0) || pre[j] != pre[j] ? pre[j] : T(0);
  } else {
    sweep<T>(n, [&](std::int64_t j, int lanes) { put(h + j, tanh(get(pre + j, lanes)), lanes); });
  }
}
template <class T>
void rnn_grad(std::int64_t n, const T* h, const T* dh, T* dpre, bool relu) noexcept {
  for (std::int64_t j = 0; j < n; ++j) dpre[j] = relu ? (h[j] > T(0) ? dh[j] : T(0)) : dh[j] * (T(1) - h[j] * h[j]);
}

template <class T>
constexpr SequenceTile<T> kTable{&row_max<T>,   &exp_sum<T>, &scale_row<T>, &softmax_grad<T>, &dot<T>,     &lstm<T>,
                                 &lstm_grad<T>, &gru<T>,     &gru_grad<T>,  &rnn<T>,          &rnn_grad<T>};
const SequenceTileEntry entry(static_cast<int>(kLevel), &kTable<float>, &kTable<double>);

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
