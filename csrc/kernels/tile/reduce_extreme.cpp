// Largest and smallest elements, with and without their positions. NaN wins over everything; the first of equal
// elements.
#include "kernels/tile/reduce.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

template <class L, bool kMax>
constexpr L lowest() {
  if constexpr (std::is_same_v<L, float> || std::is_same_v<L, double>) {
    return kMax ? -static_cast<L>(__builtin_inf()) : static_cast<L>(__builtin_inf());
  } else {
    constexpr bool is_signed = static_cast<L>(-1) < L(0);
    constexpr int bits = static_cast<int>(sizeof(L)) * 8;
    constexpr auto top = static_cast<std::uint64_t>(1) << (bits - 1);
    if (!is_signed) return kMax ? L(0) : static_cast<L>(-1);
    return static_cast<L>(kMax ? top : top - 1);
  }
}

template <class T, bool kMax>
struct Extreme {
  using In = T;
  using Lane = typename LaneOf<T>::type;
  using Acc = Lane;
  using Result = T;
  static Acc identity() { return lowest<Lane, kMax>(); }
  static Lane lane_identity() { return identity(); }
  template <class X>
  static X map(X x) {
    return x;
  }
  // b replaces a if it is beyond a or NaN; a NaN in a stays, since no comparison with it holds.
  template <class X>
  static X fold(X a, X b) {
    const auto beyond = kMax ? b > a : b < a;
    return (beyond | (b != b)) ? b : a;
  }
  static void flush(Acc& acc, Lane lane) { acc = fold(acc, lane); }
  static void merge(Acc& acc, Acc other) { acc = fold(acc, other); }
  static Result finish(Acc acc, const ReduceParams&) { return store_one<T>(acc); }
};

template <class T>
struct IndexLane {
  using type = std::int64_t;
};
template <>
struct IndexLane<float> {
  using type = std::int32_t;
};

// Result: the element in out (same dtype) and its position in out2. For argmax and argmin, out is the position.
template <class T, bool kMax>
struct Located {
  using In = T;
  using Lane = typename LaneOf<T>::type;
  struct Acc {
    Lane value;
    std::int64_t index;  // -1: nothing seen
  };
  static Acc identity() { return {lowest<Lane, kMax>(), -1}; }
  static bool beats(Lane b, Lane a) { return (kMax ? b > a : b < a) || (b != b && a == a); }
  static void merge(Acc& acc, const Acc& other) {
    if (other.index >= 0 && (acc.index < 0 || beats(other.value, acc.value))) acc = other;
  }
  static void step(Acc& acc, Lane value, std::int64_t index) {
    if (acc.index < 0 || beats(value, acc.value)) acc = {value, index};
  }
};

// Finds the extreme first, then its first position: both passes are vectors, and the second is in cache.
template <class T, bool kMax>
void locate_block(const T* x, std::int64_t n, std::int64_t base, typename Located<T, kMax>::Acc& acc) noexcept {
  using L = typename LaneOf<T>::type;
  const L best = fold_block<Extreme<T, kMax>>(x, n);
  if (acc.index >= 0 && !Located<T, kMax>::beats(best, acc.value)) return;
  constexpr std::int64_t chunk = 64;
  std::int64_t i = 0;
  const bool nan = best != best;
  for (; i + chunk <= n; i += chunk) {
    int hits = 0;
    for (std::int64_t t = 0; t < chunk; ++t) {
      const L value = load_one<L>(x[i + t]);
      hits |= static_cast<int>(value == best) | static_cast<int>(value != value);
    }
    if (hits != 0) break;
  }
  for (; i < n; ++i) {
    const L value = load_one<L>(x[i]);
    if (nan ? value != value : value == best) break;
  }
  acc = {best, base + i};
}

