"""The graph of a chain of DataPipes: which pipe reads from which."""

import io
import pickle
import warnings

from .datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]

_PIPES = (IterDataPipe, MapDataPipe)


def _stub():
    return "STUB"


class _Scanner(pickle.Pickler):
    """Pickles one pipe to nowhere, and notes the pipes that it meets on the way."""

    def __init__(self, start):
        super().__init__(io.BytesIO())
        self.start = start
        self.found = []

    def reducer_override(self, obj):
        """Note other pipes instead of going into them."""
        if obj is self.start or not isinstance(obj, _PIPES):
            return NotImplemented
        self.found.append(obj)
        return _stub, ()


def _sources_among_attributes(value):
    """Pipes among the attributes, and in tuples, lists and dicts there."""
    if isinstance(value, _PIPES):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        return []
    return [pipe for item in value for pipe in _sources_among_attributes(item)]


def _sources(datapipe, only_datapipe):
    if only_datapipe:
        return _sources_among_attributes(tuple(vars(datapipe).values()))
    scanner = _Scanner(datapipe)
    scanner.dump(datapipe)
    return scanner.found


def _graph(datapipe, only_datapipe, seen):
    if not isinstance(datapipe, _PIPES):
        raise RuntimeError(
            f"Expected `IterDataPipe` or `MapDataPipe`, but {type(datapipe)} is found"
        )
    if id(datapipe) in seen:
        return {}
    # Each branch has its own set: a pipe that two branches read is in both.
    seen = seen | {id(datapipe)}
    below = {}
    for source in _sources(datapipe, only_datapipe):
        below.update(_graph(source, only_datapipe, seen))
    return {id(datapipe): (datapipe, below)}


def traverse_dps(datapipe):
    """Return {id: (pipe, graph of its sources)}, from the pipes among attributes."""
    return _graph(datapipe, True, frozenset())


def traverse(datapipe, only_datapipe=None):
    """Return {id: (pipe, graph of its sources)}; deprecated for traverse_dps.

    Args:
        only_datapipe: look at attributes that are pipes only; otherwise at everything that pickle would.
    """
    warnings.warn(
        "`traverse` function is deprecated and will be removed after 1.13. Please use `traverse_dps` instead. "
        "And, the behavior will be changed to the equivalent of `only_datapipe=True`.",
        FutureWarning,
        stacklevel=2,
    )
    return _graph(datapipe, bool(only_datapipe), frozenset())
