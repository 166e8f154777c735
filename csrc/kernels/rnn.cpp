// One layer and direction of an LSTM, GRU or plain RNN over all time steps, and its gradient.
//   rows     time-major: step t has the rows [offset_t, offset_t + batch_sizes[t]), as in a packed sequence
//   forward  one product for all inputs, then per step one with the state and one pass over the cells
//   saved    LSTM: activated gates (4H) and cell (H) per row; GRU: r, z, n and the state's n part; RNN: nothing
#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/gemm.h"
#include "kernels/gemm_tile.h"
#include "kernels/scratch.h"
#include "kernels/sequence_tile.h"

namespace flambeau {
namespace {

enum class Cell { Lstm, Gru, Tanh, Relu };

Cell cell_of(std::string_view mode) {
  if (mode == "lstm") return Cell::Lstm;
  if (mode == "gru") return Cell::Gru;
  check(mode == "rnn_tanh" || mode == "rnn_relu", ErrorKind::Value,
        "rnn_layer: expected mode lstm, gru, rnn_tanh or rnn_relu, got ", std::string(mode));
  return mode == "rnn_relu" ? Cell::Relu : Cell::Tanh;
}
std::int64_t gates_of(Cell cell) { return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1; }
std::int64_t saved_of(Cell cell) { return cell == Cell::Lstm ? 5 : cell == Cell::Gru ? 4 : 0; }

struct Steps {
  std::vector<std::int64_t> offset, rows, order;  // order: in which steps run
  std::int64_t total = 0, batch = 0;
};

Steps make_steps(IntSpan batch_sizes, bool reverse) {
  Steps s;
  for (std::int64_t t = 0; t < batch_sizes.size(); ++t) {
    check(batch_sizes[t] > 0 && (t == 0 || batch_sizes[t] <= batch_sizes[t - 1]),
          "rnn_layer: expected positive, non-increasing batch sizes, got ", batch_sizes);
    s.offset.push_back(s.total);
    s.rows.push_back(batch_sizes[t]);
    s.order.push_back(reverse ? batch_sizes.size() - 1 - t : t);
    s.total += batch_sizes[t];
  }
  s.batch = batch_sizes.empty() ? 0 : batch_sizes[0];
  return s;
}

// C[m, n] += A B with B packed once into register-tile panels: the products of every step share it.
template <class T>
class PackedMatrix {
 public:
  PackedMatrix(const T* b, std::int64_t row, std::int64_t col, std::int64_t k, std::int64_t n)
      : tile_(gemm_tile<T>()), k_(k), n_(n), data_((n + tile_.nr - 1) / tile_.nr * tile_.nr * k) {
    tile_.pack_b(data_.data(), b, row, col, k, n);
  }
  void add_product(std::int64_t m, const T* a, std::int64_t lda, T* c, std::int64_t ldc) const {
    const std::int64_t panels = (n_ + tile_.nr - 1) / tile_.nr;
    const std::int64_t grain = std::max<std::int64_t>(1, 262144 / std::max<std::int64_t>(1, m * k_ * tile_.nr));
    parallel_for(0, panels, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t panel = begin; panel < end; ++panel) {
        const std::int64_t j = panel * tile_.nr, columns = std::min(tile_.nr, n_ - j);
        for (std::int64_t p = 0; p < k_; p += kSmallK) {
          tile_.direct(m, columns, std::min(kSmallK, k_ - p), a + p, lda, 1,
                       data_.data() + panel * tile_.nr * k_ + p * tile_.nr, tile_.nr, c + j, ldc, T(1), c + j, ldc);
        }
      }
    });
  }

 private:
  const GemmTile<T>& tile_;
  std::int64_t k_, n_;
  Scratch<T> data_;
};

template <class F>
void for_rows(std::int64_t rows, std::int64_t width, F&& fn) {
  parallel_for(0, rows, std::max<std::int64_t>(1, 8192 / std::max<std::int64_t>(1, width)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) fn(i);
               });
}

template <class T>
struct Layer {
  Cell cell;
  Steps steps;
  std::int64_t inputs, hidden;
  const T *x, *h0, *c0, *w_ih, *w_hh, *b_ih, *b_hh;  // contiguous; c0 and biases may be null
};

