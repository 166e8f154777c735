"""The names that programs use of PyTorch's compiler front end. Nothing is compiled here: see compiler.py."""

from types import SimpleNamespace
from typing import Any

from ..compiler import (
    allow_in_graph,
    assume_constant_result,
    disable,
    is_compiling,
    list_backends,
    reset,
    set_stance,
    substitute_in_graph,
)
from . import eval_frame
from .eval_frame import OptimizedModule, optimize

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "disallow_in_graph",
    "eval_frame",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "optimize",
    "reset",
    "set_stance",
    "substitute_in_graph",
]

# Programs set limits of the compiler here; nothing reads them.
config = SimpleNamespace(
    cache_size_limit=8,
    recompile_limit=8,
    accumulated_cache_size_limit=256,
    suppress_errors=False,
    capture_scalar_outputs=False,
    capture_dynamic_output_shape_ops=False,
    optimize_ddp=False,
    automatic_dynamic_shapes=True,
    assume_static_by_default=True,
    inline_inbuilt_nn_modules=True,
    disable=False,
)

disallow_in_graph = forbid_in_graph = allow_in_graph


def graph_break(msg: str = "") -> None:
    """Do nothing: there is no graph."""


def mark_dynamic(t: Any, index: Any, **kwargs: Any) -> None:
    """Do nothing: every size may change."""


def mark_static(t: Any, index: Any = None) -> None:
    """Do nothing."""


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Do nothing."""


maybe_mark_dynamic = mark_dynamic
