"""Deprecated form of flambeau.amp.GradScaler."""

from __future__ import annotations

from flambeau.amp import grad_scaler as _scaler
from flambeau.amp.grad_scaler import OptState

from ._deprecated import deprecated

__all__ = ["GradScaler", "OptState"]


class GradScaler(_scaler.GradScaler):
    """Deprecated form of flambeau.amp.GradScaler("cuda")."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        deprecated("GradScaler")
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
