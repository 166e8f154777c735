// Sums, products, norms, counts, any and all.
#include <cmath>

#include "kernels/tile/reduce.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

constexpr double kInf = __builtin_inf();

// Floating sums. kKind: 0 x, 1 x without NaN, 2 |x|, 3 x * x.
template <class T, int kKind>
struct FloatSum {
  using In = T;
  using Lane = typename LaneOf<T>::type;
  using Acc = double;
  using Result = T;
  static Acc identity() { return 0; }
  static Lane lane_identity() { return 0; }
  template <class X>
  static X map(X x) {
    if constexpr (kKind == 1) return x == x ? x : X{};
    if constexpr (kKind == 2) return x < X{} ? -x : x;
    if constexpr (kKind == 3) return x * x;
    return x;
  }
  template <class X>
  static X fold(X a, X b) {
    return a + b;
  }
  static void flush(Acc& acc, Lane lane) { acc += static_cast<double>(lane); }
  static void merge(Acc& acc, Acc other) { acc += other; }
  static Result finish(Acc acc, const ReduceParams& params) {
    if constexpr (kKind == 3) return store_one<T>(std::sqrt(acc));
    return store_one<T>(params.divisor != 0 ? acc / params.divisor : acc);
  }
};

template <class T>
struct IntSum {
  using In = T;
  using Acc = std::int64_t;
  using Result = std::int64_t;
  static Acc identity() { return 0; }
  // Unsigned arithmetic: overflow wraps, as it does in PyTorch.
  static void step(Acc& acc, In x, const ReduceParams&) {
    acc = static_cast<Acc>(static_cast<std::uint64_t>(acc) + static_cast<std::uint64_t>(x));
  }
  static void merge(Acc& acc, Acc other) { step64(acc, other); }
  static void step64(Acc& acc, Acc x) {
    acc = static_cast<Acc>(static_cast<std::uint64_t>(acc) + static_cast<std::uint64_t>(x));
  }
  static Result finish(Acc acc, const ReduceParams&) { return acc; }
};

template <class T, bool kSkipNan>
struct ComplexSum {
  using In = T;
  using Acc = c128;
  using Result = T;
  static Acc identity() { return {0, 0}; }
  static void step(Acc& acc, In x, const ReduceParams&) {
    if (kSkipNan && (x.re != x.re || x.im != x.im)) return;
    acc.re += static_cast<double>(x.re);
    acc.im += static_cast<double>(x.im);
  }
  static void merge(Acc& acc, Acc other) { acc = {acc.re + other.re, acc.im + other.im}; }
  static Result finish(Acc acc, const ReduceParams& params) {
    using R = decltype(T::re);
    const double divisor = params.divisor != 0 ? params.divisor : 1;
    return {static_cast<R>(acc.re / divisor), static_cast<R>(acc.im / divisor)};
  }
};

template <class T>
struct FloatProd {
  using In = T;
  using Lane = typename LaneOf<T>::type;
  using Acc = double;
  using Result = T;
  static Acc identity() { return 1; }
  static Lane lane_identity() { return 1; }
  template <class X>
  static X map(X x) {
    return x;
  }
  template <class X>
  static X fold(X a, X b) {
    return a * b;
  }
  static void flush(Acc& acc, Lane lane) { acc *= static_cast<double>(lane); }
  static void merge(Acc& acc, Acc other) { acc *= other; }
  static Result finish(Acc acc, const ReduceParams&) { return store_one<T>(acc); }
};
template <class T>
struct IntProd {
  using In = T;
  using Acc = std::int64_t;
  using Result = std::int64_t;
  static Acc identity() { return 1; }
  static void step(Acc& acc, In x, const ReduceParams&) {
    acc = static_cast<Acc>(static_cast<std::uint64_t>(acc) * static_cast<std::uint64_t>(x));
  }
  static void merge(Acc& acc, Acc other) {
    acc = static_cast<Acc>(static_cast<std::uint64_t>(acc) * static_cast<std::uint64_t>(other));
  }
  static Result finish(Acc acc, const ReduceParams&) { return acc; }
};
template <class T>
struct ComplexProd {
  using In = T;
  using Acc = c128;
  using Result = T;
  static Acc identity() { return {1, 0}; }
  static void multiply(Acc& acc, double re, double im) { acc = {acc.re * re - acc.im * im, acc.re * im + acc.im * re}; }
  static void step(Acc& acc, In x, const ReduceParams&) {
    multiply(acc, static_cast<double>(x.re), static_cast<double>(x.im));
  }
  static void merge(Acc& acc, Acc other) { multiply(acc, other.re, other.im); }
  static Result finish(Acc acc, const ReduceParams&) {
    using R = decltype(T::re);
    return {static_cast<R>(acc.re), static_cast<R>(acc.im)};
  }
};

