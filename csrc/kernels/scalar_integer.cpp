// Scalar tiles for int64 (narrower integers are converted): powers, gcd, lcm; and neighbours of half-precision numbers.
#include "kernels/scalar_tiles.h"

namespace flambeau {
namespace {

using namespace scalar_tiles;
using i64 = std::int64_t;
using u64 = std::uint64_t;

i64 negate(i64 a) { return static_cast<i64>(0 - static_cast<u64>(a)); }

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
