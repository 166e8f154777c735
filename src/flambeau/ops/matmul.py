"""Matrix products: matmul and its fixed-rank forms, their accumulating forms, linear, bilinear.

Contractions by subscripts are in einsum.py; factorisations and solvers in linalg_ops.py.
"""

from .. import _C
from .registry import composite, native

__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bilinear",
    "bmm",
    "chain_matmul",
    "dot",
    "ger",
    "inner",
    "linear",
    "matmul",
    "mm",
    "mv",
    "outer",
    "vdot",
]


def _conj(factor):
    """Conjugate of a Python number (gradients of alpha and beta)."""
    return factor.conjugate() if isinstance(factor, complex) else factor


matmul = native(
    "matmul(Tensor input, Tensor other) -> Tensor",
    methods=("matmul", "__matmul__"),
    out=True,
    doc="""Matrix product of the last two dims, over broadcast leading dims.

    y[..., i, j] = sum over k of input[..., i, k] * other[..., k, j]

    Args:
        input: shape (k,), (m, k) or (*, m, k); a vector counts as one row.
        other: shape (k,), (k, n) or (*, k, n), same dtype; a vector counts as one column.
    Returns:
        Shape (*, m, n); the dim that a vector lacked is absent. Half types accumulate in float32; integers wrap around.
    Raises:
        RuntimeError: the inner sizes or the dtypes differ, or an argument is 0-d.
    Differentiable in input, other; supports second derivatives.
    Example:
        >>> matmul(tensor([[1.0, 2.0]]), tensor([[3.0], [4.0]]))
        tensor([[11.]])
    """,
)


@matmul.vjp("input")
def _(grad, input_meta, other):
    if other.dim() == 1:
        if input_meta.dim() == 1:
            return grad * other.conj()
        return grad.unsqueeze(-1) * other.conj()  # (..., m, 1) * (k,)
    if input_meta.dim() == 1:
        return (grad.unsqueeze(-2) @ other.mH).squeeze(-2)  # (..., 1, n) @ (..., n, k)
    return grad @ other.mH


@matmul.vjp("other")
def _(grad, input, other_meta):
    if input.dim() == 1:
        if other_meta.dim() == 1:
            return grad * input.conj()
        return input.conj().unsqueeze(-1) * grad.unsqueeze(-2)  # (k, 1) * (..., 1, n)
    if other_meta.dim() == 1:
        return (input.mH @ grad.unsqueeze(-1)).squeeze(-1)
    if other_meta.dim() == 2 and input.dim() > 2:
        # One product over all rows instead of one per batch item and a sum.
        return input.flatten(0, -2).mH @ grad.flatten(0, -2)
    return input.mH @ grad


mm = native(
    "mm(Tensor input, Tensor mat2) -> Tensor",
    methods=("mm",),
    out=True,
    doc="""Matrix product of two matrices, without broadcasting.

    Args:
        input: shape (m, k).
        mat2: shape (k, n), same dtype.
    Returns:
        Shape (m, n).
    Raises:
        RuntimeError: an argument is not a matrix, or sizes or dtypes do not match.
    Differentiable in input, mat2; supports second derivatives.
    """,
)


@mm.vjp("input")
def _(grad, mat2):
    return grad.mm(mat2.mH)


@mm.vjp("mat2")
def _(grad, input):
    return input.mH.mm(grad)


bmm = native(
    "bmm(Tensor input, Tensor mat2) -> Tensor",
    methods=("bmm",),
    out=True,
    doc="""Batched matrix product, without broadcasting.

    Args:
        input: shape (b, m, k).
        mat2: shape (b, k, n), same dtype.
    Returns:
        Shape (b, m, n).
    Raises:
        RuntimeError: an argument is not 3-d, or sizes or dtypes do not match.
    Differentiable in input, mat2; supports second derivatives.
    """,
)


@bmm.vjp("input")
def _(grad, mat2):
    return grad.bmm(mat2.mH)


@bmm.vjp("mat2")
def _(grad, input):
    return input.mH.bmm(grad)