template <class T>
inline bool nonzero(T x) {
  if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>) {
    return (x.re != 0) | (x.im != 0);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return (x.bits & 0x7fffU) != 0;
  } else {
    return x != T(0);
  }
}

// any (kAll false) and all: true and false bytes, for uint8 results too.
template <class T, bool kAll>
struct Truth {
  using In = T;
  using Acc = std::uint8_t;
  using Result = std::uint8_t;
  static Acc identity() { return kAll ? 1 : 0; }
  static void step(Acc& acc, In x, const ReduceParams&) {
    const auto bit = static_cast<Acc>(nonzero(x));
    acc = kAll ? acc & bit : acc | bit;
  }
  static void merge(Acc& acc, Acc other) { acc = kAll ? acc & other : acc | other; }
  static Result finish(Acc acc, const ReduceParams&) { return acc; }
};
template <class T>
struct Count {
  using In = T;
  using Acc = std::int64_t;
  using Result = std::int64_t;
  static Acc identity() { return 0; }
  static void step(Acc& acc, In x, const ReduceParams&) { acc += nonzero(x) ? 1 : 0; }
  static void merge(Acc& acc, Acc other) { acc += other; }
  static Result finish(Acc acc, const ReduceParams&) { return acc; }
};

// |x| for the norms without lanes; kKind: 0 count of nonzeros, 1 sum, 2 squares, 3 power p, 4 largest, 5 smallest.
template <class T, int kKind>
struct Norm {
  using In = T;
  using Acc = double;
  using Result =
      typename std::conditional_t<std::is_same_v<T, c64>, TypeTag<float>,
                                  std::conditional_t<std::is_same_v<T, c128>, TypeTag<double>, TypeTag<T>>>::type;
  static Acc identity() { return kKind == 5 ? kInf : 0; }
  static double modulus(In x) {
    if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>) {
      return std::hypot(static_cast<double>(x.re), static_cast<double>(x.im));
    } else {
      return std::fabs(static_cast<double>(load_one<typename LaneOf<T>::type>(x)));
    }
  }
  static void step(Acc& acc, In x, const ReduceParams& params) {
    const double m = modulus(x);
    if constexpr (kKind == 0) acc += m != 0 ? 1 : 0;
    if constexpr (kKind == 1) acc += m;
    if constexpr (kKind == 2) acc += m * m;
    if constexpr (kKind == 3) acc += std::pow(m, params.p);
    if constexpr (kKind >= 4) merge(acc, m);
  }
  static void merge(Acc& acc, Acc other) {
    if constexpr (kKind < 4) acc += other;
    if constexpr (kKind == 4) acc = (other > acc || other != other) && acc == acc ? other : acc;
    if constexpr (kKind == 5) acc = (other < acc || other != other) && acc == acc ? other : acc;
  }
  static Result finish(Acc acc, const ReduceParams& params) {
    if constexpr (kKind == 2) acc = std::sqrt(acc);
    if constexpr (kKind == 3) acc = std::pow(acc, 1 / params.p);
    return store_one<Result>(acc);
  }
};

