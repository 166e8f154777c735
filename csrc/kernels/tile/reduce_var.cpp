// Variance and mean. Each block is shifted by (about) its own mean before it is squared, and blocks are joined by
// Chan's formula in double, so neither a large mean nor a long input costs accuracy. Complex: var(re) + var(im).
#include <cmath>

#include "kernels/tile/moments.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

template <class T>
struct Variance {
  using In = T;
  using Lane = typename LaneOf<T>::type;
  using Acc = Moments;
  using Result = T;
  static Acc identity() { return {0, 0, 0}; }
  static void merge(Acc& acc, const Acc& other) { join(acc, other.count, other.mean, other.squares); }
};

template <class T>
void variance_rows(const void* in, std::int64_t n, std::int64_t stride, std::int64_t k, std::int64_t k_stride,
                   void* acc, std::int64_t, const ReduceParams&) noexcept {
  using L = typename LaneOf<T>::type;
  auto* a = static_cast<Moments*>(acc);
  const auto* x = static_cast<const T*>(in);
  for (std::int64_t j = 0; j < k; ++j, x += k_stride) {
    if (stride == 1) {
      for (std::int64_t i = 0; i < n; i += kRowBlock) moments_block(x + i, n - i < kRowBlock ? n - i : kRowBlock, a[j]);
      continue;
    }
    if (n == 0) continue;
    const auto shift = static_cast<double>(load_one<L>(x[0]));
    double sum = 0, square = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double d = static_cast<double>(load_one<L>(x[i * stride])) - shift;
      sum += d;
      square += d * d;
    }
    join_shifted(a[j], static_cast<double>(n), shift, sum, square);
  }
}

inline double variance_of(const Moments& m, const ReduceParams& params) {
  const double divisor = m.count - params.correction;
  // A non-positive divisor divides by zero: NaN or infinity, as in PyTorch.
  const double variance = m.squares / (divisor > 0 ? divisor : 0);
  return params.root ? std::sqrt(variance) : variance;
}

// out: the variance; out2 (a double array when given): the mean.
template <class T>
void variance_finish(const void* acc, std::int64_t k, void* out, void* out2, const ReduceParams& params) noexcept {
  const auto* a = static_cast<const Moments*>(acc);
  for (std::int64_t j = 0; j < k; ++j) static_cast<T*>(out)[j] = store_one<T>(variance_of(a[j], params));
  if (out2 == nullptr) return;
  for (std::int64_t j = 0; j < k; ++j) static_cast<double*>(out2)[j] = a[j].count == 0 ? __builtin_nan("") : a[j].mean;
}

template <class T>
void add() {
  using Op = Variance<T>;
  static constexpr ReduceKernel kernel{sizeof(Moments),     &reduce_init<Op>,  &variance_rows<T>,
                                       &moments_columns<T>, &reduce_merge<Op>, &variance_finish<T>};
  const ReduceEntry entry(ReduceId::Var, dtype_of<T>, &kernel, kLevel);
  (void)entry;
}

[[maybe_unused]] const bool added = [] {
  add<Half>();
  add<BFloat16>();
  add<float>();
  add<double>();
  return true;
}();

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
