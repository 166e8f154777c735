"""Python's multiprocessing, with PyTorch's additions. Tensors travel between processes by value.

A tensor that share_memory_() moved is shared with processes that are forked afterwards.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *
from typing import Any

__all__ = [
    *multiprocessing.__all__,
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
]


def get_all_sharing_strategies() -> set[str]:
    """Return the names that set_sharing_strategy accepts."""
    return {"file_descriptor", "file_system"}


_strategy = "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accept a strategy; tensors travel by value under either."""
    global _strategy
    if new_strategy not in get_all_sharing_strategies():
        known = sorted(get_all_sharing_strategies())
        raise ValueError(f"set_sharing_strategy: expected one of {known}, got {new_strategy!r}")
    _strategy = new_strategy


def get_sharing_strategy() -> str:
    """Return what was set."""
    return _strategy


class ProcessException(Exception):
    """A process that spawn() started ended with an error."""


def spawn(
    fn: Any,
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> Any:
    """Run fn(i, *args) in nprocs new processes.

    Args:
        fn: function of this module's top level.
        args: its further arguments.
        nprocs: number of processes.
        join: wait for all of them; False returns the list of processes.
        daemon: stop them with this process.
        start_method: "spawn", "fork" or "forkserver".
    Raises:
        ProcessException: a process ended with an error.
    """
    context = multiprocessing.get_context(start_method)
    processes = [context.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    if not join:
        return processes
    for process in processes:
        process.join()
    failed = [i for i, process in enumerate(processes) if process.exitcode != 0]
    if failed:
        raise ProcessException(f"spawn: expected every process to end well, got errors in {failed}")
    return None
