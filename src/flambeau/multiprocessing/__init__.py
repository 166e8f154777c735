"""Python's multiprocessing, with tensors that travel as shared memory.

A tensor in a Queue or Pipe, or among a process's arguments, is moved to shared memory: both sides see each other's
writes, and storages that are shared are sent once. Importing this module teaches all of multiprocessing.
"""

import multiprocessing
from multiprocessing import *

from .. import _shared_memory
from .reductions import init_reductions
from .spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    *multiprocessing.__all__,
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]


def get_all_sharing_strategies() -> set[str]:
    """Return the names that set_sharing_strategy accepts."""
    return set(_shared_memory.STRATEGIES)


def get_sharing_strategy() -> str:
    """Return how tensors are shared."""
    return _shared_memory.strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Set how tensors are shared from now on.

    Args:
        new_strategy: "file_descriptor" (the default) keeps a descriptor open for each storage and leaves nothing
            behind; "file_system" names files in /dev/shm, for more storages than descriptors are allowed.
    """
    known = get_all_sharing_strategies()
    if new_strategy not in known:
        raise AssertionError(
            f"invalid sharing strategy {new_strategy!r}, expected one of {sorted(known)}"
        )
    _shared_memory.strategy = new_strategy


init_reductions()
