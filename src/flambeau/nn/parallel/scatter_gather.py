"""Dividing inputs among devices and joining outputs. There is one device: scatter gives everything to it."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau import Tensor

__all__ = ["gather", "scatter", "scatter_kwargs"]


def _count(target_gpus: Any, name: str) -> None:
    if len(target_gpus) > 1:
        raise RuntimeError(f"{name}: expected one device, got {list(target_gpus)}")


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> list[Any]:
    """Return [inputs]: the part of the only device."""
    _count(target_gpus, "scatter")
    return [inputs]


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Any, dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """Return ((inputs,), (kwargs,))."""
    _count(target_gpus, "scatter_kwargs")
    return (tuple(inputs),), (dict(kwargs or {}),)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Join the outputs of several parts along dim, within tuples, lists and dicts; scalars become a vector."""
    first = outputs[0]
    if isinstance(first, Tensor):
        if first.dim() == 0 and dim == 0:
            return flambeau.stack(list(outputs)).to(target_device)
        return flambeau.cat(list(outputs), dim).to(target_device)
    if first is None:
        return None
    if isinstance(first, dict):
        return type(first)(
            (key, gather([o[key] for o in outputs], target_device, dim)) for key in first
        )
    parts = [gather(part, target_device, dim) for part in zip(*outputs, strict=True)]
    return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
