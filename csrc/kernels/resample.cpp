// interpolate and its transpose, interpolate_grad: separable, one axis after the other, each plane by itself.
// Position and weight formulas are PyTorch's (align_corners, half-pixel centres, cubic with a = -0.75; antialiased
// filters are Pillow's, cubic with a = -0.5, widened by the scale when shrinking).
#include "kernels/resample.h"

#include <algorithm>
#include <cmath>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/pool_tile.h"
#include "kernels/shape.h"

namespace flambeau {

bool ResampleAxis::identity() const {
  if (in != out || taps != 1) return false;
  for (std::int64_t o = 0; o < out; ++o) {
    if (index[static_cast<std::size_t>(o)] != o) return false;
  }
  return true;
}

namespace {

template <class F>
F area_scale(std::int64_t in, std::int64_t out, bool align_corners, double scale) {
  if (align_corners) return out > 1 ? static_cast<F>(in - 1) / static_cast<F>(out - 1) : F(0);
  return scale > 0 ? static_cast<F>(1.0 / scale) : static_cast<F>(in) / static_cast<F>(out);
}

template <class F>
void cubic_weights(F t, F a, F* w) {
  const auto near = [a](F x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [a](F x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  w[0] = far(t + 1);
  w[1] = near(t);
  w[2] = near(1 - t);
  w[3] = far(2 - t);
}

template <class F>
F filter(ResampleMode mode, F x) {
  x = std::abs(x);
  if (mode == ResampleMode::Linear) return x < 1 ? 1 - x : F(0);
  const F a = F(-0.5);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : F(0);
}

template <class F>
void antialiased(ResampleMode mode, ResampleAxis& axis, F scale) {
  const F size = mode == ResampleMode::Linear ? F(2) : F(4);
  const F support = size * F(0.5) * std::max(scale, F(1)), inverse = scale >= 1 ? 1 / scale : F(1);
  axis.taps = static_cast<std::int64_t>(std::ceil(support)) * 2 + 1;
  axis.index.assign(static_cast<std::size_t>(axis.out * axis.taps), 0);
  axis.weight.assign(static_cast<std::size_t>(axis.out * axis.taps), 0.0);
  for (std::int64_t o = 0; o < axis.out; ++o) {
    const F center = scale * (static_cast<F>(o) + F(0.5));
    const std::int64_t from = std::max<std::int64_t>(static_cast<std::int64_t>(center - support + F(0.5)), 0);
    const std::int64_t count = std::clamp<std::int64_t>(
        std::min(static_cast<std::int64_t>(center + support + F(0.5)), axis.in) - from, 0, axis.taps);
    F total(0);
    std::vector<F> w(static_cast<std::size_t>(axis.taps), F(0));
    for (std::int64_t j = 0; j < count; ++j) {
      w[static_cast<std::size_t>(j)] = filter(mode, (static_cast<F>(j + from) - center + F(0.5)) * inverse);
      total += w[static_cast<std::size_t>(j)];
    }
    for (std::int64_t j = 0; j < axis.taps; ++j) {
      const auto at = static_cast<std::size_t>(o * axis.taps + j);
      axis.index[at] = std::min(from + j, axis.in - 1);
      axis.weight[at] = j < count && total != 0 ? static_cast<double>(w[static_cast<std::size_t>(j)] / total) : 0.0;
    }
  }
}

template <class F>
ResampleAxis make_axis(ResampleMode mode, std::int64_t in, std::int64_t out, bool align_corners, double given,
                       bool antialias) {
  ResampleAxis axis;
  axis.in = in;
  axis.out = out;
  const F scale = area_scale<F>(in, out, align_corners, given);
  if (antialias && in == out) {  // PyTorch leaves such an axis alone, whatever scale was given
    axis.taps = 1;
    for (std::int64_t o = 0; o < out; ++o) axis.index.push_back(o);
    axis.weight.assign(static_cast<std::size_t>(out), 1.0);
    return axis;
  }
  if (antialias) {
    antialiased(mode, axis, scale);
    return axis;
  }
  axis.taps = mode == ResampleMode::Linear ? 2 : mode == ResampleMode::Cubic ? 4 : 1;
  const auto add = [&](std::int64_t index, double weight) {
    axis.index.push_back(std::clamp<std::int64_t>(index, 0, in - 1));
    axis.weight.push_back(weight);
  };
  for (std::int64_t o = 0; o < out; ++o) {
    const F position = static_cast<F>(o);
    if (mode == ResampleMode::Nearest) {
      add(static_cast<std::int64_t>(std::floor(position * scale)), 1.0);
    } else if (mode == ResampleMode::NearestExact) {
      add(static_cast<std::int64_t>(std::floor((position + F(0.5)) * scale)), 1.0);
    } else {
      F source = align_corners ? scale * position : scale * (position + F(0.5)) - F(0.5);
      if (mode == ResampleMode::Linear && source < 0) source = 0;
      if (mode == ResampleMode::Linear && in == out) source = position;  // whatever scale was given
      const F base = std::min(std::floor(source), static_cast<F>(in - 1)), t = std::clamp(source - base, F(0), F(1));
      const auto at = static_cast<std::int64_t>(base);
      if (mode == ResampleMode::Linear) {
        add(at, static_cast<double>(F(1) - t));
        add(at + 1, static_cast<double>(t));
      } else {
        F w[4];
        cubic_weights(t, F(-0.75), w);
        for (std::int64_t j = 0; j < 4; ++j) add(at - 1 + j, static_cast<double>(w[j]));
      }
    }
  }
  return axis;
}

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
template <>
struct Wide<std::uint8_t> {
  using type = float;
};

template <class T, class A>
T narrow(A value) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return static_cast<std::uint8_t>(std::clamp(std::floor(value + A(0.5)), A(0), A(255)));
  } else {
    return static_cast<T>(value);
  }
}

// dst[outer][out][inner] from src[outer][in][inner].
template <class A>
void apply(const ResampleAxis& axis, const A* weights, const A* src, A* dst, std::int64_t outer, std::int64_t inner) {
  for (std::int64_t i = 0; i < outer; ++i, src += axis.in * inner, dst += axis.out * inner) {
    for (std::int64_t o = 0; o < axis.out; ++o) {
      const std::int64_t* index = axis.index.data() + o * axis.taps;
      const A* w = weights + o * axis.taps;
      if (inner == 1 && axis.taps == 2) {
        dst[o] = w[0] * src[index[0]] + w[1] * src[index[1]];
        continue;
      }
      if (inner == 1) {
        A sum(0);
        for (std::int64_t t = 0; t < axis.taps; ++t) sum += w[t] * src[index[t]];
        dst[o] = sum;
        continue;
      }
      A* out = dst + o * inner;
      if constexpr (std::is_same_v<A, float>) {
        if (axis.taps <= kFewTaps) {
          const float* rows[kFewTaps];
          for (std::int64_t t = 0; t < axis.taps; ++t) rows[t] = src + index[t] * inner;
          pool_tile().weighted_rows(out, rows, w, axis.taps, inner);
          continue;
        }
      }
      const A* first = src + index[0] * inner;
      for (std::int64_t j = 0; j < inner; ++j) out[j] = w[0] * first[j];
      for (std::int64_t t = 1; t < axis.taps; ++t) {
        if (w[t] == A(0)) continue;
        const A* in = src + index[t] * inner;
        for (std::int64_t j = 0; j < inner; ++j) out[j] += w[t] * in[j];
      }
    }
  }
}

// The transpose: dst[outer][in][inner] += from src[outer][out][inner]; dst starts at zero.
template <class A>
void apply_transposed(const ResampleAxis& axis, const A* weights, const A* src, A* dst, std::int64_t outer,
                      std::int64_t inner) {
  std::fill_n(dst, outer * axis.in * inner, A(0));
  for (std::int64_t i = 0; i < outer; ++i, dst += axis.in * inner, src += axis.out * inner) {
    for (std::int64_t o = 0; o < axis.out; ++o) {
      const A* in = src + o * inner;
      for (std::int64_t t = 0; t < axis.taps; ++t) {
        const A w = weights[o * axis.taps + t];
        A* out = dst + axis.index[static_cast<std::size_t>(o * axis.taps + t)] * inner;
        for (std::int64_t j = 0; j < inner; ++j) out[j] += w * in[j];
      }
    }
  }
}

struct Problem {
  std::vector<ResampleAxis> axes;
  std::int64_t in = 1, out = 1;  // elements of a plane
  bool copies = true;            // one tap of weight 1 everywhere
};

// The axes of a plane, depth first; missing ones have one position.
struct Axes {
  const ResampleAxis &z, &y, &x;
  explicit Axes(const Problem& p)
      : z(p.axes.size() > 2 ? p.axes[p.axes.size() - 3] : one()),
        y(p.axes.size() > 1 ? p.axes[p.axes.size() - 2] : one()),
        x(p.axes.back()) {}
  [[nodiscard]] std::int64_t taps() const { return z.taps * y.taps * x.taps; }
  static const ResampleAxis& one() {
    static const ResampleAxis axis = [] {
      ResampleAxis single;
      single.index = {0};
      single.weight = {1.0};
      return single;
    }();
    return axis;
  }
};

template <class T>
void copy_planes(const Problem& p, const T* input, T* output, std::int64_t planes) {
  const Axes axes(p);
  const ResampleAxis &z = axes.z, &y = axes.y, &x = axes.x;
  parallel_for(0, planes, std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, p.out)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t plane = begin; plane < end; ++plane) {
                   const T* in = input + plane * p.in;
                   T* out = output + plane * p.out;
                   for (std::int64_t d = 0; d < z.out; ++d) {
                     for (std::int64_t h = 0; h < y.out; ++h) {
                       const T* row =
                           in +
                           (z.index[static_cast<std::size_t>(d)] * y.in + y.index[static_cast<std::size_t>(h)]) * x.in;
                       for (std::int64_t w = 0; w < x.out; ++w) *out++ = row[x.index[static_cast<std::size_t>(w)]];
                     }
                   }
                 }
               });
}

