// Filling tensors with random numbers, one draw after the other in PyTorch's order. Not differentiable, no autograd.
#pragma once

#include <optional>

#include "core/tensor.h"
#include "kernels/random_draw.h"

namespace flambeau::random {

inline Generator& generator_or_default(Generator* generator) {
  return generator != nullptr ? *generator : default_generator();
}

// Element addresses in PyTorch's iteration order: dims by ascending stride of the first operand (the one written), ties
// broken by the next one. All operands have the shape of the first.
class SerialOrder {
 public:
  SerialOrder(const Tensor* const* operands, int count);
  template <class F>
  void run(F&& element) const {  // element(char* const* addresses)
    if (numel_ == 0) return;
    char* base[kMax];
    for (int o = 0; o < count_; ++o) base[o] = base_[o];
    visit(sizes_.size() - 1, base, element);
  }

 private:
  static constexpr int kMax = 3;
  template <class F>
  void visit(std::int64_t d, char* const* base, F& element) const {
    if (d < 0) return element(base);
    char* at[kMax];
    for (int o = 0; o < count_; ++o) at[o] = base[o];
    for (std::int64_t i = 0; i < sizes_[d]; ++i) {
      d == 0 ? element(at) : visit(d - 1, at, element);
      for (int o = 0; o < count_; ++o) at[o] += strides_[o][d];
    }
  }
  int count_;
  std::int64_t numel_;
  char* base_[kMax];
  Dims sizes_;          // innermost first
  Dims strides_[kMax];  // in bytes
};

// out[...] = draw() in that order.
template <class T, class Draw>
void fill_serial(const Tensor& out, Draw&& draw) {
  if (out.is_contiguous()) {
    T* data = out.data<T>();
    for (std::int64_t i = 0; i < out.numel(); ++i) data[i] = draw();
    return;
  }
  const Tensor* operands[] = {&out};
  SerialOrder(operands, 1).run([&](char* const* at) { *reinterpret_cast<T*>(at[0]) = draw(); });
}

Tensor real_view(const Tensor& complex);  // alias with a last dim of 2
// These check their arguments in PyTorch's words and do nothing more for meta tensors.
void fill_uniform(const Tensor& out, double from, double to, Generator* generator);
void fill_normal(const Tensor& out, double mean, double std, Generator* generator);
void fill_exponential(const Tensor& out, double lambda, Generator* generator);
void fill_bernoulli(const Tensor& out, double p, Generator* generator);
void fill_integers(const Tensor& out, std::int64_t from, std::optional<std::int64_t> to, Generator* generator);

}  // namespace flambeau::random
