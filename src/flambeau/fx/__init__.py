"""The names of torch.fx in a library that has no captured programs.

`wrap` marks a function for a tracer, so it leaves it as it is. The classes are there for isinstance; making one, or
tracing a module, raises NotImplementedError.
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "Tracer",
    "Transformer",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"fx.{name}: expected a program that runs eagerly; captured programs are not available."
    )


class _Captured:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse(type(self).__name__)


class Graph(_Captured):
    """A captured program. There is none."""


class GraphModule(_Captured):
    """A module made from a captured program. There is none."""


class Node(_Captured):
    """A line of a captured program. There is none."""


class Proxy(_Captured):
    """A value while a program is captured. There is none."""


class Tracer(_Captured):
    """Captures programs."""


class Interpreter(_Captured):
    """Runs captured programs."""


class Transformer(Interpreter):
    """Rewrites captured programs."""


def wrap(fn_or_name: Any) -> Any:
    """Return the function (or its name): a tracer would record it as one call."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "fx.wrap: expected a function of the module, or its name, "
            f"got {type(fn_or_name).__name__}"
        )
    return fn_or_name


def symbolic_trace(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("symbolic_trace")


def replace_pattern(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("replace_pattern")
