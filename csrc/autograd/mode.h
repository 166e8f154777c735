// Thread-local grad mode and inference mode.
#pragma once

namespace flambeau::autograd {

struct Mode {
  bool grad = true;
  bool inference = false;
  bool anomaly = false;
  bool check_nan = true;
};
extern thread_local constinit Mode mode;  // constinit: read without an initialisation check

class GradGuard {
 public:
  explicit GradGuard(bool enabled) : saved_(mode.grad) { mode.grad = enabled; }
  ~GradGuard() { mode.grad = saved_; }
  GradGuard(const GradGuard&) = delete;
  GradGuard& operator=(const GradGuard&) = delete;

 private:
  bool saved_;
};

}  // namespace flambeau::autograd
