// Classification losses: nll_loss and cross_entropy, with their backward kernels. Classes are dim 1 (dim 0 without
// batch).
#include "kernels/loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/level_table.h"
#include "kernels/softmax.h"

namespace flambeau {

Reduction reduction_of(std::string_view name) {
  if (name == "none") return Reduction::None;
  if (name == "mean") return Reduction::Mean;
  if (name == "sum") return Reduction::Sum;
  fail(ErrorKind::Value, name, " is not a valid value for reduction");
}

namespace {

constexpr std::int64_t kGrain = 16384;

// Rows of class scores with their targets: input (batch, classes, ...) or (classes).
struct Problem {
  Tensor scores;   // (rows, classes), contiguous
  Tensor targets;  // int64, rows; undefined when targets are probabilities
  Tensor weight;   // double, classes; may be undefined
  Dims loss_sizes;
  std::int64_t rows = 1, classes = 1, ignore = -100;
  bool batched = false;
  [[nodiscard]] double weight_of(std::int64_t c) const { return weight.defined() ? weight.data<double>()[c] : 1; }
  [[nodiscard]] std::int64_t target(std::int64_t row) const { return targets.data<std::int64_t>()[row]; }
};

// Dims in the order batch, trailing dims, classes.
Tensor classes_last(const Tensor& input) {
  if (input.dim() <= 2) return contiguous(input);
  Dims sizes(input.sizes()), strides(input.strides());
  const std::int64_t size = sizes[1], stride = strides[1];
  sizes.erase(1);
  strides.erase(1);
  sizes.push_back(size);
  strides.push_back(stride);
  return contiguous(alias(input, sizes, strides, input.offset()));
}

Dims loss_shape(const Tensor& input) {
  Dims sizes(input.sizes());
  sizes.erase(input.dim() == 1 ? 0 : 1);
  return sizes;
}

void check_targets(const char* op, const Problem& p) {
  for (std::int64_t i = 0; i < p.rows; ++i) {
    const std::int64_t t = p.target(i);
    check(t == p.ignore || (t >= 0 && t < p.classes), ErrorKind::Index, "nll_loss: Target ", t, " is out of bounds.");
  }
  (void)op;
}

Problem make_problem(const char* op, const Tensor& input, const Tensor& target, const Tensor& weight,
                     std::int64_t ignore) {
  check(input.dim() > 0, ErrorKind::Value, op, ": expected 1 or more dimensions (got ", input.dim(), ")");
  if (!is_floating(input.dtype())) throw_bad_dtype(op, input.dtype());
  check(
      input.dim() == 1 || target.dim() == 0 || target.dim() + 1 != input.dim() || input.sizes()[0] == target.sizes()[0],
      ErrorKind::Value, "nll_loss: Expected input batch_size (", input.sizes()[0], ") to match target batch_size (",
      target.dim() == 0 ? 0 : target.sizes()[0], ").");
  Problem p;
  p.batched = input.dim() > 1;
  p.classes = input.sizes()[p.batched ? 1 : 0];
  p.ignore = ignore;
  p.loss_sizes = loss_shape(input);
  check(target.sizes() == IntSpan(p.loss_sizes), op, ": expected target of shape ", p.loss_sizes, " for input ",
        input.sizes(), ", got ", target.sizes());
  check(target.dtype() == DType::Int64 || target.dtype() == DType::UInt8,
        "nll_loss: expected scalar type Long but found ", torch_name_of(target.dtype()));
  check(!weight.defined() || (weight.dim() == 1 && weight.numel() == p.classes),
        "nll_loss: weight tensor should be defined either for all ", p.classes,
        " classes or no classes but got weight tensor of shape: ", weight.defined() ? weight.sizes() : IntSpan());
  for (const std::int64_t size : p.loss_sizes) p.rows *= size;
  if (input.is_meta()) return p;
  p.scores = classes_last(input);
  p.targets = contiguous(to_dtype(target, DType::Int64));
  if (weight.defined()) p.weight = contiguous(to_dtype(weight, DType::Float64));
  check_targets(op, p);
  return p;
}

// Sum of the weights of targets that count: what a mean divides by.
double total_weight(const Problem& p) {
  double total = 0;
  for (std::int64_t i = 0; i < p.rows; ++i) {
    if (p.target(i) != p.ignore) total += p.weight_of(p.target(i));
  }
  return total;
}

// Losses per row in double -> the result.
Tensor reduced(const std::vector<double>& losses, const Problem& p, Reduction reduction, double divisor, DType dtype) {
  if (reduction == Reduction::None) {
    Tensor wide = empty(p.loss_sizes, DType::Float64);
    std::copy(losses.begin(), losses.end(), wide.data<double>());
    return to_dtype(wide, dtype);
  }
  double total = 0;
  for (const double loss : losses) total += loss;
  return scalar_tensor(Scalar(reduction == Reduction::Mean ? total / divisor : total), dtype);
}

Tensor meta_result(const Tensor& input, const Problem& p, Reduction reduction) {
  return empty(reduction == Reduction::None ? IntSpan(p.loss_sizes) : IntSpan(), input.dtype(), input.device());
}

// nll_loss: -weight[t] input[t]
Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight, std::int64_t ignore,
                std::string_view name) {
  const Reduction reduction = reduction_of(name);
  const Problem p = make_problem("nll_loss", input, target, weight, ignore);
  if (input.is_meta()) return meta_result(input, p, reduction);
  std::vector<double> losses(static_cast<std::size_t>(p.rows));
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < p.rows; ++i) {
      const std::int64_t t = p.target(i);
      if (t == p.ignore) continue;
      losses[static_cast<std::size_t>(i)] = -p.weight_of(t) * convert<double>(p.scores.data<T>()[i * p.classes + t]);
    }
  });
  return reduced(losses, p, reduction, reduction == Reduction::Mean ? total_weight(p) : 1, input.dtype());
}

