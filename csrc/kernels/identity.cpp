// _write_out: its input, so that out= of composite ops follows the rules of native ones.
#include "core/kernel.h"

namespace flambeau {
namespace {

Tensor write_out(const Tensor& input) { return input; }
const Kernel write_out_kernel("_write_out", &write_out);

}  // namespace
}  // namespace flambeau
