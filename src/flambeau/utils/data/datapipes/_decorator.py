"""Decorators of DataPipes: functional forms, determinism, and checks of type hints."""

import functools
import inspect
from contextlib import ContextDecorator
from typing import get_type_hints

from . import _typing
from .datapipe import IterDataPipe, MapDataPipe

__all__ = [
    "argument_validation",
    "functional_datapipe",
    "guaranteed_datapipes_determinism",
    "non_deterministic",
    "runtime_validation",
    "runtime_validation_disabled",
]


class functional_datapipe:
    """Class decorator: `datapipe.name(...)` constructs the class over datapipe."""

    def __init__(self, name, enable_df_api_tracing=False):
        self.name = name
        self.enable_df_api_tracing = enable_df_api_tracing

    def __call__(self, cls):
        if issubclass(cls, IterDataPipe):
            IterDataPipe.register_datapipe_as_function(self.name, cls, self.enable_df_api_tracing)
        elif issubclass(cls, MapDataPipe):
            MapDataPipe.register_datapipe_as_function(self.name, cls)
        return cls


_determinism = False


class guaranteed_datapipes_determinism(ContextDecorator):
    """Context in which pipes that are marked non_deterministic can't be made."""

    def __init__(self):
        self.before = _determinism

    def __enter__(self):
        global _determinism
        _determinism = True

    def __exit__(self, *error):
        global _determinism
        _determinism = self.before


class non_deterministic:
    """Decorator of pipes whose order varies: of the class, or with a function that says so from its arguments."""

    cls = None

    def __init__(self, arg):
        self.deterministic_fn = None
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError(
                    "Only `IterDataPipe` can be decorated with `non_deterministic`"
                    f", but {arg.__name__} is found"
                )
            self.cls = arg
        elif callable(arg):
            self.deterministic_fn = arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args, **kwargs):
        if self.cls is not None:
            self._refuse(self.cls, "is non-deterministic")
            return self.cls(*args, **kwargs)
        cls = args[0]
        if not (isinstance(cls, type) and issubclass(cls, IterDataPipe)):
            raise TypeError(
                f"Only `IterDataPipe` can be decorated, but {getattr(cls, '__name__', cls)} is found"
            )
        self.cls = cls
        return self.deterministic_wrapper_fn

    def deterministic_wrapper_fn(self, *args, **kwargs):
        """Make the pipe, unless its arguments make it non-deterministic and that is not allowed."""
        result = self.deterministic_fn(*args, **kwargs)
        if not isinstance(result, bool):
            raise TypeError(
                "deterministic_fn of `non_deterministic` decorator is required "
                f"to return a boolean value, but {type(result)} is found"
            )
        if result:
            self._refuse(self.cls, "is non-deterministic with the inputs")
        return self.cls(*args, **kwargs)

    @staticmethod
    def _refuse(cls, why):
        if _determinism:
            raise TypeError(
                f"{cls.__name__} {why}, but you set 'guaranteed_datapipes_determinism'. "
                "You can turn off determinism for this DataPipe if that is acceptable for your application"
            )


def argument_validation(f):
    """Check the pipes among a function's arguments against `IterDataPipe[T]` in its annotations."""
    signature = inspect.signature(f)

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        hints = get_type_hints(f)
        for name, value in bound.arguments.items():
            _typing.check_argument(name, value, hints.get(name), IterDataPipe)
        return f(*args, **kwargs)

    return wrapper


_validate = True


class runtime_validation_disabled(ContextDecorator):
    """Context in which runtime_validation doesn't check."""

    def __init__(self):
        self.before = _validate

    def __enter__(self):
        global _validate
        _validate = False

    def __exit__(self, *error):
        global _validate
        _validate = self.before


def runtime_validation(f):
    """Decorator of __iter__: check every sample against the pipe's declared type."""
    if f.__name__ != "__iter__":
        raise TypeError(f"Can not decorate function {f.__name__} with 'runtime_validation'")

    @functools.wraps(f)
    def wrapper(self):
        if not _validate:
            yield from f(self)
            return
        for sample in f(self):
            if not _typing.matches(sample, self.type):
                raise RuntimeError(
                    f"Expected an instance as subtype of {self.type}, but found {sample!r} of type {type(sample)}"
                )
            yield sample

    return wrapper
