// Gradient rules written in Python.
#pragma once

#include <vector>

#include "autograd/node.h"
#include "bindings/python.h"

namespace flambeau::python {

class PyRules final : public Rules {
 public:
  explicit PyRules(const OpDef& def) : def_(def) {}
  // `target` is the index among the differentiable parameters, or -1 for a joint rule. `parameters` are the names of
  // the function's parameters; ValueError names the one that means nothing.
  void add(PyObject* function, int target, const std::vector<std::string>& parameters);
  [[nodiscard]] bool empty() const { return rules_.empty(); }

  [[nodiscard]] Reads reads(std::uint64_t needed) const override;
  void apply(autograd::OpNode& node, const autograd::Grads& grads_in, autograd::Grads& grads_out) const override;

 private:
  struct Source {
    enum class Kind : std::uint8_t { Grad, Grads, Needs, Argument, Meta, Result } kind;
    std::uint16_t index;
  };
  struct Rule {
    PyObject* function;
    int target;
    std::vector<Source> sources;
    Reads reads;
  };
  [[nodiscard]] Source find_source(const std::string& name) const;
  [[nodiscard]] Object evaluate(const Source& source, autograd::OpNode& node, const autograd::Grads& grads_in,
                                std::uint64_t needed) const;
  [[nodiscard]] bool active(const Rule& rule, std::uint64_t needed) const {
    return rule.target < 0 || (needed >> rule.target & 1U) != 0;
  }
  const OpDef& def_;
  std::vector<Rule> rules_;
};

}  // namespace flambeau::python