// x W_ih^T + b for all rows; the state's bias is added where it can be (not GRU: its n part is gated).
template <class T>
Scratch<T> input_part(const Layer<T>& l) {
  const std::int64_t n = gates_of(l.cell) * l.hidden, rows = l.steps.total;
  Scratch<T> pre(rows * n), bias(l.b_ih != nullptr ? n : 0);
  for (std::int64_t j = 0; l.b_ih != nullptr && j < n; ++j)
    bias[j] = l.b_ih[j] + (l.cell != Cell::Gru ? l.b_hh[j] : T(0));
  gemm(Gemm<T>{rows, n, l.inputs, l.x, l.inputs, 1, l.w_ih, 1, l.inputs, pre.data(), n, T(1), false, bias.data()});
  return pre;
}

// Rows of the batch that run through all steps together. Rows never meet, so with weights that fit a core's cache each
// thread takes some through all of time, without waiting for the others at every step; larger weights are shared out
// within each step instead.
template <class T>
std::int64_t rows_together(std::int64_t batch, std::int64_t weights) {
  if (weights * static_cast<std::int64_t>(sizeof(T)) > (std::int64_t{3} << 19)) return batch;
  const std::int64_t pairs = (batch + 23) / 24;  // 12 rows are a register tile
  return batch < 4 ? batch : std::max<std::int64_t>(1, (batch + 2 * pairs - 1) / (2 * pairs));
}

// One step for rows [first, end) of the batch; saved is null when no gradient will be asked for.
template <class T>
void forward_step(const Layer<T>& l, const PackedMatrix<T>& w, std::int64_t t, std::int64_t first, std::int64_t end,
                  T* pre, T* hh, T* output, T* hn, T* cn, T* saved) {
  const SequenceTile<T>& tile = sequence_tile<T>();
  const std::int64_t H = l.hidden, n = gates_of(l.cell) * H, keep = saved_of(l.cell) * H;
  const std::int64_t at = l.steps.offset[static_cast<std::size_t>(t)],
                     rows = std::min(end, l.steps.rows[static_cast<std::size_t>(t)]) - first;
  if (rows <= 0) return;
  T* gates = pre + (at + first) * n;
  if (l.cell == Cell::Gru) {
    for (std::int64_t i = 0; i < rows; ++i) {
      if (l.b_hh != nullptr)
        std::copy_n(l.b_hh, n, hh + i * n);
      else
        std::fill_n(hh + i * n, n, T(0));
    }
    w.add_product(rows, hn + first * H, H, hh, n);
  } else {
    w.add_product(rows, hn + first * H, H, gates, n);
  }
  for_rows(rows, n, [&](std::int64_t i) {
    const std::int64_t row = first + i;
    T* h = output + (at + row) * H;
    T* s = saved == nullptr ? nullptr : saved + (at + row) * keep;
    switch (l.cell) {
      case Cell::Lstm: {
        tile.lstm(H, gates + i * n, cn + row * H, cn + row * H, h);
        if (s == nullptr) break;
        std::copy_n(gates + i * n, 4 * H, s);
        std::copy_n(cn + row * H, H, s + 4 * H);
        break;
      }
      case Cell::Gru: tile.gru(H, gates + i * n, hh + i * n, hn + row * H, h, s); break;
      default: tile.rnn(H, gates + i * n, h, l.cell == Cell::Relu);
    }
    std::copy_n(h, H, hn + row * H);
  });
}

template <class T>
void forward(const Layer<T>& l, T* output, T* hn, T* cn, T* saved) {
  const std::int64_t H = l.hidden, n = gates_of(l.cell) * H, B = l.steps.batch;
  Scratch<T> pre = input_part(l);
  const PackedMatrix<T> w(l.w_hh, 1, H, H, n);
  std::copy_n(l.h0, B * H, hn);
  if (cn != nullptr) std::copy_n(l.c0, B * H, cn);
  parallel_for(0, B, rows_together<T>(B, n * H), [&](std::int64_t begin, std::int64_t end) {
    Scratch<T> hh(l.cell == Cell::Gru ? (end - begin) * n : 0);
    for (const std::int64_t t : l.steps.order)
      forward_step(l, w, t, begin, end, pre.data(), hh.data(), output, hn, cn, saved);
  });
}

