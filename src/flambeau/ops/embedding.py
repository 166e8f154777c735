"""Rows of a table: embedding, embedding_bag, one_hot. nn.functional re-exports them."""

from .._C import int64
from .create import arange
from .registry import composite, native
from .sparse_parts import _coo_from_parts

embedding_rows = native(
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, "
    "bool sparse=False) -> Tensor",
    doc="weight[indices], rows of a 2-d table; the row padding_idx gets no gradient.",
)


@embedding_rows.vjp("weight")
def embedding_vjp(grad, weight_meta, indices, padding_idx, scale_grad_by_freq, sparse):
    if sparse:
        return _sparse_gradient(grad, indices, weight_meta.shape, padding_idx, scale_grad_by_freq)
    return embedding_backward(grad, indices, weight_meta.shape[0], padding_idx, scale_grad_by_freq)


def _sparse_gradient(rows, indices, size, padding_idx, scale_grad_by_freq):
    """The cotangent rows as a sparse tensor: nothing is added up, nothing as large as the table is made."""
    if scale_grad_by_freq:
        raise RuntimeError(
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
        )
    indices = indices.reshape(1, -1)
    rows = rows.reshape(-1, size[1])
    if padding_idx >= 0:
        kept = indices[0] != padding_idx
        indices, rows = indices[:, kept], rows[kept]
    return _coo_from_parts(indices.to(int64), rows, size, False)


embedding_backward = native(
    "embedding_backward(Tensor grad, Tensor indices, int num_weights, int padding_idx, "
    "bool scale_grad_by_freq) -> Tensor",
    doc="Sum of the cotangent rows per table row: the gradient of embedding.",
)


@embedding_backward.vjp("grad")
def embedding_backward_vjp(grad, indices, padding_idx, scale_grad_by_freq):
    rows = grad[indices]
    if scale_grad_by_freq:
        counts = grad.new_zeros(grad.shape[0]).index_add(
            0, indices.reshape(-1), grad.new_ones(indices.numel())
        )
        rows = rows / counts[indices].unsqueeze(-1)
    return rows if padding_idx < 0 else rows.masked_fill((indices == padding_idx).unsqueeze(-1), 0)


embedding_renorm = native(
    "embedding_renorm(Tensor input, Tensor indices, float max_norm, float norm_type) -> Tensor",
    inplace=True,
    non_differentiable="it renormalises parameters outside of the graph",
    doc="Scale the rows in use whose norm exceeds max_norm down to it.",
)

embedding_renorm_ = embedding_renorm.inplace

bag_numbers = native(
    "bag_numbers(Tensor offsets, int count, bool include_last_offset=False) -> Tensor",
    non_differentiable="positions in, positions out",
    doc="For each of count positions the number of the bag that it belongs to.",
)


bag_sum = native(
    "embedding_bag_sum(Tensor weight, Tensor indices, Tensor offsets, Tensor? per_sample_weights, "
    "bool include_last_offset, bool mean, int padding_idx, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    doc="Sum or mean of weighted table rows per bag; `offsets` says where in indices each bag begins.",
)


@bag_sum.vjp
def bag_sum_vjp(
    grad,
    weight,
    indices,
    offsets,
    per_sample_weights,
    include_last_offset,
    mean,
    padding_idx,
    scale_grad_by_freq,
    sparse,
    needs,
):
    numbers = bag_numbers(offsets, indices.shape[0], include_last_offset)
    if mean:
        bags = grad.shape[0]
        kept = (indices != padding_idx).to(grad.dtype)
        counts = grad.new_zeros(bags).index_add(0, numbers, kept)
        grad = grad / counts.masked_fill(counts == 0, 1).unsqueeze(-1)
    rows = grad.index_select(0, numbers)  # (n, dim)
    of_weight = of_factors = None
    if needs[0]:
        scaled = rows if per_sample_weights is None else rows * per_sample_weights.unsqueeze(-1)
        if sparse:
            of_weight = _sparse_gradient(
                scaled, indices, weight.shape, padding_idx, scale_grad_by_freq
            )
        else:
            of_weight = embedding_backward(
                scaled, indices, weight.shape[0], padding_idx, scale_grad_by_freq
            )
    if needs[3]:
        of_factors = (rows * weight.index_select(0, indices)).sum(-1)
        if padding_idx >= 0:
            of_factors = of_factors.masked_fill(indices == padding_idx, 0)
    return of_weight, None, None, of_factors


def _padding_row(padding_idx, rows):
    if padding_idx is None:
        return -1
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % rows


def _renormalised(weight, input, max_norm, norm_type):
    from ..autograd import no_grad

    with no_grad():
        embedding_renorm.inplace(weight, input.contiguous(), max_norm, norm_type)


@composite
def embedding(
    input,
    weight,
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
):
    """Look rows up in a table.

    Args:
        input: int64 or int32 row numbers, any shape.
        weight: table, shape (rows, dim).
        padding_idx: row that gets no gradient; negative counts from the end.
        max_norm: rows in use are first scaled down, in place, to this norm of order norm_type.
        scale_grad_by_freq: divide gradients by how often a row occurs in input.
        sparse: the gradient is a sparse_coo tensor of the rows in use, not coalesced.
    Returns:
        Shape (*input.shape, dim).
    Raises:
        IndexError: a row number is out of range.
        RuntimeError: input is not an integer tensor, or weight is not 2-d.
    Differentiable in weight; supports second derivatives.
    """
    if padding_idx is not None:
        padding_idx = _padding_row(padding_idx, weight.shape[0])
    if max_norm is not None:
        _renormalised(weight, input, max_norm, norm_type)
    return embedding_rows(
        weight, input, -1 if padding_idx is None else padding_idx, scale_grad_by_freq, sparse
    )


