"""torch.compile and torch.compiler in a library that runs every program eagerly.

A compiled function is the function: PyTorch's own fallback (`backend="eager"`), with the same results. The marks that
tell a compiler what to leave alone change nothing here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
    "set_stance",
]

Decorated = TypeVar("Decorated")


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: Any = None,
    disable: bool = False,
) -> Any:
    """Return what computes the same as the model, eagerly: `backend` and `mode` change nothing.

    Args:
        model: a function, which is returned as it is, or a module, which is wrapped as PyTorch wraps it: the wrapper's
            state_dict has the prefix `_orig_mod.`. None gives a decorator.
        fullgraph, dynamic, backend, mode, options: accepted.
        disable: return a module unwrapped, too.
    """
    from ._dynamo.eval_frame import OptimizedModule
    from .nn import Module

    if model is None:
        return lambda target: compile(target, disable=disable)
    if not callable(model):
        raise RuntimeError(f"compile: expected a function or a module, got {type(model).__name__}")
    if isinstance(model, Module) and not isinstance(model, OptimizedModule) and not disable:
        return OptimizedModule(model)
    return model


def is_compiling() -> bool:
    """Return False."""
    return False


def is_dynamo_compiling() -> bool:
    """Return False."""
    return False


def is_exporting() -> bool:
    """Return False."""
    return False


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return the function, or a decorator that does: nothing is compiled anyway."""
    return fn if fn is not None else lambda target: target


def allow_in_graph(fn: Decorated) -> Decorated:
    """Return the function."""
    return fn


def assume_constant_result(fn: Decorated) -> Decorated:
    """Return the function."""
    return fn


def substitute_in_graph(original_fn: Any, **kwargs: Any) -> Callable[[Decorated], Decorated]:
    """Return a decorator that leaves the replacement as it is."""
    return lambda fn: fn


def cudagraph_mark_step_begin() -> None:
    """Do nothing."""


def reset() -> None:
    """Do nothing: there are no compiled programs to forget."""


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Return the names of the backends: the eager one."""
    return ["eager"]


class set_stance:
    """Accept how to compile; a context manager and a decorator, too."""

    def __init__(self, stance: str = "default", **kwargs: Any) -> None:
        self.stance = stance

    def __call__(self, fn: Decorated) -> Decorated:
        return fn

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None
