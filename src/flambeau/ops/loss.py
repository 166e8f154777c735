"""Losses as ops. nn.functional adds the deprecated arguments and the losses that are compositions."""

from .reduce import aminmax, mean, sum
from .registry import composite, native

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "ctc_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "nll_loss",
    "smooth_l1_loss",
]


def _reduced(loss, reduction):
    if reduction == "mean":
        return mean(loss)
    if reduction == "sum":
        return sum(loss)
    if reduction == "none":
        return loss
    raise ValueError(f"{reduction} is not a valid value for reduction")


nll_loss = native(
    "nll_loss(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean') -> Tensor",
    doc="""Negative log likelihood: -weight[target] * input[target].

    Args:
        input: log probabilities, shape (batch, classes, *) or (classes,).
        target: int64 class indices, shape (batch, *) or ().
        weight: shape (classes,); None means 1.
        ignore_index: targets of this value count as nothing.
        reduction: "none", "sum", or "mean", which divides by the sum of the weights that count.
    Raises:
        IndexError: a target is outside [0, classes).
    Differentiable in input; supports second derivatives.
    """,
)
nll_loss_backward = native(
    "nll_loss_backward(Tensor grad_output, Tensor input, Tensor target, Tensor? weight, int ignore_index, "
    "str reduction) -> Tensor",
    doc="Cotangent of nll_loss's input; only input's geometry is read.",
)


@nll_loss.vjp
def _(grad, input, target, weight, ignore_index, reduction):
    return nll_loss_backward(grad, input, target, weight, ignore_index, reduction), None, None


@nll_loss_backward.vjp
def _(grad, target, weight, ignore_index, reduction):
    # nll_loss is linear in its input, so its backward's transpose is nll_loss itself.
    return nll_loss(grad, target, weight, ignore_index, reduction), None, None, None


cross_entropy = native(
    "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean', "
    "float label_smoothing=0.0) -> Tensor",
    doc="""Cross entropy of softmax(input) with the targets: -sum over classes of weight * q * log_softmax(input).

    Args:
        input: scores, shape (batch, classes, *) or (classes,).
        target: int64 class indices, shape (batch, *) or (); or probabilities of input's shape.
        weight: shape (classes,); None means 1.
        ignore_index: class indices of this value count as nothing.
        reduction: "none", "sum", or "mean", over the weights that count (over the batch for probabilities).
        label_smoothing: q is mixed with the uniform distribution by this share, in [0, 1].
    Differentiable in input and probabilities; supports second derivatives.
    """,
)
cross_entropy_backward = native(
    "cross_entropy_backward(Tensor grad_output, Tensor input, Tensor target, Tensor? weight, int ignore_index, "
    "str reduction) -> Tensor",
    doc="Cotangent of cross_entropy's input for class indices without smoothing.",
)


def _soft_cross_entropy(input, target, weight, ignore_index, reduction, smoothing):
    """cross_entropy as plain ops: for probabilities, and for smoothed class indices."""
    axis = 1 if input.dim() > 1 else 0
    classes = input.shape[axis]
    shape = [classes if d == axis else 1 for d in range(input.dim())]
    log_probabilities = input.log_softmax(axis)
    weighted = log_probabilities if weight is None else log_probabilities * weight.reshape(shape)
    if target.shape == input.shape:
        if smoothing:
            target = target * (1 - smoothing) + smoothing / classes
        loss = -sum(weighted * target, axis)
        if reduction == "mean":
            return sum(loss) / (input.numel() / classes)
        return _reduced(loss, reduction)
    hard = nll_loss(log_probabilities, target, weight, ignore_index, reduction)
    smooth = (-sum(weighted, axis)).masked_fill(target == ignore_index, 0)
    if reduction == "mean":
        ones = input.new_ones(input.shape[:0] + tuple(input.shape)) * -1
        smooth = sum(smooth) / nll_loss(ones, target, weight, ignore_index, "sum")
    else:
        smooth = _reduced(smooth, reduction)
    return hard * (1 - smoothing) + smooth * (smoothing / classes)


@cross_entropy.vjp
def _(grad, input, target, weight, ignore_index, reduction, label_smoothing, needs):
    if label_smoothing == 0 and target.shape != input.shape:
        return (
            cross_entropy_backward(grad, input, target, weight, ignore_index, reduction),
            None,
            None,
        )
    from ._differentiate import differentiate

    def formula(x, q):
        return (_soft_cross_entropy(x, q, weight, ignore_index, reduction, label_smoothing),)

    return (
        *differentiate(
            formula, (input, target), needs[:2] if len(needs) > 1 else (needs[0], False), (grad,)
        ),
        None,
    )


@cross_entropy_backward.vjp
def _(grad, grad_output, input, target, weight, ignore_index, reduction, needs):
    from ._differentiate import differentiate

    def formula(g, x):
        axis = 1 if x.dim() > 1 else 0
        probabilities = x.softmax(axis)
        per_class = nll_loss_backward(
            g, x, target, weight, ignore_index, reduction
        )  # -weight * g at the target
        return (per_class - probabilities * sum(per_class, axis, True),)

    return (*differentiate(formula, (grad_output, input), needs[:2], (grad,)), None, None)


