"""Automatic mixed precision, accepted so that programs run: on the CPU, arithmetic stays in the tensors' own dtype.

autocast changes nothing (float32 is more exact than what it would choose), and GradScaler doesn't scale, because
float32 gradients don't underflow.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


class autocast(contextlib.ContextDecorator):
    """Context manager and decorator without effect on the CPU.

    Args:
        device_type: "cpu"; "cuda" is accepted with a warning, as there is no such device.
        dtype, enabled, cache_enabled: accepted.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if device_type not in ("cpu", "cuda"):
            raise RuntimeError(f"autocast: expected device_type cpu or cuda, got {device_type!r}")
        if device_type == "cuda" and enabled:
            warnings.warn(
                "User provided device_type of 'cuda', but CUDA is not available. Disabling",
                stacklevel=2,
            )
        self.device = device_type
        self.fast_dtype = dtype

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *error: object) -> None:
        return None


class GradScaler:
    """Gradient scaler that is always disabled: every method passes through.

    Args:
        device: accepted.
        init_scale, growth_factor, backoff_factor, growth_interval: accepted.
        enabled: True warns that it is disabled.
    """

    def __init__(
        self,
        device: Any = "cpu",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled and str(device).startswith("cuda"):
            warnings.warn(
                "GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2
            )

    def scale(self, outputs: Any) -> Any:
        """Return outputs."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Do nothing."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Run optimizer.step()."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Do nothing."""

    def get_scale(self) -> float:
        """Return 1."""
        return 1.0

    def is_enabled(self) -> bool:
        """Return False."""
        return False

    def state_dict(self) -> dict[str, Any]:
        """Return an empty dict."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Accept a state that is empty or ignored."""


def custom_fwd(fwd: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorate Function.forward: returns it unchanged."""
    return fwd if fwd is not None else lambda function: function


def custom_bwd(bwd: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorate Function.backward: returns it unchanged."""
    return bwd if bwd is not None else lambda function: function


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast accepts this device."""
    return device_type == "cpu"
