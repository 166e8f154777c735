// Plans of one-dimensional transforms: mixed-radix Stockham, Bluestein's algorithm for lengths with large prime
// factors.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/tile.h"
#include "kernels/scratch_buffer.h"

namespace flambeau::fft {

// Split-complex work area of `columns` interleaved lines: value (i, c) lies at i * columns + c.
template <class T>
class Buffer {
 public:
  T *re = nullptr, *im = nullptr;
  // Forgets the contents. A pass reads and writes at a power of two's strides: starts that lie `kSkew` apart within a
  // page, rather than at the same place, keep the streams from falling into one set of the cache (0.17 against 0.07 ms
  // for the last pass of 1024 lines of 512 points).
  void resize(std::int64_t count, bool second = false) {
    if (count == count_) return;
    memory_.resize(2 * count + 4 * kSkew);
    re = memory_.data() + (second ? 2 * kSkew : 0);
    im = re + count + kSkew;
    count_ = count;
  }
  void swap(Buffer& other) noexcept {
    std::swap(re, other.re);
    std::swap(im, other.im);
    std::swap(count_, other.count_);
    memory_.swap(other.memory_);
  }

 private:
  static constexpr std::int64_t kSkew = 1024 / sizeof(T);
  ScratchBuffer<T> memory_;
  std::int64_t count_ = 0;
};

template <class T>
class Plan {
 public:
  explicit Plan(std::int64_t n);
  [[nodiscard]] std::int64_t size() const { return n_; }
  // Forward transform of `columns` lines in `data`, in place; `scratch` is resized. Swap re and im for the inverse.
  void run(Buffer<T>& data, Buffer<T>& scratch, std::int64_t columns) const;
  // exp(-pi i k / n) for k <= n: turns the spectrum of n complex values into that of 2n real ones. Made on first use.
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
    std::vector<double> chirp_re, chirp_im;  // exp(-i pi k^2 / n)
    Buffer<double> filter;                   // transform of the conjugate chirp, scaled by 1 / m
  };
  // A line too long for the caches, as a matrix (n1, n2): transforms of its columns, factors
  // exp(-2 pi i column * row / n), transforms of its rows, read out column by column.
  struct Long {
    std::int64_t n1, n2;
    std::unique_ptr<Plan<T>> columns, rows;
    std::vector<T> twiddle_re, twiddle_im;  // (group of columns, row, column in the group)
  };
  void plan_stages(const std::vector<std::int64_t>& radices);
  void plan_bluestein();
  bool plan_long(const std::vector<std::int64_t>& radices);
  void run_long(Buffer<T>& data, Buffer<T>& scratch) const;
  void run_bluestein(Buffer<T>& data, std::int64_t columns) const;

  std::int64_t n_;
  std::vector<Stage> stages_;
  std::unique_ptr<Bluestein> bluestein_;
  std::unique_ptr<Long> long_;
  mutable std::once_flag half_turns_once_;
  mutable Buffer<double> half_turns_;
};

// Kept for the life of the process (the most recent 64 lengths).
template <class T>
std::shared_ptr<const Plan<T>> plan_for(std::int64_t n);

}  // namespace flambeau::fft