template <class T>
void resample_planes(const Problem& p, const T* input, T* output, std::int64_t planes, bool transposed) {
  using A = typename Wide<T>::type;
  std::vector<std::vector<A>> weights;
  std::int64_t largest = std::max(p.in, p.out);
  {
    std::int64_t size = p.in;
    for (std::size_t d = p.axes.size(); d-- > 0;) {
      size = size / p.axes[d].in * p.axes[d].out;
      largest = std::max(largest, size);
    }
  }
  for (const ResampleAxis& axis : p.axes) weights.emplace_back(axis.weight.begin(), axis.weight.end());
  const std::int64_t from = transposed ? p.out : p.in, to = transposed ? p.in : p.out;
  parallel_for(0, planes, std::max<std::int64_t>(1, 16384 / largest), [&](std::int64_t begin, std::int64_t end) {
    std::vector<A> ping(static_cast<std::size_t>(largest)), pong(static_cast<std::size_t>(largest));
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const T* in = input + plane * from;
      for (std::int64_t i = 0; i < from; ++i) ping[static_cast<std::size_t>(i)] = static_cast<A>(in[i]);
      // Last axis first (forward); the transpose undoes them in the opposite order.
      std::int64_t total = from;
      const std::size_t n = p.axes.size();
      for (std::size_t step = 0; step < n; ++step) {
        const std::size_t d = transposed ? step : n - 1 - step;
        const ResampleAxis& axis = p.axes[d];
        std::int64_t inner = 1;
        for (std::size_t e = d + 1; e < n; ++e)
          inner *= p.axes[e].out;  // later axes: resampled already, or not yet undone
        const std::int64_t own = transposed ? axis.out : axis.in, outer = total / (own * inner);
        if (transposed) {
          apply_transposed(axis, weights[d].data(), ping.data(), pong.data(), outer, inner);
        } else {
          apply(axis, weights[d].data(), ping.data(), pong.data(), outer, inner);
        }
        total = outer * inner * (transposed ? axis.in : axis.out);
        if constexpr (std::is_same_v<T, std::uint8_t>) {  // PyTorch keeps bytes between the passes
          for (std::int64_t i = 0; i < total; ++i)
            pong[static_cast<std::size_t>(i)] = static_cast<A>(narrow<T>(pong[static_cast<std::size_t>(i)]));
        }
        ping.swap(pong);
      }
      T* out = output + plane * to;
      for (std::int64_t i = 0; i < to; ++i) out[i] = narrow<T>(ping[static_cast<std::size_t>(i)]);
    }
  });
}

