"""PyTorch's module of Proxy: see the package."""

from . import Proxy

__all__ = ["Proxy"]
