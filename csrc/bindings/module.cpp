// flambeau._C
#include <array>

#include "bindings/autograd.h"
#include "bindings/module_base.h"
#include "bindings/python.h"
#include "bindings/tensor_data.h"
#include "core/allocator.h"
#include "core/determinism.h"
#include "core/parallel.h"
#include "core/tile.h"

NB_MODULE(_C, m) {
  using namespace flambeau;
  nanobind::set_leak_warnings(false);
  python::bind_errors(m);
  python::bind_types(m);
  python::bind_tensor(m);
  python::bind_tensor_methods(m);
  python::bind_autograd(m);
  python::bind_numpy(m);
  python::bind_tensor_data(m);
  python::bind_ops(m);
  python::bind_autocast(m);
  python::bind_extension(m);
  python::bind_generator(m);
  python::bind_dlpack(m);
  python::bind_storage(m);
  if (python::init_module_base(m.ptr()) < 0) python::throw_python();
  m.def("get_num_threads", &num_threads, "Threads that kernels may use.");
  m.def("set_num_threads", &set_num_threads, nanobind::arg("num"), "Set how many threads kernels may use.");
  m.def("_cpu_level", [] { return std::array{"baseline", "avx2", "avx512"}[static_cast<std::size_t>(cpu_level())]; });
  m.def("_memory_stats", [] {
    const memory::Stats stats = memory::stats();
    nanobind::dict result;
    result["allocated_bytes"] = stats.allocated_bytes;
    result["peak_allocated_bytes"] = stats.peak_allocated_bytes;
    result["cached_bytes"] = stats.cached_bytes;
    result["allocations"] = stats.allocations;
    result["system_allocations"] = stats.system_allocations;
    return result;
  });
  m.def("_set_fill_uninitialized", &determinism::set_fill);
  m.def("_memory_trim", &memory::trim);
  m.def("_memory_reset_peak", &memory::reset_peak);
}
