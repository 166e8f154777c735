// Pooling loops. Plain layout: per output row, first across the rows that the windows span (contiguous, so the compiler
// vectorises), then along that one line. Channels-last: all channels of a window at once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elementwise.h"
#include "core/parallel.h"
#include "kernels/pool.h"
#include "kernels/pool_tile.h"

namespace flambeau {
namespace {

const PoolTile* g_tile = nullptr;
int g_level = -1;

template <class T>
struct Wide {
  using type = T;
};
template <>
struct Wide<Half> {
  using type = float;
};
template <>
struct Wide<BFloat16> {
  using type = float;
};
template <class T>
using Acc = typename Wide<T>::type;

template <class A>
constexpr A lowest() {
  if constexpr (std::is_floating_point_v<A>)
    return -std::numeric_limits<A>::infinity();
  else
    return std::numeric_limits<A>::lowest();
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
inline bool beats(A value, A best) {
  return value > best || value != value;
}

// Input rows (depth and height together) of one output row.
void rows_of(const PoolProblem& p, std::int64_t od, std::int64_t oh, std::vector<std::int64_t>& rows) {
  rows.clear();
  for (std::int64_t d = p.axis[0].begin[od]; d < p.axis[0].end[od]; d += p.axis[0].step) {
    for (std::int64_t h = p.axis[1].begin[oh]; h < p.axis[1].end[oh]; h += p.axis[1].step)
      rows.push_back(d * p.axis[1].in + h);
  }
}

std::int64_t divisor(const PoolProblem& p, std::int64_t od, std::int64_t oh, std::int64_t ow) {
  if (p.divisor_override != 0) return p.divisor_override;
  const std::int64_t at[3] = {od, oh, ow};
  std::int64_t count = 1;
  for (int d = 0; d < 3; ++d)
    count *= p.count_include_pad ? p.axis[d].extent[at[d]] : p.axis[d].end[at[d]] - p.axis[d].begin[at[d]];
  return count;
}

template <class F>
void for_planes(const PoolProblem& p, std::int64_t planes, F&& fn) {
  const std::int64_t cost = p.in_size() + p.out_size();
  parallel_for(0, planes, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, cost)), std::forward<F>(fn));
}

// One line of the input's width: the largest element across the rows of a window, and where in the plane it lies.
template <class T>
struct MaxLine {
  using A = Acc<T>;
  const PoolAxis& x;
  std::vector<A> padded;  // the line with -inf around it, so that whole windows can be read
  std::vector<std::int32_t> at;
  std::vector<std::int64_t> rows;
  A* best;

  explicit MaxLine(const PoolAxis& axis)
      : x(axis),
        padded(static_cast<std::size_t>(axis.padding + axis.in + axis.stride + axis.kernel * axis.step +
                                        axis.out * axis.stride + kPoolSlack),
               lowest<A>()),
        at(static_cast<std::size_t>(axis.in)),
        best(padded.data() + axis.padding) {}

