// Pooling loops. Plain layout: per output row, first across the rows that the windows span (contiguous, so the compiler
// vectorises), then along that one line. Channels-last: all channels of a window at once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.h"
#include "kernels/pool.h"

namespace flambeau {
namespace {

template <class T>
struct Wide { using type = T; };
template <>
struct Wide<Half> { using type = float; };
template <>
struct Wide<BFloat16> { using type = float; };
template <class T>
using Acc = typename Wide<T>::type;

template <class A>
constexpr A lowest() {
  if constexpr (std::is_floating_point_v<A>) return -std::numeric_limits<A>::infinity();
  else return std::numeric_limits<A>::lowest();
}

template <class F>
void dispatch_real(const char* op, DType dtype, F&& fn) {
  if (dtype == DType::Bool || is_complex(dtype)) throw_bad_dtype(op, dtype);
  dispatch_all(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, c64> && !std::is_same_v<T, c128>) fn(tag);
  });
}

// Larger, or NaN: PyTorch lets a later NaN win.
template <class A>
inline bool beats(A value, A best) { return value > best || value != value; }

// Input rows (depth and height together) of one output row.
void rows_of(const PoolProblem& p, std::int64_t od, std::int64_t oh, std::vector<std::int64_t>& rows) {
  rows.clear();
  for (std::int64_t d = p.axis[0].begin[od]; d < p.axis[0].end[od]; d += p.axis[0].step) {
    for (std::int64_t h = p.axis[1].begin[oh]; h < p.axis[1].end[oh]; h += p.axis[1].step) rows.push_back(d * p.axis[1].in + h);
  }
}

std::int64_t divisor(const PoolProblem& p, std::int64_t od, std::int64_t oh, std::int64_t ow) {
  if (p.divisor_override != 0) return p.divisor_override;
  const std::int64_t at[3] = {od, oh, ow};
  std::int64_t count = 1;
  for (int d = 0; d < 3; ++d) count *= p.count_include_pad ? p.axis[d].extent[at[d]] : p.axis[d].end[at[d]] - p.axis[d].begin[at[d]];
  return count;
}

template <class F>
void for_planes(const PoolProblem& p, std::int64_t planes, F&& fn) {
  const std::int64_t cost = p.in_size() + p.out_size();
  parallel_for(0, planes, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, cost)), std::forward<F>(fn));
}

template <class T>
struct MaxLine {
  using A = Acc<T>;
  std::vector<A> best;
  std::vector<std::int32_t> row;
  std::vector<std::int64_t> rows;
  explicit MaxLine(std::int64_t width) : best(static_cast<std::size_t>(width)), row(static_cast<std::size_t>(width)) {}

  void values(const T* plane, std::int64_t width) {
    A* b = best.data();
    std::fill_n(b, width, lowest<A>());
    for (const std::int64_t r : rows) {
      const T* source = plane + r * width;
      for (std::int64_t w = 0; w < width; ++w) {
        const A value = static_cast<A>(source[w]);
        b[w] = beats(value, b[w]) ? value : b[w];
      }
    }
  }
  void values_and_rows(const T* plane, std::int64_t width) {
    A* b = best.data();
    std::int32_t* at = row.data();
    std::fill_n(b, width, lowest<A>());
    std::fill_n(at, width, static_cast<std::int32_t>(rows.empty() ? 0 : rows[0]));
    for (const std::int64_t r : rows) {
      const T* source = plane + r * width;
      for (std::int64_t w = 0; w < width; ++w) {
        const A value = static_cast<A>(source[w]);
        const bool wins = beats(value, b[w]);
        b[w] = wins ? value : b[w];
        at[w] = wins ? static_cast<std::int32_t>(r) : at[w];
      }
    }
  }
  // Index in the plane of the window's winner: first in row-major order, except that the last NaN wins.
  std::int64_t winner(std::int64_t begin, std::int64_t end, std::int64_t step, std::int64_t width, A& value) const {
    A found = best[static_cast<std::size_t>(begin)];
    std::int64_t index = row[static_cast<std::size_t>(begin)] * width + begin;
    for (std::int64_t w = begin + step; w < end; w += step) {
      const A candidate = best[static_cast<std::size_t>(w)];
      const std::int64_t at = row[static_cast<std::size_t>(w)] * width + w;
      const bool nan = candidate != candidate;
      if (nan ? (found == found || at > index) : (candidate > found || (candidate == found && at < index))) {
        found = candidate;
        index = at;
      }
    }
    value = found;
    return index;
  }
};

