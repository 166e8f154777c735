"""New tensors: from data, of given sizes, like another tensor, and sequences."""

import builtins

from .. import _C
from .._C import as_tensor, tensor
from .registry import composite, native, overload

_FACTORY = "dtype? dtype=None, device? device=None"

empty = native(
    f"empty(int[*] size, *, {_FACTORY}, memory_format? memory_format=None) -> Tensor",
    out=True,
    doc="A tensor of the given size with arbitrary values.",
)
zeros = native(f"zeros(int[*] size, *, {_FACTORY}) -> Tensor", out=True, doc="A tensor of zeros.")
ones = native(f"ones(int[*] size, *, {_FACTORY}) -> Tensor", out=True, doc="A tensor of ones.")
full = native(
    f"full(int[] size, Scalar fill_value, *, {_FACTORY}) -> Tensor",
    out=True,
    doc="A tensor filled with one value; the dtype is that of the value: bool, int64, default float or complex.",
)
empty_strided = native(
    f"empty_strided(int[] size, int[] stride, *, {_FACTORY}) -> Tensor",
    doc="A tensor of the given size and strides with arbitrary values.",
)
empty_permuted = native(
    f"empty_permuted(int[] size, int[] physical_layout, *, {_FACTORY}) -> Tensor",
    doc="A dense tensor whose dims lie in memory in the order physical_layout, slowest first.",
)
scalar_tensor = native(
    f"scalar_tensor(Scalar s, *, {_FACTORY}) -> Tensor", doc="A 0-d tensor of one number."
)

_LIKE = f"{_FACTORY}, memory_format? memory_format=None"
_NO_GRADIENT = "only the size of input is used"

empty_like = native(
    f"empty_like(Tensor input, *, {_LIKE}) -> Tensor",
    non_differentiable=_NO_GRADIENT,
    doc="empty with the size, dtype, device and memory order of input.",
)
zeros_like = native(
    f"zeros_like(Tensor input, *, {_LIKE}) -> Tensor",
    non_differentiable=_NO_GRADIENT,
    doc="zeros with the size, dtype, device and memory order of input.",
)
ones_like = native(
    f"ones_like(Tensor input, *, {_LIKE}) -> Tensor",
    non_differentiable=_NO_GRADIENT,
    doc="ones with the size, dtype, device and memory order of input.",
)
full_like = native(
    f"full_like(Tensor input, Scalar fill_value, *, {_LIKE}) -> Tensor",
    non_differentiable=_NO_GRADIENT,
    doc="full with the size, dtype, device and memory order of input.",
)
new_empty = native(
    f"new_empty(Tensor input, int[*] size, *, {_FACTORY}) -> Tensor",
    methods=("new_empty",),
    non_differentiable=_NO_GRADIENT,
    doc="empty with the dtype and device of input.",
)
new_zeros = native(
    f"new_zeros(Tensor input, int[*] size, *, {_FACTORY}) -> Tensor",
    methods=("new_zeros",),
    non_differentiable=_NO_GRADIENT,
    doc="zeros with the dtype and device of input.",
)
new_ones = native(
    f"new_ones(Tensor input, int[*] size, *, {_FACTORY}) -> Tensor",
    methods=("new_ones",),
    non_differentiable=_NO_GRADIENT,
    doc="ones with the dtype and device of input.",
)
new_full = native(
    f"new_full(Tensor input, int[] size, Scalar fill_value, *, {_FACTORY}) -> Tensor",
    methods=("new_full",),
    non_differentiable=_NO_GRADIENT,
    doc="full with the dtype and device of input.",
)
new_empty_strided = native(
    f"new_empty_strided(Tensor input, int[] size, int[] stride, *, {_FACTORY}) -> Tensor",
    methods=("new_empty_strided",),
    non_differentiable=_NO_GRADIENT,
    doc="empty_strided with the dtype and device of input.",
)

eye = native(
    f"eye(int n, int? m=None, *, {_FACTORY}) -> Tensor",
    out=True,
    doc="Ones on the diagonal of an (n, m) matrix of zeros.",
)

arange_end = native(
    f"arange_end(Scalar end, *, {_FACTORY}) -> Tensor", out=True, doc="0, 1, ... below end."
)
arange_start = native(
    f"arange(Scalar start, Scalar end, Scalar step=1, *, {_FACTORY}) -> Tensor",
    out=True,
    doc="start, start + step, ... below end; int64 if all are integers, else the default float dtype.",
)
arange = overload("arange", arange_end, arange_start)
range_op = native(
    f"range(Scalar start, Scalar end, Scalar step=1, *, {_FACTORY}) -> Tensor",
    out=True,
    doc="Like arange but with end, and of the default float dtype. Deprecated; use arange.",
)
_linspace = native(
    f"linspace(Scalar start, Scalar end, int steps, *, {_FACTORY}) -> Tensor",
    out=True,
    doc="`steps` evenly spaced values from start to end, both included.",
)
_logspace = native(
    f"logspace(Scalar start, Scalar end, int steps, float base=10.0, *, {_FACTORY}) -> Tensor",
    out=True,
    doc="`steps` values from base**start to base**end, evenly spaced on a logarithmic scale.",
)