mv = native(
    "mv(Tensor input, Tensor vec) -> Tensor",
    methods=("mv",),
    out=True,
    doc="""Product of a matrix (m, k) and a vector (k,): shape (m,). Differentiable in both.""",
)


@mv.vjp("input")
def _(grad, vec):
    return grad.unsqueeze(1) * vec.conj()


@mv.vjp("vec")
def _(grad, input):
    return input.mH.mv(grad)


dot = native(
    "dot(Tensor input, Tensor tensor) -> Tensor",
    methods=("dot",),
    out=True,
    doc="""Sum of products of two vectors of one length, without conjugation; 0-d. Differentiable in both.""",
)


@dot.vjp("input")
def _(grad, tensor):
    return grad * tensor.conj()


@dot.vjp("tensor")
def _(grad, input):
    return grad * input.conj()


vdot = native(
    "vdot(Tensor input, Tensor other) -> Tensor",
    methods=("vdot",),
    out=True,
    doc="""Sum of conj(input) * other over two vectors of one length. Returns a 0-d tensor. Differentiable in both.""",
)


@vdot.vjp("input")
def _(grad, other):
    return grad.conj() * other


@vdot.vjp("other")
def _(grad, input):
    return grad * input


addmm = native(
    "addmm(Tensor input, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    methods=("addmm",),
    inplace=True,
    out=True,
    doc="""beta * input + alpha * (mat1 @ mat2).

    Args:
        input: broadcastable to (m, n); ignored (NaN too) when beta is 0.
        mat1, mat2: shapes (m, k) and (k, n), dtype of input.
        beta, alpha: integers for integer matrices.
    Returns:
        Shape (m, n).
    Raises:
        RuntimeError: sizes or dtypes do not match.
    Differentiable in input, mat1, mat2; supports second derivatives.
    """,
)


@addmm.vjp("input")
def _(grad, beta):
    return grad * _conj(beta)


@addmm.vjp("mat1")
def _(grad, mat2, alpha):
    return grad.mm(mat2.mH) * _conj(alpha)


@addmm.vjp("mat2")
def _(grad, mat1, alpha):
    return mat1.mH.mm(grad) * _conj(alpha)


addmv = native(
    "addmv(Tensor input, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    methods=("addmv",),
    inplace=True,
    out=True,
    doc="""beta * input + alpha * (mat @ vec), input broadcastable to (m,). Differentiable in input, mat, vec.""",
)


@addmv.vjp("input")
def _(grad, beta):
    return grad * _conj(beta)


@addmv.vjp("mat")
def _(grad, vec, alpha):
    return grad.unsqueeze(1) * vec.conj() * _conj(alpha)


@addmv.vjp("vec")
def _(grad, mat, alpha):
    return mat.mH.mv(grad) * _conj(alpha)


baddbmm = native(
    "baddbmm(Tensor input, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    methods=("baddbmm",),
    inplace=True,
    out=True,
    doc="""beta * input + alpha * bmm(batch1, batch2), input broadcastable to (b, m, n). Differentiable in all.""",
)


@baddbmm.vjp("input")
def _(grad, beta):
    return grad * _conj(beta)


@baddbmm.vjp("batch1")
def _(grad, batch2, alpha):
    return grad.bmm(batch2.mH) * _conj(alpha)


@baddbmm.vjp("batch2")
def _(grad, batch1, alpha):
    return batch1.mH.bmm(grad) * _conj(alpha)


linear = native(
    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    doc="""Affine map of the last dim: y = input @ weight.T + bias.

    Args:
        input: shape (*, k).
        weight: shape (n, k), or (k,) for a result without the last dim; same dtype.
        bias: shape (n,) or None.
    Returns:
        Shape (*, n).
    Raises:
        RuntimeError: sizes or dtypes do not match.
    Differentiable in input, weight, bias; supports second derivatives.
    Example:
        >>> linear(tensor([1.0, 2.0]), tensor([[3.0, 4.0]]), tensor([0.5]))
        tensor([11.5000])
    """,
)


@linear.vjp("input")
def _(grad, weight):
    if weight.dim() == 1:
        return grad.unsqueeze(-1) * weight.conj()
    return grad @ weight.conj()