template <class T>
void add_floating() {
  const DType d = dtype_of<T>;
  const ReduceEntry entries[] = {
      {ReduceId::Sum, d, lane_kernel<FloatSum<T, 0>>(), kLevel},
      {ReduceId::NanSum, d, lane_kernel<FloatSum<T, 1>>(), kLevel},
      {ReduceId::Norm1, d, lane_kernel<FloatSum<T, 2>>(), kLevel},
      {ReduceId::Norm2, d, lane_kernel<FloatSum<T, 3>>(), kLevel},
      {ReduceId::Prod, d, lane_kernel<FloatProd<T>>(), kLevel},
      {ReduceId::Norm0, d, scalar_kernel<Norm<T, 0>>(), kLevel},
      {ReduceId::NormP, d, scalar_kernel<Norm<T, 3>>(), kLevel},
      {ReduceId::NormInf, d, scalar_kernel<Norm<T, 4>>(), kLevel},
      {ReduceId::NormNegInf, d, scalar_kernel<Norm<T, 5>>(), kLevel},
      {ReduceId::Any, d, scalar_kernel<Truth<T, false>>(), kLevel},
      {ReduceId::All, d, scalar_kernel<Truth<T, true>>(), kLevel},
      {ReduceId::CountNonzero, d, scalar_kernel<Count<T>>(), kLevel},
  };
  (void)entries;
}
template <class T>
void add_complex() {
  const DType d = dtype_of<T>;
  const ReduceEntry entries[] = {
      {ReduceId::Sum, d, scalar_kernel<ComplexSum<T, false>>(), kLevel},
      {ReduceId::NanSum, d, scalar_kernel<ComplexSum<T, true>>(), kLevel},
      {ReduceId::Prod, d, scalar_kernel<ComplexProd<T>>(), kLevel},
      {ReduceId::Norm0, d, scalar_kernel<Norm<T, 0>>(), kLevel},
      {ReduceId::Norm1, d, scalar_kernel<Norm<T, 1>>(), kLevel},
      {ReduceId::Norm2, d, scalar_kernel<Norm<T, 2>>(), kLevel},
      {ReduceId::NormP, d, scalar_kernel<Norm<T, 3>>(), kLevel},
      {ReduceId::NormInf, d, scalar_kernel<Norm<T, 4>>(), kLevel},
      {ReduceId::NormNegInf, d, scalar_kernel<Norm<T, 5>>(), kLevel},
      {ReduceId::Any, d, scalar_kernel<Truth<T, false>>(), kLevel},
      {ReduceId::All, d, scalar_kernel<Truth<T, true>>(), kLevel},
      {ReduceId::CountNonzero, d, scalar_kernel<Count<T>>(), kLevel},
  };
  (void)entries;
}
template <class T>
void add_integral(DType d) {
  const ReduceEntry entries[] = {
      {ReduceId::Sum, d, scalar_kernel<IntSum<T>>(), kLevel},
      {ReduceId::NanSum, d, scalar_kernel<IntSum<T>>(), kLevel},
      {ReduceId::Prod, d, scalar_kernel<IntProd<T>>(), kLevel},
      {ReduceId::Any, d, scalar_kernel<Truth<T, false>>(), kLevel},
      {ReduceId::All, d, scalar_kernel<Truth<T, true>>(), kLevel},
      {ReduceId::CountNonzero, d, scalar_kernel<Count<T>>(), kLevel},
  };
  (void)entries;
}

[[maybe_unused]] const bool added = [] {
  add_floating<Half>();
  add_floating<BFloat16>();
  add_floating<float>();
  add_floating<double>();
  add_complex<c64>();
  add_complex<c128>();
  add_integral<std::uint8_t>(DType::Bool);
  add_integral<std::uint8_t>(DType::UInt8);
  add_integral<std::int8_t>(DType::Int8);
  add_integral<std::int16_t>(DType::Int16);
  add_integral<std::int32_t>(DType::Int32);
  add_integral<std::int64_t>(DType::Int64);
  return true;
}();

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
