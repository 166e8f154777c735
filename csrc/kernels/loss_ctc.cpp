// Connectionist temporal classification: forward-backward over the target with blanks between and around its labels.
// Graves et al., "Connectionist Temporal Classification", 2006, section 4.1. Everything is in log space and double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"

namespace flambeau {
namespace {

constexpr double kZero = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  const double high = std::max(a, b);
  return high == kZero ? kZero : high + std::log1p(std::exp(std::min(a, b) - high));
}

// One batch item: log_probs (time, batch, classes) in double, labels of its target.
struct Item {
  const double* log_probs;
  std::int64_t row;  // elements from one time step to the next
  std::int64_t time, labels, blank;
  const std::int64_t* target;
  [[nodiscard]] std::int64_t states() const { return 2 * labels + 1; }
  [[nodiscard]] std::int64_t label(std::int64_t s) const { return s % 2 == 0 ? blank : target[s / 2]; }
  [[nodiscard]] double prob(std::int64_t t, std::int64_t s) const { return log_probs[t * row + label(s)]; }
  // May state s be entered from s - 2, skipping the blank between two different labels?
  [[nodiscard]] bool skips(std::int64_t s) const { return s >= 2 && s % 2 == 1 && label(s) != label(s - 2); }
};

// alpha[t][s]: log of the probability of all paths to state s at time t. Returns the negative log likelihood.
double forward_pass(const Item& item, std::vector<double>& alpha) {
  const std::int64_t states = item.states();
  alpha.assign(static_cast<std::size_t>(std::max<std::int64_t>(1, item.time) * states), kZero);
  if (item.time == 0) return item.labels == 0 ? 0 : -kZero;
  alpha[0] = item.prob(0, 0);
  if (states > 1) alpha[1] = item.prob(0, 1);
  for (std::int64_t t = 1; t < item.time; ++t) {
    const double* before = alpha.data() + (t - 1) * states;
    double* now = alpha.data() + t * states;
    for (std::int64_t s = 0; s < states; ++s) {
      double sum = before[s];
      if (s >= 1) sum = log_add(sum, before[s - 1]);
      if (item.skips(s)) sum = log_add(sum, before[s - 2]);
      now[s] = sum + item.prob(t, s);
    }
  }
  const double* last = alpha.data() + (item.time - 1) * states;
  return -(states > 1 ? log_add(last[states - 1], last[states - 2]) : last[states - 1]);
}

// Cotangent of log_probs: grad (exp(log_prob) - sum over states of that label of alpha beta / likelihood).
void backward_pass(const Item& item, const std::vector<double>& alpha, double loss, double grad, double* out,
                   std::int64_t classes) {
  const std::int64_t states = item.states();
  std::vector<double> beta(static_cast<std::size_t>(states), kZero), next(beta);
  std::vector<double> per_class(static_cast<std::size_t>(classes));
  for (std::int64_t t = item.time - 1; t >= 0; --t) {
    for (std::int64_t s = 0; s < states; ++s) {
      double sum = kZero;
      if (t == item.time - 1) {
        sum = s >= states - 2 ? 0 : kZero;
      } else {
        sum = next[static_cast<std::size_t>(s)];
        if (s + 1 < states) sum = log_add(sum, next[static_cast<std::size_t>(s) + 1]);
        if (s + 2 < states && item.skips(s + 2)) sum = log_add(sum, next[static_cast<std::size_t>(s) + 2]);
      }
      beta[static_cast<std::size_t>(s)] = sum + item.prob(t, s);
    }
    std::fill(per_class.begin(), per_class.end(), kZero);
    for (std::int64_t s = 0; s < states; ++s) {
      double& slot = per_class[static_cast<std::size_t>(item.label(s))];
      slot = log_add(slot, alpha[static_cast<std::size_t>(t * states + s)] + beta[static_cast<std::size_t>(s)]);
    }
    for (std::int64_t c = 0; c < classes; ++c) {
      const double log_prob = item.log_probs[t * item.row + c];
      out[t * item.row + c] =
          grad * (std::exp(log_prob) - std::exp(per_class[static_cast<std::size_t>(c)] + loss - log_prob));
    }
    beta.swap(next);
  }
}

struct Batch {
  Tensor log_probs, targets;
  std::int64_t time, batch, classes, blank;
  std::vector<std::int64_t> target_starts;
  IntSpan input_lengths, target_lengths;
  [[nodiscard]] Item item(std::int64_t b) const {
    return {log_probs.data<double>() + b * classes,
            batch * classes,
            input_lengths[b],
            target_lengths[b],
            blank,
            targets.data<std::int64_t>() + target_starts[static_cast<std::size_t>(b)]};
  }
};

Batch make_batch(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths,
                 std::int64_t blank) {
  check(log_probs.dim() == 3, "ctc_loss: expected log_probs of shape (time, batch, classes), got ", log_probs.sizes());
  if (log_probs.dtype() != DType::Float32 && log_probs.dtype() != DType::Float64)
    throw_bad_dtype("ctc_loss_cpu", log_probs.dtype());
  check(is_integral(targets.dtype(), false), "ctc_loss: targets must be integral");
  Batch batch{contiguous(to_dtype(log_probs, DType::Float64)),
              contiguous(to_dtype(targets, DType::Int64)),
              log_probs.sizes()[0],
              log_probs.sizes()[1],
              log_probs.sizes()[2],
              blank,
              {},
              input_lengths,
              target_lengths};
  check(blank >= 0 && blank < batch.classes, "ctc_loss: blank must be in label range");
  check(input_lengths.size() == batch.batch, "ctc_loss: input_lengths must be of size batch_size");
  check(target_lengths.size() == batch.batch, "ctc_loss: target_lengths must be of size batch_size");
  check(targets.dim() == 1 || (targets.dim() == 2 && targets.sizes()[0] == batch.batch),
        "ctc_loss: expected targets of shape (batch, length) or (sum of lengths), got ", targets.sizes());
  std::int64_t start = 0;
  for (std::int64_t b = 0; b < batch.batch; ++b) {
    check(input_lengths[b] >= 0 && input_lengths[b] <= batch.time,
          "ctc_loss: Expected input_lengths to have value at most ", batch.time, ", but got value ", input_lengths[b]);
    check(target_lengths[b] >= 0, "ctc_loss: Expected target_lengths to have value at least 0, but got value ",
          target_lengths[b]);
    check(targets.dim() == 1 || target_lengths[b] <= targets.sizes()[1],
          "ctc_loss: Expected tensor to have size at least ", target_lengths[b], " at dimension 1, but got size ",
          targets.dim() == 2 ? targets.sizes()[1] : 0);
    batch.target_starts.push_back(targets.dim() == 1 ? start : b * targets.sizes()[1]);
    start += target_lengths[b];
  }
  check(targets.dim() == 2 || start <= targets.numel(), "ctc_loss: expected targets of at least ", start,
        " elements, got ", targets.numel());
  for (std::int64_t b = 0; b < batch.batch && !log_probs.is_meta(); ++b) {
    for (std::int64_t i = 0; i < target_lengths[b]; ++i) {
      const std::int64_t label =
          batch.targets.data<std::int64_t>()[batch.target_starts[static_cast<std::size_t>(b)] + i];
      check(label >= 0 && label < batch.classes, "ctc_loss: target label ", label, " is outside [0, ", batch.classes,
            ")");
    }
  }
  return batch;
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths,
                std::int64_t blank, bool zero_infinity) {
  const Batch batch = make_batch(log_probs, targets, input_lengths, target_lengths, blank);
  const std::int64_t sizes[] = {batch.batch};
  Tensor losses = empty(IntSpan(sizes, 1), DType::Float64, log_probs.device());
  if (log_probs.is_meta()) return to_dtype(losses, log_probs.dtype());
  parallel_for(0, batch.batch, 1, [&](std::int64_t b, std::int64_t e) {
    std::vector<double> alpha;
    for (std::int64_t i = b; i < e; ++i) {
      const double loss = forward_pass(batch.item(i), alpha);
      losses.data<double>()[i] = zero_infinity && std::isinf(loss) ? 0 : loss;
    }
  });
  return to_dtype(losses, log_probs.dtype());
}

Tensor ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths,
                         IntSpan target_lengths, std::int64_t blank, bool zero_infinity) {
  const Batch batch = make_batch(log_probs, targets, input_lengths, target_lengths, blank);
  Tensor out = zeros(log_probs.sizes(), DType::Float64, log_probs.device());
  if (log_probs.is_meta()) return to_dtype(out, log_probs.dtype());
  const Tensor g = contiguous(to_dtype(grad, DType::Float64));
  parallel_for(0, batch.batch, 1, [&](std::int64_t b, std::int64_t e) {
    std::vector<double> alpha;
    for (std::int64_t i = b; i < e; ++i) {
      const Item item = batch.item(i);
      const double loss = forward_pass(item, alpha);
      if (zero_infinity && std::isinf(loss)) continue;
      backward_pass(item, alpha, loss, g.data<double>()[i], out.data<double>() + i * batch.classes, batch.classes);
    }
  });
  return to_dtype(out, log_probs.dtype());
}

const Kernel ctc_loss_kernel("_ctc_loss", &ctc_loss);
const Kernel ctc_loss_backward_kernel("_ctc_loss_backward", &ctc_loss_backward);

}  // namespace
}  // namespace flambeau
