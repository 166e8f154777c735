"""Reductions and normalisations that see only the elements where a mask is True: PyTorch's torch.masked.

Masked-out elements are replaced by the identity of the reduction. A result without any element under it is that
identity, or nan where there is none (mean, median).
"""

from .. import _C
from .. import ops as _ops
from ..nn import functional as _functional

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]


def _dims(input, dim):
    """Every dim by default, else a list of distinct non-negative ones."""
    if dim is None or (isinstance(dim, tuple | list) and len(dim) == 0):
        return list(range(input.ndim))
    bound = max(input.ndim, 1)
    wrapped = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if not -bound <= d < bound:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {d})"
            )
        if d % bound in wrapped:
            raise RuntimeError(f"dim={d % bound} appears multiple times in the list of dims")
        wrapped.append(d % bound)
    return wrapped if input.ndim else []


def _mask_of(input, mask, name):
    """The mask expanded to the input's shape, as bool; None stays None."""
    if mask is None:
        return None
    if not isinstance(mask, _C.TensorBase):
        raise TypeError(f"{name}: expected mask to be a Tensor, got {type(mask).__name__}")
    if mask.ndim > input.ndim:
        raise IndexError(
            f"{name}: mask has more dimensions ({mask.ndim}) than input ({input.ndim})"
        )
    if mask.dtype is not _C.bool:
        mask = mask.bool()
    return mask.expand(input.shape)


def _filled(input, mask, value):
    return (
        input if mask is None else _ops.where(mask, input, _ops.full((), value, dtype=input.dtype))
    )


def _lowest(dtype):
    from .. import type_info

    return (
        float("-inf")
        if dtype.is_floating_point or dtype.is_complex
        else (False if dtype is _C.bool else type_info.iinfo(dtype).min)
    )


def _highest(dtype):
    from .. import type_info

    return (
        float("inf")
        if dtype.is_floating_point
        else (True if dtype is _C.bool else type_info.iinfo(dtype).max)
    )