// The state that step t (in running order) started from, for each of its rows.
template <class T>
const T* previous(const Steps& s, std::size_t position, std::int64_t row, std::int64_t width, std::int64_t stride,
                  const T* sequence, const T* first) {
  // Walk back to the last step that had this row: with sorted lengths that is the step before, or none.
  if (position > 0) {
    const auto before = static_cast<std::size_t>(s.order[position - 1]);
    if (row < s.rows[before]) return sequence + (s.offset[before] + row) * stride;
  }
  return first + row * width;
}

template <class T>
struct LayerGrads {
  T *x, *h0, *c0, *w_ih, *w_hh, *b_ih, *b_hh;
};

template <class T>
void column_sums(const T* a, std::int64_t rows, std::int64_t n, T* out) {
  parallel_for(0, n, std::clamp<std::int64_t>(65536 / std::max<std::int64_t>(1, rows), 64, 4096),
               [&](std::int64_t begin, std::int64_t end) {
                 std::fill(out + begin, out + end, T(0));
                 for (std::int64_t i = 0; i < rows; ++i) {
                   for (std::int64_t j = begin; j < end; ++j) out[j] += a[i * n + j];
                 }
               });
}

// One step back for rows [first, end) of the batch.
template <class T>
struct BackwardStep {
  const Layer<T>& l;
  const T *grad_output, *output, *saved;
  T *dh, *dc, *d_pre, *d_hh, *h_prev;

  void run(const PackedMatrix<T>& w, std::size_t position, std::int64_t first, std::int64_t end) const {
    const auto t = static_cast<std::size_t>(l.steps.order[position]);
    const std::int64_t H = l.hidden, n = gates_of(l.cell) * H, at = l.steps.offset[t],
                       rows = std::min(end, l.steps.rows[t]) - first;
    if (rows <= 0) return;
    for_rows(rows, n, [&](std::int64_t i) { cell(position, at, first + i); });
    w.add_product(rows, (l.cell == Cell::Gru ? d_hh : d_pre) + (at + first) * n, n, dh + first * H, H);
  }

 private:
  void cell(std::size_t position, std::int64_t at, std::int64_t row) const {
    const SequenceTile<T>& tile = sequence_tile<T>();
    const std::int64_t H = l.hidden, n = gates_of(l.cell) * H, keep = saved_of(l.cell) * H;
    const T* before = previous(l.steps, position, row, H, H, output, l.h0);
    std::copy_n(before, H, h_prev + (at + row) * H);
    T* d = dh + row * H;
    if (grad_output != nullptr) {
      for (std::int64_t j = 0; j < H; ++j) d[j] += grad_output[(at + row) * H + j];
    }
    T* gates = d_pre + (at + row) * n;
    const T* s = saved + (at + row) * keep;
    switch (l.cell) {
      case Cell::Lstm: {
        std::copy_n(s, 4 * H, gates);
        tile.lstm_grad(H, gates, previous(l.steps, position, row, H, keep, saved + 4 * H, l.c0), s + 4 * H, d,
                       dc + row * H);
        std::fill_n(d, H, T(0));
        break;
      }
      case Cell::Gru: tile.gru_grad(H, s, before, d, gates, d_hh + (at + row) * n); break;
      default: tile.rnn_grad(H, output + (at + row) * H, d, gates, l.cell == Cell::Relu); std::fill_n(d, H, T(0));
    }
  }
};

