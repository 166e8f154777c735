"""Names for type annotations."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import Any, Union

from . import Size, Tensor, device, dtype, layout

__all__ = ["Device", "FileLike", "Number"]

_bool, _float, _int, _complex = builtins.bool, builtins.float, builtins.int, builtins.complex
_device, _dtype, _layout = device, dtype, layout

_TensorOrTensors = Union[Tensor, Sequence[Tensor]]  # noqa: UP007 - programs use it at run time
_TensorOrOptionalTensors = Union[Tensor, Sequence[Tensor | None]]  # noqa: UP007
_size = Size | list[builtins.int] | tuple[builtins.int, ...]
_dispatchkey = str
Number = builtins.int | builtins.float | builtins.bool
Device = device | str | builtins.int | None
FileLike = str | os.PathLike[str] | Any
PySymType = builtins.int | builtins.float | builtins.bool


def __getattr__(name: str) -> Any:
    if name == "Storage":
        from .storage import TypedStorage

        return TypedStorage
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
