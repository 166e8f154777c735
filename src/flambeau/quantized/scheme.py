"""How integers stand for real values: the scheme, the range of each dtype, and the payload of a quantized tensor."""

import math
from collections import OrderedDict
from typing import Any, NamedTuple

from .. import _C, _utils, ops
from .._extension import Payload, make, payload
from ..printing import with_values
from ..storage import TypedStorage


class qscheme:
    """Kind of quantization parameters: one scale for a tensor or one per channel, with or without a zero point."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


per_tensor_affine = qscheme("per_tensor_affine")
per_channel_affine = qscheme("per_channel_affine")
per_tensor_symmetric = qscheme("per_tensor_symmetric")
per_channel_symmetric = qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")


class Range(NamedTuple):
    """Integers that a quantized dtype can hold, and the dtype they are kept in."""

    stored: Any
    low: int
    high: int


RANGES = {
    _C.quint8: Range(_C.uint8, 0, 255),
    _C.qint8: Range(_C.int8, -128, 127),
    _C.qint32: Range(_C.int32, -(2**31), 2**31 - 1),
    _C.quint4x2: Range(_C.uint8, 0, 15),
    _C.quint2x4: Range(_C.uint8, 0, 3),
}
_VALUES_PER_BYTE = {_C.quint4x2: 2, _C.quint2x4: 4}


def range_of(dtype, function: str) -> Range:
    """The range of a quantized dtype; RuntimeError for others."""
    found = RANGES.get(dtype)
    if found is None:
        raise RuntimeError(
            f"{function}: expected a quantized dtype (torch.quint8, torch.qint8, torch.qint32 …), got {dtype}"
        )
    return found


class Quantized(Payload):
    """Integers with the parameters that give them a meaning.

    Attributes:
        integers: uint8, int8 or int32, one per element also for dtypes below a byte.
        scale, zero_point: float and int, or tensors of shape (size at axis,).
        axis: None for one scale.
    """

    kind = "quantized"
    device = _C.device("cpu")

    def __init__(self, integers, dtype, scale, zero_point, axis=None, scheme=None) -> None:
        self.integers = integers
        self.dtype = dtype
        self.scale = scale
        self.zero_point = zero_point
        self.axis = axis
        self.scheme = scheme or (per_tensor_affine if axis is None else per_channel_affine)

    def like(self, integers, axis=None):
        """A quantized tensor of other integers with these parameters."""
        axis = self.axis if axis is None else axis
        content = Quantized(integers, self.dtype, self.scale, self.zero_point, axis, self.scheme)
        return make(content, integers.shape, self.dtype)

    def real_values(self):
        """The float32 tensor that the integers stand for."""
        scale, zero_point, axis = self.arguments()
        return ops.quantize._dequantize_values(self.integers, scale, zero_point, axis)

    def arguments(self):
        """Scale, zero point and axis as the kernels take them."""
        if self.axis is None:
            return _C.tensor(self.scale, dtype=_C.float64), _C.tensor(self.zero_point), -1
        return self.scale, self.zero_point, self.axis

    def requantize(self, values):
        """A quantized tensor of these parameters for float32 values of the same rank."""
        bounds = RANGES[self.dtype]
        scale, zero_point, axis = self.arguments()
        integers = ops.quantize._quantize_values(
            values.to(_C.float32), scale, zero_point, axis, bounds.stored, bounds.low, bounds.high
        )
        return self.like(integers)

    def packed(self):
        """The integers as PyTorch stores them: dtypes below a byte share bytes, the first element in the low bits."""
        per_byte = _VALUES_PER_BYTE.get(self.dtype)
        if per_byte is None:
            return self.integers.clone()
        flat = self.integers.reshape(-1)
        padded = ops.constant_pad_nd(flat, (0, -flat.numel() % per_byte))
        bits = 8 // per_byte
        lanes = padded.reshape(-1, per_byte) << (_C.tensor(range(per_byte), dtype=_C.uint8) * bits)
        return lanes.sum(1).to(_C.uint8)

    def assign(self, target, result) -> None:
        """Write the values through to every alias; they are rounded to this tensor's parameters."""
        other = payload(result)
        same = other.scale is self.scale and other.zero_point is self.zero_point
        self.integers.copy_(
            other.integers if same else payload(self.requantize(other.real_values())).integers
        )

    def strided(self, reader):
        """Real values for tolist() and item()."""
        if reader == "numpy":
            raise TypeError(
                f"can't convert a {self.dtype} tensor to numpy. Use Tensor.dequantize() or Tensor.int_repr() first."
            )
        return self.real_values()

    def describe(self, tensor, prefix):
        """Text of repr(): the real values, then size, dtype and parameters."""
        suffixes = [
            f"size={tuple(tensor.shape)}",
            f"dtype={self.dtype}",
            f"quantization_scheme={self.scheme}",
        ]
        if self.axis is None:
            suffixes += [f"scale={self.scale}", f"zero_point={self.zero_point}"]
        else:
            suffixes += [
                f"scale={self.scale}",
                f"zero_point={self.zero_point}",
                f"axis={self.axis}",
            ]
        return with_values(prefix, self.real_values(), suffixes)

    def reduce(self, tensor):
        """As PyTorch's files have it: the storage of the integers, and the scheme with its parameters."""
        integers = self.packed() if self.dtype in _VALUES_PER_BYTE else self.integers
        storage = TypedStorage(wrap_storage=integers.untyped_storage(), dtype=self.dtype)
        parameters = (self.scheme, self.scale, self.zero_point)
        if self.axis is not None:
            parameters = (*parameters, self.axis)
        place = (integers.storage_offset(), tuple(tensor.shape), self.integers.stride())
        return _utils._rebuild_qtensor, (storage, *place, parameters, False, OrderedDict())