  void values(const T* plane) {
    std::fill_n(best, x.in, lowest<A>());
    for (const std::int64_t r : rows) {
      const T* source = plane + r * x.in;
      if constexpr (std::is_same_v<T, float>) {
        g_tile->max_rows(best, source, x.in);
      } else {
        for (std::int64_t w = 0; w < x.in; ++w) {
          const A value = static_cast<A>(source[w]);
          best[w] = beats(value, best[w]) ? value : best[w];
        }
      }
    }
  }
  void values_and_places(const T* plane) {
    std::fill_n(best, x.in, lowest<A>());
    const std::int64_t first = rows.empty() ? 0 : rows[0] * x.in;
    for (std::int64_t w = 0; w < x.in; ++w) at[static_cast<std::size_t>(w)] = static_cast<std::int32_t>(first + w);
    for (const std::int64_t r : rows) {
      const T* source = plane + r * x.in;
      if constexpr (std::is_same_v<T, float>) {
        g_tile->max_rows_at(best, at.data(), source, static_cast<std::int32_t>(r * x.in), 1, x.in);
      } else {
        for (std::int64_t w = 0; w < x.in; ++w) {
          const A value = static_cast<A>(source[w]);
          if (!beats(value, best[w])) continue;
          best[w] = value;
          at[static_cast<std::size_t>(w)] = static_cast<std::int32_t>(r * x.in + w);
        }
      }
    }
  }
  void outputs(T* out) const {
    if constexpr (std::is_same_v<T, float>) {
      if (x.kernel != 0 && x.step == 1) return g_tile->max_line(out, padded.data(), x.out, x.kernel, x.stride);
    }
    for (std::int64_t ow = 0; ow < x.out; ++ow) {
      A top = lowest<A>();
      for (std::int64_t w = x.begin[ow]; w < x.end[ow]; w += x.step) top = beats(best[w], top) ? best[w] : top;
      out[ow] = static_cast<T>(top);
    }
  }
  // Index in the plane of the window's winner: first in row-major order, except that the last NaN wins.
  std::int64_t winner(std::int64_t ow, A& value) const {
    const std::int64_t begin = x.begin[ow], end = x.end[ow];
    A found = best[begin];
    std::int32_t index = at[static_cast<std::size_t>(begin)];
    for (std::int64_t w = begin + x.step; w < end; w += x.step) {
      const A candidate = best[w];
      const std::int32_t place = at[static_cast<std::size_t>(w)];
      const bool nan = candidate != candidate;
      const bool better =
          candidate > found || (candidate == found && place < index) || (nan && (found == found || place > index));
      found = better ? candidate : found;
      index = better ? place : index;
    }
    value = found;
    return index;
  }
};

template <class T>
void max_planes(const PoolProblem& p, const T* input, T* output, std::int64_t* indices) {
  const PoolAxis& x = p.axis[2];
  for_planes(p, p.batch * p.channels, [&](std::int64_t begin, std::int64_t end) {
    MaxLine<T> line(x);
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const T* in = input + plane * p.in_size();
      T* out = output + plane * p.out_size();
      std::int64_t* index = indices == nullptr ? nullptr : indices + plane * p.out_size();
      for (std::int64_t od = 0; od < p.axis[0].out; ++od) {
        for (std::int64_t oh = 0; oh < p.axis[1].out; ++oh, out += x.out) {
          rows_of(p, od, oh, line.rows);
          if (index == nullptr) {
            line.values(in);
            line.outputs(out);
            continue;
          }
          line.values_and_places(in);
          for (std::int64_t ow = 0; ow < x.out; ++ow) {
            Acc<T> value;
            *index++ = line.winner(ow, value);
            out[ow] = static_cast<T>(value);
          }
        }
      }
    }
  });
}

// Channels-last: the largest elements of one window for n channels, and where in the plane they lie if `at` is given.
template <class T>
void window_maxima(const PoolProblem& p, const T* in, std::int64_t od, std::int64_t oh, std::int64_t ow, std::int64_t n,
                   Acc<T>* best, std::int32_t* at) {
  const PoolAxis &z = p.axis[0], &y = p.axis[1], &x = p.axis[2];
  std::fill_n(best, n, lowest<Acc<T>>());
  if (at != nullptr)
    std::fill_n(at, n, static_cast<std::int32_t>((z.begin[od] * y.in + y.begin[oh]) * x.in + x.begin[ow]));
  for (std::int64_t d = z.begin[od]; d < z.end[od]; d += z.step) {
    for (std::int64_t h = y.begin[oh]; h < y.end[oh]; h += y.step) {
      for (std::int64_t w = x.begin[ow]; w < x.end[ow]; w += x.step) {
        const std::int64_t position = (d * y.in + h) * x.in + w;
        const T* source = in + position * p.channels;
        if constexpr (std::is_same_v<T, float>) {
          if (at == nullptr)
            g_tile->max_rows(best, source, n);
          else
            g_tile->max_rows_at(best, at, source, static_cast<std::int32_t>(position), 0, n);
        } else {
          for (std::int64_t i = 0; i < n; ++i) {
            const Acc<T> value = static_cast<Acc<T>>(source[i]);
            const bool wins = beats(value, best[i]);
            best[i] = wins ? value : best[i];
            if (at != nullptr) at[i] = wins ? static_cast<std::int32_t>(position) : at[i];
          }
        }
      }
    }
  }
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
        T* out = output + (line * x.out + ow) * c;
        if constexpr (std::is_same_v<T, Acc<T>>) {
          window_maxima(p, in, od, oh, ow, c, out, indices == nullptr ? nullptr : at.data());
        } else {
          window_maxima(p, in, od, oh, ow, c, best.data(), indices == nullptr ? nullptr : at.data());
          for (std::int64_t i = 0; i < c; ++i) out[i] = static_cast<T>(best[static_cast<std::size_t>(i)]);
        }
        if (indices != nullptr) std::copy(at.begin(), at.end(), indices + (line * x.out + ow) * c);
      }
    }
  });
}

