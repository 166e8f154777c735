// Plans of one-dimensional transforms: mixed-radix Stockham, Bluestein's algorithm for lengths with large prime
// factors.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/tile.h"

namespace flambeau::fft {

// Split-complex work area of `columns` interleaved lines: value (i, c) lies at i * columns + c.
template <class T>
struct Buffer {
  std::vector<T> re, im;
  void resize(std::int64_t count) {
    re.resize(static_cast<std::size_t>(count));
    im.resize(static_cast<std::size_t>(count));
  }
};

template <class T>
class Plan {
 public:
  explicit Plan(std::int64_t n);
  [[nodiscard]] std::int64_t size() const { return n_; }
  // Forward transform of `columns` lines in `data`, in place; `scratch` is resized. Swap re and im for the inverse.
  void run(Buffer<T>& data, Buffer<T>& scratch, std::int64_t columns) const;
  // exp(-pi i k / n) for k <= n: turns the spectrum of n complex values into that of 2n real ones. Made on first use,
  // in double: that step rounds once.
  [[nodiscard]] const Buffer<double>& half_turns() const;

 private:
  struct Stage {
    TileFn fn;
    std::int64_t radix, m;
    std::vector<T> twiddle_re, twiddle_im, roots;
  };
  // Bluestein: the transform as a convolution of a length that factors well. In double, for float32 too: the chirp
  // would cost three digits otherwise.
  struct Bluestein {
    std::unique_ptr<Plan<double>> plan;
    std::vector<double> chirp_re, chirp_im;    // exp(-i pi k^2 / n)
    std::vector<double> filter_re, filter_im;  // transform of the conjugate chirp, scaled by 1 / m
  };
  void plan_stages(const std::vector<std::int64_t>& radices);
  void plan_bluestein();
  void run_bluestein(Buffer<T>& data, std::int64_t columns) const;

  std::int64_t n_;
  std::vector<Stage> stages_;
  std::unique_ptr<Bluestein> bluestein_;
  mutable std::once_flag half_turns_once_;
  mutable Buffer<double> half_turns_;
};

// Kept for the life of the process (the most recent 64 lengths).
template <class T>
std::shared_ptr<const Plan<T>> plan_for(std::int64_t n);

}  // namespace flambeau::fft
