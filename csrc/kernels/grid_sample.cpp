// grid_sample, 2-d and 3-d: values of an image at given places (normalised to [-1, 1]), and its gradients.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"

namespace flambeau {
namespace {

enum class Interpolation { Bilinear, Nearest, Bicubic };
enum class Padding { Zeros, Border, Reflection };

struct Mode {
  Interpolation interpolation;
  Padding padding;
  bool align_corners;
};

// Normalised coordinate -> pixels; *slope gets the derivative.
template <class A>
A unnormalize(A x, std::int64_t size, bool align_corners, A* slope) {
  const A n = static_cast<A>(size);
  *slope = align_corners ? (n - 1) / 2 : n / 2;
  return align_corners ? (x + 1) / 2 * (n - 1) : ((x + 1) * n - 1) / 2;
}

template <class A>
A clip(A x, std::int64_t size, A* slope) {
  const A last = static_cast<A>(size - 1);
  if (!(x > A(0))) {
    *slope = A(0);
    return A(0);
  }
  if (x >= last) {
    *slope = A(0);
    return last;
  }
  return x;
}

template <class A>
A reflect(A x, A twice_low, A twice_high, A* slope) {
  if (twice_low == twice_high) {
    *slope = A(0);
    return A(0);
  }
  const A low = twice_low / 2, span = (twice_high - twice_low) / 2;
  x -= low;
  if (x < A(0)) {
    x = -x;
    *slope = -*slope;
  }
  const A extra = std::fmod(x, span);
  const auto flips = static_cast<std::int64_t>(std::floor(x / span));
  if (flips % 2 == 0) return extra + low;
  *slope = -*slope;
  return span - extra + low;
}

// Padding applied to a pixel coordinate; multiplies *slope.
template <class A>
A pad_coordinate(A x, std::int64_t size, const Mode& mode, A* slope) {
  if (mode.padding == Padding::Border) {
    x = clip(x, size, slope);
  } else if (mode.padding == Padding::Reflection) {
    x = mode.align_corners ? reflect(x, A(0), static_cast<A>(2 * (size - 1)), slope)
                           : reflect(x, A(-1), static_cast<A>(2 * size - 1), slope);
    x = clip(x, size, slope);
  }
  // Far outside, infinite or NaN: a place that is out of bounds for sure, and fits an integer.
  if (!(x > A(-1e9) && x < A(1e9))) x = A(-100);
  return x;
}

// One axis of one sample: up to four positions (-1: outside) with weights and their derivatives in the grid coordinate.
template <class A>
struct Taps {
  int count;
  std::int64_t at[4];
  A weight[4], slope[4];
};

template <class A>
Taps<A> make_taps(A coordinate, std::int64_t size, const Mode& mode) {
  Taps<A> taps{};
  A slope;
  A x = unnormalize(coordinate, size, mode.align_corners, &slope);
  const auto inside = [size](std::int64_t at) { return at >= 0 && at < size ? at : -1; };
  if (mode.interpolation == Interpolation::Bicubic) {
    // Far outside, on the side where it is: padding by the border still finds the right pixel there.
    if (x > A(1e9)) x = A(1e9);
    if (!(x > A(-1e9))) x = A(-1e9);
    const A base = std::floor(x), t = x - base, a = A(-0.75);
    taps.count = 4;
    const A d[4] = {t + 1, t, 1 - t, 2 - t};
    for (int j = 0; j < 4; ++j) {
      const bool near = j == 1 || j == 2;
      taps.weight[j] =
          near ? ((a + 2) * d[j] - (a + 3)) * d[j] * d[j] + 1 : ((a * d[j] - 5 * a) * d[j] + 8 * a) * d[j] - 4 * a;
      const A derivative = near ? (3 * (a + 2) * d[j] - 2 * (a + 3)) * d[j] : (3 * a * d[j] - 10 * a) * d[j] + 8 * a;
      taps.slope[j] = (j < 2 ? derivative : -derivative) * slope;
      A ignored = 1;
      taps.at[j] =
          inside(static_cast<std::int64_t>(pad_coordinate(base + static_cast<A>(j - 1), size, mode, &ignored)));
    }
    return taps;
  }
  x = pad_coordinate(x, size, mode, &slope);
  if (mode.interpolation == Interpolation::Nearest) {
    taps.count = 1;
    taps.at[0] = inside(static_cast<std::int64_t>(std::nearbyint(x)));
    taps.weight[0] = 1;
    return taps;
  }
  const A base = std::floor(x), t = x - base;
  taps.count = 2;
  const auto at = static_cast<std::int64_t>(base);
  taps.at[0] = inside(at);
  taps.at[1] = inside(at + 1);
  taps.weight[0] = 1 - t;
  taps.weight[1] = t;
  taps.slope[0] = -slope;
  taps.slope[1] = slope;
  return taps;
}

struct Geometry {
  std::int64_t spatial, batch, channels, in[3], in_size, out_size;
};

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

// fn(position in the plane, weight, derivative of the weight per axis) for each tap inside.
template <class T, class F>
void for_taps(const Geometry& g, const Mode& mode, const T* coordinates, F&& fn) {
  using A = typename Wide<T>::type;
  Taps<A> taps[3];
  // coordinates are (x, y[, z]): last axis first.
  for (std::int64_t d = 0; d < 3; ++d) {
    if (d < 3 - g.spatial) {
      taps[d].count = 1;
      taps[d].at[0] = 0;
      taps[d].weight[0] = 1;
      taps[d].slope[0] = 0;
    } else {
      taps[d] = make_taps(static_cast<A>(coordinates[2 - d]), g.in[d], mode);
    }
  }
  for (int i = 0; i < taps[0].count; ++i) {
    for (int j = 0; j < taps[1].count; ++j) {
      for (int k = 0; k < taps[2].count; ++k) {
        if (taps[0].at[i] < 0 || taps[1].at[j] < 0 || taps[2].at[k] < 0) continue;
        const A wz = taps[0].weight[i], wy = taps[1].weight[j], wx = taps[2].weight[k];
        const A slopes[3] = {wz * wy * taps[2].slope[k], wz * taps[1].slope[j] * wx, taps[0].slope[i] * wy * wx};
        fn((taps[0].at[i] * g.in[1] + taps[1].at[j]) * g.in[2] + taps[2].at[k], wz * wy * wx, slopes);
      }
    }
  }
}

Mode parse_mode(std::string_view mode, std::string_view padding, bool align_corners, std::int64_t spatial) {
  Mode m{Interpolation::Bilinear, Padding::Zeros, align_corners};
  if (mode == "nearest") m.interpolation = Interpolation::Nearest;
  if (mode == "bicubic") m.interpolation = Interpolation::Bicubic;
  if (padding == "border") m.padding = Padding::Border;
  if (padding == "reflection") m.padding = Padding::Reflection;
  check(m.interpolation != Interpolation::Bicubic || spatial == 2,
        "grid_sample: bicubic interpolation only supports 4D input");
  return m;
}

Geometry check_arguments(const Tensor& input, const Tensor& grid) {
  check(input.dim() == 4 || input.dim() == 5,
        "grid_sample: expected 4D or 5D input and grid with same number of dimensions, but got input with sizes ",
        input.sizes(), " and grid with sizes ", grid.sizes());
  check(input.dim() == grid.dim(),
        "grid_sample: expected 4D or 5D input and grid with same number of dimensions, but got input with sizes ",
        input.sizes(), " and grid with sizes ", grid.sizes());
  check(input.dtype() == grid.dtype(), "grid_sample: expected input and grid to have same dtype, but input has ",
        name_of(input.dtype()), " and grid has ", name_of(grid.dtype()));
  check(input.sizes()[0] == grid.sizes()[0],
        "grid_sample: expected grid and input to have same batch size, but got input with sizes ", input.sizes(),
        " and grid with sizes ", grid.sizes());
  Geometry g{};
  g.spatial = input.dim() - 2;
  check(grid.sizes().back() == g.spatial, "grid_sample: expected grid to have size ", g.spatial,
        " in last dimension, but got grid with sizes ", grid.sizes());
  g.batch = input.sizes()[0];
  g.channels = input.sizes()[1];
  g.in_size = g.out_size = 1;
  for (std::int64_t d = 0; d < 3; ++d) g.in[d] = 1;
  for (std::int64_t d = 0; d < g.spatial; ++d) {
    check(input.sizes()[2 + d] > 0,
          "grid_sample: expected input to have non-empty spatial dimensions, but input has sizes ", input.sizes());
    g.in[3 - g.spatial + d] = input.sizes()[2 + d];
    g.in_size *= input.sizes()[2 + d];
    g.out_size *= grid.sizes()[1 + d];
  }
  return g;
}

template <class F>
void dispatch(DType dtype, F&& fn) {
  if (dtype == DType::Float16) return fn(TypeTag<Half>{});
  if (dtype == DType::BFloat16) return fn(TypeTag<BFloat16>{});
  dispatch_floating("grid_sample", dtype, std::forward<F>(fn));
}

Tensor grid_sample(const Tensor& input, const Tensor& grid, std::string_view mode_name, std::string_view padding_mode,
                   bool align_corners) {
  const Geometry g = check_arguments(input, grid);
  const Mode mode = parse_mode(mode_name, padding_mode, align_corners, g.spatial);
  Dims sizes{g.batch, g.channels};
  for (std::int64_t d = 0; d < g.spatial; ++d) sizes.push_back(grid.sizes()[1 + d]);
  Tensor output = empty(sizes, input.dtype(), input.device());
  if (output.is_meta() || output.numel() == 0) return output;
  const Tensor in = contiguous(input), at = contiguous(grid);
  dispatch(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = typename Wide<T>::type;
    const std::int64_t grain = std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, g.channels));
    parallel_for(0, g.batch * g.out_size, grain, [&](std::int64_t begin, std::int64_t end) {
      std::vector<A> sums(static_cast<std::size_t>(g.channels));
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t image = i / g.out_size, position = i % g.out_size;
        const T* plane = in.data<T>() + image * g.channels * g.in_size;
        std::fill(sums.begin(), sums.end(), A(0));
        for_taps(g, mode, at.data<T>() + i * g.spatial, [&](std::int64_t from, A weight, const A*) {
          for (std::int64_t c = 0; c < g.channels; ++c)
            sums[static_cast<std::size_t>(c)] += weight * static_cast<A>(plane[c * g.in_size + from]);
        });
        T* out = output.data<T>() + image * g.channels * g.out_size + position;
        for (std::int64_t c = 0; c < g.channels; ++c)
          out[c * g.out_size] = static_cast<T>(sums[static_cast<std::size_t>(c)]);
      }
    });
  });
  return output;
}

