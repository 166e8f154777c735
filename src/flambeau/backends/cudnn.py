"""Settings of a GPU library: programs set them, they have no effect."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

enabled = True
benchmark = False
deterministic = False
allow_tf32 = True
benchmark_limit = 10


def is_available() -> bool:
    """Return False."""
    return False


def version() -> int | None:
    """Return None."""
    return None


@contextlib.contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """Do nothing within a with statement."""
    yield