@composite
def mse_loss(input, target, *, reduction="mean"):
    """Squared difference, reduced."""
    difference = input - target
    return _reduced(difference * difference, reduction)


@composite
def l1_loss(input, target, *, reduction="mean"):
    """Absolute difference, reduced."""
    return _reduced((input - target).abs(), reduction)


@composite
def smooth_l1_loss(input, target, *, reduction="mean", beta=1.0):
    """d ** 2 / (2 beta) where |d| < beta, else |d| - beta / 2, with d = input - target; reduced."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    difference = (input - target).abs()
    if beta == 0:
        return _reduced(difference, reduction)
    return _reduced(
        (difference * difference * (0.5 / beta)).where(difference < beta, difference - 0.5 * beta),
        reduction,
    )


@composite
def huber_loss(input, target, *, reduction="mean", delta=1.0):
    """d ** 2 / 2 where |d| <= delta, else delta * (|d| - delta / 2), with d = input - target; reduced."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    difference = (input - target).abs()
    return _reduced(
        (difference * difference * 0.5).where(
            difference <= delta, (difference - 0.5 * delta) * delta
        ),
        reduction,
    )


@composite
def kl_div(input, target, *, reduction="mean", log_target=False):
    """target * (log(target) - input), reduced; with log_target, exp(target) * (target - input)."""
    if log_target:
        return _reduced(target.exp() * (target - input), reduction)
    return _reduced(target.xlogy(target) - target * input, reduction)


@composite
def binary_cross_entropy(input, target, weight=None, *, reduction="mean"):
    """-(target * log(input) + (1 - target) * log(1 - input)), the logarithms at least -100; reduced."""
    if input.numel() and not input.is_meta:
        low, high = aminmax(input.detach())
        if not (low.item() >= 0 and high.item() <= 1):  # NaN fails too
            raise RuntimeError(
                "binary_cross_entropy: all elements of input should be between 0 and 1"
            )
    loss = (target - 1) * (-input).log1p().clamp_min(-100) - target * input.log().clamp_min(-100)
    return _reduced(loss if weight is None else loss * weight, reduction)


@composite
def binary_cross_entropy_with_logits(
    input, target, weight=None, pos_weight=None, *, reduction="mean"
):
    """binary_cross_entropy of sigmoid(input), without overflow; pos_weight multiplies the positive term."""
    from .activation import logsigmoid

    log_probability = logsigmoid(input)
    if pos_weight is not None:
        loss = (1 - target) * input - ((pos_weight - 1) * target + 1) * log_probability
    else:
        loss = (1 - target) * input - log_probability
    return _reduced(loss if weight is None else loss * weight, reduction)


_ctc_loss = native(
    "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, "
    "bool zero_infinity=False) -> Tensor",
    doc="Negative log likelihood of each target over all alignments; see ctc_loss.",
)
_ctc_loss_backward = native(
    "_ctc_loss_backward(Tensor grad_output, Tensor log_probs, Tensor targets, int[] input_lengths, "
    "int[] target_lengths, int blank, bool zero_infinity) -> Tensor",
    doc="Cotangent of _ctc_loss's log_probs.",
)


@_ctc_loss_backward.vjp("grad_output")
def _(grad, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    ones = log_probs.new_ones(log_probs.shape[1:2])
    unit = _ctc_loss_backward(
        ones, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity
    )
    return sum(grad * unit, (0, 2))


@_ctc_loss_backward.vjp("log_probs")
def _(grad):
    raise NotImplementedError("the derivative for '_ctc_loss_backward' is not implemented.")


@_ctc_loss.vjp
def _(grad, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    return _ctc_loss_backward(
        grad, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity
    ), None


def _lengths(values):
    if not hasattr(values, "tolist"):
        return list(values) if hasattr(values, "__len__") else [values]
    if values.is_floating_point():
        raise RuntimeError(
            "ctc_loss: expected integer lengths, got a floating tensor. Convert it, e.g. lengths.long()."
        )
    listed = values.tolist()
    return listed if isinstance(listed, list) else [listed]


@composite
def ctc_loss(
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    blank=0,
    reduction="mean",
    zero_infinity=False,
):
    """Connectionist temporal classification: negative log likelihood of label sequences over all alignments.

    Args:
        log_probs: shape (time, batch, classes) or (time, classes), from log_softmax.
        targets: labels, shape (batch, length), or all sequences joined; none of them is blank.
        input_lengths, target_lengths: steps and labels per batch item; tensors or sequences.
        reduction: "mean" divides each loss by its target length before averaging.
        zero_infinity: losses that are infinite (a target too long for its input), and their gradients, become zero.
    References:
        Graves et al., "Connectionist Temporal Classification", ICML 2006, section 4.1.
    """
    inputs, lengths = _lengths(input_lengths), _lengths(target_lengths)
    batched = log_probs.dim() == 3
    if not batched:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.unsqueeze(0) if targets.dim() == 1 else targets
    losses = _ctc_loss(log_probs, targets, inputs, lengths, blank, zero_infinity)
    if reduction == "mean":
        divisor = losses.new_tensor([max(1, length) for length in lengths])
        return mean(losses / divisor)
    if not batched and reduction == "none":
        return losses.squeeze(0)
    return _reduced(losses, reduction)
