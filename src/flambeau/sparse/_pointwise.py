"""Elementwise ops on sparse tensors: those that keep zeros zero, and arithmetic of two tensors."""

from .. import _C, ops
from .._extension import payload, register
from ..ops import sparse_parts as native
from ._convert import to_coo, to_dense
from ._payload import (
    Compressed,
    coalesced,
    coo,
    flat_index,
    is_sparse,
    parts,
    with_values,
)

# f(0) == 0, so that only the specified values change. Uncoalesced tensors are coalesced first unless f is linear.
_LINEAR = (
    "neg", "positive", "conj", "conj_physical", "resolve_conj", "resolve_neg", "real", "imag", "deg2rad", "rad2deg",
)  # fmt: skip
_KEEPING_ZERO = (
    "abs", "sqrt", "sin", "sinh", "tan", "tanh", "asin", "asinh", "atan", "atanh", "relu", "sign", "sgn", "floor",
    "ceil", "round", "trunc", "frac", "expm1", "log1p", "erf", "erfinv",
    "signbit", "isnan", "isinf", "isposinf", "isneginf", "angle", "nan_to_num", "leaky_relu", "square", "hardshrink",
    "softshrink", "silu", "gelu", "relu6",
)  # fmt: skip


def _on_values(name, linear):
    function = ops.registry.OPS[name]

    def form(input, *settings):
        target = input if linear else _distinct(input)
        named = dict(zip(function.parameters[1:], settings, strict=True))
        return with_values(target, function(_values(target), **named))

    return form


def _values(tensor):
    return parts(tensor).values


def _distinct(tensor):
    content = parts(tensor)
    return tensor if isinstance(content, Compressed) else coalesced(tensor)


for _names, _linear in ((_LINEAR, True), (_KEEPING_ZERO, False)):
    for _name in _names:
        if _name in ops.registry.OPS:
            register("sparse", _name)(_on_values(_name, _linear))


def _backward(name):
    """grad_output times a derivative at the specified elements of the other argument."""
    function = ops.registry.OPS[name]

    def form(grad_output, input, *settings):
        if not is_sparse(input):
            raise NotImplementedError(f"{name}: expected a sparse input with a sparse gradient.")
        input = _distinct(input)
        grad = native._sparse_mask(grad_output, input, not is_sparse(grad_output))
        named = dict(zip(function.parameters[2:], settings, strict=True))
        return with_values(input, function(_values(grad), _values(input), **named))

    return form


for _name in (
    "threshold_backward", "tanh_backward", "leaky_relu_backward", "gelu_backward", "silu_backward"
):  # fmt: skip
    register("sparse", _name)(_backward(_name))


# ---- Sums


def _same_size(a, b, name="add"):
    if a.shape != b.shape:
        raise RuntimeError(
            f"{name}: expected sizes of 'self' and 'other' to match, but {list(a.shape)} != {list(b.shape)}"
        )


def _scaled(values, alpha, dtype):
    values = values.to(dtype)
    return values if alpha == 1 else values * alpha


def _add_sparse(a, b, alpha):
    _same_size(a, b)
    dtype = ops.result_type(a, b)
    first, second = payload(a), payload(b)
    if isinstance(first, Compressed) or isinstance(second, Compressed):
        total = _add_sparse(to_coo(a), to_coo(b), alpha)
        return _back(coalesced(total), a if isinstance(first, Compressed) else b)
    if first.sparse_dim != second.sparse_dim:
        raise RuntimeError(
            f"add: expected both to have the same number of sparse dimensions, got {first.sparse_dim} and "
            f"{second.sparse_dim}."
        )
    if first.nnz == 0:
        return coo(second.indices, _scaled(second.values, alpha, dtype), a.shape, second.coalesced)
    if second.nnz == 0:
        return with_values(a, first.values.to(dtype))
    indices = ops.cat([first.indices, second.indices], 1)
    values = ops.cat([first.values.to(dtype), _scaled(second.values, alpha, dtype)])
    total = coo(indices, values, a.shape)
    # Sums of sums would grow without end: there are at most as many entries as places.
    places = _C.Size(first.size[: first.sparse_dim]).numel()
    sort = (first.coalesced and second.coalesced) or indices.shape[1] > places
    return coalesced(total) if sort else total


def _back(tensor, like):
    """A sparse_coo result in the compressed layout of `like`."""
    return native.to_sparse(
        tensor,
        layout=like.layout,
        blocksize=parts(like).blocksize if "bs" in str(like.layout) else None,
    )


@register("sparse", "add")
def add(input, other, alpha=1):
    if is_sparse(input) and is_sparse(other):
        return _add_sparse(input, other, alpha)
    dense, sparse = (other, input) if is_sparse(input) else (input, other)
    if is_sparse(input) and (dense.ndim == 0 or dense.shape != input.shape):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    dtype = ops.result_type(input, other)
    if sparse is input:
        dense, factor = (dense * alpha if alpha != 1 else dense), 1
    else:
        factor = alpha
    dense = dense.expand(ops.broadcast_shapes(dense.shape, sparse.shape))
    if dense.shape != sparse.shape:
        raise RuntimeError(
            f"add: expected 'other' to have the size of 'self', got {list(sparse.shape)} and {list(dense.shape)}."
        )
    content = payload(to_coo(sparse))
    return native._scatter_rows(dense.to(dtype), content.indices, content.values, factor)


@register("sparse", "add_")
def add_(input, other, alpha=1):
    if is_sparse(input):
        return _assigned(input, add(input, other, alpha))
    _same_size(input, other)
    content = payload(other)
    if isinstance(content, Compressed):
        content = payload(to_coo(other))
    if not ops.can_cast(content.values.dtype, input.dtype):
        raise RuntimeError(
            f"result type {content.values.dtype} can't be cast to the desired output type {input.dtype}"
        )
    native._scatter_rows.inplace(input, content.indices, content.values, alpha)
    return input


