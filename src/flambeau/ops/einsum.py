"""Contractions by subscripts: einsum and tensordot, over batched matrix products."""

from .. import _C
from .matmul import bmm, mm
from .registry import composite

__all__ = ["einsum", "tensordot"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _labels_of(text, what):
    """Subscripts of one term as labels; "..." is kept as one."""
    labels, i = [], 0
    text = text.replace(" ", "")
    while i < len(text):
        if text[i] == ".":
            if text[i : i + 3] != "..." or "..." in labels:
                raise RuntimeError(
                    f"einsum(): found '.' for {what} that is not part of any ellipsis"
                )
            labels.append("...")
            i += 3
        elif text[i] in _LETTERS:
            labels.append(text[i])
            i += 1
        else:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {i} in {what}, subscripts must be in [a-zA-Z]"
            )
    return labels


def _from_sublists(args):
    """einsum(op1, [0, 1], op2, [1, 2], [0, 2]) as operands, terms and output labels."""

    def letters(sublist):
        labels = []
        for entry in sublist:
            if entry is Ellipsis:
                labels.append("...")
            elif not 0 <= entry < len(_LETTERS):
                raise ValueError(
                    f"einsum: expected subscripts in [0, {len(_LETTERS)}), got {entry}."
                )
            else:
                labels.append(_LETTERS[entry])
        return labels

    operands = list(args[0 : len(args) - len(args) % 2 : 2])
    terms = [letters(sublist) for sublist in args[1::2]]
    return operands, terms, letters(args[-1]) if len(args) % 2 else None


def _parse(args):
    if not args:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand "
            "and its subscripts list"
        )
    if not isinstance(args[0], str):
        return _from_sublists(args)
    equation, operands = args[0], list(args[1:])
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    if not operands:
        raise ValueError("einsum(): must provide at least one operand")
    left, arrow, right = equation.partition("->")
    terms = [_labels_of(term, f"operand {i}") for i, term in enumerate(left.split(","))]
    if len(terms) < len(operands):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    if len(terms) > len(operands):
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    return operands, terms, _labels_of(right, "the output") if arrow else None


def _expand_ellipsis(operands, terms):
    """Replaces "..." by labels 0, 1, ... counted from the right, and checks ranks. Returns terms and their number."""
    depth = 0
    expanded = []
    for i, (operand, term) in enumerate(zip(operands, terms, strict=True)):
        rank, named = operand.dim(), len(term) - ("..." in term)
        if "..." not in term and named != rank:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the number of dimensions "
                f"({rank}) for operand {i} and no ellipsis was given"
            )
        if named > rank:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) is more than the number of dimensions "
                f"({rank}) for operand {i}"
            )
        depth = max(depth, rank - named if "..." in term else 0)
    for operand, term in zip(operands, terms, strict=True):
        hidden = operand.dim() - (len(term) - 1)
        labels = []
        for label in term:
            labels += list(range(depth - hidden, depth)) if label == "..." else [label]
        expanded.append(labels)
    return expanded, depth


def _output_labels(output, terms, depth):
    if output is None:
        # Labels that occur once, uppercase before lowercase, after the ellipsis.
        names = [label for term in terms for label in term if not isinstance(label, int)]
        return list(range(depth)) + sorted({name for name in names if names.count(name) == 1})
    labels = []
    for label in output:
        if label == "...":
            labels += list(range(depth))
        elif label in labels:
            raise RuntimeError(
                f"einsum(): output subscript {label} appears more than once in the output"
            )
        elif not any(label in term for term in terms):
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any input operand"
            )
        else:
            labels.append(label)
    return labels


