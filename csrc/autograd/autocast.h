// Autocast: ops run in the dtype that suits them, by a policy per op. call_op() comes here only while the mode is on.
#pragma once

#include "core/op.h"

namespace flambeau::autograd {

struct Autocast {
  DType dtype = DType::BFloat16;  // what Lower casts to
  bool cache_enabled = true;      // casts of parameters are kept until the outermost region ends
  int nesting = 0;
};
extern thread_local constinit Autocast autocast;

// Casts the tensor arguments by def.autocast and runs the op with the mode off.
void call_autocast(const OpDef& def, Value* arguments, Value* results);
// The tensor in `dtype` if autocast may change it: floating point on the CPU, but not float64.
Tensor autocast_tensor(const Tensor& tensor, DType dtype);
void clear_autocast_cache();

// Turns the mode off for a scope: inside an op, in gradient rules.
class NoAutocast {
 public:
  NoAutocast() noexcept;
  ~NoAutocast();
  NoAutocast(const NoAutocast&) = delete;
  NoAutocast& operator=(const NoAutocast&) = delete;

 private:
  bool saved_;
};

}  // namespace flambeau::autograd
