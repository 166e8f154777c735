#include "kernels/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <numbers>

#include "core/elementwise.h"
#include "core/parallel.h"
#include "kernels/fft.h"

namespace flambeau::fft {
namespace {

constexpr std::int64_t kLargestRadix = 13;  // larger prime factors go through Bluestein
// Points from which on a line is cut in two. Lines that long always come one by one (fft.cpp, kLargestTogether).
constexpr std::int64_t kLong = 65536;
constexpr std::int64_t kMostLanes = 16;

// exp(-2 pi i k / n), with the angle reduced to the first octant so that it is right to the last bit or so.
void unit_root(std::int64_t k, std::int64_t n, double& re, double& im) {
  k %= n;
  const auto exact = [&](std::int64_t numerator) {
    return 2 * std::numbers::pi * static_cast<double>(numerator) / static_cast<double>(n);
  };
  if (8 * k <= n) {
    re = std::cos(exact(k));
    im = -std::sin(exact(k));
  } else if (8 * k <= 3 * n) {  // around a quarter turn
    const double rest = 2 * std::numbers::pi * (static_cast<double>(4 * k - n) / (4 * static_cast<double>(n)));
    re = -std::sin(rest);
    im = -std::cos(rest);
  } else if (8 * k <= 5 * n) {
    const double rest = 2 * std::numbers::pi * (static_cast<double>(2 * k - n) / (2 * static_cast<double>(n)));
    re = -std::cos(rest);
    im = std::sin(rest);
  } else if (8 * k <= 7 * n) {
    const double rest = 2 * std::numbers::pi * (static_cast<double>(4 * k - 3 * n) / (4 * static_cast<double>(n)));
    re = std::sin(rest);
    im = std::cos(rest);
  } else {
    re = std::cos(exact(n - k));
    im = std::sin(exact(n - k));
  }
}

std::vector<std::int64_t> factor(std::int64_t n) {
  std::vector<std::int64_t> radices;
  // Eights first, but 4 * 4 rather than 8 * 2: a pass costs its trip through the work area.
  while (n % 8 == 0 && !(n % 16 == 0 && n / 16 % 2 == 1)) {
    radices.push_back(8);
    n /= 8;
  }
  for (const std::int64_t radix : {4, 2, 3, 5, 7, 11, 13}) {
    while (n % radix == 0) {
      radices.push_back(radix);
      n /= radix;
    }
  }
  if (n > 1) radices.push_back(n);
  return radices;
}

// Smallest 2^a 3^b 5^c that is at least n.
std::int64_t good_size(std::int64_t n) {
  std::int64_t best = INT64_MAX;
  for (std::int64_t five = 1; five < 2 * n; five *= 5) {
    for (std::int64_t three = five; three < 2 * n; three *= 3) {
      std::int64_t size = three;
      while (size < n) size *= 2;
      if (size < best) best = size;
    }
  }
  return best;
}

const char* pass_name(std::int64_t radix) {
  switch (radix) {
    case 2: return "fft_pass_2";
    case 3: return "fft_pass_3";
    case 4: return "fft_pass_4";
    case 5: return "fft_pass_5";
    case 8: return "fft_pass_8";
    default: return "fft_pass_any";
  }
}

}  // namespace

template <class T>
Plan<T>::Plan(std::int64_t n) : n_(n) {
  const std::vector<std::int64_t> radices = factor(n);
  if (!radices.empty() && radices.back() > kLargestRadix) {
    plan_bluestein();
  } else if (n < kLong || !plan_long(radices)) {
    plan_stages(radices);
  }
}

template <class T>
void Plan<T>::plan_stages(const std::vector<std::int64_t>& radices) {
  std::int64_t n = n_;
  for (const std::int64_t radix : radices) {
    Stage stage;
    stage.fn = find_tile(pass_name(radix), dtype_of<T>).fn;
    stage.radix = radix;
    stage.m = n / radix;
    const auto count = static_cast<std::size_t>(n);
    stage.twiddle_re.resize(count);
    stage.twiddle_im.resize(count);
    for (std::int64_t p = 0; p < stage.m; ++p) {
      for (std::int64_t j = 0; j < radix; ++j) {
        double re, im;
        unit_root(p * j, n, re, im);
        stage.twiddle_re[static_cast<std::size_t>(p * radix + j)] = static_cast<T>(re);
        stage.twiddle_im[static_cast<std::size_t>(p * radix + j)] = static_cast<T>(im);
      }
    }
    stage.roots.resize(static_cast<std::size_t>(2 * radix));
    for (std::int64_t j = 0; j < radix; ++j) {
      double re, im;
      unit_root(j, radix, re, im);
      stage.roots[static_cast<std::size_t>(j)] = static_cast<T>(re);
      stage.roots[static_cast<std::size_t>(radix + j)] = static_cast<T>(im);
    }
    stages_.push_back(std::move(stage));
    n /= radix;
  }
}

template <class T>
bool Plan<T>::plan_long(const std::vector<std::int64_t>& radices) {
  const std::int64_t width = fft_loops<T>().width;
  // The divisor nearest to the root, if whole vectors fit both sides.
  std::vector<std::int64_t> divisors{1};
  for (const std::int64_t radix : radices) {
    const std::size_t count = divisors.size();
    for (std::size_t i = 0; i < count; ++i) divisors.push_back(divisors[i] * radix);
    std::sort(divisors.begin(), divisors.end());
    divisors.erase(std::unique(divisors.begin(), divisors.end()), divisors.end());
  }
  std::int64_t n1 = 0;
  for (const std::int64_t d : divisors) {
    if (d % width == 0 && n_ / d % width == 0 && d * d <= n_) n1 = d;
  }
  if (n1 == 0 || n_ / n1 > kLong) return false;
  long_ = std::make_unique<Long>();
  Long& l = *long_;
  l.n1 = n1;
  l.n2 = n_ / n1;
  l.columns = std::make_unique<Plan<T>>(l.n1);
  l.rows = std::make_unique<Plan<T>>(l.n2);
  l.twiddle_re.resize(static_cast<std::size_t>(n_));
  l.twiddle_im.resize(static_cast<std::size_t>(n_));
  parallel_for(0, l.n2 / width, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin * l.n1 * width; at < end * l.n1 * width; ++at) {
      const std::int64_t row = at / width % l.n1, column = at / (width * l.n1) * width + at % width;
      double re, im;
      unit_root(row * column, n_, re, im);
      l.twiddle_re[static_cast<std::size_t>(at)] = static_cast<T>(re);
      l.twiddle_im[static_cast<std::size_t>(at)] = static_cast<T>(im);
    }
  });
  return true;
}

