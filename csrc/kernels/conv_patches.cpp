// Convolution as a matrix product of patches: col[(c, kd, kh, kw), (od, oh, ow)], one image and group at a time.
#include <algorithm>

#include "core/parallel.h"
#include "kernels/conv.h"
#include "kernels/gemm.h"
#include "kernels/scratch.h"

namespace flambeau {
namespace {

constexpr std::int64_t kGrain = 32768;

// Calls fn(column offset, input offset) once per output row of one patch row; runs are clipped to the input.
// The run [first, last) of output columns lies inside; input position of output column j is base + j * stride.
struct Run {
  std::int64_t first, last, base;
  bool inside;
};

template <class F>
void for_runs(const ConvProblem& g, std::int64_t row, F&& fn) {
  const std::int64_t kw = row % g.kernel[2], kh = row / g.kernel[2] % g.kernel[1],
                     kd = row / (g.kernel[2] * g.kernel[1]) % g.kernel[0];
  const std::int64_t channel = row / g.taps();
  const std::int64_t shift = kw * g.dilation[2] - g.padding[2], s = g.stride[2];
  // Smallest j with j * s + shift >= 0, and the end of those with j * s + shift < width.
  const std::int64_t first = std::min(shift >= 0 ? 0 : (-shift + s - 1) / s, g.out[2]);
  const std::int64_t last =
      std::clamp<std::int64_t>(g.in[2] - shift <= 0 ? 0 : (g.in[2] - shift + s - 1) / s, first, g.out[2]);
  for (std::int64_t od = 0; od < g.out[0]; ++od) {
    const std::int64_t z = od * g.stride[0] + kd * g.dilation[0] - g.padding[0];
    for (std::int64_t oh = 0; oh < g.out[1]; ++oh) {
      const std::int64_t y = oh * g.stride[1] + kh * g.dilation[1] - g.padding[1];
      const bool inside = z >= 0 && z < g.in[0] && y >= 0 && y < g.in[1];
      fn((od * g.out[1] + oh) * g.out[2],
         Run{first, last, ((channel * g.in[0] + z) * g.in[1] + y) * g.in[2] + shift, inside});
    }
  }
}

template <class T>
void im2col(const ConvProblem& g, const T* input, T* col) {
  const std::int64_t rows = g.in_channels / g.groups * g.taps(), columns = g.out_size();
  parallel_for(0, rows, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, columns)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   for_runs(g, row, [&](std::int64_t at, const Run& run) {
                     T* out = col + row * columns + at;
                     if (!run.inside) {
                       std::fill_n(out, g.out[2], T(0));
                       return;
                     }
                     std::fill_n(out, run.first, T(0));
                     if (g.stride[2] == 1) {
                       std::copy(input + run.base + run.first, input + run.base + run.last, out + run.first);
                     } else {
                       for (std::int64_t j = run.first; j < run.last; ++j) out[j] = input[run.base + j * g.stride[2]];
                     }
                     std::fill(out + run.last, out + g.out[2], T(0));
                   });
                 }
               });
}

template <class T>
void col2im(const ConvProblem& g, const T* col, T* input) {
  const std::int64_t channels = g.in_channels / g.groups, taps = g.taps(), columns = g.out_size();
  // Rows of one channel add to the same plane: split by channel.
  parallel_for(0, channels, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, columns * taps)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin * taps; row < end * taps; ++row) {
                   for_runs(g, row, [&](std::int64_t at, const Run& run) {
                     if (!run.inside) return;
                     const T* source = col + row * columns + at;
                     for (std::int64_t j = run.first; j < run.last; ++j) input[run.base + j * g.stride[2]] += source[j];
                   });
                 }
               });
}

template <class F>
void dispatch(DType dtype, F&& fn) {
  switch (dtype) {
    case DType::UInt8: return fn(TypeTag<std::uint8_t>{});
    case DType::Int8: return fn(TypeTag<std::int8_t>{});
    case DType::Int16: return fn(TypeTag<std::int16_t>{});
    case DType::Int32: return fn(TypeTag<std::int32_t>{});
    case DType::Int64: return fn(TypeTag<std::int64_t>{});
    default: return dispatch_floating_and_complex("convolution", dtype, std::forward<F>(fn));
  }
}

