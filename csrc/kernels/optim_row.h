// What fused optimizer steps share: one row of tensors per parameter, checked and run by a tile kernel.
#pragma once

#include <initializer_list>

#include "core/tensor.h"
#include "kernels/optim.h"

namespace flambeau::optim {

inline constexpr int kMaxTensors = 5;  // param, gradient and up to three of state

// A parameter with its state (written) and, last, its gradient (read).
struct Row {
  Tensor tensors[kMaxTensors];
  int count = 0;
  Row() = default;
  Row(std::initializer_list<Tensor> members) {
    for (const Tensor& tensor : members) tensors[count++] = tensor;
  }
};

// Runs the tile kernel of that name over the row. Complex tensors are runs of twice as many reals.
void run_row(const char* op, const Row& row, const char* kernel, const void* settings);
// Every list has one entry per parameter.
void check_lengths(const char* op, TensorSpan params, std::initializer_list<TensorSpan> lists);
// step += 1 in place; returns the new value.
double advance(const char* op, const Tensor& step);

}  // namespace flambeau::optim
