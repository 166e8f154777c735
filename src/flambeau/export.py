"""The names of torch.export, which captures whole programs. That is not available: using one is a clear error."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["Dim", "ExportedProgram", "export", "load", "save"]


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"export.{name}: expected a program that runs eagerly; captured programs are not available."
    )


class ExportedProgram:
    """A captured program. There is none; the class is there for isinstance."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("ExportedProgram")


class Dim:
    """A size that may change between calls of an exported program."""

    AUTO = "auto"
    DYNAMIC = "dynamic"
    STATIC = "static"

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.__name__ = name
        self.min, self.max = min, max


def export(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("export")


def load(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("load")


def save(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("save")