def _take_diagonals(operand, labels):
    """One dim per label: repeated labels become a diagonal."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            a, b = operand.shape[first], operand.shape[second]
            if a != b:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for one operand but the sizes don't match, {b} != {a}"
                )
            operand = operand.diagonal(0, first, second)
            labels = labels[:first] + labels[first + 1 : second] + labels[second + 1 :] + [label]
    return operand, labels


def _product(sizes):
    total = 1
    for size in sizes:
        total *= size
    return total


def _contract(a, a_labels, b, b_labels, keep):
    """Product of two operands, summed over the labels that are not in `keep`: one bmm."""
    sizes = dict(zip(b_labels, b.shape, strict=True)) | {
        label: size
        for label, size in zip(a_labels, a.shape, strict=True)
        if size != 1 or label not in b_labels
    }

    def only(tensor, labels, others):
        """Sum out labels that occur here alone, or are broadcast here, before the product."""
        drop = [
            d
            for d, label in enumerate(labels)
            if (label not in others and label not in keep)
            or (tensor.shape[d] == 1 and sizes[label] != 1)
        ]
        if not drop:
            return tensor, labels
        return tensor.sum(drop), [label for d, label in enumerate(labels) if d not in drop]

    a, a_labels = only(a, a_labels, b_labels)
    b, b_labels = only(b, b_labels, a_labels)
    # A label that was broadcast in one operand is the other's alone now, and maybe to be summed.
    a, a_labels = only(a, a_labels, b_labels)
    if a.dtype != b.dtype:  # sums of integers are int64
        a, b = a.to(_C.int64), b.to(_C.int64)
    batch = [label for label in a_labels if label in b_labels and label in keep]
    summed = [label for label in a_labels if label in b_labels and label not in keep]
    left = [label for label in a_labels if label not in b_labels]
    right = [label for label in b_labels if label not in a_labels]

    def arranged(tensor, labels, order, shape):
        return tensor.permute([labels.index(label) for label in order]).reshape(shape)

    m, k, n = (_product(sizes[label] for label in group) for group in (left, summed, right))
    result_labels = batch + left + right
    shape = [sizes[label] for label in result_labels]
    if not batch:
        result = mm(
            arranged(a, a_labels, left + summed, (m, k)),
            arranged(b, b_labels, summed + right, (k, n)),
        )
    else:
        count = _product(sizes[label] for label in batch)
        result = bmm(
            arranged(a, a_labels, batch + left + summed, (count, m, k)),
            arranged(b, b_labels, batch + summed + right, (count, k, n)),
        )
    return result.reshape(shape), result_labels


def _check_sizes(operands, terms):
    seen = {}
    for i, (operand, labels) in enumerate(zip(operands, terms, strict=True)):
        for label, size in zip(labels, operand.shape, strict=True):
            if seen.get(label, 1) not in (1, size) and size != 1:
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {size} for operand {i} which does not broadcast with "
                    f"previously seen size {seen[label]}"
                )
            seen[label] = max(size, seen.get(label, size)) if size != 0 else 0


@composite()
def einsum(*args):
    """Sum of products over labelled dims (Einstein summation).

    einsum("bij,bjk->bik", a, b) is a batched matrix product; operands are contracted from left to right, each pair as
    one matrix product.

    Args:
        args: an equation and operands, or operands each followed by a list of integer labels, and an output list.
            A label that occurs in one operand twice takes the diagonal; "..." stands for broadcast dims; without
            "->" the output has the labels that occur once, in alphabetical order.
    Returns:
        Dims in the order of the output labels.
    Raises:
        RuntimeError: malformed equation, or sizes of one label that do not broadcast.
    Example:
        >>> einsum("ij,j->i", tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([1.0, 1.0]))
        tensor([3., 7.])
    """
    operands, terms, output = _parse(args)
    terms, depth = _expand_ellipsis(operands, terms)
    output = _output_labels(output, terms, depth)
    pairs = [
        _take_diagonals(operand, labels) for operand, labels in zip(operands, terms, strict=True)
    ]
    operands, terms = [p[0] for p in pairs], [p[1] for p in pairs]
    _check_sizes(operands, terms)
    result, labels = operands[0], terms[0]
    for i in range(1, len(operands)):
        keep = set(output).union(*terms[i + 1 :])
        result, labels = _contract(result, labels, operands[i], terms[i], keep)
    drop = [d for d, label in enumerate(labels) if label not in output]
    if drop:
        result = result.sum(drop)
        labels = [label for label in labels if label in output]
    return result.permute([labels.index(label) for label in output]) if labels != output else result


@composite(out=True)
def tensordot(a, b, dims=2):
    """Sum of products over pairs of dims.

    Args:
        a, b: tensors of one dtype.
        dims: number of last dims of a and first dims of b, or two lists of dims that are paired.
    Returns:
        The dims of a that are left, then those of b.
    Raises:
        RuntimeError: paired sizes differ.
    """
    if hasattr(dims, "tolist"):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        a_dims, b_dims = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        a_dims, b_dims = dims
        a_dims = [a_dims] if isinstance(a_dims, int) else list(a_dims)
        b_dims = [b_dims] if isinstance(b_dims, int) else list(b_dims)
    if len(a_dims) != len(b_dims):
        raise RuntimeError("tensordot: both dimension lists should have same length")
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"tensordot: both inputs should have same dtype, got {a.dtype} and {b.dtype}"
        )
    a_dims, b_dims = [d % a.dim() for d in a_dims], [d % b.dim() for d in b_dims]
    for i, j in zip(a_dims, b_dims, strict=True):
        x, y = a.shape[i], b.shape[j]
        if y == 1 and x != 1:
            a = a.sum(i, keepdim=True, dtype=a.dtype)
        elif x == 1 and y != 1:
            b = b.sum(j, keepdim=True, dtype=b.dtype)
        elif x != y:
            raise RuntimeError(
                f"tensordot: contracted dimensions need to match, but first has size {x} in dim {i} and second has "
                f"size {y} in dim {j}"
            )
    left = [d for d in range(a.dim()) if d not in a_dims]
    right = [d for d in range(b.dim()) if d not in b_dims]
    k = _product(a.shape[d] for d in a_dims)
    left_shape, right_shape = [a.shape[d] for d in left], [b.shape[d] for d in right]
    matrix_a = a.permute(left + a_dims).reshape(_product(left_shape), k)
    matrix_b = b.permute(b_dims + right).reshape(k, _product(right_shape))
    return mm(matrix_a, matrix_b).reshape(left_shape + right_shape)
