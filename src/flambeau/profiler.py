"""Names of torch.profiler that programs use around what they measure: labels, activities, schedules.

Nothing is recorded: a label costs nothing, and starting a profile raises NotImplementedError.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable
from typing import Any

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
]


class ProfilerActivity(enum.Enum):
    """What a profile records."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class record_function(contextlib.ContextDecorator):
    """A label for a piece of the program; a context manager and a decorator."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def supported_activities() -> set[ProfilerActivity]:
    """Return the empty set: nothing is recorded."""
    return set()


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Return a function from the step's number to what a profiler does in it.

    After skip_first steps come cycles of wait, warmup and active steps: `repeat` of them, or without end for 0. With
    skip_first_wait the first cycle has no waiting steps.
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            "schedule: expected wait, warmup, repeat, skip_first >= 0 and active > 0, "
            f"got {wait}, {warmup}, {repeat}, {skip_first} and {active}"
        )
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if 0 < repeat <= step / length:
            return ProfilerAction.NONE
        step %= length
        if step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if step < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


class profile:
    """A recording of what a program does. Not available: making one raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "profiler.profile: expected a program that measures itself; recordings are not available. "
            "Python's cProfile and time.perf_counter work."
        )
