// Bitwise logic and shifts. A shift by a negative count or by the width or more gives 0 (or the sign), as PyTorch has
// it.
#include "kernels/tile/functors.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

struct BitAnd {
  template <class T>
  static T call(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <class T>
  static T call(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <class T>
  static T call(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct BitNot {
  template <class T>
  static T call(T a) {
    return static_cast<T>(~a);
  }
};
struct ShiftLeft {
  template <class T>
  static T call(T a, T b) {
    using U = typename Wrapping<T>::type;
    constexpr int kWidth = sizeof(T) * 8;
    const bool out_of_range = static_cast<i64>(b) < 0 || static_cast<i64>(b) >= kWidth;
    return out_of_range ? T(0) : static_cast<T>(static_cast<U>(a) << (b & (kWidth - 1)));
  }
};
struct ShiftRight {
  template <class T>
  static T call(T a, T b) {
    constexpr int kWidth = sizeof(T) * 8;
    constexpr bool kSigned = T(-1) < T(0);
    constexpr int kLast = kSigned ? kWidth - 1 : kWidth;
    const bool out_of_range = static_cast<i64>(b) < 0 || static_cast<i64>(b) >= kLast;
    if (out_of_range) return kSigned ? static_cast<T>(a >> (kWidth - 1)) : T(0);
    return static_cast<T>(a >> (b & (kWidth - 1)));
  }
};

const Register2<BitAnd, bool, u8, i8, i16, i32, i64> and_entry("bitwise_and");
const Register2<BitOr, bool, u8, i8, i16, i32, i64> or_entry("bitwise_or");
const Register2<BitXor, bool, u8, i8, i16, i32, i64> xor_entry("bitwise_xor");
// bool as bytes 0 and 1: GCC does not vectorise over bool.
struct Flip {
  static u8 call(u8 a) { return a ^ 1; }
};
const TileEntry flip_entry("bitwise_not", DType::Bool, DType::Bool, &loop1<Flip, u8>, kLevel);
const Register1<BitNot, u8, i8, i16, i32, i64> not_entry("bitwise_not");
const Register2<ShiftLeft, u8, i8, i16, i32, i64> left_entry("bitwise_left_shift");
const Register2<ShiftRight, u8, i8, i16, i32, i64> right_entry("bitwise_right_shift");

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
