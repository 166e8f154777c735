// Thread-local grad mode, inference mode and autocast.
#pragma once

namespace flambeau::autograd {

struct Mode {
  bool grad = true;       // ops record: requested, and not in inference mode
  bool requested = true;  // what is_grad_enabled() says
  bool inference = false;
  bool anomaly = false;
  bool check_nan = true;
  bool autocast = false;  // ops with a policy cast their arguments: autograd/autocast.h
  void set_grad(bool enabled) noexcept {
    requested = enabled;
    grad = enabled && !inference;
  }
  void set_inference(bool enabled) noexcept {  // also switches grad mode, as entering inference_mode() does
    inference = enabled;
    set_grad(!enabled);
  }
};
extern thread_local constinit Mode mode;  // constinit: read without an initialisation check

class GradGuard {
 public:
  explicit GradGuard(bool enabled) : saved_(mode.requested) { mode.set_grad(enabled); }
  ~GradGuard() { mode.set_grad(saved_); }
  GradGuard(const GradGuard&) = delete;
  GradGuard& operator=(const GradGuard&) = delete;

 private:
  bool saved_;
};

}  // namespace flambeau::autograd
