"""Functions that PyTorch has at top level with other arguments than in nn.functional: reductions are numbers there."""

from flambeau import ops
from flambeau.nn import functional as F
from flambeau.nn._functional.conv import conv_tbc
from flambeau.ops.embedding import bag_numbers

__all__ = [
    "batch_norm",
    "binary_cross_entropy_with_logits",
    "conv_tbc",
    "cosine_embedding_loss",
    "ctc_loss",
    "embedding_bag",
    "hinge_embedding_loss",
    "kl_div",
    "margin_ranking_loss",
    "poisson_nll_loss",
    "triplet_margin_loss",
]

_MODES = ("sum", "mean", "max")


def _reduction(value):
    """0, 1, 2 or their names: none, mean, sum."""
    return value if isinstance(value, str) else ("none", "mean", "sum")[value]


def batch_norm(
    input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled
):
    """nn.functional.batch_norm with its arguments in another order; cudnn_enabled is accepted."""
    return ops.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=1):
    """nn.functional.binary_cross_entropy_with_logits; target may broadcast."""
    return ops.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, reduction=_reduction(reduction)
    )


def kl_div(input, target, reduction=1, *, log_target=False):
    """nn.functional.kl_div."""
    return ops.kl_div(input, target, reduction=_reduction(reduction), log_target=log_target)


def ctc_loss(
    log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False
):
    """nn.functional.ctc_loss."""
    return F.ctc_loss(
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        blank,
        _reduction(reduction),
        zero_infinity,
    )


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1):
    """nn.functional.cosine_embedding_loss."""
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def hinge_embedding_loss(input, target, margin=1.0, reduction=1):
    """nn.functional.hinge_embedding_loss."""
    return F.hinge_embedding_loss(input, target, margin, reduction=_reduction(reduction))


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1):
    """nn.functional.margin_ranking_loss."""
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """nn.functional.poisson_nll_loss."""
    return F.poisson_nll_loss(
        input, target, log_input, full, eps=eps, reduction=_reduction(reduction)
    )


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=1
):
    """nn.functional.triplet_margin_loss."""
    return F.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction=_reduction(reduction)
    )


def embedding_bag(
    weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None,
    include_last_offset=False, padding_idx=None,
):  # fmt: skip
    """nn.functional.embedding_bag for flat indices.

    Args:
        mode: 0 sum, 1 mean, 2 max.
    Returns:
        (bags, bag of each index, sizes of the bags without padding, indices of the maxima). As in PyTorch the sizes
        are 0 in mode 0, and the maxima are the sizes unless mode is 2.
    """
    result = F.embedding_bag(
        indices, weight, offsets, scale_grad_by_freq=scale_grad_by_freq, mode=_MODES[mode], sparse=sparse,
        per_sample_weights=per_sample_weights, include_last_offset=include_last_offset, padding_idx=padding_idx,
    )  # fmt: skip
    numbers = bag_numbers(offsets, indices.shape[0], include_last_offset)
    padding = -1 if padding_idx is None else padding_idx % weight.shape[0]
    kept = indices != padding
    sizes = ops.bincount(numbers[kept], minlength=result.shape[0])
    if mode == 0:
        sizes.zero_()
    maxima = _first_maxima(result, weight, indices, numbers, kept) if mode == 2 else sizes
    return result, numbers, sizes, maxima


def _first_maxima(result, weight, indices, numbers, kept):
    """The index that each maximum came from, 0 in empty bags, shape (bags, dim)."""
    count = indices.shape[0]
    is_maximum = (weight[indices] == result[numbers]) & kept.unsqueeze(-1)  # (count, dim)
    places = ops.arange(count).unsqueeze(-1)
    places = ops.where(is_maximum, places, ops.full_like(places, count))
    first = ops.full(result.shape, count).index_reduce(0, numbers, places, "amin")
    return ops.cat([indices, indices.new_zeros(1)])[first]
