// Interpolation of uint8 images in integers, as PyTorch and Pillow do it: weights as 16-bit numbers with as many
// fraction bits as the largest one leaves, sums rounded half up, bytes between the two passes (last axis first).
#include <algorithm>
#include <cstdint>

#include "core/parallel.h"
#include "kernels/resample.h"

namespace flambeau {
namespace {

struct ByteAxis {
  std::int64_t in, out, taps;
  std::vector<std::int32_t> weight;  // [out][taps], 0 for those that repeat a position
  const std::int64_t* index;
  int bits = 0;  // of the fraction

  explicit ByteAxis(const ResampleAxis& axis)
      : in(axis.in), out(axis.out), taps(axis.taps), weight(axis.weight.size()), index(axis.index.data()) {
    std::vector<double> sums = axis.weight;
    double largest = 0;
    for (std::int64_t o = 0; o < out; ++o) {  // weights beyond a border belong to the pixel at the border
      for (std::int64_t t = 0; t < taps; ++t) {
        const std::int64_t at = o * taps + t;
        std::int64_t home = at;
        while (home > o * taps && index[home - 1] == index[at]) --home;
        if (home != at) {
          sums[static_cast<std::size_t>(home)] += sums[static_cast<std::size_t>(at)];
          sums[static_cast<std::size_t>(at)] = 0;
        }
        largest = std::max(largest, sums[static_cast<std::size_t>(home)]);
      }
    }
    while (bits < 22 && static_cast<std::int64_t>(0.5 + largest * static_cast<double>(2 << bits)) < (1 << 15)) ++bits;
    const double unit = static_cast<double>(1 << bits);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      weight[i] = static_cast<std::int32_t>(sums[i] * unit + (sums[i] < 0 ? -0.5 : 0.5));
    }
  }
};

// dst[outer][out][inner] from src[outer][in][inner].
void apply(const ByteAxis& axis, const std::uint8_t* src, std::uint8_t* dst, std::int64_t outer, std::int64_t inner,
           std::int32_t* sums) {
  if (axis.in == axis.out) {  // whatever scale was given
    std::copy_n(src, outer * axis.in * inner, dst);
    return;
  }
  for (std::int64_t i = 0; i < outer; ++i, src += axis.in * inner) {
    for (std::int64_t o = 0; o < axis.out; ++o, dst += inner) {
      std::fill_n(sums, inner, axis.bits > 0 ? 1 << (axis.bits - 1) : 0);
      for (std::int64_t t = o * axis.taps; t < (o + 1) * axis.taps; ++t) {
        const std::int32_t w = axis.weight[static_cast<std::size_t>(t)];
        if (w == 0) continue;
        const std::uint8_t* row = src + axis.index[t] * inner;
        for (std::int64_t k = 0; k < inner; ++k) sums[k] += w * row[k];
      }
      for (std::int64_t k = 0; k < inner; ++k) {
        dst[k] = static_cast<std::uint8_t>(std::clamp(sums[k] >> axis.bits, 0, 255));
      }
    }
  }
}

}  // namespace

void resample_bytes(const ResampleAxis& y, const ResampleAxis& x, const std::uint8_t* input, std::uint8_t* output,
                    std::int64_t planes) {
  const ByteAxis rows(y), columns(x);
  const std::int64_t work = std::max(y.in * x.out, y.out * x.out);
  parallel_for(0, planes, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, work)),
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<std::uint8_t> between(static_cast<std::size_t>(y.in * x.out));
                 std::vector<std::int32_t> sums(static_cast<std::size_t>(x.out));
                 for (std::int64_t plane = begin; plane < end; ++plane) {
                   apply(columns, input + plane * y.in * x.in, between.data(), y.in, 1, sums.data());
                   apply(rows, between.data(), output + plane * y.out * x.out, 1, x.out, sums.data());
                 }
               });
}

}  // namespace flambeau
