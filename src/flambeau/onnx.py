"""What programs ask of torch.onnx: whether an export runs. None does, and none can be started."""

from __future__ import annotations

import enum
from typing import Any, NoReturn

__all__ = ["OperatorExportTypes", "TrainingMode", "export", "is_in_onnx_export"]


class TrainingMode(enum.Enum):
    """The mode in which a model is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(enum.Enum):
    """How ops without an ONNX counterpart are exported."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


def is_in_onnx_export() -> bool:
    """Return False."""
    return False


def export(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    raise NotImplementedError(
        "onnx.export: expected a program that runs eagerly; export to ONNX is not available."
    )
