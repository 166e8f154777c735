// Engine, streams and the switch.
#include "onednn/common.h"

#include <cstdlib>

#include "onednn/onednn.h"

namespace flambeau::onednn {

bool enabled() noexcept {
  static const bool on = [] {
    const char* value = std::getenv("FLAMBEAU_ONEDNN");
    if (value != nullptr && std::strcmp(value, "0") == 0) return false;
    // FLAMBEAU_CPU_LEVEL limits the library too, so that a forced level is what is tested.
    const char* level = std::getenv("FLAMBEAU_CPU_LEVEL");
    if (level != nullptr && std::strcmp(level, "baseline") == 0) dnnl::set_max_cpu_isa(dnnl::cpu_isa::sse41);
    if (level != nullptr && std::strcmp(level, "avx2") == 0) dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2);
    return true;
  }();
  return on;
}

dnnl::engine& engine() {
  static auto* shared = new dnnl::engine(dnnl::engine::kind::cpu, 0);  // outlives static destruction
  return *shared;
}

dnnl::stream& stream() {
  static thread_local dnnl::stream own(engine());
  return own;
}

dnnl::memory::data_type data_type(DType dtype) {
  return dtype == DType::BFloat16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

}  // namespace flambeau::onednn
