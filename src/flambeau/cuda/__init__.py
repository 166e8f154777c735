"""What programs ask before they use a GPU. There is none: the answers are "no", and using one is a clear error."""

from __future__ import annotations

import importlib
from typing import Any, NoReturn

__all__ = [
    "Event",
    "Stream",
    "current_device",
    "current_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "init",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "synchronize",
]


def _refuse(name: str) -> NoReturn:
    # AssertionError is what a CPU build of PyTorch raises.
    raise AssertionError(
        f"cuda.{name}: expected a GPU, got a library that computes on CPUs. Use device 'cpu'."
    )


def is_available() -> bool:
    """Return False."""
    return False


def is_initialized() -> bool:
    """Return False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return False."""
    return False


def device_count() -> int:
    """Return 0."""
    return 0


def init() -> None:
    """Raise AssertionError."""
    _refuse("init")


def current_device() -> int:
    """Raise AssertionError."""
    _refuse("current_device")


def set_device(device: Any) -> None:
    """Raise AssertionError."""
    _refuse("set_device")


def get_device_name(device: Any = None) -> str:
    """Raise AssertionError."""
    _refuse("get_device_name")


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Raise AssertionError."""
    _refuse("get_device_capability")


def get_device_properties(device: Any = None) -> Any:
    """Raise AssertionError."""
    _refuse("get_device_properties")


def synchronize(device: Any = None) -> None:
    """Raise AssertionError."""
    _refuse("synchronize")


def current_stream(device: Any = None) -> Any:
    """Raise AssertionError."""
    _refuse("current_stream")


class device:
    """Context manager of a GPU; raises AssertionError."""

    def __init__(self, device: Any) -> None:
        _refuse("device")


class Stream:
    """Queue of a GPU; raises AssertionError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("Stream")


class Event:
    """Marker in a GPU's queue; raises AssertionError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("Event")


def manual_seed(seed: int) -> None:
    """Do nothing: there is no generator of a GPU."""


def manual_seed_all(seed: int) -> None:
    """Do nothing: there is no generator of a GPU."""


def seed() -> None:
    """Do nothing: there is no generator of a GPU."""


def seed_all() -> None:
    """Do nothing: there is no generator of a GPU."""


def empty_cache() -> None:
    """Do nothing. The CPU allocator's cache is emptied by flambeau.memory.trim."""


def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing."""


def memory_allocated(device: Any = None) -> int:
    """Return 0."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """Return 0."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """Return 0."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """Return 0."""
    return 0


def __getattr__(name: str) -> Any:
    if name == "amp":
        return importlib.import_module(".amp", __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
