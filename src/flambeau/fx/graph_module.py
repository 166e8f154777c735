"""PyTorch's module of GraphModule: see the package."""

from . import GraphModule

__all__ = ["GraphModule"]
