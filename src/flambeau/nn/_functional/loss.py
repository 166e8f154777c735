"""Losses: the deprecated size_average/reduce arguments over the ops, and compositions."""

import math

from flambeau import ops

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "linear_cross_entropy",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


def _legacy_reduction(size_average, reduce, emit_warning=True):
    """The reduction that the deprecated arguments size_average and reduce stand for."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    reduction = ("mean" if size_average else "sum") if reduce else "none"
    if emit_warning:
        import warnings

        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=4,
        )
    return reduction


def _reduction(size_average, reduce, reduction):
    if size_average is None and reduce is None:
        return reduction
    return _legacy_reduction(size_average, reduce)


def _reduce(loss, reduction):
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction == "none":
        return loss
    raise ValueError(f"{reduction} is not a valid value for reduction")


def _check_reduction(reduction):
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def _warn_sizes(input, target):
    if target.shape != input.shape:
        import warnings

        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
            "This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=3,
        )


def _weighted(loss, weight, reduction, name):
    """Reduction with elementwise weights; the mean divides by their sum."""
    if weight.shape != loss.shape:
        raise ValueError("Inputs and weights must have the same size.")
    loss = loss * weight
    if reduction == "mean":
        return loss.sum() / weight.sum()
    return _reduce(loss, reduction)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """(input - target) ** 2, reduced."""
    if size_average is not None or reduce is not None:
        reduction = _legacy_reduction(size_average, reduce)
    _warn_sizes(input, target)
    if weight is not None:
        return _weighted(
            ops.mse_loss(input, target, reduction="none"), weight, reduction, "mse_loss"
        )
    return ops.mse_loss(input, target, reduction=reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """|input - target|, reduced."""
    if size_average is not None or reduce is not None:
        reduction = _legacy_reduction(size_average, reduce)
    _warn_sizes(input, target)
    if weight is not None:
        return _weighted(ops.l1_loss(input, target, reduction="none"), weight, reduction, "l1_loss")
    return ops.l1_loss(input, target, reduction=reduction)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """D ** 2 / (2 * beta) for |d| < beta, |d| - beta / 2 elsewhere, d = input - target; reduced."""
    reduction = _reduction(size_average, reduce, reduction)
    _warn_sizes(input, target)
    if beta == 0.0:
        return ops.l1_loss(input, target, reduction=reduction)
    return ops.smooth_l1_loss(input, target, reduction=reduction, beta=beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """D ** 2 / 2 for |d| < delta, delta * (|d| - delta / 2) elsewhere, d = input - target; reduced."""
    _warn_sizes(input, target)
    if weight is not None:
        loss = ops.huber_loss(input, target, reduction="none", delta=delta)
        return _weighted(loss, weight, reduction, "huber_loss")
    return ops.huber_loss(input, target, reduction=reduction, delta=delta)


def nll_loss(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"
):
    """-weight[target] * input[target] of log-probabilities (N, C, ...); the mean divides by the sum of weights."""
    reduction = _reduction(size_average, reduce, reduction)
    return ops.nll_loss(input, target, weight, ignore_index=ignore_index, reduction=reduction)


def cross_entropy(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
    label_smoothing=0.0,
):  # fmt: skip
    """nll_loss of log_softmax(input); targets are class indices (N, ...) or probabilities (N, C, ...)."""
    if size_average is not None or reduce is not None:
        reduction = _legacy_reduction(size_average, reduce)
    if ignore_index >= 0 and target.is_floating_point() and target.shape == input.shape:
        raise RuntimeError("ignore_index is not supported for floating point target")
    return ops.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


def linear_cross_entropy(
    input,
    linear_weight,
    target,
    *,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """cross_entropy of a linear layer.

    Args:
        input: (N, in_features) or (in_features,).
        linear_weight: (classes, *, in_features); linear_bias: (classes, *).
        target: class indices (N, *) or probabilities (N, classes, *).
        ignore_index: only for class indices.
        options: accepted; the scores are computed in one piece.
    """
    shape = linear_weight.shape[:-1]
    _check_linear(input, linear_weight, linear_bias)
    if ignore_index is not None and target.is_floating_point():
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    scores = ops.linear(input, linear_weight.reshape(-1, linear_weight.size(-1)), bias)
    scores = scores.view(*input.shape[:-1], *shape)  # (N, classes, *)
    ignore_index = -100 if ignore_index is None else ignore_index
    return ops.cross_entropy(scores, target, weight, ignore_index, reduction, label_smoothing)


def _check_linear(input, weight, bias):
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if weight.dim() < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {weight.dim()}"
        )
    if input.size(-1) != weight.size(-1):
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), "
            f"got {input.size(-1)} and {weight.size(-1)}, respectively"
        )
    if weight.dim() > 2 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched input, "
            f"(N, {weight.size(-1)}), got unbatched input with shape {tuple(input.shape)}"
        )
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise RuntimeError(
            f"expected linear_bias shape {tuple(weight.shape[:-1])}, got {tuple(bias.shape)}"
        )


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """Target * (log(target) - input) for log-probabilities input; reduction may be "batchmean"."""
    if size_average is not None or reduce is not None:
        reduction = _legacy_reduction(size_average, reduce)
    elif reduction == "mean":
        import warnings

        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    if reduction == "batchmean":
        total = ops.kl_div(input, target, reduction="sum", log_target=log_target)
        return total / input.size(0) if input.dim() != 0 else total
    return ops.kl_div(input, target, reduction=reduction, log_target=log_target)


def binary_cross_entropy(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """-weight * (target * log(input) + (1 - target) * log(1 - input)); the logs are at least -100."""
    reduction = _reduction(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}) is deprecated. "
            "Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(ops.broadcast_shapes(weight.shape, target.shape))
    return ops.binary_cross_entropy(input, target, weight, reduction=reduction)


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """binary_cross_entropy of sigmoid(input), computed without overflow."""
    reduction = _reduction(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    return ops.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, reduction=reduction
    )


def poisson_nll_loss(
    input,
    target,
    log_input=True,
    full=False,
    size_average=None,
    eps=1e-8,
    reduce=None,
    reduction="mean",
):
    """exp(input) - target * input, or input - target * log(input + eps); full adds Stirling's approximation."""
    reduction = _reduction(size_average, reduce, reduction)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not a valid value for reduction")
    if log_input:
        loss = input.exp() - target * input
    else:
        loss = input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return _reduce(loss, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """(log(var) + (input - target) ** 2 / var) / 2 with var at least eps; full adds log(2 pi) / 2."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * ops.ones_like(input)
    elif (var < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():  # one variance per row
            var = var.unsqueeze(-1)
        elif not _broadcasts_to(var.size(), input.size()):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    # The floor on var takes no part in the gradient.
    floored = var.clone()
    from flambeau import no_grad

    with no_grad():
        floored.clamp_(min=eps)
    loss = 0.5 * (floored.log() + (input - target) ** 2 / floored)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduce(loss, reduction)


def _broadcasts_to(size, full):
    if len(size) > len(full):
        return False
    return all(s in (1, f) for s, f in zip(reversed(size), reversed(full), strict=False))


def hinge_embedding_loss(
    input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"
):
    """Input where target is 1, max(0, margin - input) where it is -1; reduced."""
    reduction = _reduction(size_average, reduce, reduction)
    zeros = ops.zeros_like(input)
    above = ops.where(target != 1, (float(margin) - input).clamp(min=0), zeros)
    own = ops.where(target != -1, input, zeros)
    return _reduce(above + own, reduction)


def cosine_embedding_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """1 - cos(input1, input2) where target is 1, max(0, cos - margin) where it is -1; reduced."""
    reduction = _reduction(size_average, reduce, reduction)
    _check_cosine_embedding(input1, input2, target)
    dim = target.dim()
    dot = (input1 * input2).sum(dim)
    # PyTorch's epsilon in the squared norms.
    square1 = (input1 * input1).sum(dim) + 1e-12
    square2 = (input2 * input2).sum(dim) + 1e-12
    cos = dot / (square1 * square2).sqrt()
    zeros = ops.zeros_like(cos)
    positive = ops.where(target == 1, 1 - cos, zeros)
    negative = ops.where(target == -1, (cos - margin).clamp(min=0), zeros)
    return _reduce(positive + negative, reduction)


def _check_cosine_embedding(input1, input2, target):
    dim = target.dim()
    if dim not in (0, 1):
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    for name, value in (("input1", input1), ("input2", input2)):
        if value.dim() != dim + 1:
            raise RuntimeError(
                f"{dim}D target tensor expects {dim + 1}D input tensors, but found inputs with sizes "
                f"{list(input1.size())} and {list(input2.size())}."
            )
        if (
            dim == 1
            and value.size(0) != target.size(0)
            and 1 not in (value.size(0), target.size(0))
        ):
            raise RuntimeError(
                f"cosine_embedding_loss: expected {name}.shape[0] == target.shape[0], got "
                f"{value.size(0)} and {target.size(0)}."
            )


def margin_ranking_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """max(0, -target * (input1 - input2) + margin), reduced."""
    reduction = _reduction(size_average, reduce, reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return _reduce((-target * (input1 - input2) + float(margin)).clamp(min=0), reduction)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * input)), reduced."""
    reduction = _reduction(size_average, reduce, reduction)
    return _reduce(ops.softplus(-target * input, 1, math.inf), reduction)


def multilabel_soft_margin_loss(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """Mean over classes (last dim) of the binary cross entropy of sigmoid(input), reduced."""
    reduction = _reduction(size_average, reduce, reduction)
    from flambeau.nn import functional as F

    loss = -(target * F.logsigmoid(input) + (1 - target) * F.logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return _reduce(loss.sum(dim=-1) / input.size(-1), reduction)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Sum of max(0, 1 - (x[target] - x[other])) / C; a row of target lists classes up to the first -1."""
    reduction = _reduction(size_average, reduce, reduction)
    _check_reduction(reduction)
    if input.dim() > 2 or input.shape != target.shape or (input.dim() > 0 and input.size(-1) == 0):
        raise RuntimeError(
            f"multilabel_margin_loss: expected input and target of one shape (N, C) or (C,), C > 0, "
            f"got {list(input.shape)} and {list(target.shape)}."
        )
    squeeze = input.dim() < 2
    x = input.reshape(-1, input.size(-1) if input.dim() else 1)
    labels = target.reshape(x.shape)
    if bool(((labels < -1) | (labels >= x.size(1))).any()):
        raise RuntimeError(
            "multilabel_margin_loss: expected target values in [-1, C), got one out of range."
        )
    # Labels count up to the first -1.
    valid = (labels < 0).long().cumsum(1) == 0
    safe = ops.where(valid, labels, ops.zeros_like(labels))
    is_target = ops.zeros_like(x).scatter_add_(1, safe, valid.to(x.dtype)) > 0
    chosen = x.gather(1, safe)
    hinge = (1 - chosen.unsqueeze(2) + x.unsqueeze(1)).clamp(min=0)  # (N, label, class)
    hinge = hinge * valid.unsqueeze(2).to(x.dtype) * (~is_target).unsqueeze(1).to(x.dtype)
    loss = hinge.sum((1, 2)) / x.size(1)
    return _reduce(loss.squeeze(0) if squeeze and reduction == "none" else loss, reduction)


def multi_margin_loss(
    input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """Sum over the other classes of max(0, margin - x[target] + x[other]) ** p / C, reduced."""
    reduction = _reduction(size_average, reduce, reduction)
    _check_reduction(reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    if target.is_floating_point():
        raise RuntimeError(f"multi_margin_loss: expected an int64 target, got {target.dtype}.")
    if input.dim() > 2 or (
        input.dim() == 2 and (target.dim() != 1 or target.size(0) != input.size(0))
    ):
        raise RuntimeError(
            f"multi_margin_loss: expected input (N, C) and target (N,), got {list(input.shape)} and "
            f"{list(target.shape)}."
        )
    if input.numel() == 0 and (input.dim() < 2 or input.size(1) == 0):
        raise RuntimeError(
            f"multi_margin_loss: expected at least one class, got input {list(input.shape)}."
        )
    if weight is not None and weight.numel() != (input.size(-1) if input.dim() else 1):
        raise RuntimeError(
            f"multi_margin_loss: expected one weight per class, got {weight.numel()} for input {list(input.shape)}."
        )
    squeeze = input.dim() < 2
    x = input.reshape(-1, input.size(-1) if input.dim() else 1)
    labels = target.reshape(-1, 1)
    if bool(((labels < 0) | (labels >= x.size(1))).any()):
        raise RuntimeError(
            "multi_margin_loss: expected target values in [0, C), got one out of range."
        )
    hinge = (margin - x.gather(1, labels) + x).clamp(min=0)
    if p == 2:
        hinge = hinge * hinge
    if weight is not None:
        hinge = hinge * weight[labels]
    others = ops.ones_like(hinge).scatter_(1, labels, 0.0)
    loss = (hinge * others).sum(1) / x.size(1)
    return _reduce(
        loss.squeeze(0) if squeeze and reduction == "none" and target.dim() == 0 else loss,
        reduction,
    )


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None,
    reduction="mean",
):  # fmt: skip
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) with the p-norm distance, reduced."""
    reduction = _reduction(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")

    def distance(x, y):
        return ops.pairwise_distance(x, y, p, eps)

    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "All inputs should have same dimension but got "
            f"{anchor.dim()}D, {positive.dim()}D and {negative.dim()}D inputs."
        )
    return _triplet(anchor, positive, negative, distance, margin, swap, reduction)


def _triplet(anchor, positive, negative, distance, margin, swap, reduction):
    to_positive = distance(anchor, positive)
    to_negative = distance(anchor, negative)
    if swap:
        to_negative = ops.minimum(to_negative, distance(positive, negative))
    return _reduce((margin + to_positive - to_negative).clamp(min=0), reduction)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """triplet_margin_loss with a distance function of one's own."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if distance_function is None:
        distance_function = ops.pairwise_distance
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )
    return _triplet(anchor, positive, negative, distance_function, margin, swap, reduction)


def ctc_loss(
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    blank=0,
    reduction="mean",
    zero_infinity=False,
):
    """Negative log-likelihood of target sequences over all alignments; log_probs is (T, N, C) or (T, C)."""
    return ops.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity
    )