template <class T>
void max_planes(const PoolProblem& p, const T* input, T* output, std::int64_t* indices) {
  const PoolAxis& x = p.axis[2];
  const std::int64_t width = x.in;
  for_planes(p, p.batch * p.channels, [&](std::int64_t begin, std::int64_t end) {
    MaxLine<T> line(width);
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const T* in = input + plane * p.in_size();
      T* out = output + plane * p.out_size();
      std::int64_t* index = indices == nullptr ? nullptr : indices + plane * p.out_size();
      for (std::int64_t od = 0; od < p.axis[0].out; ++od) {
        for (std::int64_t oh = 0; oh < p.axis[1].out; ++oh) {
          rows_of(p, od, oh, line.rows);
          if (index == nullptr) {
            line.values(in, width);
            for (std::int64_t ow = 0; ow < x.out; ++ow) {
              Acc<T> best = lowest<Acc<T>>();
              for (std::int64_t w = x.begin[ow]; w < x.end[ow]; w += x.step) {
                const Acc<T> value = line.best[static_cast<std::size_t>(w)];
                best = beats(value, best) ? value : best;
              }
              *out++ = static_cast<T>(best);
            }
            continue;
          }
          line.values_and_rows(in, width);
          for (std::int64_t ow = 0; ow < x.out; ++ow) {
            Acc<T> value;
            *index++ = line.winner(x.begin[ow], x.end[ow], x.step, width, value);
            *out++ = static_cast<T>(value);
          }
        }
      }
    }
  });
}

template <class T>
void max_last(const PoolProblem& p, const T* input, T* output, std::int64_t* indices) {
  const PoolAxis &z = p.axis[0], &y = p.axis[1], &x = p.axis[2];
  const std::int64_t c = p.channels;
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, c * x.in));
  parallel_for(0, p.batch * z.out * y.out, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Acc<T>> best(static_cast<std::size_t>(c));
    std::vector<std::int32_t> at(static_cast<std::size_t>(c));
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t oh = line % y.out, od = line / y.out % z.out, image = line / (y.out * z.out);
      const T* in = input + image * p.in_size() * c;
      for (std::int64_t ow = 0; ow < x.out; ++ow) {
        std::fill(best.begin(), best.end(), lowest<Acc<T>>());
        bool first = true;
        for (std::int64_t d = z.begin[od]; d < z.end[od]; d += z.step) {
          for (std::int64_t h = y.begin[oh]; h < y.end[oh]; h += y.step) {
            for (std::int64_t w = x.begin[ow]; w < x.end[ow]; w += x.step) {
              const std::int64_t position = (d * y.in + h) * x.in + w;
              const T* source = in + position * c;
              Acc<T>* b = best.data();
              std::int32_t* a = at.data();
              if (first) std::fill(at.begin(), at.end(), static_cast<std::int32_t>(position));
              first = false;
              if (indices == nullptr) {
                for (std::int64_t i = 0; i < c; ++i) {
                  const Acc<T> value = static_cast<Acc<T>>(source[i]);
                  b[i] = beats(value, b[i]) ? value : b[i];
                }
              } else {
                for (std::int64_t i = 0; i < c; ++i) {
                  const Acc<T> value = static_cast<Acc<T>>(source[i]);
                  const bool wins = beats(value, b[i]);
                  b[i] = wins ? value : b[i];
                  a[i] = wins ? static_cast<std::int32_t>(position) : a[i];
                }
              }
            }
          }
        }
        T* out = output + (line * x.out + ow) * c;
        for (std::int64_t i = 0; i < c; ++i) out[i] = static_cast<T>(best[static_cast<std::size_t>(i)]);
        if (indices != nullptr) std::copy(at.begin(), at.end(), indices + (line * x.out + ow) * c);
      }
    }
  });
}

template <class T>
void max_planes_backward(const PoolProblem& p, const T* grad, const T* input, T* grad_input) {
  const PoolAxis& x = p.axis[2];
  for_planes(p, p.batch * p.channels, [&](std::int64_t begin, std::int64_t end) {
    MaxLine<T> line(x.in);
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const T* in = input + plane * p.in_size();
      const T* g = grad + plane * p.out_size();
      T* out = grad_input + plane * p.in_size();
      for (std::int64_t od = 0; od < p.axis[0].out; ++od) {
        for (std::int64_t oh = 0; oh < p.axis[1].out; ++oh) {
          rows_of(p, od, oh, line.rows);
          line.values_and_rows(in, x.in);
          for (std::int64_t ow = 0; ow < x.out; ++ow) {
            Acc<T> value;
            T& target = out[line.winner(x.begin[ow], x.end[ow], x.step, x.in, value)];
            target = static_cast<T>(static_cast<Acc<T>>(target) + static_cast<Acc<T>>(*g++));
          }
        }
      }
    }
  });
}

