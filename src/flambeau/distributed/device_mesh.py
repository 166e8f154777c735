"""Grids of processes. There is one process: making one is a clear error."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """A grid of processes. There is none; the class is there for isinstance."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("DeviceMesh")


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name}: expected a program of one process; process groups are not available."
    )


def init_device_mesh(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("init_device_mesh")
