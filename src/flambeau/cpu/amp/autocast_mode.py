"""Deprecated forms of flambeau.amp.autocast and its relatives."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau.amp import autocast_mode

from ._deprecated import deprecated

__all__ = ["autocast"]


class autocast(autocast_mode.autocast):
    """Deprecated form of flambeau.amp.autocast("cpu")."""

    def __init__(
        self,
        enabled: bool = True,
        dtype: Any = flambeau.bfloat16,
        cache_enabled: bool = True,
    ) -> None:
        deprecated("autocast")
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)
