"""Samples to batches: default_collate and default_convert."""

import collections.abc
import copy
import sys

import flambeau
from flambeau import Tensor

__all__ = [
    "collate",
    "default_collate",
    "default_collate_err_msg_format",
    "default_collate_fn_map",
    "default_convert",
]

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)
_NOT_CONVERTIBLE = "SUaO"  # NumPy kinds of strings and objects


def _numpy_kind(value):
    """Whether a value is an "ndarray" or a "scalar" of NumPy (else None), without importing it."""
    cls = type(value)
    if cls.__module__ != "numpy":
        return None
    return "ndarray" if cls.__name__ in ("ndarray", "memmap") else "scalar"


def _is_namedtuple(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _rebuilt(original, values):
    """A container of the original's type; a plain one if its type cannot be made from values."""
    try:
        if isinstance(original, collections.abc.MutableMapping):
            clone = copy.copy(original)  # keeps what else it has, as a defaultdict its factory
            clone.update(values)
            return clone
        return type(original)(values)
    except TypeError:
        return values


def default_convert(data):
    """NumPy arrays in nested containers to tensors; everything else stays."""
    kind = _numpy_kind(data)
    if isinstance(data, Tensor):
        return data
    if kind is not None:
        if data.dtype.kind in _NOT_CONVERTIBLE:
            return data
        return flambeau.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        converted = {key: default_convert(value) for key, value in data.items()}
        return converted if type(data) is dict else _rebuilt(data, converted)
    if _is_namedtuple(data):
        return type(data)(*(default_convert(d) for d in data))
    if isinstance(data, tuple):
        return [default_convert(d) for d in data]
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt(data, [default_convert(d) for d in data])
    return data


def _collate_tensors(batch, *, collate_fn_map=None):
    workers = sys.modules.get("flambeau.utils.data._workers")
    if workers is not None and workers.worker_info is not None and workers.shares_memory:
        from ._transfer import stacked

        result = stacked(batch)
        if result is not None:
            return result
    return flambeau.stack(batch, 0)


def _collate_numpy_array(batch, *, collate_fn_map=None):
    if batch[0].dtype.kind in _NOT_CONVERTIBLE:
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return flambeau.stack([flambeau.as_tensor(b) for b in batch], 0)


def _collate_numpy_scalar(batch, *, collate_fn_map=None):
    return flambeau.as_tensor(batch)


def _collate_float(batch, *, collate_fn_map=None):
    return flambeau.tensor(batch, dtype=flambeau.float64)


def _collate_int(batch, *, collate_fn_map=None):
    return flambeau.tensor(batch)


def _collate_str(batch, *, collate_fn_map=None):
    return batch


# Element type -> how a batch of it is collated; add to it to extend default_collate.
default_collate_fn_map = {
    Tensor: _collate_tensors,
    float: _collate_float,
    int: _collate_int,
    str: _collate_str,
    bytes: _collate_str,
}


def _mapped(element, batch, collate_fn_map):
    """The result of the map's function for this element type, or None."""
    if collate_fn_map is None:
        return None
    function = collate_fn_map.get(type(element))
    if function is None:
        for kind, candidate in collate_fn_map.items():
            if isinstance(element, kind):
                function = candidate
                break
    return None if function is None else function(batch, collate_fn_map=collate_fn_map)


def collate(batch, *, collate_fn_map=None):
    """Combine samples: containers element by element, and their elements by the functions of a map."""
    element = batch[0]
    kind = _numpy_kind(element)
    if kind == "ndarray":
        return _collate_numpy_array(batch)
    if kind == "scalar" and not isinstance(element, (float, str, bytes)):
        return _collate_numpy_scalar(batch)
    mapped = _mapped(element, batch, collate_fn_map)
    if mapped is not None:
        return mapped
    if isinstance(element, collections.abc.Mapping):
        combined = {
            key: collate([d[key] for d in batch], collate_fn_map=collate_fn_map) for key in element
        }
        return combined if type(element) is dict else _rebuilt(element, combined)
    if _is_namedtuple(element):
        return type(element)(
            *(collate(part, collate_fn_map=collate_fn_map) for part in zip(*batch, strict=False))
        )
    if isinstance(element, collections.abc.Sequence):
        size = len(element)
        if not all(len(sample) == size for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        combined = [
            collate(part, collate_fn_map=collate_fn_map) for part in zip(*batch, strict=False)
        ]
        return combined if isinstance(element, tuple) else _rebuilt(element, combined)
    raise TypeError(default_collate_err_msg_format.format(type(element)))


def default_collate(batch):
    """Samples to a batch: tensors, arrays and numbers are stacked, containers are combined element by element."""
    return collate(batch, collate_fn_map=default_collate_fn_map)
