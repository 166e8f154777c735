"""make_tensor: random inputs for tests, the values that PyTorch's function draws for the same seed."""

from __future__ import annotations

import math
from typing import Any

import flambeau

__all__ = ["make_tensor"]


def _bounds(dtype: Any, low: float | None, high: float | None) -> tuple[float, float]:
    """The range drawn from: defaults by kind of dtype, clamped to what the dtype holds."""
    if dtype is flambeau.bool:
        default, limits = (0, 2), (0, 2)
    elif dtype is flambeau.uint8:
        default, limits = (0, 10), (0, 256)
    elif not dtype.is_floating_point and not dtype.is_complex:
        info = flambeau.iinfo(dtype)
        # random_ takes int64 bounds, so the largest int64 stays out of reach.
        default, limits = (-9, 10), (info.min, min(info.max + 1, 2**63 - 1))
    else:
        info = flambeau.finfo(dtype)
        default, limits = (-9, 9), (info.min, info.max)
    low = default[0] if low is None else low
    high = default[1] if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low > high or (low == high and not dtype.is_floating_point and not dtype.is_complex):
        raise ValueError(f"make_tensor: expected low < high, got {low=} and {high=}")
    if low >= limits[1] or high < limits[0]:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), "
            f"but {dtype} only supports [{limits[0]}, {limits[1]})"
        )
    low, high = min(max(low, limits[0]), limits[1]), min(max(high, limits[0]), limits[1])
    if not dtype.is_floating_point and not dtype.is_complex:
        return math.floor(low), math.ceil(high)
    return low, high


def _fill_uniform(tensor: Any, low: float, high: float) -> None:
    if high - low >= flambeau.finfo(tensor.dtype).max:
        tensor.uniform_(low / 2, high / 2).mul_(2)
    elif low == high:
        tensor.fill_(low)
    else:
        tensor.uniform_(low, high)


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """Return a tensor of uniform random values.

    Args:
        shape: sizes, or one sequence of them.
        dtype: element type.
        device: where the result is.
        low, high: values are drawn from [low, high); by default [-9, 9) for floating point, [-9, 10) for
            signed integers, [0, 10) for uint8 and both values for bool.
        requires_grad: whether operations on the result are recorded.
        noncontiguous: make a result of two and more elements that is not contiguous.
        exclude_zero: replace zeros by the smallest positive number (1 for integers).
        memory_format: layout of the result.
    """
    if noncontiguous and memory_format is not None:
        raise ValueError(
            f"make_tensor: expected noncontiguous or memory_format, got both ({memory_format})"
        )
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}"
        )
    if len(shape) == 1 and not isinstance(shape[0], int):
        shape = tuple(shape[0])
    first, last = _bounds(dtype, low, high)
    spread = noncontiguous and math.prod(shape) > 1
    # Every second one of twice as many values: PyTorch's, with its own numbers.
    drawn = (*shape[:-1], 2 * shape[-1]) if spread else shape
    result = flambeau.empty(drawn, dtype=dtype, device=device)
    if dtype.is_complex:
        _fill_uniform(flambeau.view_as_real(result), first, last)
    elif dtype.is_floating_point:
        _fill_uniform(result, first, last)
    else:
        result.random_(int(first), int(last))
    if spread:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        smallest = flambeau.finfo(dtype).tiny if dtype.is_floating_point or dtype.is_complex else 1
        result[result == 0] = smallest
    if requires_grad:
        result.requires_grad_()
    return result
