"""What every IterDataPipe's __iter__ gets: one valid iterator at a time, resets, and errors that name the pipe.

An iterator becomes invalid when its pipe makes another one, since the two would share buffers and sources. Restoring a
snapshot puts an iterator that has already advanced in place of the next one.
"""

import functools
import inspect
from enum import Enum

__all__ = ["_SnapshotState", "hook_iterator"]

_WHERE = "\nThis exception is thrown by __iter__ of "
_FEEDBACK = (
    "\nFor feedback regarding this single iterator per IterDataPipe constraint, feel free "
    "to comment on this issue: https://github.com/pytorch/data/issues/45."
)


class _SnapshotState(Enum):
    """Whether a pipe was not iterated yet, was restored, or is being iterated."""

    NotStarted = 0
    Restored = 1
    Iterating = 2


def _short_name(value):
    return getattr(value, "__name__", None) or _without_fields(value)


def _without_fields(value):
    from .datapipe import IterDataPipe, MapDataPipe

    if isinstance(value, (IterDataPipe, MapDataPipe)):
        return type(value).__qualname__
    return repr(value)


def _describe(datapipe):
    """Class and constructor arguments, as far as the pipe keeps them."""
    try:
        names = set(inspect.signature(type(datapipe).__init__).parameters)
    except (TypeError, ValueError):
        names = set()
    fields = [
        f"{name}={_short_name(value)}"
        for name, value in sorted(vars(datapipe).items())
        if name in names
    ]
    return f"{type(datapipe).__name__}({', '.join(fields)})"


def _invalid_message(datapipe):
    return (
        "This iterator has been invalidated because another iterator has been created "
        f"from the same IterDataPipe: {_describe(datapipe)}\n"
        "This may be caused by multiple references to the same IterDataPipe. We recommend "
        "using `.fork()` if that is necessary." + _FEEDBACK
    )


def _begin(datapipe):
    """Make the iterator that is being created the valid one; returns its number."""
    if hasattr(datapipe, "_is_child_datapipe"):
        # Children of one pipe share its buffers: the parent numbers them.
        if not hasattr(datapipe, "_set_main_datapipe_valid_iterator_id"):
            raise RuntimeError(
                "ChildDataPipe must have method `_set_main_datapipe_valid_iterator_id`."
            )
        datapipe._set_main_datapipe_valid_iterator_id()
        return datapipe._valid_iterator_id
    datapipe._valid_iterator_id = (datapipe._valid_iterator_id or 0) + 1
    datapipe.reset()
    return datapipe._valid_iterator_id


def _check(datapipe, number):
    """RuntimeError unless iterator `number` is still the valid one."""
    if hasattr(datapipe, "_is_child_datapipe"):
        datapipe._check_valid_iterator_id(number)
    elif datapipe._valid_iterator_id != number:
        raise RuntimeError(_invalid_message(datapipe))


def _annotate(error, datapipe):
    """Add to an exception's message which pipe it passed."""
    where = _WHERE + _describe(datapipe)
    text = error.args[0] if error.args and isinstance(error.args[0], str) else None
    if isinstance(error, (OSError, UnicodeError)):
        return  # their text is not made of the first argument
    if text is None:
        error.args = (*error.args, where) if error.args else (where,)
    elif _WHERE not in text:
        error.args = (text + where, *error.args[1:])


class IteratorDecorator:
    """An iterator that a pipe's __iter__ returned, with the checks."""

    def __init__(self, iterator, datapipe, number):
        self.iterator = iterator
        self.datapipe = datapipe
        self.iterator_id = number

    def __iter__(self):
        return self

    def __next__(self):
        _check(self.datapipe, self.iterator_id)
        value = next(self.iterator)
        self.datapipe._number_of_samples_yielded += 1
        return value

    def __getattr__(self, name):
        return getattr(self.iterator, name)


def _restored(datapipe):
    """The iterator of a restored snapshot, once."""
    iterator = datapipe._fast_forward_iterator
    datapipe._fast_forward_iterator = None
    datapipe._snapshot_state = _SnapshotState.Iterating
    return iterator


def _hooked_generator(make):
    @functools.wraps(make)
    def hooked(*args, **kwargs):
        datapipe = args[0]
        if datapipe._fast_forward_iterator is not None:
            yield from _restored(datapipe)
            return
        generator = make(*args, **kwargs)
        # Only now, at the first next(): an iterator that nobody advances takes nothing away from others.
        number = _begin(datapipe)
        datapipe._number_of_samples_yielded = 0
        datapipe._snapshot_state = _SnapshotState.Iterating
        try:
            answer = None
            while True:
                _check(datapipe, number)
                value = generator.send(answer)
                datapipe._number_of_samples_yielded += 1
                answer = yield value
        except StopIteration:
            return
        except GeneratorExit:
            raise
        except Exception as error:
            if not _is_invalidation(error):
                _annotate(error, datapipe)
            raise
        finally:
            generator.close()

    return hooked


def _is_invalidation(error):
    return isinstance(error, RuntimeError) and "This iterator has been invalidated" in str(error)


def _hooked_iter(make):
    @functools.wraps(make)
    def hooked(*args, **kwargs):
        datapipe = args[0]
        if datapipe._fast_forward_iterator is not None:
            return _restored(datapipe)
        number = _begin(datapipe)
        iterator = make(*args, **kwargs)
        datapipe._number_of_samples_yielded = 0
        datapipe._snapshot_state = _SnapshotState.Iterating
        return IteratorDecorator(iterator, datapipe, number)

    return hooked


def _hooked_reset(reset):
    @functools.wraps(reset)
    def hooked(*args, **kwargs):
        datapipe = args[0]
        if (
            datapipe._snapshot_state is not _SnapshotState.Restored
        ):  # a restored pipe keeps its buffers
            datapipe._number_of_samples_yielded = 0
            datapipe._fast_forward_iterator = None
            reset(*args, **kwargs)
        datapipe._snapshot_state = _SnapshotState.Iterating

    return hooked


def hook_iterator(cls):
    """Wrap the __iter__ and reset that a class defines itself."""
    make = vars(cls).get("__iter__")
    if make is not None and not getattr(make, "__isabstractmethod__", False):
        is_generator = inspect.isgeneratorfunction(inspect.unwrap(make))
        cls.__iter__ = _hooked_generator(make) if is_generator else _hooked_iter(make)
    if "reset" in vars(cls):
        cls.reset = _hooked_reset(vars(cls)["reset"])