std::tuple<Tensor, Tensor> grid_sample_grad(const Tensor& cotangent, const Tensor& input, const Tensor& grid,
                                            std::string_view mode_name, std::string_view padding_mode,
                                            bool align_corners) {
  const Geometry g = check_arguments(input, grid);
  const Mode mode = parse_mode(mode_name, padding_mode, align_corners, g.spatial);
  Tensor grad_input = zeros(input.sizes(), input.dtype(), input.device()),
         grad_grid = zeros(grid.sizes(), grid.dtype(), grid.device());
  if (grad_input.is_meta() || cotangent.numel() == 0) return {grad_input, grad_grid};
  const Tensor in = contiguous(input), at = contiguous(grid), grad = contiguous(cotangent);
  dispatch(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = typename Wide<T>::type;
    parallel_for(0, g.batch, 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<A> image(static_cast<std::size_t>(g.channels * g.in_size));
      for (std::int64_t n = begin; n < end; ++n) {
        std::fill(image.begin(), image.end(), A(0));
        const T* planes = in.data<T>() + n * g.channels * g.in_size;
        const T* out = grad.data<T>() + n * g.channels * g.out_size;
        for (std::int64_t position = 0; position < g.out_size; ++position) {
          A slopes[3] = {0, 0, 0};
          for_taps(g, mode, at.data<T>() + (n * g.out_size + position) * g.spatial,
                   [&](std::int64_t from, A weight, const A* slope) {
                     A product(0);
                     for (std::int64_t c = 0; c < g.channels; ++c) {
                       const A cotangent_here = static_cast<A>(out[c * g.out_size + position]);
                       image[static_cast<std::size_t>(c * g.in_size + from)] += weight * cotangent_here;
                       product += cotangent_here * static_cast<A>(planes[c * g.in_size + from]);
                     }
                     for (std::int64_t d = 0; d < g.spatial; ++d) slopes[d] += product * slope[d];
                   });
          T* target = grad_grid.data<T>() + (n * g.out_size + position) * g.spatial;
          for (std::int64_t d = 0; d < g.spatial; ++d) target[d] = static_cast<T>(slopes[d]);
        }
        T* target = grad_input.data<T>() + n * g.channels * g.in_size;
        for (std::int64_t i = 0; i < g.channels * g.in_size; ++i)
          target[i] = static_cast<T>(image[static_cast<std::size_t>(i)]);
      }
    });
  });
  return {grad_input, grad_grid};
}

const Kernel grid_sample_kernel("grid_sample_to", &grid_sample);
const Kernel grid_sample_grad_kernel("grid_sample_to_grad", &grid_sample_grad);

}  // namespace
}  // namespace flambeau