constexpr std::int64_t kChannels = 64;  // of a block that one thread takes, where windows of an image overlap

// fn(image, first channel, number of channels) over threads.
template <class F>
void for_channel_blocks(const PoolProblem& p, F&& fn) {
  const std::int64_t blocks = (p.channels + kChannels - 1) / kChannels;
  const std::int64_t cost = (p.in_size() + p.out_size()) * kChannels;
  parallel_for(0, p.batch * blocks, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, cost)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t task = begin; task < end; ++task) {
                   const std::int64_t first = task % blocks * kChannels;
                   fn(task / blocks, first, std::min(kChannels, p.channels - first));
                 }
               });
}

// fn(depth, height, width) for the windows of a plane, in order.
template <class F>
void for_windows(const PoolProblem& p, F&& fn) {
  for (std::int64_t od = 0; od < p.axis[0].out; ++od) {
    for (std::int64_t oh = 0; oh < p.axis[1].out; ++oh) {
      for (std::int64_t ow = 0; ow < p.axis[2].out; ++ow) fn(od, oh, ow);
    }
  }
}

template <class T>
void max_last_backward(const PoolProblem& p, const T* grad, const T* input, T* grad_input) {
  for_channel_blocks(p, [&](std::int64_t image, std::int64_t first, std::int64_t n) {
    const T* in = input + image * p.in_size() * p.channels + first;
    T* out = grad_input + image * p.in_size() * p.channels + first;
    const T* g = grad + image * p.out_size() * p.channels + first;
    Acc<T> best[kChannels];
    std::int32_t at[kChannels];
    for_windows(p, [&](std::int64_t od, std::int64_t oh, std::int64_t ow) {
      window_maxima(p, in, od, oh, ow, n, best, at);
      for (std::int64_t i = 0; i < n; ++i) {
        T& target = out[at[i] * p.channels + i];
        target = static_cast<T>(static_cast<Acc<T>>(target) + static_cast<Acc<T>>(g[i]));
      }
      g += p.channels;
    });
  });
}

template <class T>
void max_planes_backward(const PoolProblem& p, const T* grad, const T* input, T* grad_input) {
  const PoolAxis& x = p.axis[2];
  for_planes(p, p.batch * p.channels, [&](std::int64_t begin, std::int64_t end) {
    MaxLine<T> line(x);
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const T* in = input + plane * p.in_size();
      const T* g = grad + plane * p.out_size();
      T* out = grad_input + plane * p.in_size();
      for (std::int64_t od = 0; od < p.axis[0].out; ++od) {
        for (std::int64_t oh = 0; oh < p.axis[1].out; ++oh) {
          rows_of(p, od, oh, line.rows);
          line.values_and_places(in);
          for (std::int64_t ow = 0; ow < x.out; ++ow) {
            Acc<T> value;
            T& target = out[line.winner(ow, value)];
            target = static_cast<T>(static_cast<Acc<T>>(target) + static_cast<Acc<T>>(*g++));
          }
        }
      }
    }
  });
}

// One window over each plane.
template <class T>
void plane_means(const PoolProblem& p, const T* input, T* output) {
  using A = Acc<T>;
  const A count = static_cast<A>(divisor(p, 0, 0, 0));
  const std::int64_t n = p.in_size();
  for_planes(p, p.batch * p.channels, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const T* in = input + plane * n;
      if constexpr (std::is_same_v<T, float>) {
        output[plane] = g_tile->line_sum(in, n) / count;
      } else {
        A total[4] = {A(0), A(0), A(0), A(0)};
        std::int64_t i = 0;
        for (; i + 4 <= n; i += 4) {
          for (int k = 0; k < 4; ++k) total[k] += static_cast<A>(in[i + k]);
        }
        for (; i < n; ++i) total[0] += static_cast<A>(in[i]);
        output[plane] = static_cast<T>(((total[0] + total[1]) + (total[2] + total[3])) / count);
      }
    }
  });
}

