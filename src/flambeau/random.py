"""The seed and state of the default random number generator."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from ._C import Generator, default_generator

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


def manual_seed(seed: Any) -> Generator:
    """Seed the default generator.

    Args:
        seed: integer of at most 64 bits; negative ones wrap (-1 is 2^64 - 1).
    Returns:
        The default generator.
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator from the operating system and return the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed that the default generator was given last."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """Return the state of the default generator: uint8, shape (5056,), in PyTorch's layout."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Continue from a state that get_rng_state returned, here or in PyTorch."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cpu",
) -> Iterator[None]:
    """Restore the default generator's state after the block.

    Args:
        devices: accelerators to fork as well; there are none, and anything listed is ignored with a warning.
        enabled: False makes this do nothing.
        device_type: accepted for compatibility.
    """
    if not enabled:
        yield
        return
    if devices:
        warnings.warn("fork_rng: devices are ignored, only the CPU has a generator", stacklevel=3)
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
