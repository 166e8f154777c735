"""Padding modules: constant, zero, reflection, replication and circular, in one to three dims."""

from flambeau.nn import functional as F

from .module import Module
from .utils import _ntuple, _pair, _quadruple

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

_sextuple = _ntuple(6)


class _Pad(Module):
    """padding: one int for all sides, or (left, right, top, bottom, front, back) as far as the dims go."""

    __constants__ = ["padding"]
    _mode = "constant"
    _spread = staticmethod(_pair)

    def __init__(self, padding):
        super().__init__()
        self.padding = self._spread(padding)

    def forward(self, input):
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self):
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    __constants__ = ["padding", "value"]

    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pad the last dim with a value."""


class ConstantPad2d(_ConstantPadNd):
    """Pad the last two dims with a value."""

    _spread = staticmethod(_quadruple)


class ConstantPad3d(_ConstantPadNd):
    """Pad the last three dims with a value."""

    _spread = staticmethod(_sextuple)


class ZeroPad1d(ConstantPad1d):
    """Pad the last dim with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Pad the last two dims with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Pad the last three dims with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class _ReflectionPadNd(_Pad):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Pad the last dim with its reflection, the edge not repeated."""


class ReflectionPad2d(_ReflectionPadNd):
    """Pad the last two dims with their reflection, the edge not repeated."""

    _spread = staticmethod(_quadruple)


class ReflectionPad3d(_ReflectionPadNd):
    """Pad the last three dims with their reflection, the edge not repeated."""

    _spread = staticmethod(_sextuple)


class _ReplicationPadNd(_Pad):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Pad the last dim with its edge values."""


class ReplicationPad2d(_ReplicationPadNd):
    """Pad the last two dims with their edge values."""

    _spread = staticmethod(_quadruple)


class ReplicationPad3d(_ReplicationPadNd):
    """Pad the last three dims with their edge values."""

    _spread = staticmethod(_sextuple)


class _CircularPadNd(_Pad):
    _mode = "circular"
    _dims = 1

    def forward(self, input):
        if input.dim() not in (self._dims + 1, self._dims + 2):
            raise ValueError(
                f"expected {self._dims + 1}D or {self._dims + 2}D input (got {input.dim()}D input)"
            )
        return F.pad(input, self.padding, "circular")


class CircularPad1d(_CircularPadNd):
    """Pad the last dim by wrapping around."""


class CircularPad2d(_CircularPadNd):
    """Pad the last two dims by wrapping around."""

    _dims = 2
    _spread = staticmethod(_quadruple)


class CircularPad3d(_CircularPadNd):
    """Pad the last three dims by wrapping around."""

    _dims = 3
    _spread = staticmethod(_sextuple)