def _integer_sum_dtype(input, dtype):
    if dtype is not None:
        return dtype
    integral = not (input.is_floating_point() or input.is_complex())
    return _C.int64 if integral else input.dtype


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Sum of the unmasked elements over `dim`; integers give int64."""
    input = input.to(_integer_sum_dtype(input, dtype))
    dims = _dims(input, dim)
    filled = _filled(input, _mask_of(input, mask, "sum"), 0)
    return _ops.sum(filled, dims, keepdim) if dims else filled.clone()


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Product of the unmasked elements over `dim`; integers give int64."""
    input = input.to(_integer_sum_dtype(input, dtype))
    result = _filled(input, _mask_of(input, mask, "prod"), 1)
    for d in sorted(_dims(input, dim), reverse=True):
        result = result.prod(d, keepdim=keepdim)
    return result


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Largest of the unmasked elements over `dim`."""
    input = input.to(dtype or input.dtype)
    dims = _dims(input, dim)
    filled = _filled(input, _mask_of(input, mask, "amax"), _lowest(input.dtype))
    return _ops.amax(filled, dims, keepdim) if dims else filled.clone()


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Smallest of the unmasked elements over `dim`."""
    input = input.to(dtype or input.dtype)
    dims = _dims(input, dim)
    filled = _filled(input, _mask_of(input, mask, "amin"), _highest(input.dtype))
    return _ops.amin(filled, dims, keepdim) if dims else filled.clone()


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Position of the largest unmasked element, in the input's dtype unless `dtype` is given."""
    dtype = dtype or input.dtype
    filled = _filled(input, _mask_of(input, mask, "argmax"), _lowest(input.dtype))
    return _ops.argmax(filled, dim, keepdim).to(dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Position of the smallest unmasked element, in the input's dtype unless `dtype` is given."""
    dtype = dtype or input.dtype
    filled = _filled(input, _mask_of(input, mask, "argmin"), _highest(input.dtype))
    return _ops.argmin(filled, dim, keepdim).to(dtype)


def _count(input, mask, dims, keepdim):
    counted = _ops.ones(input.shape, dtype=_C.int64) if mask is None else mask.to(_C.int64)
    return _ops.sum(counted, dims, keepdim) if dims else counted


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Mean of the unmasked elements over `dim`; nan where there are none."""
    dtype = dtype or input.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {dtype}"
        )
    dims = _dims(input, dim)
    mask = _mask_of(input, mask, "mean")
    total = sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / _count(input, mask, dims, keepdim)


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """Lower median of the unmasked elements along `dim`; nan where there are none."""
    input = input.to(dtype or input.dtype)
    mask = _mask_of(input, mask, "median")
    if mask is None:
        return _ops.median(input, dim, keepdim).values
    if not input.is_floating_point():
        if not bool(mask.all()):
            raise ValueError(
                "masked median expects no fully masked out rows if dtype is not floating point"
            )
        return _ops.median(input, dim, keepdim).values
    return _ops.nanmedian(_filled(input, mask, float("nan")), dim, keepdim).values


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Logarithm of the sum of exponentials of the unmasked elements."""
    input = input.to(dtype or input.dtype)
    filled = _filled(input, _mask_of(input, mask, "logsumexp"), _lowest(input.dtype))
    result = _ops.logsumexp(filled, _dims(input, dim), keepdim)
    return result.to(input.dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """logaddexp of two inputs with a mask each: a masked-out element counts as log(0)."""
    dtype = dtype or input.dtype
    left = _filled(input, _mask_of(input, input_mask, "logaddexp"), _lowest(input.dtype))
    right = _filled(other, _mask_of(other, other_mask, "logaddexp"), _lowest(other.dtype))
    return _ops.logaddexp(left, right).to(dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Vector norm of the unmasked elements over `dim`."""
    from ..ops.reduce import vector_norm

    mask = _mask_of(input, mask, "norm")
    input = input.to(dtype or input.dtype)
    identity = float("inf") if ord is not None and ord < 0 else 0
    return vector_norm(
        _filled(input, mask, identity),
        2.0 if ord is None else ord,
        _dims(input, dim),
        keepdim,
        dtype=dtype,
    )


def _moment(name, input, dim, unbiased, correction, keepdim, dtype, mask, root):
    if unbiased is not None and correction is not None:
        raise ValueError("Only one of unbiased and correction may be given")
    degrees = correction if correction is not None else (1 if unbiased is None or unbiased else 0)
    dtype = dtype or input.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        dtype = _C.float32
    compute = _C.float32 if dtype in (_C.float16, _C.bfloat16) else dtype
    dims = _dims(input, dim)
    mask = _mask_of(input, mask, name)
    input = input.to(compute)
    count = _count(input, mask, dims, True)
    average = (
        _ops.div(sum(input, dim, keepdim=True, dtype=compute, mask=mask), count) if dims else input
    )
    centred = input - average
    squares = centred * centred.conj()
    total = sum(squares.real if squares.is_complex() else squares, dim, keepdim=keepdim, mask=mask)
    freedom = count if keepdim or not dims else count.reshape(total.shape)
    result = total / (freedom - degrees).clamp(min=0)
    result = result.sqrt() if root else result
    return result.to(
        dtype
    )  # complex input gives a complex result without imaginary part, as in PyTorch


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """Variance of the unmasked elements over `dim`."""
    return _moment("var", input, dim, unbiased, correction, keepdim, dtype, mask, False)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """Standard deviation of the unmasked elements over `dim`."""
    return _moment("std", input, dim, unbiased, correction, keepdim, dtype, mask, True)


def softmax(input, dim, *, dtype=None, mask=None):
    """Softmax along `dim` over the unmasked elements."""
    input = input.to(dtype or input.dtype)
    return _functional.softmax(
        _filled(input, _mask_of(input, mask, "softmax"), _lowest(input.dtype)), dim
    )


def log_softmax(input, dim, *, dtype=None, mask=None):
    """Logarithm of softmax along `dim` over the unmasked elements."""
    input = input.to(dtype or input.dtype)
    return _functional.log_softmax(
        _filled(input, _mask_of(input, mask, "log_softmax"), _lowest(input.dtype)), dim
    )


def softmin(input, dim, *, dtype=None, mask=None):
    """Softmax of the negated unmasked elements along `dim`."""
    input = input.to(dtype or input.dtype)
    return _functional.softmin(
        _filled(input, _mask_of(input, mask, "softmin"), _highest(input.dtype)), dim
    )


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """The unmasked elements divided by their norm along `dim` (at least `eps`)."""
    input = input.to(dtype or input.dtype)
    mask = _mask_of(input, mask, "normalize")
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _filled(input, mask, 0) / size.clamp(min=eps)


def cumsum(input, dim, *, dtype=None, mask=None):
    """Running sum of the unmasked elements along `dim`."""
    dtype = dtype or input.dtype
    return _filled(input.to(dtype), _mask_of(input, mask, "cumsum"), 0).cumsum(dim).to(dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """Running product of the unmasked elements along `dim`."""
    dtype = dtype or input.dtype
    return _filled(input.to(dtype), _mask_of(input, mask, "cumprod"), 1).cumprod(dim).to(dtype)
