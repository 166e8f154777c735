"""PyTorch's module of Graph: see the package."""

from . import Graph

__all__ = ["Graph"]