template <class T>
void avg_planes(const PoolProblem& p, const T* input, T* output) {
  const PoolAxis& x = p.axis[2];
  using A = Acc<T>;
  for_planes(p, p.batch * p.channels, [&](std::int64_t begin, std::int64_t end) {
    std::vector<A> sums(static_cast<std::size_t>(x.in));
    std::vector<std::int64_t> rows;
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const T* in = input + plane * p.in_size();
      T* out = output + plane * p.out_size();
      for (std::int64_t od = 0; od < p.axis[0].out; ++od) {
        for (std::int64_t oh = 0; oh < p.axis[1].out; ++oh) {
          rows_of(p, od, oh, rows);
          std::fill(sums.begin(), sums.end(), A(0));
          for (const std::int64_t r : rows) {
            const T* source = in + r * x.in;
            A* s = sums.data();
            for (std::int64_t w = 0; w < x.in; ++w) s[w] += static_cast<A>(source[w]);
          }
          for (std::int64_t ow = 0; ow < x.out; ++ow) {
            A total(0);
            for (std::int64_t w = x.begin[ow]; w < x.end[ow]; ++w) total += sums[static_cast<std::size_t>(w)];
            *out++ = static_cast<T>(total / static_cast<A>(divisor(p, od, oh, ow)));
          }
        }
      }
    }
  });
}

template <class T>
void avg_last(const PoolProblem& p, const T* input, T* output) {
  const PoolAxis &z = p.axis[0], &y = p.axis[1], &x = p.axis[2];
  const std::int64_t c = p.channels;
  using A = Acc<T>;
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, c * x.in));
  parallel_for(0, p.batch * z.out * y.out, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<A> sums(static_cast<std::size_t>(c));
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t oh = line % y.out, od = line / y.out % z.out, image = line / (y.out * z.out);
      for (std::int64_t ow = 0; ow < x.out; ++ow) {
        std::fill(sums.begin(), sums.end(), A(0));
        for (std::int64_t d = z.begin[od]; d < z.end[od]; ++d) {
          for (std::int64_t h = y.begin[oh]; h < y.end[oh]; ++h) {
            for (std::int64_t w = x.begin[ow]; w < x.end[ow]; ++w) {
              const T* source = input + ((image * z.in + d) * y.in * x.in + h * x.in + w) * c;
              A* s = sums.data();
              for (std::int64_t i = 0; i < c; ++i) s[i] += static_cast<A>(source[i]);
            }
          }
        }
        const A count = static_cast<A>(divisor(p, od, oh, ow));
        T* out = output + (line * x.out + ow) * c;
        for (std::int64_t i = 0; i < c; ++i) out[i] = static_cast<T>(sums[static_cast<std::size_t>(i)] / count);
      }
    }
  });
}

template <class T>
void avg_planes_backward(const PoolProblem& p, const T* grad, T* grad_input) {
  const PoolAxis& x = p.axis[2];
  using A = Acc<T>;
  for_planes(p, p.batch * p.channels, [&](std::int64_t begin, std::int64_t end) {
    std::vector<A> shares(static_cast<std::size_t>(x.in)), plane_sums(static_cast<std::size_t>(p.in_size()));
    std::vector<std::int64_t> rows;
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const T* g = grad + plane * p.out_size();
      std::fill(plane_sums.begin(), plane_sums.end(), A(0));
      for (std::int64_t od = 0; od < p.axis[0].out; ++od) {
        for (std::int64_t oh = 0; oh < p.axis[1].out; ++oh) {
          rows_of(p, od, oh, rows);
          std::fill(shares.begin(), shares.end(), A(0));
          for (std::int64_t ow = 0; ow < x.out; ++ow) {
            const A share = static_cast<A>(*g++) / static_cast<A>(divisor(p, od, oh, ow));
            for (std::int64_t w = x.begin[ow]; w < x.end[ow]; ++w) shares[static_cast<std::size_t>(w)] += share;
          }
          for (const std::int64_t r : rows) {
            A* target = plane_sums.data() + r * x.in;
            for (std::int64_t w = 0; w < x.in; ++w) target[w] += shares[static_cast<std::size_t>(w)];
          }
        }
      }
      T* out = grad_input + plane * p.in_size();
      for (std::int64_t i = 0; i < p.in_size(); ++i) out[i] = static_cast<T>(plane_sums[static_cast<std::size_t>(i)]);
    }
  });
}

}  // namespace

void max_pool_forward(const PoolProblem& p, const Tensor& input, const Tensor& output, const Tensor& indices) {
  std::int64_t* index = indices.defined() ? indices.data<std::int64_t>() : nullptr;
  dispatch_real("max_pool", input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    (p.channels_last ? &max_last<T> : &max_planes<T>)(p, input.data<T>(), output.data<T>(), index);
  });
}

void max_pool_backward(const PoolProblem& p, const Tensor& grad, const Tensor& input, const Tensor& grad_input) {
  dispatch_real("max_pool", input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    max_planes_backward<T>(p, grad.data<T>(), input.data<T>(), grad_input.data<T>());
  });
}

void avg_pool_forward(const PoolProblem& p, const Tensor& input, const Tensor& output) {
  dispatch_real("avg_pool", input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    (p.channels_last ? &avg_last<T> : &avg_planes<T>)(p, input.data<T>(), output.data<T>());
  });
}

void avg_pool_backward(const PoolProblem& p, const Tensor& grad, const Tensor& grad_input) {
  dispatch_real("avg_pool", grad.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    avg_planes_backward<T>(p, grad.data<T>(), grad_input.data<T>());
  });
}

}  // namespace flambeau