def _assigned(target, result):
    if not is_sparse(result):
        raise RuntimeError(
            "add_: expected a sparse result, got a dense one. Use the form that is not in place."
        )
    if result.dtype is not target.dtype:
        if not ops.can_cast(result.dtype, target.dtype):
            raise RuntimeError(
                f"result type {result.dtype} can't be cast to the desired output type {target.dtype}"
            )
        result = with_values(result, _values(result).to(target.dtype))
    _C._set_extension(target, payload(result))
    return target


@register("sparse", "sub")
def sub(input, other, alpha=1):
    if is_sparse(input) and not is_sparse(other) and other.shape == input.shape:
        return to_dense(input).sub(other, alpha=alpha)
    return add(input, other, -alpha)


@register("sparse", "sub_")
def sub_(input, other, alpha=1):
    return add_(input, other, -alpha)


@register("sparse", "rsub")
def rsub(input, other, alpha=1):
    return add(other, input, -alpha)


# ---- Products


def _is_number(value):
    return isinstance(value, _C.TensorBase) and not is_sparse(value) and value.ndim == 0


def _times(values, number):
    return ops.mul(values, number)


@register("sparse", "mul")
def mul(input, other):
    if _is_number(other):
        return with_values(input, ops.mul(_values(input), other))
    if _is_number(input):
        return with_values(other, ops.mul(input, _values(other)))
    if is_sparse(input) and is_sparse(other):
        return _mul_sparse(input, other)
    sparse, dense = (input, other) if is_sparse(input) else (other, input)
    return _mul_dense(sparse, dense)


def _mul_dense(sparse, dense):
    shape = ops.broadcast_shapes(sparse.shape, dense.shape)
    if tuple(shape) != tuple(sparse.shape):
        raise RuntimeError(
            f"mul(sparse, dense): expected a dense tensor that broadcasts to the sparse one, got {list(dense.shape)} "
            f"and {list(sparse.shape)}."
        )
    sparse = _distinct(sparse)
    picked = native._sparse_mask(dense.expand(shape), sparse, True)
    return with_values(sparse, _values(sparse) * _values(picked))


def _mul_sparse(a, b):
    _same_size(a, b, "mul")
    if isinstance(payload(a), Compressed) or isinstance(payload(b), Compressed):
        return _back(
            _mul_sparse(to_coo(a), to_coo(b)), a if isinstance(payload(a), Compressed) else b
        )
    first, second = payload(coalesced(a)), payload(coalesced(b))
    if first.sparse_dim != second.sparse_dim:
        if first.sparse_dim < second.sparse_dim:
            first, second = second, first
        return _mul_dense(
            coo(first.indices, first.values, first.size, True),
            to_dense(a if second is payload(a) else b),
        )
    if first.nnz == 0 or second.nnz == 0:
        none = first.values[:0] * second.values[:0]
        return coo(first.indices[:, :0], none, first.size, True)
    sizes = first.size[: first.sparse_dim]
    have, want = flat_index(second.indices, sizes), flat_index(first.indices, sizes)
    at = native._places_in(have, want)
    shared = (at >= 0).nonzero().squeeze(1)
    values = first.values.index_select(0, shared) * second.values.index_select(0, at[shared])
    return coo(first.indices.index_select(1, shared), values, first.size, True)


@register("sparse", "mul_conj")
def mul_conj(input, other):
    return mul(input, other.conj() if other.is_complex() else other)


@register("sparse", "mul_")
def mul_(input, other):
    if not is_sparse(input):
        return input.copy_(to_dense(mul(input, other)))
    return _assigned(input, mul(input, other))


@register("sparse", "div")
def div(input, other, rounding_mode=None):
    if is_sparse(other) or not (_is_number(other) or other.ndim == 0):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(other.shape)} for divisor)"
        )
    target = input if rounding_mode is None else _distinct(input)
    return with_values(target, ops.div(_values(target), other, rounding_mode=rounding_mode))


@register("sparse", "floor_divide")
def floor_divide(input, other):
    return div(input, other, "floor")


@register("sparse", "pow")
def pow_(input, exponent):
    if not is_sparse(input) or not _is_number(exponent):
        raise NotImplementedError(
            "pow: expected a sparse base and a number as exponent. Convert with to_dense() first."
        )
    if exponent.item() == 0:
        raise RuntimeError(
            "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense"
        )
    input = _distinct(input)
    return with_values(input, ops.pow(_values(input), exponent))


@register("sparse", "zero", "zeros_like_values")
def zero(input):
    content = parts(input)
    if isinstance(content, Compressed):
        return content.with_values(ops.zeros_like(content.values))
    return coo(content.indices[:, :0], content.values[:0], content.size, True)


@register("sparse", "addcmul_")
def addcmul_(input, tensor1, tensor2, value=1):
    product = mul(tensor1, tensor2)
    return (
        add_(input, product, value)
        if is_sparse(product)
        else input.addcmul_(tensor1, tensor2, value=value)
    )


# ---- Comparisons, through dense


def _both_dense(name):
    def form(input, other, *settings):
        first = to_dense(input) if is_sparse(input) else input
        second = to_dense(other) if is_sparse(other) else other
        return ops.registry.OPS[name](first, second, *settings)

    return form


for _name in ("equal", "isclose", "allclose", "eq", "ne", "lt", "le", "gt", "ge"):
    if _name in ops.registry.OPS:
        register("sparse", _name)(_both_dense(_name))
