"""Deprecated forms of flambeau.amp.autocast and its relatives."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau.amp import autocast_mode

from ._deprecated import deprecated

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(autocast_mode.autocast):
    """Deprecated form of flambeau.amp.autocast("cuda")."""

    def __init__(
        self,
        enabled: bool = True,
        dtype: Any = flambeau.float16,
        cache_enabled: bool = True,
    ) -> None:
        deprecated("autocast")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """Deprecated form of flambeau.amp.custom_fwd(device_type="cuda")."""
    deprecated("custom_fwd")
    return autocast_mode.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """Deprecated form of flambeau.amp.custom_bwd(device_type="cuda")."""
    deprecated("custom_bwd")
    return autocast_mode.custom_bwd(bwd, device_type="cuda")
