"""The names of torch.jit in a library whose programs run eagerly: nothing is compiled.

Marks such as `ignore` and `export` say something to a compiler only, so they leave what they decorate as it is. A
scripted function computes what the function computes, so `script` gives back the function. What needs a captured
program (scripted modules, traces, TorchScript files) raises NotImplementedError.
"""

from __future__ import annotations

import builtins
import types
import typing
from collections.abc import Callable
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

from ..nn import Module

__all__ = [
    "Attribute",
    "Error",
    "Final",
    "ScriptFunction",
    "ScriptModule",
    "TracerWarning",
    "annotate",
    "export",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "trace",
    "trace_module",
    "unused",
    "wait",
]

Decorated = TypeVar("Decorated")


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"jit.{name}: expected a program that runs eagerly; captured programs are not available. "
        "Call the module or the function itself: it computes the same."
    )


class Error(RuntimeError):
    """What a captured program raises."""


JITException = Error


class TracerWarning(Warning):
    """What a trace warns of."""


class Attribute(NamedTuple):
    """A value and the type that a compiler shall see."""

    value: Any
    type: Any


class ScriptFunction:
    """A captured function. There is none; the class is there for isinstance."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("ScriptFunction")


class ScriptModule(Module):
    """A captured module. There is none; the class is there for isinstance."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("ScriptModule")


RecursiveScriptModule = TopLevelTracedModule = ScriptModule


def is_scripting() -> bool:
    """Return False: the code that asks runs in Python."""
    return False


def is_tracing() -> bool:
    """Return False."""
    return False


def script(obj: Decorated, *args: Any, **kwargs: Any) -> Decorated:
    """Return a function or a class as it is; it runs eagerly, with the same results.

    Raises:
        NotImplementedError: for a module, whose scripted form would have to save itself without Python.
    """
    if builtins.isinstance(obj, Module):
        _refuse("script")
    if not callable(obj):
        raise TypeError(f"jit.script: expected a function or a class, got {type(obj).__name__}")
    return obj


def script_if_tracing(fn: Decorated) -> Decorated:
    """Return the function: nothing is traced."""
    return fn


def script_method(fn: Decorated) -> Decorated:
    """Return the method."""
    return fn


def export(fn: Decorated) -> Decorated:
    """Return the method; for a compiler it marks a further entry point."""
    return fn


def interface(obj: Decorated) -> Decorated:
    """Return the class; for a compiler it marks a module interface."""
    return obj


def unused(fn: Decorated) -> Decorated:
    """Return the function; for a compiler it marks code to leave out."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Return the function, or a decorator that does; for a compiler it marks a call back into Python."""
    if callable(drop):
        return drop
    return lambda fn: fn


def annotate(the_type: Any, the_value: Decorated) -> Decorated:
    """Return the value; the type is for a compiler."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Check a value against a type, also inside lists, tuples, dicts and Optional.

    An empty container is of every element type.
    """
    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, one) for one in target_type)
    origin, arguments = typing.get_origin(target_type), typing.get_args(target_type)
    if origin is None:
        return target_type is Any or builtins.isinstance(obj, target_type or type(None))
    if origin in (typing.Union, types.UnionType):
        return any(isinstance(obj, one) for one in arguments)
    if not builtins.isinstance(obj, origin):
        return False
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is ...:
            return all(isinstance(item, arguments[0]) for item in obj)
        return len(obj) == len(arguments) and all(map(isinstance, obj, arguments))
    if origin is dict:
        key, value = arguments
        return all(isinstance(k, key) and isinstance(v, value) for k, v in obj.items())
    return all(isinstance(item, arguments[0]) for item in obj)


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run the function and return a finished Future of its result, as PyTorch does outside TorchScript."""
    from ..futures import Future

    future: Any = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Any) -> Any:
    """Return the result of a Future."""
    return future.wait()


def trace(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("trace")


def trace_module(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("trace_module")


def freeze(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("freeze")


def optimize_for_inference(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("optimize_for_inference")


def load(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError: TorchScript files cannot be read."""
    _refuse("load")


def save(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError."""
    _refuse("save")