struct Sizes {
  std::int64_t m, k, n;  // out channels per group, patch length, positions
  explicit Sizes(const ConvProblem& g)
      : m(g.out_channels / g.groups), k(g.in_channels / g.groups * g.taps()), n(g.out_size()) {}
};

}  // namespace

void conv_forward_patches(DType dtype, const ConvProblem& conv, const void* input, const void* weight, const void* bias,
                          void* output) {
  dispatch(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Sizes s(conv);
    const bool direct = conv.pointwise();
    Scratch<T> col(direct ? 0 : s.k * s.n);
    for (std::int64_t image = 0; image < conv.batch; ++image) {
      for (std::int64_t group = 0; group < conv.groups; ++group) {
        const T* in = static_cast<const T*>(input) +
                      (image * conv.groups + group) * (conv.in_channels / conv.groups) * conv.in_size();
        T* out = static_cast<T*>(output) + (image * conv.groups + group) * s.m * s.n;
        if (!direct) im2col(conv, in, col.data());
        if (bias != nullptr) {
          const T* b = static_cast<const T*>(bias) + group * s.m;
          for (std::int64_t i = 0; i < s.m; ++i) std::fill_n(out + i * s.n, s.n, b[i]);
        }
        gemm(Gemm<T>{s.m, s.n, s.k, static_cast<const T*>(weight) + group * s.m * s.k, s.k, 1, direct ? in : col.data(),
                     s.n, 1, out, s.n, T(1), bias != nullptr});
      }
    }
  });
}

void conv_input_patches(DType dtype, const ConvProblem& conv, const void* grad, const void* weight, void* grad_input) {
  dispatch(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Sizes s(conv);
    const bool direct = conv.pointwise();
    const std::int64_t plane = conv.in_channels / conv.groups * conv.in_size();
    Scratch<T> col(direct ? 0 : s.k * s.n);
    for (std::int64_t image = 0; image < conv.batch; ++image) {
      for (std::int64_t group = 0; group < conv.groups; ++group) {
        T* in = static_cast<T*>(grad_input) + (image * conv.groups + group) * plane;
        const T* out = static_cast<const T*>(grad) + (image * conv.groups + group) * s.m * s.n;
        gemm(Gemm<T>{s.k, s.n, s.m, static_cast<const T*>(weight) + group * s.m * s.k, 1, s.k, out, s.n, 1,
                     direct ? in : col.data(), s.n});
        if (direct) continue;
        std::fill_n(in, plane, T(0));
        col2im(conv, col.data(), in);
      }
    }
  });
}

void conv_weight_patches(DType dtype, const ConvProblem& conv, const void* grad, const void* input, void* grad_weight) {
  dispatch(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Sizes s(conv);
    const bool direct = conv.pointwise();
    Scratch<T> col(direct ? 0 : s.k * s.n);
    if (conv.batch == 0 || s.n == 0) std::fill_n(static_cast<T*>(grad_weight), conv.groups * s.m * s.k, T(0));
    for (std::int64_t image = 0; image < conv.batch; ++image) {
      for (std::int64_t group = 0; group < conv.groups; ++group) {
        const T* in = static_cast<const T*>(input) +
                      (image * conv.groups + group) * (conv.in_channels / conv.groups) * conv.in_size();
        const T* out = static_cast<const T*>(grad) + (image * conv.groups + group) * s.m * s.n;
        if (!direct) im2col(conv, in, col.data());
        gemm(Gemm<T>{s.m, s.k, s.n, out, s.n, 1, direct ? in : col.data(), 1, s.n,
                     static_cast<T*>(grad_weight) + group * s.m * s.k, s.k, T(1), image != 0});
      }
    }
  });
}

}  // namespace flambeau
