// Scaled dot-product attention, softmax(q k^T * scale + mask) v, a block of query rows at a time so that scores never
// leave the cache. The backward pass computes the scores again from the saved log-sum-exp of each row.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/copy.h"
#include "core/elementwise.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/gemm.h"
#include "kernels/sequence_tile.h"

namespace flambeau {
namespace {

template <class T>
const SequenceTile<T>* g_tile = nullptr;
int g_level = -1;

constexpr std::int64_t kRows = 48;  // query rows per block: a multiple of the register tile

struct Sizes {
  std::int64_t batch, heads, rows, keys, width, value_width;
};

// Stays with the thread: clearing a fresh block of scores would cost a fifth of the work on it.
template <class T, int kSlot>
std::vector<T>& scratch(std::int64_t count) {
  static thread_local std::vector<T> block;
  if (block.size() < static_cast<std::size_t>(count)) block.resize(static_cast<std::size_t>(count));
  return block;
}

// All are (batch, heads, length, width) with the last stride 1.
Tensor last_dense(const Tensor& t) { return t.strides()[3] == 1 || t.sizes()[3] == 1 ? t : contiguous(t); }

Sizes check_arguments(const Tensor& query, const Tensor& key, const Tensor& value) {
  check(query.dim() == 4 && key.dim() == 4 && value.dim() == 4,
        "attention: expected query, key and value with 4 dimensions, got shapes ", query.sizes(), ", ", key.sizes(),
        " and ", value.sizes());
  check(query.dtype() == key.dtype() && query.dtype() == value.dtype(),
        "attention: expected query, key and value of the same dtype, got ", name_of(query.dtype()), ", ",
        name_of(key.dtype()), " and ", name_of(value.dtype()));
  const IntSpan q = query.sizes(), k = key.sizes(), v = value.sizes();
  check(q[0] == k[0] && q[0] == v[0] && q[1] == k[1] && q[1] == v[1] && q[3] == k[3] && k[2] == v[2],
        "attention: expected query (b, h, l, e), key (b, h, s, e) and value (b, h, s, v), got ", q, ", ", k, " and ",
        v);
  return {q[0], q[1], q[2], k[2], q[3], v[3]};
}

template <class T>
struct Problem {
  Sizes s;
  const T *q, *k, *v;
  std::int64_t qs[3], ks[3], vs[3];  // strides of batch, head, row
  const char* mask = nullptr;        // bool (true: attend) or T (added)
  bool mask_is_bool = false;
  std::int64_t ms[4] = {0, 0, 0, 0};
  bool causal = false;
  T scale;
};

void strides_of(const Tensor& t, std::int64_t* out) {
  for (int d = 0; d < 3; ++d) out[d] = t.strides()[d];
}

template <class T>
Problem<T> make_problem(const Sizes& s, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                        bool causal, std::optional<double> scale) {
  Problem<T> p{};
  p.s = s;
  p.q = query.data<T>();
  p.k = key.data<T>();
  p.v = value.data<T>();
  strides_of(query, p.qs);
  strides_of(key, p.ks);
  strides_of(value, p.vs);
  p.causal = causal;
  p.scale = static_cast<T>(scale.value_or(1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, s.width)))));
  if (mask.defined()) {
    p.mask = static_cast<const char*>(mask.data());
    p.mask_is_bool = mask.dtype() == DType::Bool;
    for (int d = 0; d < 4; ++d) p.ms[d] = mask.strides()[d] * mask.itemsize();
  }
  return p;
}

// Keys that rows [from, from + rows) may look at.
template <class T>
std::int64_t visible(const Problem<T>& p, std::int64_t from, std::int64_t rows) {
  return p.causal ? std::min(p.s.keys, from + rows) : p.s.keys;
}

// Scores of one block, masked: scores[rows][keys].
template <class T>
void block_scores(const Problem<T>& p, std::int64_t b, std::int64_t h, std::int64_t from, std::int64_t rows,
                  std::int64_t keys, T* scores) {
  const T* q = p.q + b * p.qs[0] + h * p.qs[1] + from * p.qs[2];
  const T* k = p.k + b * p.ks[0] + h * p.ks[1];
  gemm_serial(Gemm<T>{rows, keys, p.s.width, q, p.qs[2], 1, k, 1, p.ks[2], scores, keys, p.scale});
  const T low = -std::numeric_limits<T>::infinity();
  for (std::int64_t i = 0; i < rows; ++i) {
    T* row = scores + i * keys;
    if (p.mask != nullptr) {
      const char* m = p.mask + b * p.ms[0] + h * p.ms[1] + (from + i) * p.ms[2];
      for (std::int64_t j = 0; j < keys; ++j, m += p.ms[3]) {
        if (p.mask_is_bool)
          row[j] = *reinterpret_cast<const bool*>(m) ? row[j] : low;
        else
          row[j] += *reinterpret_cast<const T*>(m);
      }
    }
    if (p.causal && from + i + 1 < keys) std::fill(row + from + i + 1, row + keys, low);
  }
}