// The input's lines that line (d, h) of the output comes from: their first pixels and weights.
struct SourceLines {
  std::int64_t starts[kFewTaps], count = 0;
  double shares[kFewTaps];

  SourceLines(const Axes& axes, std::int64_t d, std::int64_t h) {
    const ResampleAxis &z = axes.z, &y = axes.y;
    for (std::int64_t i = d * z.taps; i < (d + 1) * z.taps; ++i) {
      for (std::int64_t j = h * y.taps; j < (h + 1) * y.taps; ++j) {
        const auto at_z = static_cast<std::size_t>(i), at_y = static_cast<std::size_t>(j);
        starts[count] = (z.index[at_z] * y.in + y.index[at_y]) * axes.x.in;
        shares[count++] = z.weight[at_z] * y.weight[at_y];
      }
    }
  }
};

// Channels-last float32: every output position is a weighted sum of whole pixels.
bool resample_pixels(const Problem& p, const float* input, float* output, std::int64_t batch, std::int64_t channels) {
  const Axes axes(p);
  const ResampleAxis &z = axes.z, &y = axes.y, &x = axes.x;
  if (axes.taps() > kFewTaps) return false;
  const PoolTile& tile = pool_tile();
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, x.out * channels));
  parallel_for(0, batch * z.out * y.out, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      const float* image = input + line / (y.out * z.out) * p.in * channels;
      const SourceLines from(axes, line / y.out % z.out, line % y.out);
      const float* starts[kFewTaps];
      for (std::int64_t i = 0; i < from.count; ++i) starts[i] = image + from.starts[i] * channels;
      tile.resample_line({starts, from.shares, from.count, x.taps, x.index.data(), x.weight.data(), x.out, channels},
                         output + line * x.out * channels);
    }
  });
  return true;
}

