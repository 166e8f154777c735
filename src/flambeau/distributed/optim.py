"""Optimizers that divide their state among processes. There is one process: making one is a clear error."""

from __future__ import annotations

from typing import Any

from ..optim import Optimizer

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer whose state is divided among processes. There is none; the class is there for isinstance."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "ZeroRedundancyOptimizer: expected a program of one process; process groups are not available. "
            "Use the optimizer itself."
        )
