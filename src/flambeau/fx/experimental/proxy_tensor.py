"""Whether tensors are being recorded: never."""

from typing import NoReturn

__all__ = ["get_proxy_mode", "make_fx"]


def get_proxy_mode() -> None:
    """Return None: nothing is recorded."""


def make_fx(*args: object, **kwargs: object) -> NoReturn:
    """Raise NotImplementedError."""
    raise NotImplementedError(
        "make_fx: expected a program that runs eagerly; captured programs are not available."
    )