template <class T>
void avg_planes(const PoolProblem& p, const T* input, T* output) {
  const PoolAxis& x = p.axis[2];
  using A = Acc<T>;
  bool whole = p.out_size() == 1;  // one window over everything
  for (const PoolAxis& axis : p.axis) whole = whole && axis.begin[0] == 0 && axis.end[0] == axis.in;
  if (whole) return plane_means(p, input, output);
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
            if constexpr (std::is_same_v<T, float>) {
              g_tile->add_rows(s, source, x.in);
            } else {
              for (std::int64_t w = 0; w < x.in; ++w) s[w] += static_cast<A>(source[w]);
            }
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
    std::vector<const T*> rows;
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t oh = line % y.out, od = line / y.out % z.out, image = line / (y.out * z.out);
      for (std::int64_t ow = 0; ow < x.out; ++ow) {
        if constexpr (std::is_same_v<T, float>) {
          rows.clear();
          for (std::int64_t d = z.begin[od]; d < z.end[od]; ++d) {
            for (std::int64_t h = y.begin[oh]; h < y.end[oh]; ++h) {
              const float* row = input + ((image * z.in + d) * y.in * x.in + h * x.in) * c;
              for (std::int64_t w = x.begin[ow]; w < x.end[ow]; ++w) rows.push_back(row + w * c);
            }
          }
          if (!rows.empty()) {
            g_tile->mean_rows(output + (line * x.out + ow) * c, rows.data(),
                              1.0F / static_cast<float>(divisor(p, od, oh, ow)), static_cast<std::int64_t>(rows.size()),
                              c);
            continue;
          }
        }
        std::fill(sums.begin(), sums.end(), A(0));
        for (std::int64_t d = z.begin[od]; d < z.end[od]; ++d) {
          for (std::int64_t h = y.begin[oh]; h < y.end[oh]; ++h) {
            for (std::int64_t w = x.begin[ow]; w < x.end[ow]; ++w) {
              const T* source = input + ((image * z.in + d) * y.in * x.in + h * x.in + w) * c;
              for (std::int64_t i = 0; i < c; ++i) sums[static_cast<std::size_t>(i)] += static_cast<A>(source[i]);
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

template <class T>
void avg_last_backward(const PoolProblem& p, const T* grad, T* grad_input) {
  using A = Acc<T>;
  for_channel_blocks(p, [&](std::int64_t image, std::int64_t first, std::int64_t n) {
    const T* g = grad + image * p.out_size() * p.channels + first;
    T* out = grad_input + image * p.in_size() * p.channels + first;
    std::vector<A> sums(static_cast<std::size_t>(p.in_size() * n));
    A shares[kChannels];
    for_windows(p, [&](std::int64_t od, std::int64_t oh, std::int64_t ow) {
      const A count = static_cast<A>(divisor(p, od, oh, ow));
      for (std::int64_t i = 0; i < n; ++i) shares[i] = static_cast<A>(g[i]) / count;
      g += p.channels;
      for (std::int64_t d = p.axis[0].begin[od]; d < p.axis[0].end[od]; ++d) {
        for (std::int64_t h = p.axis[1].begin[oh]; h < p.axis[1].end[oh]; ++h) {
          A* target = sums.data() + ((d * p.axis[1].in + h) * p.axis[2].in + p.axis[2].begin[ow]) * n;
          for (std::int64_t w = p.axis[2].begin[ow]; w < p.axis[2].end[ow]; ++w, target += n) {
            for (std::int64_t i = 0; i < n; ++i) target[i] += shares[i];
          }
        }
      }
    });
    for (std::int64_t position = 0; position < p.in_size(); ++position) {
      for (std::int64_t i = 0; i < n; ++i)
        out[position * p.channels + i] = static_cast<T>(sums[static_cast<std::size_t>(position * n + i)]);
    }
  });
}

}  // namespace

PoolTileEntry::PoolTileEntry(int level, const PoolTile* tile) noexcept {
  if (level > static_cast<int>(cpu_level()) || level <= g_level) return;
  g_level = level;
  g_tile = tile;
}
const PoolTile& pool_tile() noexcept { return *g_tile; }

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
    (p.channels_last ? &max_last_backward<T> : &max_planes_backward<T>)(p, grad.data<T>(), input.data<T>(),
                                                                        grad_input.data<T>());
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
    (p.channels_last ? &avg_last_backward<T> : &avg_planes_backward<T>)(p, grad.data<T>(), grad_input.data<T>());
  });
}

}  // namespace flambeau
