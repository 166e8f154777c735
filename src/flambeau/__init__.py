"""Flambeau: PyTorch's programming model and libraries, small and fast on CPUs."""

from . import _C
from ._C import *  # noqa: F403 - re-exports dtypes, devices and the other native value types
from . import ops
from .ops import *  # noqa: F403 - every op is a function of this package
from .tensor import Tensor

__version__ = "0.1.0"
