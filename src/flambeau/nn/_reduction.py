"""Numbers of reductions, and the names that the deprecated arguments size_average and reduce stand for."""

import warnings

from ._functional.loss import _legacy_reduction

__all__ = []

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction):
    """0, 1 or 2 for none, mean or sum."""
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.",
            stacklevel=2,
        )
        return 1
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _NUMBERS[reduction]


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The reduction that size_average and reduce stand for."""
    return _legacy_reduction(size_average, reduce, emit_warning)


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """The number of the reduction that size_average and reduce stand for."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
