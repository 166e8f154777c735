// Depthwise convolution, float32, plain layout. Each plane is copied once into a zero-padded buffer whose columns are
// sorted by phase (column modulo stride), so that every tap of every output row is a contiguous run.
#include <algorithm>
#include <vector>

#include "core/elementwise.h"
#include "core/parallel.h"
#include "kernels/conv.h"
#include "kernels/pool_tile.h"

namespace flambeau {
namespace {

const DepthwiseTile* g_tile = nullptr;
int g_level = -1;

// A padded plane: row(y) for -padding <= y, phase-sorted columns.
class Plane {
 public:
  Plane(std::int64_t height, std::int64_t width, std::int64_t phases)
      : phases_(phases),
        pitch_((width + phases - 1) / phases + kDepthwiseSlack),
        data_(static_cast<std::size_t>(height * pitch_ * phases)) {}
  [[nodiscard]] std::int64_t row_stride() const { return phases_ * pitch_; }
  float* at(std::int64_t y, std::int64_t x) {
    return data_.data() + (y * phases_ + x % phases_) * pitch_ + x / phases_;
  }
  // Copies `columns` values to row y, starting at column x, `step` apart.
  void put(std::int64_t y, std::int64_t x, std::int64_t step, const float* source, std::int64_t columns) {
    if (phases_ == 1) {
      float* target = at(y, x);
      if (step == 1) {
        std::copy_n(source, columns, target);
      } else {
        for (std::int64_t i = 0; i < columns; ++i) target[i * step] = source[i];
      }
      return;
    }
    if (phases_ == 2) {
      // Even and odd columns by vectors, as far as those stay inside the source.
      for (std::int64_t i = 0; i < 2 && i < columns; ++i) {
        const std::int64_t all = (columns - i + 1) / 2, fast = std::max<std::int64_t>(0, all - 1);
        float* target = at(y, x + i);
        pool_tile().max_line(target, source + i, fast, 1, 2);
        for (std::int64_t j = fast; j < all; ++j) target[j] = source[i + 2 * j];
      }
      return;
    }
    // One phase after the other: each is a contiguous run.
    for (std::int64_t i = 0; i < std::min(phases_, columns); ++i) {
      float* target = at(y, x + i);
      for (std::int64_t j = i; j < columns; j += phases_) *target++ = source[j];
    }
  }

 private:
  std::int64_t phases_, pitch_;
  std::vector<float> data_;
};

struct Geometry {
  std::int64_t h, w, oh, ow, kh, kw, sh, sw, ph, pw, dh, dw;
  explicit Geometry(const ConvProblem& c)
      : h(c.in[1]),
        w(c.in[2]),
        oh(c.out[1]),
        ow(c.out[2]),
        kh(c.kernel[1]),
        kw(c.kernel[2]),
        sh(c.stride[1]),
        sw(c.stride[2]),
        ph(c.padding[1]),
        pw(c.padding[2]),
        dh(c.dilation[1]),
        dw(c.dilation[2]) {}
  [[nodiscard]] std::int64_t padded_height() const { return std::max(h + 2 * ph, (oh - 1) * sh + (kh - 1) * dh + 1); }
  [[nodiscard]] std::int64_t padded_width() const { return std::max(w + 2 * pw, (ow - 1) * sw + (kw - 1) * dw + 1); }
};

// Where the taps of an output row start, relative to its first input row.
std::vector<std::int64_t> tap_offsets(Plane& plane, const Geometry& g, std::int64_t taps) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t t = 0; t < taps; ++t)
    offsets.push_back(plane.at(t / g.kw * g.dh, t % g.kw * g.dw) - plane.at(0, 0));
  return offsets;
}

void load_plane(Plane& plane, const Geometry& g, const float* source) {
  for (std::int64_t y = 0; y < g.h; ++y) plane.put(y + g.ph, g.pw, 1, source + y * g.w, g.w);
}

// How far row y of an output plane may be written: a whole number of vectors, as long as what spills over lies in rows
// of the same plane that are written later.
std::int64_t row_length(std::int64_t width, std::int64_t rows_left) {
  const std::int64_t whole = (width + kDepthwiseSlack - 1) / kDepthwiseSlack * kDepthwiseSlack;
  return whole - width <= rows_left * width ? whole : width;
}

std::int64_t plane_grain(const ConvProblem& conv) {
  return std::max<std::int64_t>(1, 262144 / std::max<std::int64_t>(1, conv.out_size() * conv.taps()));
}

}  // namespace

DepthwiseTileEntry::DepthwiseTileEntry(int level, const DepthwiseTile* tile) noexcept {
  if (level > static_cast<int>(cpu_level()) || level <= g_level) return;
  g_level = level;
  g_tile = tile;
}

