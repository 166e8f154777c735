"""Deprecated names of flambeau.amp for the CPU."""

from . import autocast_mode, grad_scaler
from .autocast_mode import autocast
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "autocast_mode", "grad_scaler"]
