"""The CPU as programs for any device see it: one device, always there, no queues."""

from __future__ import annotations

import contextlib
from typing import Any

from . import amp

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "amp",
    "current_device",
    "current_stream",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


class Stream:
    """Queue of work; ops on the CPU have finished when they return."""

    def __init__(self, priority: int = -1) -> None:
        self.priority = priority

    def wait_stream(self, stream: Any) -> None:
        """Return at once."""

    def record_event(self, event: Any = None) -> Any:
        """Return the event."""
        return Event() if event is None else event

    def wait_event(self, event: Any) -> None:
        """Return at once."""


class Event:
    """Marker in a queue of work, always reached."""

    def query(self) -> bool:
        """Return True."""
        return True

    def record(self, stream: Any = None) -> None:
        """Return at once."""

    def synchronize(self) -> None:
        """Return at once."""

    def wait(self, stream: Any = None) -> None:
        """Return at once."""


class StreamContext(contextlib.AbstractContextManager[None]):
    """Region in which a stream is the current one."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __exit__(self, *error: object) -> None:
        return None


_default_stream = Stream()


def stream(stream: Any) -> StreamContext:
    """Return a context manager that selects a stream."""
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """Return the only stream."""
    return _default_stream


def is_available() -> bool:
    """Return True."""
    return True


def is_initialized() -> bool:
    """Return True."""
    return True


def current_device() -> str:
    """Return "cpu"."""
    return "cpu"


def device_count() -> int:
    """Return 1: devices, not cores."""
    return 1


def set_device(device: Any) -> None:
    """Do nothing."""


def synchronize(device: Any = None) -> None:
    """Do nothing: ops have finished when they return."""