void depthwise_forward(const ConvProblem& conv, const float* input, const float* weight, const float* bias,
                       float* output) {
  const Geometry g(conv);
  const std::int64_t multiplier = conv.out_channels / conv.groups, taps = conv.taps();
  parallel_for(0, conv.batch * conv.in_channels, plane_grain(conv), [&](std::int64_t begin, std::int64_t end) {
    Plane plane(g.padded_height(), g.padded_width(), g.sw);
    std::vector<const float*> rows(static_cast<std::size_t>(taps));
    const std::vector<std::int64_t> offsets = tap_offsets(plane, g, taps);
    for (std::int64_t p = begin; p < end; ++p) {
      load_plane(plane, g, input + p * conv.in_size());
      const std::int64_t channel = p % conv.in_channels, image = p / conv.in_channels;
      for (std::int64_t y = 0; y < g.oh; ++y) {
        const float* base = plane.at(0, 0) + y * g.sh * plane.row_stride();
        for (std::size_t t = 0; t < rows.size(); ++t) rows[t] = base + offsets[t];
        for (std::int64_t q = 0; q < multiplier; ++q) {
          const std::int64_t oc = channel * multiplier + q;
          g_tile->row(output + ((image * conv.out_channels + oc) * g.oh + y) * g.ow, rows.data(), weight + oc * taps,
                      taps, row_length(g.ow, g.oh - 1 - y), bias != nullptr ? bias[oc] : 0.0F);
        }
      }
    }
  });
}

void depthwise_input(const ConvProblem& conv, const float* grad, const float* weight, float* grad_input) {
  // The gradient, spread out by the stride, convolved with the flipped kernel at stride 1.
  const Geometry g(conv);
  const std::int64_t multiplier = conv.out_channels / conv.groups, taps = conv.taps();
  const std::int64_t above = (g.kh - 1) * g.dh, left = (g.kw - 1) * g.dw;
  parallel_for(0, conv.batch * conv.in_channels, plane_grain(conv), [&](std::int64_t begin, std::int64_t end) {
    Plane plane(std::max((g.oh - 1) * g.sh + 1, g.h + g.ph) + 2 * above + 1,
                std::max((g.ow - 1) * g.sw + 1, g.w + g.pw) + 2 * left + 1, 1);
    std::vector<const float*> rows(static_cast<std::size_t>(taps * multiplier));
    std::vector<Plane> planes(static_cast<std::size_t>(multiplier), plane);
    std::vector<float> flipped(static_cast<std::size_t>(taps * multiplier));
    const std::vector<std::int64_t> offsets = tap_offsets(plane, g, taps);
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t channel = p % conv.in_channels, image = p / conv.in_channels;
      for (std::int64_t q = 0; q < multiplier; ++q) {
        const std::int64_t oc = channel * multiplier + q;
        const float* source = grad + (image * conv.out_channels + oc) * conv.out_size();
        for (std::int64_t y = 0; y < g.oh; ++y)
          planes[static_cast<std::size_t>(q)].put(above + y * g.sh, left, g.sw, source + y * g.ow, g.ow);
        for (std::int64_t t = 0; t < taps; ++t)
          flipped[static_cast<std::size_t>(q * taps + t)] = weight[oc * taps + taps - 1 - t];
      }
      for (std::int64_t y = 0; y < g.h; ++y) {
        for (std::int64_t q = 0; q < multiplier; ++q) {
          const float* base = planes[static_cast<std::size_t>(q)].at(y + g.ph, g.pw);
          for (std::int64_t t = 0; t < taps; ++t)
            rows[static_cast<std::size_t>(q * taps + t)] = base + offsets[static_cast<std::size_t>(t)];
        }
        g_tile->row(grad_input + p * conv.in_size() + y * g.w, rows.data(), flipped.data(), taps * multiplier, g.w,
                    0.0F);
      }
    }
  });
}

void depthwise_weight(const ConvProblem& conv, const float* grad, const float* input, float* grad_weight) {
  const Geometry g(conv);
  const std::int64_t multiplier = conv.out_channels / conv.groups, taps = conv.taps();
  parallel_for(0, conv.in_channels, std::max<std::int64_t>(1, plane_grain(conv) / conv.batch),
               [&](std::int64_t begin, std::int64_t end) {
                 Plane plane(g.padded_height(), g.padded_width(), g.sw);
                 std::vector<const float*> rows(static_cast<std::size_t>(taps));
                 std::vector<float> line(static_cast<std::size_t>(g.ow + kDepthwiseSlack)), sums;
                 const std::vector<std::int64_t> offsets = tap_offsets(plane, g, taps);
                 for (std::int64_t channel = begin; channel < end; ++channel) {
                   sums.assign(static_cast<std::size_t>(multiplier * taps * kDepthwiseSlack), 0.0F);
                   for (std::int64_t image = 0; image < conv.batch; ++image) {
                     load_plane(plane, g, input + (image * conv.in_channels + channel) * conv.in_size());
                     for (std::int64_t y = 0; y < g.oh; ++y) {
                       const float* base = plane.at(0, 0) + y * g.sh * plane.row_stride();
                       for (std::size_t t = 0; t < rows.size(); ++t) rows[t] = base + offsets[t];
                       for (std::int64_t q = 0; q < multiplier; ++q) {
                         std::copy_n(grad + ((image * conv.out_channels + channel * multiplier + q) * g.oh + y) * g.ow,
                                     g.ow, line.data());
                         g_tile->dots(sums.data() + q * taps * kDepthwiseSlack, line.data(), rows.data(), taps, g.ow);
                       }
                     }
                   }
                   for (std::int64_t t = 0; t < multiplier * taps; ++t) {
                     float total = 0;
                     for (std::int64_t lane = 0; lane < kDepthwiseSlack; ++lane)
                       total += sums[static_cast<std::size_t>(t * kDepthwiseSlack + lane)];
                     grad_weight[channel * multiplier * taps + t] = total;
                   }
                 }
               });
}

}  // namespace flambeau