@linear.vjp("weight")
def _(grad, input, weight_meta):
    if weight_meta.dim() == 1:
        return (
            (grad.unsqueeze(-1) * input.conj()).flatten(0, -2).sum(0)
            if input.dim() > 1
            else grad * input.conj()
        )
    if input.dim() == 1:
        return grad.unsqueeze(1) * input.conj()
    if input.dim() == 2:
        return grad.t() @ input.conj()
    return grad.flatten(0, -2).t() @ input.flatten(0, -2).conj()


@linear.vjp("bias")
def _(grad):
    # The engine would sum the leading dims one by one; a matrix is one pass.
    return grad.flatten(0, -2).sum(0) if grad.dim() > 1 else grad


@composite(methods=("outer",), out=True)
def outer(input, vec2):
    """Outer product of two vectors, shape (n, m): input[:, None] * vec2[None, :]. Promotes dtypes."""
    if input.dim() != 1 or vec2.dim() != 1:
        raise RuntimeError(
            f"outer: Expected 1-D argument input and vec2, got {input.dim()}-D and {vec2.dim()}-D."
        )
    return input.unsqueeze(1) * vec2


@composite(methods=("ger",), out=True)
def ger(input, vec2):
    """Outer product of two vectors; older name of `outer`."""
    return outer(input, vec2)


@composite(methods=("__rmatmul__",))
def _rmatmul(input, other):
    return matmul(other, input)


@composite(methods=("addr_",))
def _addr_(input, vec1, vec2, *, beta=1, alpha=1):
    return input.copy_(addr(input, vec1, vec2, beta=beta, alpha=alpha))


@composite(methods=("addbmm_",))
def _addbmm_(input, batch1, batch2, *, beta=1, alpha=1):
    return input.copy_(addbmm(input, batch1, batch2, beta=beta, alpha=alpha))


@composite(methods=("addr",), out=True)
def addr(input, vec1, vec2, *, beta=1, alpha=1):
    """beta * input + alpha * outer(vec1, vec2); input is ignored when beta is 0.

    Args:
        input: broadcastable to (n, m).
        vec1, vec2: shapes (n,) and (m,).
        beta, alpha: numbers; integers or bools if no argument is floating point.
    """
    if vec1.dim() != 1 or vec2.dim() != 1:
        raise RuntimeError(
            f"addr: Expected 1-D argument vec1 and vec2, got {vec1.dim()}-D and {vec2.dim()}-D."
        )
    shape = (vec1.shape[0], vec2.shape[0])
    if (
        input.dtype in (_C.float16, _C.bfloat16)
        and vec1.dtype == input.dtype
        and vec2.dtype == input.dtype
    ):
        # one rounding at the end
        return addr(input.float(), vec1.float(), vec2.float(), beta=beta, alpha=alpha).to(
            input.dtype
        )
    input = input.expand(shape)
    product = vec1.unsqueeze(1) * vec2
    integral = not (
        input.is_floating_point()
        or input.is_complex()
        or product.is_floating_point()
        or product.is_complex()
    )
    if integral and (isinstance(beta, (float, complex)) or isinstance(alpha, (float, complex))):
        raise RuntimeError(
            "addr: For integral input tensors, argument beta and alpha must not be floating point numbers, "
            f"got {beta} and {alpha}."
        )
    if product.dtype != input.dtype:
        from .convert import result_type

        dtype = result_type(input, product)
        input, product = input.to(dtype), product.to(dtype)
    if product.dtype == _C.bool:
        scaled = product if alpha else product & False
        return (input | scaled) if beta else scaled
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return (input if beta == 1 else input * beta) + product


