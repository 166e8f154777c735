"""Helpers for sizes that may be one int or one per dim."""

from collections.abc import Iterable


def _ntuple(n, name="parse"):
    def parse(value):
        if isinstance(value, Iterable):
            return tuple(value)
        return (value,) * n

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(values, n):
    """(1, 2) with n = 2 is (2, 2, 1, 1): per-dim values in the order F.pad takes them."""
    return tuple(value for value in reversed(values) for _ in range(n))


def _list_with_default(out_size, defaults):
    """Fill None entries of an output size with the trailing sizes of the input."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [
        v if v is not None else d
        for v, d in zip(out_size, defaults[-len(out_size) :], strict=False)
    ]