template <class T>
void backward(const Layer<T>& l, const T* grad_output, const T* grad_hn, const T* grad_cn, const T* output,
              const T* saved, const LayerGrads<T>& out) {
  const std::int64_t H = l.hidden, n = gates_of(l.cell) * H, B = l.steps.batch, total = l.steps.total;
  const bool gru = l.cell == Cell::Gru;
  Scratch<T> d_pre(total * n), d_hh(gru ? total * n : 0), h_prev(total * H);
  T *dh = out.h0, *dc = out.c0;  // state gradients live in their destinations
  if (grad_hn != nullptr)
    std::copy_n(grad_hn, B * H, dh);
  else
    std::fill_n(dh, B * H, T(0));
  if (dc != nullptr) {
    if (grad_cn != nullptr)
      std::copy_n(grad_cn, B * H, dc);
    else
      std::fill_n(dc, B * H, T(0));
  }
  const PackedMatrix<T> w(l.w_hh, H, 1, n, H);
  parallel_for(0, B, rows_together<T>(B, n * H), [&](std::int64_t begin, std::int64_t end) {
    for (std::size_t position = l.steps.order.size(); position-- > 0;) {
      const BackwardStep<T> step{l, grad_output, output, saved, dh, dc, d_pre.data(), d_hh.data(), h_prev.data()};
      step.run(w, position, begin, end);
    }
  });
  const T* state = gru ? d_hh.data() : d_pre.data();
  gemm(Gemm<T>{total, l.inputs, n, d_pre.data(), n, 1, l.w_ih, l.inputs, 1, out.x, l.inputs});
  gemm(Gemm<T>{n, l.inputs, total, d_pre.data(), 1, n, l.x, l.inputs, 1, out.w_ih, l.inputs});
  gemm(Gemm<T>{n, H, total, state, 1, n, h_prev.data(), H, 1, out.w_hh, H});
  if (out.b_ih != nullptr) {
    column_sums(d_pre.data(), total, n, out.b_ih);
    if (gru)
      column_sums(state, total, n, out.b_hh);
    else
      std::copy_n(out.b_ih, n, out.b_hh);
  }
}

template <class T>
const T* data_or_null(const Tensor& t) {
  return t.defined() ? t.data<T>() : nullptr;
}

struct Operands {
  Tensor input, h0, c0, w_ih, w_hh, b_ih, b_hh;
};

// Contiguous copies, in the dtype that is computed in.
Operands prepare(const Tensor& input, const Tensor& h0, const Tensor& c0, const Tensor& w_ih, const Tensor& w_hh,
                 const Tensor& b_ih, const Tensor& b_hh) {
  const DType compute = compute_dtype(input.dtype());
  const auto ready = [&](const Tensor& t) { return t.defined() ? contiguous(to_dtype(t, compute)) : t; };
  return {ready(input), ready(h0), ready(c0), ready(w_ih), ready(w_hh), ready(b_ih), ready(b_hh)};
}

template <class T>
Layer<T> make_layer(Cell cell, Steps steps, const Operands& o) {
  return {cell,
          std::move(steps),
          o.input.sizes()[1],
          o.h0.sizes()[1],
          o.input.data<T>(),
          o.h0.data<T>(),
          data_or_null<T>(o.c0),
          o.w_ih.data<T>(),
          o.w_hh.data<T>(),
          data_or_null<T>(o.b_ih),
          data_or_null<T>(o.b_hh)};
}

void check_layer(Cell cell, const Steps& steps, const Tensor& input, const Tensor& h0, const Tensor& c0,
                 const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  check(input.dim() == 2 && input.sizes()[0] == steps.total, "rnn_layer: expected input of shape (", steps.total,
        ", features), got ", input.sizes());
  check(h0.dim() == 2 && h0.sizes()[0] == steps.batch, "rnn_layer: expected hidden state of shape (", steps.batch,
        ", hidden), got ", h0.sizes());
  const std::int64_t H = h0.sizes()[1], n = gates_of(cell) * H;
  check(cell != Cell::Lstm || (c0.defined() && c0.sizes() == h0.sizes()),
        "rnn_layer: expected a cell state of the hidden state's shape ", h0.sizes());
  check(w_ih.sizes() == IntSpan(Dims{n, input.sizes()[1]}) && w_hh.sizes() == IntSpan(Dims{n, H}),
        "rnn_layer: expected weights of shapes (", n, ", ", input.sizes()[1], ") and (", n, ", ", H, "), got ",
        w_ih.sizes(), " and ", w_hh.sizes());
  check(b_ih.defined() == b_hh.defined() && (!b_ih.defined() || (b_ih.numel() == n && b_hh.numel() == n)),
        "rnn_layer: expected two biases of ", n, " elements, or none");
  for (const Tensor* t : {&h0, &c0, &w_ih, &w_hh, &b_ih, &b_hh}) {
    check(!t->defined() || t->dtype() == input.dtype(), "rnn_layer: expected all tensors of dtype ",
          name_of(input.dtype()), ", the input's, got ", t->defined() ? name_of(t->dtype()) : "");
  }
}

