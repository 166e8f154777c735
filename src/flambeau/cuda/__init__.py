"""What programs ask before they use a GPU. There is none: the answers are "no", and using one is a clear error."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any, NoReturn

from ..type_info import TENSOR_TYPES

__all__ = [
    "CUDAGraph",
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "graph",
    "init",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]


_initialized = False  # read by programs that save the states of all generators


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


class StreamContext:
    """Choice of a queue; raises AssertionError."""

    def __init__(self, stream: Any) -> None:
        _refuse("StreamContext")


class CUDAGraph:
    """Recorded work of a GPU; raises AssertionError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("CUDAGraph")


class graph:
    """Recording of a GPU's work; raises AssertionError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("graph")


default_generators: tuple[Any, ...] = ()


def is_current_stream_capturing() -> bool:
    """Return False."""
    return False


def stream(stream: Any) -> Any:
    """Do nothing within a with statement if the stream is None, else raise AssertionError."""
    return contextlib.nullcontext() if stream is None else _refuse("stream")


def default_stream(device: Any = None) -> Any:
    """Raise AssertionError."""
    _refuse("default_stream")


def set_stream(stream: Any) -> None:
    """Raise AssertionError."""
    _refuse("set_stream")


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Raise AssertionError."""
    _refuse("mem_get_info")


def get_rng_state(device: Any = "cuda") -> Any:
    """Raise AssertionError."""
    _refuse("get_rng_state")


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Raise AssertionError."""
    _refuse("set_rng_state")


def get_rng_state_all() -> list[Any]:
    """Return the empty list: there are no generators."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Do nothing for the empty list, else raise AssertionError."""
    if list(new_states):
        _refuse("set_rng_state_all")


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Return the empty dict."""
    return {}


def reset_max_memory_allocated(device: Any = None) -> None:
    """Do nothing."""


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Do nothing."""


def ipc_collect() -> None:
    """Do nothing."""


def get_arch_list() -> list[str]:
    """Return the empty list."""
    return []


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


class _MissingType(type):
    """torch.cuda.FloatTensor and the like: programs compare types with them; no tensor is of one."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return False

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled."
        )


def __getattr__(name: str) -> Any:
    if name == "amp":
        return importlib.import_module(".amp", __name__)
    if name in TENSOR_TYPES.values():
        globals()[name] = _MissingType(name, (), {"__module__": "flambeau.cuda"})
        return globals()[name]
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
