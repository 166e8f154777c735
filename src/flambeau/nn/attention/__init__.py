"""Which implementation scaled_dot_product_attention takes. There is one, so the choice has no effect."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.IntEnum):
    """PyTorch's implementations of attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Accept a choice of implementations within a with statement, or for a decorated function."""
    if not isinstance(backends, list | SDPBackend):
        raise AssertionError(f"Backend must be an instance of SDPBackend or a list, got {backends}")
    yield
