// im2col and col2im as ops: patches of an image as columns, and their sums back into an image. Transposes of each
// other.
#include <algorithm>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"

namespace flambeau {
namespace {

struct Patches {
  std::int64_t batch, channels, h, w, oh, ow, kh, kw, sh, sw, ph, pw, dh, dw;
};

std::int64_t two(const char* op, const char* name, IntSpan values, std::int64_t d, std::int64_t least) {
  check(values.size() == 1 || values.size() == 2, op, ": expected ", name, " with 1 or 2 values, got ", values);
  const std::int64_t value = values.size() == 1 ? values[0] : values[d];
  check(value >= least, op, ": ", name, " should be ", least == 0 ? "non-negative" : "greater than zero", ", but got ",
        values);
  check(value < (std::int64_t{1} << 31), op, ": expected ", name, " below 2^31, got ", values);
  return value;
}

Patches geometry(const char* op, std::int64_t h, std::int64_t w, IntSpan kernel, IntSpan dilation, IntSpan padding,
                 IntSpan stride) {
  Patches p{};
  p.h = h;
  p.w = w;
  p.kh = two(op, "kernel_size", kernel, 0, 1);
  p.kw = two(op, "kernel_size", kernel, 1, 1);
  p.dh = two(op, "dilation", dilation, 0, 1);
  p.dw = two(op, "dilation", dilation, 1, 1);
  p.ph = two(op, "padding", padding, 0, 0);
  p.pw = two(op, "padding", padding, 1, 0);
  p.sh = two(op, "stride", stride, 0, 1);
  p.sw = two(op, "stride", stride, 1, 1);
  const std::int64_t room_h = h + 2 * p.ph - (p.dh * (p.kh - 1) + 1), room_w = w + 2 * p.pw - (p.dw * (p.kw - 1) + 1);
  check(room_h >= 0 && room_w >= 0, op,
        ": calculated shape of the array of sliding blocks is too small for an image of ", h, " x ", w,
        ", kernel_size ", kernel, ", dilation ", dilation, " and padding ", padding, ": it must be at least one");
  p.oh = room_h / p.sh + 1;
  p.ow = room_w / p.sw + 1;
  return p;
}

// fn(column element, image element) for every pair that lies inside, one channel at a time.
template <class F>
void for_pairs(const Patches& p, F&& fn) {
  for (std::int64_t t = 0; t < p.kh * p.kw; ++t) {
    const std::int64_t kh = t / p.kw, kw = t % p.kw;
    for (std::int64_t oh = 0; oh < p.oh; ++oh) {
      const std::int64_t y = oh * p.sh + kh * p.dh - p.ph;
      if (y < 0 || y >= p.h) continue;
      for (std::int64_t ow = 0; ow < p.ow; ++ow) {
        const std::int64_t x = ow * p.sw + kw * p.dw - p.pw;
        if (x >= 0 && x < p.w) fn((t * p.oh + oh) * p.ow + ow, y * p.w + x);
      }
    }
  }
}

template <class F>
void for_channels(const Patches& p, F&& fn) {
  const std::int64_t cost = std::max<std::int64_t>(1, p.kh * p.kw * p.oh * p.ow);
  parallel_for(0, p.batch * p.channels, std::max<std::int64_t>(1, 32768 / cost), std::forward<F>(fn));
}

Tensor im2col(const Tensor& input, IntSpan kernel_size, IntSpan dilation, IntSpan padding, IntSpan stride) {
  check(input.dim() == 3 || input.dim() == 4,
        "im2col: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
        "input, but got: ",
        input.sizes());
  const std::int64_t lead = input.dim() - 3;
  for (std::int64_t d = lead; d < input.dim(); ++d)
    check(input.sizes()[d] > 0, "im2col: expected non-zero sizes besides the batch, got input of shape ",
          input.sizes());
  Patches p =
      geometry("im2col", input.sizes()[lead + 1], input.sizes()[lead + 2], kernel_size, dilation, padding, stride);
  p.batch = lead == 1 ? input.sizes()[0] : 1;
  p.channels = input.sizes()[lead];
  Dims sizes{p.channels * p.kh * p.kw, p.oh * p.ow};
  if (lead == 1) sizes.insert(0, p.batch);
  Tensor output = empty(sizes, input.dtype(), input.device());
  if (output.is_meta() || output.numel() == 0) return output;
  const Tensor in = contiguous(input);
  const std::int64_t column = p.kh * p.kw * p.oh * p.ow;
  dispatch_size(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_channels(p, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        const T* image = in.data<T>() + c * p.h * p.w;
        T* out = output.data<T>() + c * column;
        std::fill_n(out, column, T{});
        for_pairs(p, [&](std::int64_t to, std::int64_t from) { out[to] = image[from]; });
      }
    });
  });
  return output;
}

Tensor col2im(const Tensor& input, IntSpan output_size, IntSpan kernel_size, IntSpan dilation, IntSpan padding,
              IntSpan stride) {
  check(input.dim() == 2 || input.dim() == 3,
        "col2im: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions "
        "for input, but got: ",
        input.sizes());
  Patches p = geometry("col2im", two("col2im", "output_size", output_size, 0, 1),
                       two("col2im", "output_size", output_size, 1, 1), kernel_size, dilation, padding, stride);
  const std::int64_t lead = input.dim() - 2, rows = input.sizes()[lead], columns = input.sizes()[lead + 1];
  check(rows > 0 && columns > 0, "col2im: expected non-zero sizes besides the batch, got input of shape ",
        input.sizes());
  check(rows % (p.kh * p.kw) == 0, "col2im: Expected size of input's dimension ", lead,
        " to be divisible by the product of kernel_size, but got ", rows, " and kernel_size ", kernel_size);
  check(columns == p.oh * p.ow, "col2im: Given output_size ", output_size, ", kernel_size ", kernel_size, ", dilation ",
        dilation, ", padding ", padding, ", stride ", stride, ", expected size of input's dimension ", lead + 1,
        " to match the calculated number of sliding blocks ", p.oh, " * ", p.ow, " = ", p.oh * p.ow, ", but got ",
        columns);
  p.batch = lead == 1 ? input.sizes()[0] : 1;
  p.channels = rows / (p.kh * p.kw);
  Dims sizes{p.channels, p.h, p.w};
  if (lead == 1) sizes.insert(0, p.batch);
  Tensor output = empty(sizes, input.dtype(), input.device());
  if (output.is_meta() || output.numel() == 0) return output;
  const Tensor in = contiguous(input);
  const std::int64_t column = p.kh * p.kw * p.oh * p.ow;
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_channels(p, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        const T* source = in.data<T>() + c * column;
        T* image = output.data<T>() + c * p.h * p.w;
        std::fill_n(image, p.h * p.w, T{});
        for_pairs(p, [&](std::int64_t from, std::int64_t to) {
          if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
            image[to] = T(static_cast<float>(image[to]) + static_cast<float>(source[from]));
          } else if constexpr (std::is_same_v<T, bool>) {
            image[to] = image[to] || source[from];
          } else {
            image[to] = static_cast<T>(image[to] + source[from]);
          }
        });
      }
    });
  });
  return output;
}

const Kernel im2col_kernel("im2col", &im2col);
const Kernel col2im_kernel("col2im", &col2im);

}  // namespace
}  // namespace flambeau