// Adds n channels of the cotangent of position w to the pixels that it comes from.
void add_pixel(const ResampleAxis& x, const SourceLines& lines, std::int64_t w, const float* from, float* to,
               std::int64_t channels, std::int64_t n) {
  for (std::int64_t i = 0; i < lines.count; ++i) {
    for (std::int64_t k = w * x.taps; k < (w + 1) * x.taps; ++k) {
      float* pixel = to + (lines.starts[i] + x.index[static_cast<std::size_t>(k)]) * channels;
      const auto weight = static_cast<float>(lines.shares[i] * x.weight[static_cast<std::size_t>(k)]);
      for (std::int64_t c = 0; c < n; ++c) pixel[c] += weight * from[c];
    }
  }
}

// Its transpose. Pixels meet in the gradient, so a thread takes some channels of an image.
bool resample_pixels_backward(const Problem& p, const float* grad, float* result, std::int64_t batch,
                              std::int64_t channels) {
  constexpr std::int64_t together = 64;
  const Axes axes(p);
  if (axes.taps() > kFewTaps) return false;
  const std::int64_t blocks = (channels + together - 1) / together;
  parallel_for(0, batch * blocks, std::max<std::int64_t>(1, 16384 / (p.out * together)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t task = begin; task < end; ++task) {
                   const std::int64_t image = task / blocks, first = task % blocks * together;
                   const std::int64_t n = std::min(together, channels - first);
                   float* to = result + image * p.in * channels + first;
                   for (std::int64_t i = 0; i < p.in; ++i) std::fill_n(to + i * channels, n, 0.0F);
                   const float* from = grad + image * p.out * channels + first;
                   for (std::int64_t line = 0; line < axes.z.out * axes.y.out; ++line) {
                     const SourceLines lines(axes, line / axes.y.out, line % axes.y.out);
                     for (std::int64_t w = 0; w < axes.x.out; ++w, from += channels)
                       add_pixel(axes.x, lines, w, from, to, channels, n);
                   }
                 }
               });
  return true;
}

ResampleMode mode_of(std::string_view mode) {
  if (mode == "nearest") return ResampleMode::Nearest;
  if (mode == "nearest-exact") return ResampleMode::NearestExact;
  if (mode == "bicubic") return ResampleMode::Cubic;
  return ResampleMode::Linear;
}

Problem make_problem(IntSpan in, IntSpan out, std::string_view mode, bool align_corners,
                     std::optional<Span<double>> scales, bool antialias, DType dtype) {
  check(out.size() >= 1 && out.size() <= 3 && in.size() == out.size() + 2, "interpolate: expected ", in.size() - 2,
        " output sizes (1 to 3) for input of shape ", in, ", got ", out);
  check(!scales || scales->size() == out.size(), "interpolate: expected one scale factor per output size ", out,
        ", got ", scales ? scales->size() : 0);
  // Before the tables of weights: a result that can't be stored must not take its time.
  check(checked_numel(out) < (std::int64_t{1} << 33), ErrorKind::Memory,
        "interpolate: not enough memory for a result of sizes ", out);
  const bool bytes = dtype == DType::UInt8 && out.size() == 2 && (mode == "bilinear" || mode == "bicubic");
  Problem p;
  for (std::int64_t d = 0; d < out.size(); ++d) {
    check(in[2 + d] > 0 && out[d] > 0, "interpolate: Input and output sizes should be greater than 0, but got input ",
          in, " and output ", out);
    p.axes.push_back(resample_axis(mode_of(mode), in[2 + d], out[d], align_corners, scales ? (*scales)[d] : 0.0,
                                   antialias, dtype == DType::Float64 || bytes));
    p.in *= in[2 + d];
    p.out *= out[d];
    p.copies = p.copies && p.axes.back().taps == 1;
  }
  return p;
}