template <class T, bool kMax>
void located_rows(const void* in, std::int64_t n, std::int64_t stride, std::int64_t k, std::int64_t k_stride, void* acc,
                  std::int64_t base, const ReduceParams&) noexcept {
  using Op = Located<T, kMax>;
  using L = typename Op::Lane;
  auto* a = static_cast<typename Op::Acc*>(acc);
  const auto* x = static_cast<const T*>(in);
  for (std::int64_t j = 0; j < k; ++j, x += k_stride) {
    if (stride == 1 && n >= 32) {
      for (std::int64_t i = 0; i < n; i += kRowBlock) {
        locate_block<T, kMax>(x + i, n - i < kRowBlock ? n - i : kRowBlock, base + i, a[j]);
      }
      continue;
    }
    typename Op::Acc best = a[j];
    for (std::int64_t i = 0; i < n; ++i) Op::step(best, load_one<L>(x[i * stride]), base + i);
    a[j] = best;
  }
}

// Four bytes of index beside a float lane: positions within one call fit, for a call has fewer than 2^31 rows.
template <class T, bool kMax>
void located_columns(const void* in, std::int64_t n, std::int64_t stride, std::int64_t k, void* acc, std::int64_t base,
                     const ReduceParams&) noexcept {
  using Op = Located<T, kMax>;
  using L = typename Op::Lane;
  using I = typename IndexLane<L>::type;
  auto* a = static_cast<typename Op::Acc*>(acc);
  const auto* x = static_cast<const T*>(in);
  alignas(64) L values[kReduceColumns];
  alignas(64) I indices[kReduceColumns];
  constexpr std::int64_t most = std::int64_t(1) << 30;
  for (std::int64_t start = 0; start < n; start += most) {
    const std::int64_t rows = n - start < most ? n - start : most;
    const T* block = x + start * stride;
    for (std::int64_t j = 0; j < k; ++j) {
      values[j] = load_one<L>(block[j]);
      indices[j] = 0;
    }
    for (std::int64_t i = 1; i < rows; ++i) {
      const T* row = block + i * stride;
      for (std::int64_t j = 0; j < k; ++j) {
        const L value = load_one<L>(row[j]), old = values[j];
        const bool take = (kMax ? value > old : value < old) | ((value != value) & (old == old));
        values[j] = take ? value : old;
        indices[j] = take ? static_cast<I>(i) : indices[j];
      }
    }
    for (std::int64_t j = 0; j < k; ++j) Op::merge(a[j], {values[j], base + start + indices[j]});
  }
}

template <class T, bool kMax>
void located_finish(const void* acc, std::int64_t k, void* out, void* out2, const ReduceParams&) noexcept {
  const auto* a = static_cast<const typename Located<T, kMax>::Acc*>(acc);
  if (out2 == nullptr) {
    for (std::int64_t j = 0; j < k; ++j) static_cast<std::int64_t*>(out)[j] = a[j].index;
    return;
  }
  for (std::int64_t j = 0; j < k; ++j) {
    static_cast<T*>(out)[j] = store_one<T>(a[j].value);
    static_cast<std::int64_t*>(out2)[j] = a[j].index;
  }
}

template <class T, bool kMax>
const ReduceKernel* located_kernel() {
  using Op = Located<T, kMax>;
  static constexpr ReduceKernel kernel{sizeof(typename Op::Acc),  &reduce_init<Op>,  &located_rows<T, kMax>,
                                       &located_columns<T, kMax>, &reduce_merge<Op>, &located_finish<T, kMax>};
  return &kernel;
}

template <class T>
void add(DType d) {
  const ReduceEntry entries[] = {
      {ReduceId::Max, d, lane_kernel<Extreme<T, true>>(), kLevel},
      {ReduceId::Min, d, lane_kernel<Extreme<T, false>>(), kLevel},
      {ReduceId::ArgMax, d, located_kernel<T, true>(), kLevel},
      {ReduceId::ArgMin, d, located_kernel<T, false>(), kLevel},
  };
  (void)entries;
}

[[maybe_unused]] const bool added = [] {
  add<Half>(DType::Float16);
  add<BFloat16>(DType::BFloat16);
  add<float>(DType::Float32);
  add<double>(DType::Float64);
  add<std::uint8_t>(DType::Bool);
  add<std::uint8_t>(DType::UInt8);
  add<std::int8_t>(DType::Int8);
  add<std::int16_t>(DType::Int16);
  add<std::int32_t>(DType::Int32);
  add<std::int64_t>(DType::Int64);
  return true;
}();

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
