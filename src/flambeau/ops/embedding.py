"""Rows of a table: embedding, embedding_bag, one_hot. nn/_functional/sparse.py checks the arguments of the first two."""

from .registry import composite, native

embedding = native(
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    doc="weight[indices], rows of a 2-d table; the row padding_idx gets no gradient.",
)


@embedding.vjp("weight")
def embedding_vjp(grad, weight_meta, indices, padding_idx, scale_grad_by_freq):
    return embedding_backward(grad, indices, weight_meta.shape[0], padding_idx, scale_grad_by_freq)


embedding_backward = native(
    "embedding_backward(Tensor grad, Tensor indices, int num_weights, int padding_idx, bool scale_grad_by_freq) -> Tensor",
    doc="Sum of the cotangent rows per table row: the gradient of embedding.",
)


@embedding_backward.vjp("grad")
def embedding_backward_vjp(grad, indices, padding_idx, scale_grad_by_freq):
    rows = grad[indices]
    if scale_grad_by_freq:
        counts = grad.new_zeros(grad.shape[0]).index_add(0, indices.reshape(-1), grad.new_ones(indices.numel()))
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


@composite
def embedding_bag(
    weight, indices, offsets, scale_grad_by_freq=False, mode="sum", sparse=False, per_sample_weights=None,
    include_last_offset=False, padding_idx=-1,
):  # fmt: skip
    """Sum, mean or maximum of table rows per bag, without the rows of padding_idx.

    Args:
        weight: table, shape (rows, dim).
        indices: row numbers, shape (n,).
        offsets: first position of each bag, ascending from 0.
        per_sample_weights: factors of the rows, shape (n,).
        include_last_offset: offsets ends with the total count.
    Returns:
        Shape (bags, dim); empty bags are 0.
    Raises:
        RuntimeError: a row number or an offset is out of range.
    """
    bags = offsets.shape[0] - (1 if include_last_offset else 0)
    numbers = bag_numbers(offsets, indices.shape[0], include_last_offset)
    if indices.numel() and not 0 <= int(indices.min()) <= int(indices.max()) < weight.shape[0]:
        bad = int(indices.min()) if int(indices.min()) < 0 else int(indices.max())
        raise RuntimeError(
            f"embedding_bag: expected row numbers in the valid range [0, {weight.shape[0]}), got {bad}."
        )
    # Half types are summed in float32 and rounded once.
    wide = weight.float() if weight.dtype.itemsize == 2 and mode != "max" else weight
    rows = embedding(wide, indices, padding_idx, scale_grad_by_freq, sparse)  # (n, dim)
    if padding_idx >= 0:
        kept = indices != padding_idx
        rows, numbers = rows[kept], numbers[kept]
        per_sample_weights = None if per_sample_weights is None else per_sample_weights[kept]
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.to(rows.dtype).unsqueeze(-1)
    zeros = rows.new_zeros((bags, weight.shape[1]))
    if mode == "max":
        return _bag_maximum(zeros, rows, numbers)
    total = zeros.index_add(0, numbers, rows)
    if mode == "sum":
        return total.to(weight.dtype)
    counts = rows.new_zeros(bags).index_add(0, numbers, rows.new_ones(numbers.shape[0]))
    return (total / counts.masked_fill(counts == 0, 1).unsqueeze(-1)).to(weight.dtype)


def _bag_maximum(zeros, rows, numbers):
    return zeros.index_reduce(0, numbers, rows, "amax", include_self=False)


@composite
def one_hot(input, num_classes=-1):
    """Rows of zeros with a one at each class number, int64, shape (*input.shape, num_classes).

    Raises:
        RuntimeError: input is not int64, or a class is negative or not below num_classes.
    """
    if str(input.dtype) != "torch.int64":
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if input.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return input.new_zeros((*input.shape, num_classes))
    if int(input.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    largest = int(input.max())
    if num_classes == -1:
        num_classes = largest + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif largest >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return input.new_zeros((*input.shape, num_classes)).scatter_(-1, input.unsqueeze(-1), 1)


__all__ = ["embedding", "embedding_bag", "embedding_renorm_"]
