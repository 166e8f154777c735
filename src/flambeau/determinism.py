"""The determinism switch. Every op is deterministic by construction, whatever the number of threads: sums are cut by
size and duplicate writes are ordered. The switch adds that uninitialised memory is filled.
"""

from __future__ import annotations

from . import _C

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode",
    "use_deterministic_algorithms",
]

_NAMES = {"default": 0, "warn": 1, "error": 2}


class _State:
    """Process-wide: threads share it."""

    mode = 0  # 0 off, 1 on and warning, 2 on and raising
    fill = True


def _apply() -> None:
    _C._set_fill_uninitialized(_State.mode > 0 and _State.fill)


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Demand deterministic ops.

    Args:
        mode: True fills the memory of flambeau.empty and its like with NaN, the largest integer or True (unless
            flambeau.utils.deterministic.fill_uninitialized_memory is False). Results do not change: no op here lacks a
            deterministic form.
        warn_only: accepted for ops without one.
    Raises:
        TypeError: mode or warn_only is not a bool.
    """
    for name, value in (("mode", mode), ("warn_only", warn_only)):
        if not isinstance(value, bool):
            raise TypeError(
                f"use_deterministic_algorithms(): argument '{name}' must be bool, not {type(value).__name__}"
            )
    _State.mode = (1 if warn_only else 2) if mode else 0
    _apply()


def are_deterministic_algorithms_enabled() -> bool:
    """Return whether the switch is on."""
    return _State.mode > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return whether the switch is on and only warns."""
    return _State.mode == 1


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set the switch by name or number: "default" 0, "warn" 1, "error" 2."""
    if not isinstance(debug_mode, int | str) or isinstance(debug_mode, bool):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    mode = _NAMES.get(debug_mode, -1) if isinstance(debug_mode, str) else debug_mode
    if mode not in (0, 1, 2):
        expected = ", ".join(f"{name!r} ({number})" for name, number in _NAMES.items())
        raise RuntimeError(
            f"set_deterministic_debug_mode: expected one of {expected}, got {debug_mode!r}."
        )
    _State.mode = mode
    _apply()


def get_deterministic_debug_mode() -> int:
    """Return 0 (off), 1 (on, warns) or 2 (on, raises)."""
    return _State.mode
