// Generator: mt19937 with PyTorch's CPU state, so that the same seed gives the same numbers.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

namespace flambeau {

class Generator {
 public:
  static constexpr std::uint64_t kDefaultSeed = 67280421310721ULL;
  explicit Generator(std::uint64_t seed = kDefaultSeed) { manual_seed(seed); }
  void manual_seed(std::uint64_t seed);  // also forgets cached normals
  [[nodiscard]] std::uint64_t initial_seed() const { return seed_; }
  std::uint32_t random() {  // 32 uniform bits
    if (next_ >= kN) refill();
    return temper(state_[static_cast<std::size_t>(next_++)]);
  }
  // Up to `wanted` raw (untempered) words of the state at once, used up by this call; the next refill overwrites them.
  struct Run {
    const std::uint32_t* words;
    std::int64_t count;
  };
  Run take(std::int64_t wanted) {
    if (next_ >= kN) refill();
    const std::int64_t count = wanted < kN - next_ ? wanted : kN - next_;
    const Run run{state_.data() + next_, count};
    next_ += static_cast<int>(count);
    return run;
  }
  std::uint64_t random64() {  // PyTorch's order: high word first
    const std::uint64_t high = random();
    const std::uint64_t low = random();
    return (high << 32) | low;
  }
  void random(std::uint32_t* bits, std::int64_t count);  // as many calls of random(), faster
  // A copy of everything that decides the numbers to come.
  void copy_state(const Generator& other);
  // Held while a kernel draws: kernels may run without the GIL.
  std::mutex mutex;

  // Second value of a Box-Muller pair, kept for the next scalar draw (PyTorch caches one per precision).
  bool has_normal_float = false, has_normal_double = false;
  float normal_float = 0;
  double normal_double = 0;

  static constexpr int kN = 624;
  static constexpr int kFresh = kN + 1;  // position after seeding: PyTorch's state tells it from a used-up block
  // For get_state/set_state.
  std::array<std::uint32_t, kN>& words() { return state_; }
  int& position() { return next_; }
  void set_initial_seed(std::uint64_t seed) { seed_ = seed; }

 private:
  void refill();
  static std::uint32_t temper(std::uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
  }
  std::array<std::uint32_t, kN> state_;
  int next_ = kFresh;
  std::uint64_t seed_ = 0;
};

Generator& default_generator();

}  // namespace flambeau
