"""Whether a tensor stands for another one while a program is compiled: never."""

from __future__ import annotations

from typing import Any

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake"]


class FakeTensor:
    """A tensor that stands for another one. There is none; the class is there for isinstance."""


class FakeTensorMode:
    """The mode under which such tensors are made. Not available."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "FakeTensorMode: expected a program that runs eagerly. Tensors without data: device='meta'."
        )


def is_fake(x: Any) -> bool:
    """Return False."""
    return False