def _check_bags(input, offsets, mode, per_sample_weights):
    if mode not in ("sum", "mean", "max"):
        raise ValueError("embedding_bag: mode has to be one of sum, mean or max")
    if per_sample_weights is not None:
        if per_sample_weights.shape != input.shape:
            raise ValueError(
                f"embedding_bag: If per_sample_weights ({list(per_sample_weights.shape)}) is not None, then it must "
                f"have the same shape as the input ({list(input.shape)})"
            )
        if mode != "sum":
            raise NotImplementedError(
                "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
                f"(got mode='{mode}'). Please open a feature request on GitHub."
            )
    if input.ndim == 2 and offsets is not None:
        raise ValueError(
            "embedding_bag: if input is 2D, then offsets has to be None, as input is treated is "
            "a mini-batch of fixed length "
            f"sequences. However, found offsets of type {type(offsets)}"
        )
    if input.ndim == 1:
        if offsets is None:
            raise ValueError("embedding_bag: offsets has to be a 1D Tensor but got None")
        if offsets.ndim != 1:
            raise ValueError("embedding_bag: offsets has to be a 1D Tensor")
    elif input.ndim != 2:
        raise ValueError(
            f"embedding_bag: input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}"
        )


def _even_offsets(bags, each, device):
    return arange(bags, device=device) * each


@composite
def embedding_bag(
    input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
    per_sample_weights=None, include_last_offset=False, padding_idx=None,
):  # fmt: skip
    """Sum, mean or maximum of table rows per bag, without the rows of padding_idx.

    Args:
        input: row numbers, shape (bags, n), or (n,) with the first position of each bag in offsets.
        weight: table, shape (rows, dim).
        per_sample_weights: factors of the rows, shape of input; only for mode "sum".
        sparse: the gradient of weight is a sparse_coo tensor of the rows in use; not for mode "max".
        include_last_offset: offsets ends with the total count.
    Returns:
        Shape (bags, dim); empty bags are 0.
    Raises:
        ValueError: the arguments do not fit together. RuntimeError: a row number or an offset is out of range.
    """
    if weight.dtype == input.dtype and offsets is None and input.dtype.is_floating_point:
        raise RuntimeError("embedding_bag: expected integer row numbers as input.")
    _check_bags(input, offsets, mode, per_sample_weights)
    if mode == "max" and (scale_grad_by_freq or sparse):
        what = "sparse weights" if sparse else "scaling the gradient by the frequency"
        raise ValueError(f"embedding_bag: max mode does not support {what}")
    padding = _padding_row(padding_idx, weight.shape[0])
    if input.ndim == 2:
        offsets = _even_offsets(*input.shape, input.device)
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
        include_last_offset = False
    if max_norm is not None:
        _renormalised(weight, input, max_norm, norm_type)
    if mode == "max":
        bags = offsets.shape[0] - (1 if include_last_offset else 0)
        numbers = bag_numbers(offsets, input.shape[0], include_last_offset)
        return _bag_maximum(weight, input, numbers, bags, padding)
    return bag_sum(
        weight, input, offsets, per_sample_weights, include_last_offset, mode == "mean", padding,
        scale_grad_by_freq, sparse,
    )  # fmt: skip


def _bag_maximum(weight, input, numbers, bags, padding):
    if input.numel() and not 0 <= int(input.min()) <= int(input.max()) < weight.shape[0]:
        raise RuntimeError(
            f"embedding_bag: expected row numbers in the valid range [0, {weight.shape[0]})."
        )
    rows = embedding_rows(weight, input, padding)  # (n, dim)
    if padding >= 0:
        kept = input != padding
        rows, numbers = rows[kept], numbers[kept]
    zeros = rows.new_zeros((bags, weight.shape[1]))
    return zeros.index_reduce(0, numbers, rows, "amax", include_self=False)


@composite
def one_hot(input, num_classes=-1):
    """Rows of zeros with a one at each class number, int64, shape (*input.shape, num_classes).

    Raises:
        RuntimeError: input is not int64, or a class is negative or not below num_classes.
    """
    if str(input.dtype) != "torch.int64":
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, got {input.dtype}. "
            "Convert it, e.g. input.long()."
        )
    if input.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("one_hot: Can not infer total number of classes from empty tensor.")
        return input.new_zeros((*input.shape, num_classes))
    if int(input.min()) < 0:
        raise RuntimeError(f"one_hot: Class values must be non-negative, got {int(input.min())}.")
    largest = int(input.max())
    if num_classes == -1:
        num_classes = largest + 1
    elif num_classes < 1:
        raise RuntimeError(f"one_hot: num_classes should be positive, got {num_classes}.")
    elif largest >= num_classes:
        raise RuntimeError(
            f"one_hot: Class values must be smaller than num_classes ({num_classes}), got {int(input.max())}."
        )
    return input.new_zeros((*input.shape, num_classes)).scatter_(-1, input.unsqueeze(-1), 1)


__all__ = ["embedding_renorm_"]
