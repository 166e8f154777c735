"""torch._check and its kin: a condition that holds, or an error. Programs use them in spite of the underscore."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import Tensor

__all__ = [
    "_assert_async",
    "_check",
    "_check_index",
    "_check_is_size",
    "_check_not_implemented",
    "_check_tensor_all",
    "_check_type",
    "_check_value",
    "_check_with",
]

Message = Callable[[], Any] | None


def _check_with(error: type[Exception], cond: Any, message: Message = None) -> None:
    """Raise `error` with the message unless cond is True."""
    if isinstance(cond, Tensor):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    text = "Expected cond to be True, but got False. (Could this error message be improved? See a message=)"
    if message is not None:
        if not callable(message):
            raise TypeError("message must be a callable")
        text = str(message())
    raise error(text)


def _check(cond: Any, message: Message = None) -> None:
    """Raise RuntimeError unless cond is True."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Message = None) -> None:
    """Raise IndexError unless cond is True."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Message = None) -> None:
    """Raise ValueError unless cond is True."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Message = None) -> None:
    """Raise TypeError unless cond is True."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Message = None) -> None:
    """Raise NotImplementedError unless cond is True."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: Any, message: Message = None, *, max: Any = None) -> None:
    """Raise RuntimeError unless i is a size: 0 or more, and at most max."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all(cond: Tensor, message: Message = None) -> None:
    """Raise RuntimeError unless all of a bool tensor is True."""
    _check(bool(cond.all().item()), message)


def _assert_async(tensor: Tensor, assert_msg: str | None = None) -> None:
    """Raise RuntimeError unless a tensor of one element is True."""
    if tensor.numel() != 1:
        raise RuntimeError(
            f"Boolean value of Tensor with {tensor.numel()} values is ambiguous: expected 1 element"
        )
    if not tensor.item():
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")
