"""PyTorch's module of Node: see the package."""

from . import Node

__all__ = ["Node"]