template <class T>
void forward(const Problem<T>& p, T* output, const std::int64_t* os, T* lse) {
  const Sizes& s = p.s;
  const SequenceTile<T>& tile = *g_tile<T>;
  const std::int64_t blocks = (s.rows + kRows - 1) / kRows;
  parallel_for(0, s.batch * s.heads * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T>& scores = scratch<T, 0>(kRows * s.keys);
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t from = task % blocks * kRows, head = task / blocks, b = head / s.heads, h = head % s.heads;
      const std::int64_t rows = std::min(kRows, s.rows - from), keys = visible(p, from, rows);
      block_scores(p, b, h, from, rows, keys, scores.data());
      for (std::int64_t i = 0; i < rows; ++i) {
        T* row = scores.data() + i * keys;
        const T top = tile.row_max(row, keys);
        T& saved = lse[head * s.rows + from + i];
        if (top == -std::numeric_limits<T>::infinity()) {  // nothing to attend to: zeros, as PyTorch's safe softmax
          std::fill_n(row, keys, T(0));
          saved = std::numeric_limits<T>::infinity();
          continue;
        }
        const T sum = tile.exp_sum(row, keys, top);
        tile.scale(row, keys, T(1) / sum);
        saved = top + std::log(sum);
      }
      gemm_serial(Gemm<T>{rows, s.value_width, keys, scores.data(), keys, 1, p.v + b * p.vs[0] + h * p.vs[1], p.vs[2],
                          1, output + b * os[0] + h * os[1] + from * os[2], os[2]});
    }
  });
}

template <class T>
struct Gradients {
  T *q, *k, *v;
  std::int64_t qs[3], ks[3], vs[3];
};

template <class T>
void backward(const Problem<T>& p, const T* grad, const std::int64_t* gs, const T* output, const std::int64_t* os,
              const T* lse, const Gradients<T>& out) {
  const Sizes& s = p.s;
  const SequenceTile<T>& tile = *g_tile<T>;
  parallel_for(0, s.batch * s.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T>&probabilities = scratch<T, 0>(kRows * s.keys), &ds = scratch<T, 1>(kRows * s.keys);
    for (std::int64_t head = begin; head < end; ++head) {
      const std::int64_t b = head / s.heads, h = head % s.heads;
      const T *k = p.k + b * p.ks[0] + h * p.ks[1], *v = p.v + b * p.vs[0] + h * p.vs[1];
      T *gk = out.k + b * out.ks[0] + h * out.ks[1], *gv = out.v + b * out.vs[0] + h * out.vs[1];
      for (std::int64_t j = 0; j < s.keys; ++j) {
        std::fill_n(gk + j * out.ks[2], s.width, T(0));
        std::fill_n(gv + j * out.vs[2], s.value_width, T(0));
      }
      for (std::int64_t from = 0; from < s.rows; from += kRows) {
        const std::int64_t rows = std::min(kRows, s.rows - from), keys = visible(p, from, rows);
        const T* q = p.q + b * p.qs[0] + h * p.qs[1] + from * p.qs[2];
        const T* g = grad + b * gs[0] + h * gs[1] + from * gs[2];
        const T* o = output + b * os[0] + h * os[1] + from * os[2];
        block_scores(p, b, h, from, rows, keys, probabilities.data());
        gemm_serial(Gemm<T>{rows, keys, s.value_width, g, gs[2], 1, v, 1, p.vs[2], ds.data(), keys});
        for (std::int64_t i = 0; i < rows; ++i) {
          T* row = probabilities.data() + i * keys;
          tile.exp_sum(row, keys, lse[head * s.rows + from + i]);
          tile.softmax_grad(ds.data() + i * keys, row, keys, tile.dot(g + i * gs[2], o + i * os[2], s.value_width));
        }
        gemm_serial(Gemm<T>{rows, s.width, keys, ds.data(), keys, 1, k, p.ks[2], 1,
                            out.q + b * out.qs[0] + h * out.qs[1] + from * out.qs[2], out.qs[2], p.scale});
        gemm_serial(Gemm<T>{keys, s.width, rows, ds.data(), 1, keys, q, p.qs[2], 1, gk, out.ks[2], p.scale, true});
        gemm_serial(
            Gemm<T>{keys, s.value_width, rows, probabilities.data(), 1, keys, g, gs[2], 1, gv, out.vs[2], T(1), true});
      }
    }
  });
}

// Memory order (batch, length, heads, width): what a merge of the heads needs next is then a view.
Tensor heads_inside(const Sizes& s, std::int64_t length, std::int64_t width, DType dtype, Device device) {
  return empty_strided({s.batch, s.heads, length, width}, {length * s.heads * width, width, s.heads * width, 1}, dtype,
                       device);
}

