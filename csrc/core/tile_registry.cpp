// Tile kernels by name: every CPU level registers its own, the highest that this machine may use wins.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/elementwise.h"

namespace flambeau {
namespace {

CpuLevel detect_level() noexcept {
  CpuLevel level = CpuLevel::Baseline;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) {
    level = CpuLevel::Avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq")) {
      level = CpuLevel::Avx512;
    }
  }
#endif
  const char* wanted = std::getenv("FLAMBEAU_CPU_LEVEL");
  if (wanted == nullptr) return level;
  CpuLevel cap = level;
  if (std::strcmp(wanted, "baseline") == 0) cap = CpuLevel::Baseline;
  if (std::strcmp(wanted, "avx2") == 0) cap = CpuLevel::Avx2;
  return cap < level ? cap : level;
}

struct Slot {
  TileTable table{};
  CpuLevel level[kNumDTypes] = {};
};

// A function-local static: entries register from static initialisers of other files.
std::unordered_map<std::string_view, std::unique_ptr<Slot>>& registry() {
  static std::unordered_map<std::string_view, std::unique_ptr<Slot>> slots;
  return slots;
}

Slot& slot_of(const char* name) {
  std::unique_ptr<Slot>& slot = registry()[name];
  if (!slot) slot = std::make_unique<Slot>();
  return *slot;
}

}  // namespace

CpuLevel cpu_level() noexcept {
  static const CpuLevel level = detect_level();
  return level;
}

TileEntry::TileEntry(const char* name, DType in, DType out, TileFn fn, CpuLevel level) noexcept {
  if (level > cpu_level()) return;
  Slot& slot = slot_of(name);
  const int i = static_cast<int>(in);
  if (slot.table.by_input[i].fn != nullptr && slot.level[i] > level) return;
  slot.table.by_input[i] = {fn, in, out, false};
  slot.level[i] = level;
}

const TileTable& find_tiles(const char* name) {
  static const TileTable none{};
  const auto found = registry().find(name);
  return found == registry().end() ? none : found->second->table;
}

TileKernel find_tile(const char* name, DType in) { return find_tiles(name).by_input[static_cast<int>(in)]; }

}  // namespace flambeau