def _spaces(name, number, extra):
    """The forms with tensors as start or end; 0-d tensors otherwise pass for numbers."""
    reason = "the values are not followed into the sequence"
    tail = f"int steps, {extra}*, {_FACTORY}) -> Tensor"
    both = native(
        f"{name}_tensors(Tensor start, Tensor end, {tail}", out=True, non_differentiable=reason
    )
    end = native(
        f"{name}_end(Scalar start, Tensor end, {tail}", out=True, non_differentiable=reason
    )
    return overload(name, number, both, end)


linspace = _spaces("linspace", _linspace, "")
logspace = _spaces("logspace", _logspace, "float base=10.0, ")


@composite
def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """obj as a tensor.

    Args:
        obj: a tensor, a NumPy array or scalar, an object with the DLPack or buffer protocol, a number or sequences.
        copy: True always copies, False raises ValueError where a copy is needed, None copies if needed.
    """
    shared = isinstance(obj, _C.TensorBase) or (
        type(obj).__module__ == "numpy" and hasattr(obj, "ndim") and obj.ndim > 0
    )
    if not shared and hasattr(obj, "__dlpack__"):
        obj, shared = _C.from_dlpack(obj), True
    if not shared:
        if copy is False:
            raise ValueError("asarray: can't alias arbitrary sequence")
        return tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    result = as_tensor(obj)
    wanted = result.to(device=device, dtype=dtype)
    if copy is False and wanted is not result:
        raise ValueError(
            "can't alias tensor with another dtype or device: asarray: expected copy to be None or True."
        )
    if copy and wanted is result:
        wanted = result.clone()
    if requires_grad and not wanted.requires_grad:
        return wanted.requires_grad_()
    if isinstance(obj, _C.TensorBase) and not requires_grad and wanted.requires_grad:
        return wanted.detach()
    return wanted


@composite
def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A 1-d tensor over the memory of an object with the buffer protocol.

    Args:
        count: number of elements; -1 takes all.
        offset: bytes to skip first.
    Raises:
        ValueError: the buffer is empty, or offset and count do not fit into it.
    """
    import numpy as np

    try:
        size, total = dtype.itemsize, memoryview(buffer).nbytes
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    if total == 0:
        raise ValueError(
            f"frombuffer: both buffer length ({total}) and count ({count}) must not be 0"
        )
    if not 0 <= offset < total:
        raise ValueError(
            f"frombuffer: offset ({offset} bytes) must be non-negative and no greater than buffer "
            f"length ({total} bytes) minus 1"
        )
    if count == 0 or count < -1:
        raise ValueError(
            f"frombuffer: both buffer length ({total}) and count ({count}) must not be 0"
        )
    if count < 0 and (total - offset) % size != 0:
        raise ValueError(
            f"frombuffer: buffer length ({total - offset} bytes) after offset ({offset} bytes) "
            "must be a multiple of element "
            f"size ({size})"
        )
    length = (total - offset) // size if count < 0 else count
    if offset + length * size > total:
        raise ValueError(
            f"frombuffer: requested buffer length ({length} * {size} bytes) after offset "
            f"({offset} bytes) must not be greater than "
            f"actual buffer length ({total} bytes)"
        )
    data = np.frombuffer(buffer, np.uint8, length * size, offset)
    result = _C.from_numpy(data).view(dtype)
    return result.requires_grad_() if requires_grad else result


@composite(methods=("new_tensor",))
def new_tensor(input, data, *, dtype=None, device=None, requires_grad=False):
    """A new tensor of data with the dtype and device of input."""
    return tensor(
        data, dtype=dtype or input.dtype, device=device or input.device, requires_grad=requires_grad
    )


@composite(methods=("new",))
def new(input, *args, device=None):
    """An uninitialised tensor of a size, or one of data, with the dtype of input."""
    if len(args) == 1 and not isinstance(args[0], builtins.int | _C.Size):
        return tensor(args[0], dtype=input.dtype, device=device)
    size = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    return empty(tuple(size) or (0,), dtype=input.dtype, device=device)


globals()["range"] = range_op

__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "empty_permuted", "empty_strided", "eye", "frombuffer",
    "full",
    "full_like",
    "linspace", "logspace", "ones", "ones_like", "range", "scalar_tensor", "tensor", "zeros", "zeros_like",
]  # fmt: skip
