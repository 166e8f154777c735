"""Questions about types: limits of dtypes, what kind of thing an object is, the default tensor type."""

from __future__ import annotations

import functools
from typing import Any

from . import _C

__all__ = [
    "finfo",
    "get_num_interop_threads",
    "iinfo",
    "is_storage",
    "is_tensor",
    "set_default_tensor_type",
    "set_num_interop_threads",
    "typename",
]

# bits, digits after the leading one, smallest and largest exponent, decimal resolution
_FLOATS = {
    "float16": (16, 10, -14, 15, 1e-3),
    "bfloat16": (16, 7, -126, 127, 1e-2),
    "float32": (32, 23, -126, 127, 1e-6),
    "float64": (64, 52, -1022, 1023, 1e-15),
}
# max and min, eps, smallest normal number, of formats without infinities of the usual kind
_FLOAT8 = {
    "float8_e4m3fn": (448.0, -448.0, 2.0**-3, 2.0**-6),
    "float8_e4m3fnuz": (240.0, -240.0, 2.0**-3, 2.0**-7),
    "float8_e5m2": (57344.0, -57344.0, 2.0**-2, 2.0**-14),
    "float8_e5m2fnuz": (57344.0, -57344.0, 2.0**-3, 2.0**-15),
    "float8_e8m0fnu": (2.0**127, 2.0**-127, 1.0, 2.0**-127),
}
_REAL = {"complex64": "float32", "complex128": "float64"}
_INTEGERS = {
    "uint8": (8, False),
    "uint16": (16, False),
    "uint32": (32, False),
    "uint64": (64, False),
    "int8": (8, True),
    "int16": (16, True),
    "int32": (32, True),
    "int64": (64, True),
}


def _name(dtype: Any, op: str) -> str:
    if not isinstance(dtype, _C.dtype):
        raise TypeError(
            f"{op}(): argument 'type' (position 1) must be torch.dtype, not {type(dtype).__name__}"
        )
    return str(dtype).removeprefix("torch.")


class finfo:
    """Limits of a floating point dtype; of its parts for a complex one.

    Attributes: bits, eps (distance from 1 to the next number), max, min, tiny = smallest_normal, resolution, dtype.
    """

    def __init__(self, type: Any = None) -> None:
        name = _name(_C.get_default_dtype() if type is None else type, "finfo")
        name = _REAL.get(name, name)
        self.dtype = name
        if name in _FLOAT8:
            self.bits, self.resolution = 8, 1.0
            self.max, self.min, self.eps, self.tiny = _FLOAT8[name]
            self.smallest_normal = self.tiny
            return
        if name not in _FLOATS:
            raise TypeError(
                f"torch.finfo() requires a floating point input type, got {type}. "
                "Use torch.iinfo to handle 'torch.finfo'"
            )
        bits, digits, low, high, resolution = _FLOATS[name]
        self.bits = bits
        self.eps = 2.0**-digits
        self.max = (2.0 - self.eps) * 2.0**high
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0**low
        self.resolution = resolution

    def __repr__(self) -> str:
        fields = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return (
            f"finfo({', '.join(f'{f}={getattr(self, f):g}' for f in fields)}, dtype={self.dtype})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


class iinfo:
    """Limits of an integer dtype: bits, min, max, dtype."""

    def __init__(self, type: Any) -> None:
        name = _name(type, "iinfo")
        if name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if name not in _INTEGERS:
            raise TypeError(
                f"torch.iinfo() requires an integer input type, got {type}. Use torch.finfo to handle 'torch.iinfo'"
            )
        bits, signed = _INTEGERS[name]
        self.bits = bits
        self.max = 2 ** (bits - signed) - 1
        self.min = -(2 ** (bits - 1)) if signed else 0
        self.dtype = name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


def is_tensor(obj: Any, /) -> bool:
    """Whether obj is a Tensor."""
    return isinstance(obj, _C.TensorBase)


def is_storage(obj: Any, /) -> bool:
    """Whether obj is a storage, typed or not."""
    from .storage import TypedStorage

    return isinstance(obj, TypedStorage | _C.StorageBase)


# Names of PyTorch's tensor types: torch.FloatTensor and so on.
TENSOR_TYPES = {
    "float32": "FloatTensor",
    "float64": "DoubleTensor",
    "float16": "HalfTensor",
    "bfloat16": "BFloat16Tensor",
    "uint8": "ByteTensor",
    "int8": "CharTensor",
    "int16": "ShortTensor",
    "int32": "IntTensor",
    "int64": "LongTensor",
    "bool": "BoolTensor",
    "complex64": "ComplexFloatTensor",
    "complex128": "ComplexDoubleTensor",
}


_OTHER_TYPES = {
    "complex32": "ComplexHalfTensor",
    "qint8": "quantized.QInt8Tensor",
    "quint8": "quantized.QUInt8Tensor",
    "qint32": "quantized.QInt32Tensor",
    "quint4x2": "quantized.QUInt4x2Tensor",
    "quint2x4": "quantized.QUInt2x4Tensor",
}


def typename(obj: Any, /) -> str:
    """The name of an object's type as PyTorch gives it: `torch.FloatTensor`, `int`."""
    from .archive.pickler import torch_name

    if isinstance(obj, _C.TensorBase):
        name = str(obj.dtype).removeprefix("torch.")
        sparse = "sparse." if str(obj.layout) == "torch.sparse_coo" else ""
        return f"torch.{sparse}{TENSOR_TYPES.get(name) or _OTHER_TYPES[name]}"
    cls = obj if isinstance(obj, type) else type(obj)
    module = torch_name(getattr(cls, "__module__", "") or "")
    name = getattr(cls, "__qualname__", cls.__name__)
    return name if module in ("", "builtins") else f"{module}.{name}"


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype by the name of a tensor type: "torch.DoubleTensor"."""
    name = t if isinstance(t, str) else typename(t)
    for dtype, tensor_type in TENSOR_TYPES.items():
        if name.removeprefix("torch.") == tensor_type and dtype in _FLOATS:
            return _C.set_default_dtype(getattr(_C, dtype))
    raise TypeError("only floating-point types are supported as the default type")


@functools.cache
def get_num_interop_threads() -> int:
    """Number of threads that run ops beside each other: 1, ops run one after the other."""
    return 1


def set_num_interop_threads(threads: int, /) -> None:
    """Accepted for compatibility: ops run one after the other."""
    if threads < 1:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