def _unpacked(storage, dtype, size):
    """The integers of a dtype below a byte, one per element."""
    per_byte = _VALUES_PER_BYTE[dtype]
    bits = 8 // per_byte
    packed = _C._tensor_over(storage, _C.uint8, 0, (storage.nbytes(),), (1,))
    lanes = (packed.unsqueeze(1) >> (_C.tensor(range(per_byte), dtype=_C.uint8) * bits)) & (
        (1 << bits) - 1
    )
    flat = lanes.reshape(-1)
    count = math.prod(size)
    if count > flat.numel():
        raise RuntimeError(f"expected {count} {dtype} elements, the storage has {flat.numel()}")
    return flat[:count].reshape(tuple(size)).clone()


def rebuild_from_storage(storage, storage_offset, size, stride, parameters):
    """A quantized tensor from what `Quantized.reduce` took apart. Arguments come from files: all are checked."""
    dtype = getattr(storage, "dtype", None)
    bounds = range_of(dtype, "_rebuild_qtensor")
    scheme, scale, zero_point, *axis = parameters
    if not isinstance(scheme, qscheme):
        raise TypeError(f"_rebuild_qtensor: expected a qscheme, got {type(scheme).__name__}")
    if dtype in _VALUES_PER_BYTE:
        integers = _unpacked(storage.untyped(), dtype, size)
    else:
        integers = _C._tensor_over(
            storage.untyped(), bounds.stored, storage_offset, tuple(size), tuple(stride)
        )
    if not axis:
        content = Quantized(integers, dtype, float(scale), int(zero_point), None, scheme)
        return make(content, integers.shape, dtype)
    along = int(axis[0])
    if not 0 <= along < integers.dim() or not scale.shape == zero_point.shape == (
        integers.shape[along],
    ):
        raise RuntimeError(
            f"_rebuild_qtensor: parameters do not fit size {tuple(size)} at axis {along}"
        )
    return make(Quantized(integers, dtype, scale, zero_point, along, scheme), integers.shape, dtype)
