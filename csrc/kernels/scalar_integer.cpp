// Scalar tiles for int64 (narrower integers are converted): division in its three roundings, powers, gcd, lcm.
// Division by zero cannot raise from a tile: params points at a flag that the op turns into an error.
#include "kernels/scalar_tiles.h"

namespace flambeau {
namespace {

using namespace scalar_tiles;
using i64 = std::int64_t;
using u64 = std::uint64_t;

void set_flag(const void* params) {
  __atomic_store_n(static_cast<int*>(const_cast<void*>(params)), 1, __ATOMIC_RELAXED);
}
i64 negate(i64 a) { return static_cast<i64>(0 - static_cast<u64>(a)); }

// -1 is apart because INT64_MIN / -1 traps.
i64 trunc_divide(i64 a, i64 b, const void* params) {
  if (b == 0) {
    set_flag(params);
    return 0;
  }
  return b == -1 ? negate(a) : a / b;
}
i64 floor_divide(i64 a, i64 b, const void* params) {
  if (b == 0 || b == -1) return trunc_divide(a, b, params);
  const i64 quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
i64 fmod_integer(i64 a, i64 b, const void* params) {
  if (b == 0) {
    set_flag(params);
    return 0;
  }
  return b == -1 ? 0 : a % b;
}
i64 remainder_integer(i64 a, i64 b, const void* params) {
  const i64 mod = fmod_integer(a, b, params);
  return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod;
}
const Map2p<&trunc_divide, i64> trunc_entry("div_trunc");
const Map2p<&floor_divide, i64> floor_entry("div_floor");
const Map2p<&fmod_integer, i64> fmod_entry("fmod");
const Map2p<&remainder_integer, i64> remainder_entry("remainder");

// Square and multiply with wrap-around; a negative power is 0 unless the base is 1 or -1.
i64 power(i64 base, i64 exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? ((exponent & 1) != 0 ? -1 : 1) : 0;
  u64 result = 1, factor = static_cast<u64>(base);
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= factor;
    factor *= factor;
  }
  return static_cast<i64>(result);
}
const Map2<&power, i64> power_entry("pow");

i64 gcd(i64 a, i64 b) {
  u64 x = a < 0 ? 0 - static_cast<u64>(a) : static_cast<u64>(a),
      y = b < 0 ? 0 - static_cast<u64>(b) : static_cast<u64>(b);
  while (y != 0) {
    const u64 rest = x % y;
    x = y;
    y = rest;
  }
  return static_cast<i64>(x);
}
i64 lcm(i64 a, i64 b) {
  const i64 divisor = gcd(a, b);
  if (divisor == 0) return 0;
  const i64 product = static_cast<i64>(static_cast<u64>(a / divisor) * static_cast<u64>(b));
  return product < 0 ? negate(product) : product;
}
const Map2<&gcd, i64> gcd_entry("gcd");
const Map2<&lcm, i64> lcm_entry("lcm");

// bfloat16 and float16 have neighbours of their own.
template <class T>
T nextafter_reduced(T a, T b) {
  const float x = static_cast<float>(a), y = static_cast<float>(b);
  if (x != x || y != y) return T(x + y);
  if (x == y) return b;
  T next = a;
  if (x == 0) {
    next.bits = static_cast<std::uint16_t>(y < 0 ? 0x8001U : 1U);
  } else {
    next.bits = static_cast<std::uint16_t>((x < y) == (x > 0) ? a.bits + 1 : a.bits - 1);
  }
  return next;
}
const Map2<&nextafter_reduced<BFloat16>, BFloat16> nextafter_bf16("nextafter");
const Map2<&nextafter_reduced<Half>, Half> nextafter_f16("nextafter");

}  // namespace
}  // namespace flambeau
