"""The memory pool behind CPU tensors: what it holds, and giving it back."""

from __future__ import annotations

from . import _C

__all__ = ["memory_stats", "reset_peak_memory_stats", "trim"]


def memory_stats() -> dict[str, int]:
    """Return the pool's counters.

    Returns:
        allocated_bytes: in use now, rounded up to size classes.
        peak_allocated_bytes: the most since the start or reset_peak_memory_stats().
        cached_bytes: freed and kept for reuse.
        allocations: how often memory was asked for.
        system_allocations: how often the system had to be asked.
    """
    return _C._memory_stats()


def reset_peak_memory_stats() -> None:
    """Start peak_allocated_bytes again from what is in use now."""
    _C._memory_reset_peak()


def trim() -> None:
    """Give every cached block back to the system."""
    _C._memory_trim()