@composite(methods=("addbmm",), out=True)
def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * (sum of the matrix products of the batch).

    Args:
        input: broadcastable to (m, n).
        batch1, batch2: shapes (b, m, k) and (b, k, n).
    """
    if batch1.dim() != 3 or batch2.dim() != 3:
        raise RuntimeError(
            f"addbmm: expected 3-D batches, got shapes {tuple(batch1.shape)} and {tuple(batch2.shape)}."
        )
    if batch1.shape[0] != batch2.shape[0] or batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            f"addbmm: expected batch2 of shape ({batch1.shape[0]}, {batch1.shape[2]}, *), got {tuple(batch2.shape)}."
        )
    # sum over b and k at once: (m, b * k) @ (b * k, n)
    left = batch1.transpose(0, 1).flatten(1)
    return addmm(input, left, batch2.flatten(0, 1), beta=beta, alpha=alpha)


@composite(methods=("inner",), out=True)
def inner(input, other):
    """Sum of products over the last dims: shape input.shape[:-1] + other.shape[:-1]; 0-d arguments multiply."""
    if input.dim() == 0 or other.dim() == 0:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner: the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    if input.dtype != other.dtype:
        raise RuntimeError(
            f"inner: expected input and other of the same dtype, got {input.dtype} and {other.dtype}."
        )
    left = (
        input.reshape(-1, input.shape[-1])
        if input.shape[-1]
        else input.new_zeros((_count(input), 0))
    )
    right = (
        other.reshape(-1, other.shape[-1])
        if other.shape[-1]
        else other.new_zeros((_count(other), 0))
    )
    return mm(left, right.t()).reshape(tuple(input.shape[:-1]) + tuple(other.shape[:-1]))


def _count(tensor):
    """Number of rows: the product of all sizes but the last."""
    rows = 1
    for size in tensor.shape[:-1]:
        rows *= size
    return rows


@composite()
def chain_matmul(*matrices, out=None):
    """Product of two or more matrices in the cheapest order (matrix chain order by dynamic programming)."""
    from .linalg_misc import multi_dot

    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = tuple(matrices[0])
    if len(matrices) == 0:
        raise RuntimeError("chain_matmul: Expected one or more matrices, got none.")
    for matrix in matrices:
        if matrix.dim() != 2:
            raise RuntimeError(
                f"chain_matmul: Tensor dimension is {matrix.dim()}, expected 2 instead."
            )
    result = matrices[0] if len(matrices) == 1 else multi_dot(matrices)
    return result if out is None else out.copy_(result)


@composite()
def bilinear(input1, input2, weight, bias=None):
    """Bilinear form: y[..., o] = sum over i, j of input1[..., i] weight[o, i, j] input2[..., j] + bias[o].

    Args:
        input1, input2: shapes (*, i) and (*, j), same leading dims.
        weight: shape (o, i, j).
        bias: shape (o,) or None.
    """
    if input1.dim() != input2.dim() or tuple(input1.shape[:-1]) != tuple(input2.shape[:-1]):
        raise RuntimeError(
            f"bilinear: expected inputs of the same leading sizes, got {tuple(input1.shape)} and {tuple(input2.shape)}."
        )
    if weight.dim() != 3 or input1.dim() == 0:
        raise RuntimeError(
            "bilinear: expected weight of 3 dims and inputs of at least 1, got weight "
            f"{tuple(weight.shape)} and inputs "
            f"{tuple(input1.shape)}, {tuple(input2.shape)}."
        )
    if input1.shape[-1] != weight.shape[1] or input2.shape[-1] != weight.shape[2]:
        raise RuntimeError(
            f"bilinear: expected weight (*, {input1.shape[-1]}, {input2.shape[-1]}), got shape {tuple(weight.shape)}."
        )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear: expected bias of shape ({weight.shape[0]},), got {tuple(bias.shape)}."
        )
    if input1.dtype in (_C.float16, _C.bfloat16):  # one rounding at the end
        wide = bilinear(
            input1.float(), input2.float(), weight.float(), None if bias is None else bias.float()
        )
        return wide.to(input1.dtype)
    lead = tuple(input1.shape[:-1])
    a = input1.reshape(-1, input1.shape[-1])
    b = input2.reshape(-1, input2.shape[-1])
    # (o, rows, j) * (rows, j), summed over j
    result = (
        ((a @ weight) * b).sum(-1, dtype=a.dtype).t().contiguous().reshape((*lead, weight.shape[0]))
    )
    return result if bias is None else result + bias