namespace {

// Rows [row, row + width) of a group of columns times their factors, turned over: out[column * width + row].
template <class T>
void turn_block(std::int64_t width, const T* re, const T* im, const T* w_re, const T* w_im, T* out_re, T* out_im) {
  for (std::int64_t i = 0; i < width; ++i) {
    T product_re[kMostLanes], product_im[kMostLanes];
    for (std::int64_t c = 0; c < width; ++c) {
      const std::int64_t at = i * width + c;
      product_re[c] = re[at] * w_re[at] - im[at] * w_im[at];
      product_im[c] = re[at] * w_im[at] + im[at] * w_re[at];
    }
    for (std::int64_t c = 0; c < width; ++c) {
      out_re[c * width + i] = product_re[c];
      out_im[c * width + i] = product_im[c];
    }
  }
}

template <class T>
void copy_runs(std::int64_t count, std::int64_t width, const T* from, std::int64_t from_step, T* to,
               std::int64_t to_step) {
  for (std::int64_t i = 0; i < count; ++i) std::copy_n(from + i * from_step, width, to + i * to_step);
}

}  // namespace

template <class T>
void Plan<T>::run_long(Buffer<T>& data, Buffer<T>& scratch) const {
  const Long& l = *long_;
  const std::int64_t width = fft_loops<T>().width, n1 = l.n1, n2 = l.n2;
  scratch.resize(n_, true);
  parallel_for(0, n2 / width, 1, [&](std::int64_t begin, std::int64_t end) {
    Buffer<T> area, spare;
    area.resize(n1 * width);
    for (std::int64_t group = begin; group < end; ++group) {
      copy_runs(n1, width, data.re + group * width, n2, area.re, width);
      copy_runs(n1, width, data.im + group * width, n2, area.im, width);
      l.columns->run(area, spare, width);
      const T *w_re = l.twiddle_re.data() + group * n1 * width, *w_im = l.twiddle_im.data() + group * n1 * width;
      for (std::int64_t row = 0; row < n1; row += width) {  // to (group of rows, column, row in the group)
        const std::int64_t from = row * width, to = row * n2 + group * width * width;
        turn_block(width, area.re + from, area.im + from, w_re + from, w_im + from, scratch.re + to, scratch.im + to);
      }
    }
  });
  parallel_for(0, n1 / width, 1, [&](std::int64_t begin, std::int64_t end) {
    Buffer<T> area, spare;
    area.resize(n2 * width);
    for (std::int64_t group = begin; group < end; ++group) {
      std::copy_n(scratch.re + group * width * n2, n2 * width, area.re);
      std::copy_n(scratch.im + group * width * n2, n2 * width, area.im);
      l.rows->run(area, spare, width);
      copy_runs(n2, width, area.re, width, data.re + group * width, n1);
      copy_runs(n2, width, area.im, width, data.im + group * width, n1);
    }
  });
}

