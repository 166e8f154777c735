"""torch.distributed in a library that runs in one process, as in a PyTorch that was built without it.

is_available() and is_initialized() are False, which is what programs ask before anything else. What needs a process
group raises the error that PyTorch raises without one.
"""

from __future__ import annotations

import enum
from typing import Any, NoReturn

__all__ = [
    "ProcessGroup",
    "ReduceOp",
    "Work",
    "all_gather",
    "all_gather_object",
    "all_reduce",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "gather",
    "get_backend",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "is_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "new_group",
    "recv",
    "reduce",
    "reduce_scatter",
    "scatter",
    "send",
]


class ProcessGroup:
    """A group of processes. There is none; the class is there for annotations and isinstance."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("ProcessGroup")


class Work:
    """A collective on its way. There is none; the class is there for annotations."""


class ReduceOp(enum.Enum):
    """How a collective combines values."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


class group:
    """The default group, of which there is none."""

    WORLD: ProcessGroup | None = None


GroupMember = group


def is_available() -> bool:
    """Return False: there is one process."""
    return False


def is_initialized() -> bool:
    """Return False."""
    return False


def is_gloo_available() -> bool:
    """Return False."""
    return False


def is_mpi_available() -> bool:
    """Return False."""
    return False


def is_nccl_available() -> bool:
    """Return False."""
    return False


def is_ucc_available() -> bool:
    """Return False."""
    return False


def is_xccl_available() -> bool:
    """Return False."""
    return False


def is_torchelastic_launched() -> bool:
    """Return False."""
    return False


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"distributed.{name}: expected a program of one process; process groups are not available. "
        "Programs ask distributed.is_available() first."
    )


def init_process_group(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("init_process_group")


def new_group(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("new_group")


def _needs_group(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            f"init_process_group. (distributed.{name}: there is one process; process groups are not available)"
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Raise ValueError: there is no process group."
    return function


all_gather = _needs_group("all_gather")
all_gather_into_tensor = _needs_group("all_gather_into_tensor")
all_gather_object = _needs_group("all_gather_object")
all_reduce = _needs_group("all_reduce")
barrier = _needs_group("barrier")
broadcast = _needs_group("broadcast")
broadcast_object_list = _needs_group("broadcast_object_list")
destroy_process_group = _needs_group("destroy_process_group")
gather = _needs_group("gather")
get_backend = _needs_group("get_backend")
get_rank = _needs_group("get_rank")
get_world_size = _needs_group("get_world_size")
recv = _needs_group("recv")
reduce = _needs_group("reduce")
reduce_scatter = _needs_group("reduce_scatter")
reduce_scatter_tensor = _needs_group("reduce_scatter_tensor")
scatter = _needs_group("scatter")
send = _needs_group("send")
