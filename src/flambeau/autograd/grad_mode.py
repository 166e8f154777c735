"""Grad mode and inference mode as context managers and decorators.

The guards themselves are C types (entering one costs tens of nanoseconds); here they learn to decorate.
"""

import functools
import inspect
import types
import warnings

from .. import _C

__all__ = [
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

is_grad_enabled = _C.is_grad_enabled
is_inference_mode_enabled = _C.is_inference_mode_enabled


def _drive(guard, iterator):
    """Run a generator or coroutine with the mode switched only while it computes, not while it is suspended."""
    try:
        with guard():
            value = iterator.send(None)
        while True:
            try:
                sent = yield value
            except GeneratorExit:
                with guard():
                    iterator.close()
                raise
            except BaseException as error:
                with guard():
                    value = iterator.throw(error)
            else:
                with guard():
                    value = iterator.send(sent)
    except StopIteration as stop:
        return stop.value


async def _drive_async(guard, iterator):
    """The same for an async generator."""
    step = iterator.__anext__()
    try:
        while True:
            value = await types.coroutine(_drive)(guard, step.__await__())
            try:
                sent = yield value
            except GeneratorExit:
                await iterator.aclose()
                raise
            except BaseException as error:
                step = iterator.athrow(error)
            else:
                step = iterator.asend(sent)
    except StopAsyncIteration:
        return


def _decorate(guard, function):
    """Wrap `function` so that it runs inside guard()."""
    if inspect.isclass(function):
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
            "functions or methods. To preserve the current behavior of class decoration, you can directly decorate the "
            "`__init__` method and nothing else.",
            FutureWarning,
            stacklevel=3,
        )
    if inspect.isasyncgenfunction(function):

        def wrapper(*args, **kwargs):
            return _drive_async(guard, function(*args, **kwargs))
    elif inspect.iscoroutinefunction(function):

        async def wrapper(*args, **kwargs):
            return await types.coroutine(_drive)(guard, function(*args, **kwargs).__await__())
    elif inspect.isgeneratorfunction(function):

        def wrapper(*args, **kwargs):
            return (yield from _drive(guard, function(*args, **kwargs)))
    else:

        def wrapper(*args, **kwargs):
            with guard():
                return function(*args, **kwargs)

    return functools.wraps(function)(wrapper)


class no_grad(_C._NoGrad):
    """Do not record operations for backward, inside a `with` block or a decorated function.

    Results have requires_grad=False even if inputs have it. The mode is per thread. Decorates functions,
    generators and coroutines, with or without parentheses.

    Example:
        >>> import flambeau
        >>> x = flambeau.ones(1, requires_grad=True)
        >>> with flambeau.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False
    """

    __slots__ = ()

    def __call__(self, function):
        return _decorate(type(self), function)

    def clone(self):
        """Make another guard of this kind."""
        return type(self)()

    def __reduce__(self):
        return type(self), ()


class enable_grad(_C._EnableGrad):
    """Record operations again inside a no_grad() block.

    Example:
        >>> import flambeau
        >>> x = flambeau.ones(1, requires_grad=True)
        >>> with flambeau.no_grad(), flambeau.enable_grad():
        ...     y = x * 2
        >>> y.requires_grad
        True
    """

    __slots__ = ()

    def __call__(self, function):
        return _decorate(type(self), function)

    def clone(self):
        """Make another guard of this kind."""
        return type(self)()

    def __reduce__(self):
        return type(self), ()


class set_grad_enabled(_C._SetGradEnabled):
    """Switch recording on or off: at once when called, until the end of the block when used with `with`.

    Args:
        mode: whether to record.
    Example:
        >>> import flambeau
        >>> _ = flambeau.set_grad_enabled(False)
        >>> flambeau.is_grad_enabled()
        False
        >>> _ = flambeau.set_grad_enabled(True)
    """

    __slots__ = ()

    def __call__(self, function):
        self._undo()
        return _decorate(functools.partial(type(self), self.mode), function)

    def clone(self):
        """Make another guard of this kind, for the same mode."""
        return type(self)(self.mode)

    def __repr__(self):
        return f"set_grad_enabled({self.mode})"


class inference_mode(_C._InferenceMode):
    """Like no_grad(), and new tensors skip version counters and view tracking.

    Tensors made inside can not be saved for backward later; clone() them outside to get normal ones.

    Args:
        mode: False switches back to normal mode, inside an outer inference_mode() block.
    Example:
        >>> import flambeau
        >>> with flambeau.inference_mode():
        ...     x = flambeau.ones(2) * 3
        >>> x.is_inference()
        True
    """

    __slots__ = ()

    def __call__(self, function):
        return _decorate(functools.partial(type(self), self.mode), function)

    def clone(self):
        """Make another guard of this kind, for the same mode."""
        return type(self)(self.mode)

    def __reduce__(self):
        return type(self), (self.mode,)


class set_multithreading_enabled:
    """Accepted for compatibility: backward always runs on the calling thread."""

    def __init__(self, mode):
        self.mode = bool(mode)

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None
