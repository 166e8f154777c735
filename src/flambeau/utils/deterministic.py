"""The fill of uninitialised memory under use_deterministic_algorithms: `fill_uninitialized_memory`, True by default."""

from __future__ import annotations

import sys
import types
from typing import Any

from .. import determinism


class _Module(types.ModuleType):
    """Assigning to the module's flag has an effect at once."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        return determinism._State.fill

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, value: Any) -> None:
        if not isinstance(value, bool):
            raise TypeError(
                f"fill_uninitialized_memory: expected a bool, got {type(value).__name__}"
            )
        determinism._State.fill = value
        determinism._apply()


sys.modules[__name__].__class__ = _Module
