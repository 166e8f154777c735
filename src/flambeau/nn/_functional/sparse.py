"""Embedding lookups."""

import flambeau
from flambeau import ops

__all__ = ["embedding", "embedding_bag"]


def _renorm(weight, input, max_norm, norm_type):
    """Scale the rows that `input` names down to max_norm, in place and without history."""
    with flambeau.no_grad():
        rows = input.reshape(-1).unique()
        chosen = weight.index_select(0, rows)
        norms = ops.norm(chosen, norm_type, 1, keepdim=True)
        scale = ops.where(norms > max_norm, max_norm / (norms + 1e-7), ops.ones_like(norms))
        weight.index_copy_(0, rows, chosen * scale)


def embedding(
    input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False
):
    """Rows of weight (V, D) by index: input of shape (*) gives (*, D).

    Args:
        padding_idx: this row gets no gradient.
        max_norm: rows that are used and longer than this are first scaled down, in place.
        norm_type: p of that norm.
        scale_grad_by_freq: divide gradients by how often the row occurs in the batch.
        sparse: accepted; gradients are dense.
    """
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx >= weight.size(0) or padding_idx < -weight.size(0):
        raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        padding_idx += weight.size(0)
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    return ops.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(
    input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
    per_sample_weights=None, include_last_offset=False, padding_idx=None,
):  # fmt: skip
    """Reduce bags of rows of weight (V, D): input (B, N) has one bag per row; 1-d input is cut at `offsets` (B,).

    Args:
        mode: "sum", "mean" or "max".
        per_sample_weights: a factor per index, for mode="sum".
        include_last_offset: the last offset is the end of the last bag.
        padding_idx: rows left out of the reduction.
    """
    if weight.dtype == flambeau.int64 and input.is_floating_point():
        weight, input = input, weight  # PyTorch's old argument order
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, "
            f"then it must have the same shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        offsets = ops.arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    _check_bag_mode(mode, scale_grad_by_freq, sparse, per_sample_weights)
    if padding_idx is not None:
        if not -weight.size(0) <= padding_idx < weight.size(0):
            raise ValueError("padding_idx must be within the number of embeddings")
        padding_idx %= weight.size(0)
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    return _bags(input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx)


def _check_bag_mode(mode, scale_grad_by_freq, sparse, per_sample_weights):
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. "
            "per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )


def _bags(input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx):
    if hasattr(ops, "embedding_bag"):
        return ops.embedding_bag(
            weight, input, offsets, mode=mode, per_sample_weights=per_sample_weights,
            include_last_offset=include_last_offset, padding_idx=-1 if padding_idx is None else padding_idx,
        )  # fmt: skip
    count = offsets.size(0) - (1 if include_last_offset else 0)
    bag_of = ops.searchsorted(offsets[:count].contiguous(), ops.arange(input.size(0)), right=True) - 1
    if padding_idx is not None:
        keep = input != padding_idx
        input, bag_of = input[keep], bag_of[keep]
        per_sample_weights = None if per_sample_weights is None else per_sample_weights[keep]
    rows = weight.index_select(0, input)  # (indices, D)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    zeros = rows.new_zeros((count, weight.size(1)))
    if mode == "max":
        return zeros.index_reduce(0, bag_of, rows, "amax", include_self=False)
    sums = zeros.index_add(0, bag_of, rows)
    if mode == "sum":
        return sums
    sizes = ops.zeros(count, dtype=rows.dtype).index_add(0, bag_of, ops.ones_like(bag_of, dtype=rows.dtype))
    return sums / sizes.clamp(min=1).unsqueeze(1)
