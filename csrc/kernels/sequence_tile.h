// Row loops of attention and of the recurrent cells, built once per CPU level by tile/sequence.cpp,
// for float32 and float64.
#pragma once

#include <cstdint>

namespace flambeau {

template <class T>
struct SequenceTile {
  // Attention. Rows of scores:
  T (*row_max)(const T* row, std::int64_t n) noexcept;
  T (*exp_sum)(T* row, std::int64_t n, T shift) noexcept;  // row = exp(row - shift); returns the sum
  void (*scale)(T* row, std::int64_t n, T factor) noexcept;
  void (*softmax_grad)(T* row, const T* p, std::int64_t n, T delta) noexcept;  // row = p * (row - delta)
  T (*dot)(const T* a, const T* b, std::int64_t n) noexcept;

  // LSTM, one row of n cells. gates (i, f, g, o) in: pre-activations, out: activations. c_out may equal c.
  void (*lstm)(std::int64_t n, T* gates, const T* c, T* c_out, T* h) noexcept;
  // gates: activations in, gradients of pre-activations out. dc: gradient of c_out in, of c out.
  void (*lstm_grad)(std::int64_t n, T* gates, const T* c, const T* c_out, const T* dh, T* dc) noexcept;
  // GRU, one row. x (r, z, n) and hh (r, z, n): the two halves of the pre-activations. saved (or null): r, z, n and
  // hh's n part.
  void (*gru)(std::int64_t n, const T* x, const T* hh, const T* h, T* h_out, T* saved) noexcept;
  // dx, dhh: gradients of the halves; dh: gradient of h_out in, its direct part for h out.
  void (*gru_grad)(std::int64_t n, const T* saved, const T* h, T* dh, T* dx, T* dhh) noexcept;
  // h = act(pre); relu or tanh. grad: dpre = dh * act'(h).
  void (*rnn)(std::int64_t n, const T* pre, T* h, bool relu) noexcept;
  void (*rnn_grad)(std::int64_t n, const T* h, const T* dh, T* dpre, bool relu) noexcept;
};

// level: 0 baseline, 1 avx2, 2 avx512; the highest that the machine has wins.
struct SequenceTileEntry {
  SequenceTileEntry(int level, const SequenceTile<float>* f32, const SequenceTile<double>* f64) noexcept;
};
template <class T>
const SequenceTile<T>& sequence_tile() noexcept;

}  // namespace flambeau
