"""Base classes of DataPipes."""

import copy
import functools
import pickle
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from ..dataset import Dataset, IterableDataset
from . import _typing
from ._hook_iterator import _SnapshotState, hook_iterator

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe"]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)

# State that belongs to a pipe's running iterator, not to the pipe.
_PRIVATE_STATE = ("_fast_forward_iterator", "_snapshot_state")


class _Pipe:
    """What IterDataPipe and MapDataPipe share: functional forms, pickling and printing."""

    functions: dict[str, Any] = {}  # noqa: RUF012 - each base has its own
    reduce_ex_hook = None
    getstate_hook = None
    str_hook = None
    repr_hook = None

    def __getattr__(self, name):
        if name in type(self).functions:
            return functools.partial(type(self).functions[name], self)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @classmethod
    def register_function(cls, function_name, function):
        """Make `datapipe.function_name(...)` call function(datapipe, ...)."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name, cls_to_register, enable_df_api_tracing=False
    ):
        """Make `datapipe.function_name(...)` construct a DataPipe class over datapipe."""
        if function_name in cls.functions:
            raise Exception(
                f"Unable to add DataPipe function name {function_name} as it is already taken"
            )

        @functools.wraps(cls_to_register, updated=())
        def construct(source, *args, **kwargs):
            return cls_to_register(source, *args, **kwargs)

        construct.__name__ = function_name
        cls.functions[function_name] = construct

    def _own_state(self):
        return {k: v for k, v in self.__dict__.items() if k not in _PRIVATE_STATE}

    def __getstate__(self):
        state = self._own_state()
        hook = type(self).getstate_hook
        return state if hook is None else hook(state)

    def __reduce_ex__(self, *args, **kwargs):
        hook = type(self).reduce_ex_hook
        if hook is not None:
            try:
                return hook(self)
            except NotImplementedError:
                pass  # the hook leaves this one alone
        return super().__reduce_ex__(*args, **kwargs)

    @classmethod
    def set_getstate_hook(cls, hook_fn):
        """Pass the state of every pipe that is pickled through hook_fn; None removes it."""
        if cls.getstate_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempt to override existing getstate_hook")
        cls.getstate_hook = staticmethod(hook_fn) if hook_fn is not None else None

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn):
        """Let hook_fn say how pipes are pickled; None removes it."""
        if cls.reduce_ex_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempt to override existing reduce_ex_hook")
        cls.reduce_ex_hook = staticmethod(hook_fn) if hook_fn is not None else None

    def __repr__(self):
        hook = type(self).repr_hook
        return str(type(self).__qualname__) if hook is None else hook(self)

    def __str__(self):
        hook = type(self).str_hook
        return str(type(self).__qualname__) if hook is None else hook(self)

    def __dir__(self):
        return [*super().__dir__(), *type(self).functions]


class IterDataPipe(_Pipe, IterableDataset, Iterable[_T_co], Generic[_T_co]):
    """A dataset that streams: subclasses define __iter__, and wrap other pipes.

    Every pipe has one valid iterator: making another one resets the pipe. Classes registered by functional_datapipe
    are methods too, so that chains read from left to right. `IterDataPipe[T]` declares what is yielded; __iter__'s
    annotation must agree.

    Example:
        >>> from flambeau.utils.data.datapipes.iter import IterableWrapper
        >>> list(IterableWrapper(range(4)).map(lambda x: x * x).filter(lambda x: x > 0))  # doctest: +SKIP
        [1, 4, 9]
    """

    functions = {}  # noqa: RUF012 - the registry of this family
    type = _typing.ANY
    _valid_iterator_id = None
    _number_of_samples_yielded = 0
    _snapshot_state = _SnapshotState.NotStarted
    _fast_forward_iterator = None

    __class_getitem__ = Generic.__dict__["__class_getitem__"]

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        _typing.declare(cls, IterDataPipe)
        hook_iterator(cls)

    def __iter__(self):
        return self  # subclasses may define only __next__

    def reset(self):
        """Put the pipe into its state before iteration; called whenever an iterator is made."""

    def reinforce_type(self, expected_type):
        """Narrow the declared type of this instance; runtime_validation checks against it."""
        return _typing.reinforce(self, expected_type)


hook_iterator(IterDataPipe)


class DFIterDataPipe(IterDataPipe):
    """A pipe of data frames."""

    def _is_dfpipe(self):
        return True


class MapDataPipe(_Pipe, Dataset, Generic[_T_co]):
    """A dataset by index or key: subclasses define __getitem__ and __len__, and wrap other pipes."""

    functions = {}  # noqa: RUF012 - the registry of this family

    __class_getitem__ = Generic.__dict__["__class_getitem__"]


class DataChunk(list, Generic[_T]):
    """A batch: a list of samples."""

    def __init__(self, items):
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent=""):
        """The samples as text after an indentation."""
        return indent + "[" + ", ".join(str(item) for item in iter(self)) + "]"

    def __iter__(self):
        yield from super().__iter__()

    def raw_iterator(self):
        """Iterate over what the chunk was made of."""
        yield from self.items


class _DataPipeSerializationWrapper:
    """A pipe on its way to another process: pickled, or by dill where pickle can't."""

    def __init__(self, datapipe):
        self._datapipe = datapipe

    def __getstate__(self):
        try:
            return pickle.dumps(self._datapipe), False
        except Exception:
            try:
                import dill
            except ImportError:
                dill = None
            if dill is None:
                raise
            return dill.dumps(self._datapipe), True

    def __setstate__(self, state):
        data, by_dill = state
        if by_dill:
            import dill

            self._datapipe = dill.loads(data)
        else:
            self._datapipe = pickle.loads(data)

    def __len__(self):
        try:
            return len(self._datapipe)
        except Exception as error:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length") from error


class _IterDataPipeSerializationWrapper(_DataPipeSerializationWrapper, IterDataPipe):
    def __init__(self, datapipe):
        super().__init__(datapipe)
        # Bound to the copies: what the loader seeds is what it iterates.
        self._datapipe_iter = None

    def __iter__(self):
        self._datapipe_iter = iter(self._datapipe)
        return self._datapipe_iter


class _MapDataPipeSerializationWrapper(_DataPipeSerializationWrapper, MapDataPipe):
    def __getitem__(self, index):
        return self._datapipe[index]


def copied(value, warning):
    """A deep copy, or the value itself (with a warning) where there can't be one."""
    try:
        return copy.deepcopy(value)
    except TypeError:
        import warnings

        warnings.warn(warning, stacklevel=3)
        return value
