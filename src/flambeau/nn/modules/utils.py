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


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Take a prefix ("module.") off the keys of a state dict, and off those of its metadata, in place."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", {})
    for key in list(metadata):
        # The wrapper's own entry, "", makes room for that of what it wraps.
        if key and (key == prefix.replace(".", "") or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)