template <class F>
void dispatch(DType dtype, F&& fn) {
  switch (dtype) {
    case DType::UInt8: return fn(TypeTag<std::uint8_t>{});
    case DType::Float16: return fn(TypeTag<Half>{});
    case DType::BFloat16: return fn(TypeTag<BFloat16>{});
    default: return dispatch_floating("interpolate", dtype, std::forward<F>(fn));
  }
}

Tensor interpolate(const Tensor& input, IntSpan size, std::string_view mode, bool align_corners,
                   std::optional<Span<double>> scales, bool antialias) {
  // Without planes nothing is read: tables of the asked size, which may be anything, would be for nothing.
  const bool empty_planes = input.dim() >= 2 && input.sizes()[0] * input.sizes()[1] == 0;
  Dims asked(size);
  for (std::int64_t& s : asked) s = empty_planes ? std::min<std::int64_t>(s, 1) : s;
  const Problem p = make_problem(input.sizes(), asked, mode, align_corners, scales, antialias, input.dtype());
  Dims sizes{input.sizes()[0], input.sizes()[1]};
  for (const std::int64_t s : size) sizes.push_back(s);
  const MemoryFormat format = suggested_format(input);
  check(input.dtype() == DType::UInt8 || is_floating(input.dtype()), ErrorKind::NotImplemented,
        "interpolate: not implemented for '", torch_name_of(input.dtype()), "'");
  Tensor output = empty(sizes, input.dtype(), input.device(), format);
  if (output.is_meta() || output.numel() == 0) return output;
  if (format != MemoryFormat::Contiguous && input.dtype() == DType::Float32 &&
      resample_pixels(p, contiguous(input, format).data<float>(), output.data<float>(), sizes[0], sizes[1])) {
    return output;
  }
  const Tensor in = contiguous(input);
  const Tensor target = format == MemoryFormat::Contiguous ? output : empty(sizes, input.dtype(), input.device());
  const std::int64_t planes = sizes[0] * sizes[1];
  if (input.dtype() == DType::UInt8 && p.axes.size() == 2 && !p.copies) {
    resample_bytes(p.axes[0], p.axes[1], in.data<std::uint8_t>(), target.data<std::uint8_t>(), planes);
    if (!target.is(output)) copy_into(output, target);
    return output;
  }
  dispatch(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (p.copies)
      copy_planes<T>(p, in.data<T>(), target.data<T>(), planes);
    else
      resample_planes<T>(p, in.data<T>(), target.data<T>(), planes, false);
  });
  if (!target.is(output)) copy_into(output, target);
  return output;
}

Tensor interpolate_grad(const Tensor& cotangent, IntSpan input_size, std::string_view mode, bool align_corners,
                        std::optional<Span<double>> scales, bool antialias) {
  check(cotangent.dim() >= 3, "interpolate_grad: expected a gradient of at least 3 dimensions, got shape ",
        cotangent.sizes());
  const Problem p = make_problem(input_size, cotangent.sizes().subspan(2, cotangent.dim() - 2), mode, align_corners,
                                 scales, antialias, cotangent.dtype());
  const MemoryFormat format = suggested_format(cotangent);
  Tensor result = empty(input_size, cotangent.dtype(), cotangent.device(), format);
  if (result.is_meta() || result.numel() == 0) return result;
  if (format != MemoryFormat::Contiguous && cotangent.dtype() == DType::Float32 &&
      resample_pixels_backward(p, contiguous(cotangent, format).data<float>(), result.data<float>(), input_size[0],
                               input_size[1])) {
    return result;
  }
  const Tensor grad = contiguous(cotangent);
  const Tensor target =
      format == MemoryFormat::Contiguous ? result : empty(input_size, cotangent.dtype(), cotangent.device());
  dispatch(cotangent.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    resample_planes<T>(p, grad.data<T>(), target.data<T>(), input_size[0] * input_size[1], true);
  });
  if (!target.is(result)) copy_into(result, target);
  return result;
}

const Kernel interpolate_kernel("interpolate_to", &interpolate);
const Kernel interpolate_grad_kernel("interpolate_to_grad", &interpolate_grad);

}  // namespace

ResampleAxis resample_axis(ResampleMode mode, std::int64_t in, std::int64_t out, bool align_corners, double scale,
                           bool antialias, bool wide) {
  return wide ? make_axis<double>(mode, in, out, align_corners, scale, antialias)
              : make_axis<float>(mode, in, out, align_corners, scale, antialias);
}

}  // namespace flambeau
