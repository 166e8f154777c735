// Rows of fused optimizer steps. A tensor is one flat run when its state and gradient share its layout; otherwise, and
// for float16 and bfloat16, the step works on contiguous copies.
#include "kernels/optim_row.h"

#include "core/copy.h"
#include "core/elementwise.h"
#include "core/factory.h"
#include "core/parallel.h"

namespace flambeau::optim {
namespace {

constexpr std::int64_t kGrain = 32768;
bool same_layout(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && ((a.is_contiguous() && b.is_contiguous()) || a.strides() == b.strides());
}

bool flat(const Row& row) {
  if (is_reduced_float(row.tensors[0].dtype()) || !row.tensors[0].is_non_overlapping_and_dense()) return false;
  for (int i = 1; i < row.count; ++i) {
    if (!same_layout(row.tensors[0], row.tensors[i])) return false;
  }
  return true;
}

void check_row(const char* op, const Row& row) {
  const Tensor& param = row.tensors[0];
  const DType real = to_real(param.dtype());
  if (real != DType::Float32 && real != DType::Float64 && !is_reduced_float(real)) throw_bad_dtype(op, param.dtype());
  for (int i = 0; i < row.count; ++i) {
    const Tensor& tensor = row.tensors[i];
    check(tensor.sizes() == param.sizes(), ErrorKind::Shape, op,
          ": expected parameter, gradient and state of one shape, got ", param.sizes(), " and ", tensor.sizes(), ".");
    check(is_complex(tensor.dtype()) == is_complex(param.dtype()) && is_differentiable(tensor.dtype()),
          ErrorKind::Dtype, op, ": expected parameter, gradient and state of one dtype, got ", name_of(param.dtype()),
          " and ", name_of(tensor.dtype()), ".");
  }
}

void run_flat(const Row& row, const char* kernel, const void* settings) {
  const Tensor& param = row.tensors[0];
  const std::int64_t width = is_complex(param.dtype()) ? 2 : 1;  // complex parameters are two reals
  const TileKernel& tile = find_tiles(kernel)[to_real(param.dtype())];
  const std::int64_t size = itemsize(param.dtype()) / width;
  parallel_for(0, param.numel() * width, kGrain, [&](std::int64_t begin, std::int64_t end) {
    void* outputs[kMaxTensors];
    for (int i = 0; i + 1 < row.count; ++i) outputs[i] = static_cast<char*>(row.tensors[i].data()) + begin * size;
    const void* input = static_cast<const char*>(row.tensors[row.count - 1].data()) + begin * size;
    tile.fn(outputs, &input, end - begin, settings);
  });
}

}  // namespace

void run_row(const char* op, const Row& row, const char* kernel, const void* settings) {
  check_row(op, row);
  const Tensor& param = row.tensors[0];
  if (param.is_meta() || param.numel() == 0) return;
  if (flat(row)) {
    run_flat(row, kernel, settings);
  } else {
    const DType dtype = compute_dtype(param.dtype());
    Row copies;
    copies.count = row.count;
    for (int i = 0; i < row.count; ++i) {
      copies.tensors[i] = empty(param.sizes(), dtype);
      copy_into(copies.tensors[i], row.tensors[i]);
    }
    run_flat(copies, kernel, settings);
    for (int i = 0; i + 1 < row.count; ++i) copy_into(row.tensors[i], copies.tensors[i]);
  }
  for (int i = 0; i + 1 < row.count; ++i) {
    if (!row.tensors[i].impl()->inference) row.tensors[i].storage()->bump_version();
  }
}

void check_lengths(const char* op, TensorSpan params, std::initializer_list<TensorSpan> lists) {
  for (const TensorSpan& list : lists) {
    check(list.size() == params.size(), ErrorKind::Value, op, ": expected one entry per parameter (", params.size(),
          "), got ", list.size(), ".");
  }
}

double advance(const char* op, const Tensor& step) {
  check(step.numel() == 1 && is_floating(step.dtype()), op,
        ": expected step counts as one-element floating point tensors, got ", name_of(step.dtype()), " ", step.sizes(),
        ".");
  if (step.is_meta()) return 1;
  const double next = item(step).to_double() + 1;
  fill(step, Scalar(next));
  return next;
}

}  // namespace flambeau::optim
