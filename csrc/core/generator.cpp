// Mersenne Twister (Matsumoto and Nishimura, 1998): seeding and the block update.
#include "core/generator.h"

#include <algorithm>

namespace flambeau {

namespace {
constexpr std::uint32_t kUpper = 0x80000000U, kLower = 0x7fffffffU, kTwist = 0x9908b0dfU;
constexpr std::size_t kWords = Generator::kN, kShift = 397;

constexpr std::uint32_t twist(std::uint32_t u, std::uint32_t v) {
  const std::uint32_t mixed = (u & kUpper) | (v & kLower);
  return (mixed >> 1) ^ ((v & 1U) != 0 ? kTwist : 0U);
}
}  // namespace

void Generator::manual_seed(std::uint64_t seed) {
  seed_ = seed;
  has_normal_float = has_normal_double = false;
  state_[0] = static_cast<std::uint32_t>(seed);  // the engine sees 32 bits of the seed, as PyTorch's does
  for (std::uint32_t i = 1; i < kWords; ++i) { state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i; }
  next_ = kFresh;
}

void Generator::refill() {
  std::uint32_t* s = state_.data();
  // Three loops without a wrapped index inside, which the compiler vectorises.
  for (std::size_t i = 0; i < kWords - kShift; ++i) s[i] = s[i + kShift] ^ twist(s[i], s[i + 1]);
  for (std::size_t i = kWords - kShift; i < kWords - 1; ++i) s[i] = s[i + kShift - kWords] ^ twist(s[i], s[i + 1]);
  s[kWords - 1] = s[kShift - 1] ^ twist(s[kWords - 1], s[0]);
  next_ = 0;
}

void Generator::random(std::uint32_t* bits, std::int64_t count) {
  while (count > 0) {
    if (next_ >= kN) refill();
    const std::int64_t take = std::min<std::int64_t>(count, kN - next_);
    const std::uint32_t* from = state_.data() + next_;
    for (std::int64_t i = 0; i < take; ++i) bits[i] = temper(from[i]);
    next_ += static_cast<int>(take);
    bits += take;
    count -= take;
  }
}

void Generator::copy_state(const Generator& other) {
  state_ = other.state_;
  next_ = other.next_;
  seed_ = other.seed_;
  has_normal_float = other.has_normal_float;
  has_normal_double = other.has_normal_double;
  normal_float = other.normal_float;
  normal_double = other.normal_double;
}

Generator& default_generator() {
  static Generator generator;
  return generator;
}

}  // namespace flambeau