// The cotangent of row i's loss.
struct RowGrads {
  Tensor values;  // double: one per row, or one for all
  bool single;
  double divisor = 1;
  [[nodiscard]] double operator[](std::int64_t i) const { return values.data<double>()[single ? 0 : i] / divisor; }
};
RowGrads row_grads(const Tensor& grad, const Problem& p, Reduction reduction) {
  RowGrads g{contiguous(to_dtype(grad, DType::Float64)), reduction != Reduction::None};
  if (reduction == Reduction::Mean) g.divisor = total_weight(p);
  return g;
}

// (rows, classes) -> the layout of input
Tensor classes_back(const Tensor& rows, const Tensor& input) {
  if (input.dim() <= 2) return alias(rows, input.sizes(), contiguous_strides(input.sizes()), 0);
  Dims sizes(input.sizes());
  const std::int64_t classes = sizes[1];
  sizes.erase(1);
  sizes.push_back(classes);
  const Dims strides = contiguous_strides(sizes);
  Dims moved(strides);
  const std::int64_t last = moved.back();
  moved.erase(moved.size() - 1);
  moved.insert(1, last);
  return contiguous(alias(rows, input.sizes(), moved, 0));
}

Tensor nll_loss_backward(const Tensor& grad, const Tensor& input, const Tensor& target, const Tensor& weight,
                         std::int64_t ignore, std::string_view name) {
  const Reduction reduction = reduction_of(name);
  const Problem p = make_problem("nll_loss_backward", input, target, weight, ignore);
  if (input.is_meta()) return empty(input.sizes(), input.dtype(), input.device());
  const std::int64_t sizes[] = {p.rows, p.classes};
  const Tensor out = zeros(IntSpan(sizes, 2), input.dtype());
  const RowGrads g = row_grads(grad, p, reduction);
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < p.rows; ++i) {
      const std::int64_t t = p.target(i);
      if (t != p.ignore) out.data<T>()[i * p.classes + t] = convert<T>(-p.weight_of(t) * g[i]);
    }
  });
  return classes_back(out, input);
}

// log(sum(exp(row))) of every row.
template <class T>
void logsumexp_rows(const Problem& p, Tensor& out) {
  const auto* table = static_cast<const SoftmaxTable*>(find_table(TableId::Softmax, dtype_of<T>));
  parallel_for(0, p.rows, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, p.classes)),
               [&](std::int64_t b, std::int64_t e) {
                 table->logsumexp(p.scores.data<T>() + b * p.classes, out.data<T>() + b, p.classes, e - b);
               });
}

// Probabilities as targets: sum over classes of weight[c] q[c] (lse - x[c]), q smoothed.
template <class T>
void soft_losses(const Problem& p, const Tensor& lse, const double* q, double smoothing, std::vector<double>& losses) {
  const double uniform = smoothing / static_cast<double>(p.classes);
  for (std::int64_t i = 0; i < p.rows; ++i) {
    const T* x = p.scores.data<T>() + i * p.classes;
    const auto l = convert<double>(lse.data<T>()[i]);
    double loss = 0;
    for (std::int64_t c = 0; c < p.classes; ++c) {
      loss += p.weight_of(c) * (q[i * p.classes + c] * (1 - smoothing) + uniform) * (l - convert<double>(x[c]));
    }
    losses[static_cast<std::size_t>(i)] = loss;
  }
}
template <class T>
void hard_losses(const Problem& p, const Tensor& lse, double smoothing, std::vector<double>& losses) {
  const double uniform = smoothing / static_cast<double>(p.classes);
  for (std::int64_t i = 0; i < p.rows; ++i) {
    const std::int64_t t = p.target(i);
    if (t == p.ignore) continue;
    const T* x = p.scores.data<T>() + i * p.classes;
    const auto l = convert<double>(lse.data<T>()[i]);
    double loss = p.weight_of(t) * (1 - smoothing) * (l - convert<double>(x[t]));
    for (std::int64_t c = 0; smoothing != 0 && c < p.classes; ++c) {
      loss += uniform * p.weight_of(c) * (l - convert<double>(x[c]));
    }
    losses[static_cast<std::size_t>(i)] = loss;
  }
}

