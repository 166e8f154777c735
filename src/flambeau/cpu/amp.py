"""Deprecated names of flambeau.amp for the CPU."""

from __future__ import annotations

import warnings
from typing import Any

import flambeau
from flambeau.amp import autocast_mode
from flambeau.amp import grad_scaler as _scaler

__all__ = ["GradScaler", "autocast"]


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`torch.cpu.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('cpu', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


class autocast(autocast_mode.autocast):
    """Deprecated form of flambeau.amp.autocast("cpu")."""

    def __init__(
        self,
        enabled: bool = True,
        dtype: Any = flambeau.bfloat16,
        cache_enabled: bool = True,
    ) -> None:
        _deprecated("autocast")
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(_scaler.GradScaler):
    """Deprecated form of flambeau.amp.GradScaler("cpu")."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _deprecated("GradScaler")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