// Batch, heads and rows in the memory order of query, as PyTorch has it: what a merge of the heads needs next is then a
// view where the split was one. Contiguous if query's last dim is not.
Tensor in_order_of(const Tensor& query, const Sizes& s, DType dtype) {
  const std::int64_t sizes[] = {s.batch, s.heads, s.rows, s.value_width};
  if (query.strides()[3] != 1) return empty(IntSpan(sizes, 4), dtype, query.device());
  int order[] = {2, 1, 0};  // innermost first
  for (int i = 1; i < 3; ++i) {
    for (int k = i; k > 0; --k) {
      const std::int64_t outer = query.strides()[order[k]], inner = query.strides()[order[k - 1]];
      if (outer == 0 || inner == 0 || outer >= inner) break;
      std::swap(order[k], order[k - 1]);
    }
  }
  std::int64_t strides[] = {0, 0, 0, 1}, step = std::max<std::int64_t>(s.value_width, 1);
  for (const int d : order) {
    strides[d] = step;
    step *= std::max<std::int64_t>(sizes[d], 1);
  }
  return empty_strided(IntSpan(sizes, 4), IntSpan(strides, 4), dtype, query.device());
}

Tensor prepare_mask(const Tensor& mask, const Sizes& s, DType dtype) {
  if (!mask.defined()) return mask;
  check(mask.dtype() == DType::Bool || mask.dtype() == dtype, "attention: expected attn_mask of dtype bool or ",
        name_of(dtype), ", got ", name_of(mask.dtype()));
  return expand_to(mask, {s.batch, s.heads, s.rows, s.keys}, "attention");
}

std::tuple<Tensor, Tensor> attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& attn_mask, bool is_causal, std::optional<double> scale) {
  const Sizes s = check_arguments(query, key, value);
  const DType dtype = query.dtype();
  if (dtype != DType::Float32 && dtype != DType::Float64) throw_bad_dtype("attention", dtype);
  const Tensor mask = prepare_mask(attn_mask, s, dtype);
  Tensor output = in_order_of(query, s, dtype), lse = empty({s.batch, s.heads, s.rows}, dtype, query.device());
  if (output.is_meta() || output.numel() == 0) return {output, lse};
  if (s.keys == 0) {
    fill(output, 0);
    fill(lse, 0);
    return {output, lse};
  }
  const Tensor q = last_dense(query), k = last_dense(key), v = last_dense(value);
  std::int64_t os[3];
  strides_of(output, os);
  dispatch_floating("attention", dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    forward<T>(make_problem<T>(s, q, k, v, mask, is_causal, scale), output.data<T>(), os, lse.data<T>());
  });
  return {output, lse};
}

std::tuple<Tensor, Tensor, Tensor> attention_grad(const Tensor& cotangent, const Tensor& query, const Tensor& key,
                                                  const Tensor& value, const Tensor& output, const Tensor& logsumexp,
                                                  const Tensor& attn_mask, bool is_causal,
                                                  std::optional<double> scale) {
  const Sizes s = check_arguments(query, key, value);
  const DType dtype = query.dtype();
  const Tensor mask = prepare_mask(attn_mask, s, dtype);
  Tensor gq = heads_inside(s, s.rows, s.width, dtype, query.device()),
         gk = heads_inside(s, s.keys, s.width, dtype, query.device()),
         gv = heads_inside(s, s.keys, s.value_width, dtype, query.device());
  if (gq.is_meta()) return {gq, gk, gv};
  if (output.numel() == 0 || s.keys == 0 || s.width == 0) {
    for (const Tensor* t : {&gq, &gk, &gv}) fill(*t, 0);
    return {gq, gk, gv};
  }
  const Tensor q = last_dense(query), k = last_dense(key), v = last_dense(value), g = last_dense(cotangent),
               o = last_dense(output), l = contiguous(logsumexp);
  std::int64_t gs[3], os[3];
  strides_of(g, gs);
  strides_of(o, os);
  dispatch_floating("attention", dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Gradients<T> out{gq.data<T>(), gk.data<T>(), gv.data<T>(), {}, {}, {}};
    strides_of(gq, out.qs);
    strides_of(gk, out.ks);
    strides_of(gv, out.vs);
    backward<T>(make_problem<T>(s, q, k, v, mask, is_causal, scale), g.data<T>(), gs, o.data<T>(), os, l.data<T>(),
                out);
  });
  return {gq, gk, gv};
}

const Kernel attention_kernel("fused_attention", &attention);
const Kernel attention_grad_kernel("fused_attention_grad", &attention_grad);

}  // namespace

SequenceTileEntry::SequenceTileEntry(int level, const SequenceTile<float>* f32,
                                     const SequenceTile<double>* f64) noexcept {
  if (level > static_cast<int>(cpu_level()) || level <= g_level) return;
  g_level = level;
  g_tile<float> = f32;
  g_tile<double> = f64;
}
template <class T>
const SequenceTile<T>& sequence_tile() noexcept {
  return *g_tile<T>;
}
template const SequenceTile<float>& sequence_tile<float>() noexcept;
template const SequenceTile<double>& sequence_tile<double>() noexcept;

}  // namespace flambeau
