"""torch.accelerator on a machine without one: the answers are "no", and using one is a clear error."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "is_available",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def is_available() -> bool:
    """Return False."""
    return False


def device_count() -> int:
    """Return 0."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """Return None."""


def _refuse(name: str) -> NoReturn:
    raise RuntimeError(
        f"accelerator.{name}: expected an accelerator, got a library that computes on CPUs. Use device 'cpu'."
    )


def current_device_index() -> int:
    """Raise RuntimeError."""
    _refuse("current_device_index")


def set_device_index(device: Any) -> None:
    """Raise RuntimeError."""
    _refuse("set_device_index")


def current_stream(device: Any = None) -> Any:
    """Raise RuntimeError."""
    _refuse("current_stream")


def set_stream(stream: Any) -> None:
    """Raise RuntimeError."""
    _refuse("set_stream")


def synchronize(device: Any = None) -> None:
    """Raise RuntimeError."""
    _refuse("synchronize")


current_device_idx = current_device_index
set_device_idx = set_device_index