template <class T>
void Plan<T>::plan_bluestein() {
  bluestein_ = std::make_unique<Bluestein>();
  const std::int64_t m = good_size(2 * n_ - 1);
  bluestein_->plan = std::make_unique<Plan<double>>(m);
  bluestein_->chirp_re.resize(static_cast<std::size_t>(n_));
  bluestein_->chirp_im.resize(static_cast<std::size_t>(n_));
  Buffer<double> filter, scratch;
  filter.resize(m);
  std::fill_n(filter.re, m, 0.0);
  std::fill_n(filter.im, m, 0.0);
  for (std::int64_t k = 0; k < n_; ++k) {
    double re, im;
    // k^2 mod 2n keeps the angle small; k < 2^31 in any buffer that fits memory twice over.
    unit_root(static_cast<std::int64_t>(static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k) %
                                        static_cast<unsigned __int128>(2 * n_)),
              2 * n_, re, im);
    bluestein_->chirp_re[static_cast<std::size_t>(k)] = re;
    bluestein_->chirp_im[static_cast<std::size_t>(k)] = im;
    filter.re[k] = re;
    filter.im[k] = -im;
    if (k > 0) {
      filter.re[m - k] = re;
      filter.im[m - k] = -im;
    }
  }
  bluestein_->plan->run(filter, scratch, 1);
  for (std::int64_t k = 0; k < m; ++k) {
    filter.re[k] /= static_cast<double>(m);
    filter.im[k] /= static_cast<double>(m);
  }
  bluestein_->filter.swap(filter);
}

template <class T>
void Plan<T>::run_bluestein(Buffer<T>& data, std::int64_t columns) const {
  const Bluestein& b = *bluestein_;
  const std::int64_t m = b.plan->size();
  Buffer<double> work, scratch;
  work.resize(m * columns);
  std::fill_n(work.re, m * columns, 0.0);
  std::fill_n(work.im, m * columns, 0.0);
  auto each = [&](std::int64_t count, auto&& fn) {
    for (std::int64_t k = 0; k < count; ++k) {
      for (std::int64_t c = 0; c < columns; ++c) fn(k, k * columns + c);
    }
  };
  const double *chirp_re = b.chirp_re.data(), *chirp_im = b.chirp_im.data();
  each(n_, [&](std::int64_t k, std::int64_t at) {
    const double re = data.re[at], im = data.im[at];
    work.re[at] = re * chirp_re[k] - im * chirp_im[k];
    work.im[at] = re * chirp_im[k] + im * chirp_re[k];
  });
  b.plan->run(work, scratch, columns);
  // Product with the filter; real and imaginary parts change places for the inverse transform.
  each(m, [&](std::int64_t k, std::int64_t at) {
    const double re = work.re[at] * b.filter.re[k] - work.im[at] * b.filter.im[k];
    const double im = work.re[at] * b.filter.im[k] + work.im[at] * b.filter.re[k];
    work.re[at] = im;
    work.im[at] = re;
  });
  b.plan->run(work, scratch, columns);
  each(n_, [&](std::int64_t k, std::int64_t at) {
    const double re = work.im[at], im = work.re[at];
    data.re[at] = static_cast<T>(re * chirp_re[k] - im * chirp_im[k]);
    data.im[at] = static_cast<T>(re * chirp_im[k] + im * chirp_re[k]);
  });
}

template <class T>
void Plan<T>::run(Buffer<T>& data, Buffer<T>& scratch, std::int64_t columns) const {
  if (bluestein_) return run_bluestein(data, columns);
  if (long_) return run_long(data, scratch);
  scratch.resize(n_ * columns, true);
  std::int64_t s = columns;
  for (const Stage& stage : stages_) {
    const FftPass pass{stage.radix, stage.m, s, stage.roots.data()};
    void* outputs[] = {scratch.re, scratch.im};
    const void* inputs[] = {data.re, data.im, stage.twiddle_re.data(), stage.twiddle_im.data()};
    stage.fn(outputs, inputs, 0, &pass);
    data.swap(scratch);
    s *= stage.radix;
  }
}

template <class T>
const Buffer<double>& Plan<T>::half_turns() const {
  std::call_once(half_turns_once_, [&] {
    half_turns_.resize(n_ + 1);
    for (std::int64_t k = 0; k <= n_; ++k) {
      double re, im;
      unit_root(k, 2 * n_, re, im);
      half_turns_.re[k] = re;
      half_turns_.im[k] = im;
    }
  });
  return half_turns_;
}

template <class T>
std::shared_ptr<const Plan<T>> plan_for(std::int64_t n) {
  static std::mutex mutex;
  static auto* recent = new std::list<std::shared_ptr<const Plan<T>>>;
  constexpr std::size_t kKept = 64;
  const std::lock_guard lock(mutex);
  for (auto at = recent->begin(); at != recent->end(); ++at) {
    if ((*at)->size() == n) {
      recent->splice(recent->begin(), *recent, at);
      return recent->front();
    }
  }
  recent->push_front(std::make_shared<const Plan<T>>(n));
  if (recent->size() > kKept) recent->pop_back();
  return recent->front();
}

template class Plan<float>;
template class Plan<double>;
template std::shared_ptr<const Plan<float>> plan_for(std::int64_t n);
template std::shared_ptr<const Plan<double>> plan_for(std::int64_t n);

}  // namespace flambeau::fft