using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;
Four rnn_layer(const Tensor& input, IntSpan batch_sizes, const Tensor& h0, const Tensor& c0, const Tensor& w_ih,
               const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh, std::string_view mode, bool reverse,
               bool keep) {
  const Cell cell = cell_of(mode);
  const Steps steps = make_steps(batch_sizes, reverse);
  check_layer(cell, steps, input, h0, c0, w_ih, w_hh, b_ih, b_hh);
  const DType dtype = input.dtype(), compute = compute_dtype(dtype);
  const std::int64_t H = h0.sizes()[1];
  const Device device = input.device();
  Tensor output = empty({steps.total, H}, compute, device), hn = empty(h0.sizes(), compute, device), cn,
         saved = empty({keep ? steps.total : 0, saved_of(cell) * H}, compute, device);
  cn = empty(cell == Cell::Lstm ? h0.sizes() : IntSpan(Dims{0}), compute, device);
  if (!output.is_meta()) {
    const Operands o = prepare(input, h0, c0, w_ih, w_hh, b_ih, b_hh);
    dispatch_floating("rnn_layer", compute, [&](auto tag) {
      using T = typename decltype(tag)::type;
      forward(make_layer<T>(cell, steps, o), output.data<T>(), hn.data<T>(),
              cell == Cell::Lstm ? cn.data<T>() : nullptr, keep ? saved.data<T>() : nullptr);
    });
  }
  if (dtype == compute) return {output, hn, cn, saved};
  return {to_dtype(output, dtype), to_dtype(hn, dtype), to_dtype(cn, dtype), saved};
}

using Seven = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;
Seven rnn_layer_grad(const Tensor& input, const Tensor& grad_output, const Tensor& grad_hn, const Tensor& grad_cn,
                     IntSpan batch_sizes, const Tensor& h0, const Tensor& c0, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor& b_ih, const Tensor& b_hh, const Tensor& output, const Tensor& saved,
                     std::string_view mode, bool reverse) {
  const Cell cell = cell_of(mode);
  const Steps steps = make_steps(batch_sizes, reverse);
  check_layer(cell, steps, input, h0, c0, w_ih, w_hh, b_ih, b_hh);
  const DType dtype = input.dtype(), compute = compute_dtype(dtype);
  const auto like = [&](const Tensor& t) {
    return t.defined() ? empty(t.sizes(), compute, input.device()) : empty({0}, compute, input.device());
  };
  Tensor gx = like(input), gh = like(h0), gc = like(c0), gwi = like(w_ih), gwh = like(w_hh), gbi = like(b_ih),
         gbh = like(b_hh);
  if (!gx.is_meta()) {
    const Operands o = prepare(input, h0, c0, w_ih, w_hh, b_ih, b_hh);
    const auto ready = [&](const Tensor& t) { return t.defined() ? contiguous(to_dtype(t, compute)) : t; };
    const Tensor go = ready(grad_output), ghn = ready(grad_hn), gcn = ready(grad_cn), out = ready(output),
                 kept = contiguous(saved);
    dispatch_floating("rnn_layer", compute, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const bool bias = b_ih.defined();
      const LayerGrads<T> targets{gx.data<T>(),
                                  gh.data<T>(),
                                  cell == Cell::Lstm ? gc.data<T>() : nullptr,
                                  gwi.data<T>(),
                                  gwh.data<T>(),
                                  bias ? gbi.data<T>() : nullptr,
                                  bias ? gbh.data<T>() : nullptr};
      backward(make_layer<T>(cell, steps, o), data_or_null<T>(go), data_or_null<T>(ghn), data_or_null<T>(gcn),
               out.data<T>(), kept.data<T>(), targets);
    });
  }
  if (dtype == compute) return {gx, gh, gc, gwi, gwh, gbi, gbh};
  const auto back = [&](const Tensor& t) { return to_dtype(t, dtype); };
  return {back(gx), back(gh), back(gc), back(gwi), back(gwh), back(gbi), back(gbh)};
}

const Kernel rnn_layer_kernel("rnn_layer", &rnn_layer);
const Kernel rnn_layer_grad_kernel("rnn_layer_grad", &rnn_layer_grad);

}  // namespace
}  // namespace flambeau
