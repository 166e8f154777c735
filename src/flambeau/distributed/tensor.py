"""Tensors that are divided among processes. There is one process: making one is a clear error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from .device_mesh import DeviceMesh, init_device_mesh

__all__ = [
    "DTensor",
    "DeviceMesh",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
    "init_device_mesh",
]


class Placement:
    """Where the parts of a tensor are."""


@dataclass(frozen=True)
class Shard(Placement):
    """Parts along a dimension."""

    dim: int


@dataclass(frozen=True)
class Replicate(Placement):
    """The whole tensor everywhere."""


@dataclass(frozen=True)
class Partial(Placement):
    """Parts of a sum."""

    reduce_op: str = "sum"


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name}: expected a program of one process; process groups are not available."
    )


class DTensor:
    """A tensor that is divided among processes. There is none; the class is there for isinstance."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("DTensor")


def distribute_tensor(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("distribute_tensor")


def distribute_module(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("distribute_module")
