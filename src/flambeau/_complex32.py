"""complex32: pairs of float16, for storage. Arithmetic is done in complex64 and rounded back, as for float16 itself."""

import builtins

from . import _C, ops
from ._extension import Payload, make, otherwise, payload, register


class HalfPairs(Payload):
    """Values as a float16 tensor with a last dim of 2: real and imaginary parts."""

    kind = "complex32"
    device = _C.device("cpu")

    def __init__(self, parts):
        self.parts = parts

    def strided(self, reader):
        """In complex64, which NumPy and Python have no half of."""
        if reader == "numpy":
            raise TypeError("Got unsupported ScalarType ComplexHalf")
        return ops.view_as_complex(self.parts.to(_C.float32))

    def reduce(self, tensor):
        """As PyTorch pickles it: bytes, and sizes in elements."""
        from collections import OrderedDict

        from ._utils import _rebuild_tensor_v3

        parts = self.parts
        steps = (*parts.stride()[:-1], parts.storage_offset())
        if parts.stride(-1) != 1 or any(step % 2 for step in steps):
            parts = parts.contiguous()
        stride = tuple(step // 2 for step in parts.stride()[:-1])
        offset, size = parts.storage_offset() // 2, tuple(parts.shape[:-1])
        args = (parts.untyped_storage(), offset, size, stride, False, OrderedDict(), _C.complex32)
        return _rebuild_tensor_v3, args

    def assign(self, target, result):
        """Write through to every alias: the parts are shared, unlike those of other kinds."""
        self.parts.copy_(payload(result).parts.expand(self.parts.shape))


def widen(tensor):
    """complex64 copy of a complex32 tensor."""
    return ops.view_as_complex(ops.view_as_real(tensor).to(_C.float32))


def narrow(tensor):
    """complex32 copy of a complex64 tensor."""
    return ops.view_as_complex(ops.view_as_real(tensor.resolve_conj()).to(_C.float16))


def from_parts(parts):
    """A complex32 tensor that shares the memory of a float16 tensor of last size 2."""
    return make(HalfPairs(parts), parts.shape[:-1], _C.complex32)


def _is_half(value) -> bool:
    return isinstance(value, _C.TensorBase) and value.dtype is _C.complex32


def _widened(value):
    if _is_half(value):
        return widen(value)
    if value is _C.complex32:
        return _C.complex64
    if isinstance(value, tuple | list):
        return tuple(_widened(item) for item in value)
    return value


def _has_half(value) -> bool:
    if isinstance(value, tuple | list):
        return builtins.any(map(_has_half, value))
    return value is _C.complex32 or _is_half(value)


def _real_widened(value):
    """float16 beside a complex number or 0-d tensor: what computes the result in complex64."""
    if not isinstance(value, _C.TensorBase):
        return value
    if value.dtype is _C.float16:
        return value.to(_C.float32)
    return value.to(_C.complex64) if value.dtype is _C.complex128 else value


def _narrowed(value):
    if isinstance(value, _C.TensorBase):
        if value.dtype is _C.complex64:
            return narrow(value)
        return value.to(_C.float16) if value.dtype is _C.float32 else value
    if isinstance(value, tuple | list):
        return tuple(_narrowed(item) for item in value)
    return value


@otherwise("complex32")
def in_complex64(op, arguments):
    """The op in complex64, its complex64 and float32 results rounded to complex32 and float16."""
    names = op.parameters
    given = arguments
    if not builtins.any(_has_half(value) for value in arguments):
        given = [_real_widened(value) for value in arguments]
    named = {
        name: _widened(value) for name, value in zip(names, given, strict=True) if value is not None
    }
    result = op(**named)
    if op.name.endswith("_") and not op.name.endswith("__"):
        target = arguments[0]
        if _is_half(target):
            payload(target).assign(target, narrow(result))
        return target
    wanted = [value for value in arguments if isinstance(value, _C.dtype)]
    keeps = wanted and all(value is not _C.complex32 for value in wanted)
    wide = any(
        isinstance(v, _C.TensorBase) and v.dtype in (_C.complex64, _C.float32) and v.ndim
        for v in arguments
    )
    return result if keeps or (wide and not wanted) else _narrowed(result)


@register("complex32", "real")
def real(input):
    return payload(input).parts.select(-1, 0)


@register("complex32", "imag")
def imag(input):
    return payload(input).parts.select(-1, 1)


@register("complex32", "view_as_real")
def view_as_real(input):
    return payload(input).parts


@register("complex32", "view_as_complex")
def view_as_complex(input):
    return from_parts(input)


@register("complex32", "complex")
def complex_(real, imag):
    return from_parts(ops.stack(ops.broadcast_tensors(real, imag), -1))


@register("complex32", "copy_")
def copy_(input, src, non_blocking=False):
    if _is_half(input):
        values = src if _is_half(src) else src.to(_C.complex64).resolve_conj()
        payload(input).parts.copy_(ops.view_as_real(values))
        return input
    return input.copy_(widen(src))


@register("complex32", "detach", "alias")
def alias(input):
    return from_parts(payload(input).parts)