Problem soft_problem(const Tensor& input, const Tensor& target, const Tensor& weight) {
  check(is_floating(target.dtype()),
        "cross_entropy: Expected floating point type for target with class probabilities, got ",
        torch_name_of(target.dtype()));
  check(!weight.defined() || (weight.dim() == 1 && weight.numel() == input.sizes()[input.dim() > 1 ? 1 : 0]),
        "cross_entropy: weight tensor should be defined either for all ", input.sizes()[input.dim() > 1 ? 1 : 0],
        " classes or no classes but got weight tensor of shape: ", weight.defined() ? weight.sizes() : IntSpan());
  Problem p;
  p.batched = input.dim() > 1;
  p.classes = input.sizes()[p.batched ? 1 : 0];
  p.loss_sizes = loss_shape(input);
  for (const std::int64_t size : p.loss_sizes) p.rows *= size;
  if (input.is_meta()) return p;
  p.scores = classes_last(input);
  if (weight.defined()) p.weight = contiguous(to_dtype(weight, DType::Float64));
  return p;
}

Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight, std::int64_t ignore,
                     std::string_view name, double smoothing) {
  const Reduction reduction = reduction_of(name);
  check(smoothing >= 0 && smoothing <= 1,
        "cross_entropy: label_smoothing must be between 0.0 and 1.0. Got: ", smoothing);
  check(input.dim() > 0, ErrorKind::Value, "cross_entropy: expected 1 or more dimensions (got 0)");
  if (!is_floating(input.dtype())) throw_bad_dtype("log_softmax_kernel_impl", input.dtype());
  const bool soft = input.sizes() == target.sizes();
  Problem p = soft ? soft_problem(input, target, weight) : make_problem("cross_entropy", input, target, weight, ignore);
  if (input.is_meta()) return meta_result(input, p, reduction);
  std::vector<double> losses(static_cast<std::size_t>(p.rows));
  // Half types compute in float32: rounding the logarithm before the subtraction would cost the loss its last digits.
  p.scores = to_dtype(p.scores, compute_dtype(input.dtype()));
  dispatch_floating("cross_entropy", p.scores.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Tensor lse = empty(IntSpan(&p.rows, 1), p.scores.dtype());
    logsumexp_rows<T>(p, lse);
    if (soft) {
      const Tensor q = classes_last(to_dtype(target, DType::Float64));
      soft_losses<T>(p, lse, q.data<double>(), smoothing, losses);
    } else {
      hard_losses<T>(p, lse, smoothing, losses);
    }
  });
  double divisor = 1;
  if (reduction == Reduction::Mean) divisor = soft ? static_cast<double>(p.rows) : total_weight(p);
  return reduced(losses, p, reduction, divisor, input.dtype());
}

// Class indices without smoothing: weight[t] g (softmax(x) - onehot(t)), softmax recomputed row by row into the result.
Tensor cross_entropy_backward(const Tensor& grad, const Tensor& input, const Tensor& target, const Tensor& weight,
                              std::int64_t ignore, std::string_view name) {
  const Reduction reduction = reduction_of(name);
  const Problem p = make_problem("cross_entropy_backward", input, target, weight, ignore);
  if (input.is_meta()) return empty(input.sizes(), input.dtype(), input.device());
  const std::int64_t sizes[] = {p.rows, p.classes};
  const Tensor out = empty(IntSpan(sizes, 2), input.dtype());
  const RowGrads g = row_grads(grad, p, reduction);
  const auto* table = static_cast<const SoftmaxTable*>(find_table(TableId::Softmax, input.dtype()));
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
    parallel_for(0, p.rows, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, p.classes)),
                 [&](std::int64_t b, std::int64_t e) {
                   for (std::int64_t i = b; i < e; ++i) {
                     const std::int64_t t = p.target(i);
                     T* row = out.data<T>() + i * p.classes;
                     if (t == p.ignore) {
                       std::fill_n(row, p.classes, convert<T>(0.0F));
                       continue;
                     }
                     const A scale = static_cast<A>(p.weight_of(t) * g[i]);
                     table->rows(p.scores.data<T>() + i * p.classes, row, p.classes, 1, false);
                     const A at_target = convert<A>(row[t]);
                     for (std::int64_t c = 0; c < p.classes; ++c) row[c] = convert<T>(convert<A>(row[c]) * scale);
                     row[t] = convert<T>((at_target - 1) * scale);
                   }
                 });
  });
  return classes_back(out, input);
}

const Kernel nll_loss_kernel("nll_loss", &nll_loss);
const Kernel nll_loss_backward_kernel("nll_loss_backward", &nll_loss_backward);
const Kernel cross_entropy_kernel("cross_entropy", &cross_entropy);
const Kernel cross_entropy_backward_kernel("cross_entropy_backward", &cross_entropy_backward);

}  // namespace
}  // namespace flambeau
