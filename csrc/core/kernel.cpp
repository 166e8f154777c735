#include "core/kernel.h"

#include <map>
#include <string>

#include "core/error.h"

namespace flambeau {
namespace {

std::map<std::string, const KernelDef*, std::less<>>& registry() {
  static auto* kernels = new std::map<std::string, const KernelDef*, std::less<>>;
  return *kernels;
}

}  // namespace

const KernelDef* find_kernel(std::string_view name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : found->second;
}

std::vector<const KernelDef*> all_kernels() {
  std::vector<const KernelDef*> kernels;
  for (const auto& [name, def] : registry()) kernels.push_back(def);
  return kernels;
}

namespace detail {
void add_kernel(KernelDef* def) {
  const bool fresh = registry().emplace(def->name, def).second;
  internal_assert(fresh, def->name);
}
}  // namespace detail

}  // namespace flambeau
