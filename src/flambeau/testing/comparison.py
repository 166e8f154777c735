"""assert_close: values, and what describes them, agree within the tolerance of their dtype; PyTorch's messages.

The arithmetic is NumPy's, so that the ops under test don't judge themselves.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import flambeau

__all__ = ["assert_allclose", "assert_close"]

Message = str | Callable[[str], str] | None

# rtol, atol
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


class _Mismatch(Exception):
    """What differs, and where within nested containers."""

    def __init__(self, message: str, path: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def _default_tolerances(*dtypes: str) -> tuple[float, float]:
    pairs = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
    return max(rtol for rtol, _ in pairs), max(atol for _, atol in pairs)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Message = None,
) -> None:
    """Assert that |actual - expected| <= atol + rtol * |expected|, element by element.

    Args:
        actual, expected: tensors, NumPy arrays, numbers, None, or sequences and mappings of them.
        allow_subclasses: False requires equal types.
        rtol, atol: tolerances, both or neither; by default those of the dtype (float32: 1.3e-6 and 1e-5;
            integers and bool: 0).
        equal_nan: whether NaN equals NaN.
        check_device, check_dtype, check_layout, check_stride: what else has to agree.
        msg: text instead of the generated message, or a function from that message to another.
    Raises:
        AssertionError: something differs.
        TypeError: the inputs can't be compared.
        ValueError: one of rtol and atol is missing.
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
        )
    if rtol is not None and atol is not None and (rtol < 0 or atol < 0):
        raise ValueError(
            f"assert_close: expected rtol and atol of at least 0, got {rtol} and {atol}"
        )
    tolerances = None if rtol is None or atol is None else (rtol, atol)
    checks = {
        "device": check_device,
        "dtype": check_dtype,
        "layout": check_layout,
        "stride": check_stride,
    }
    try:
        _compare(actual, expected, _Rules(allow_subclasses, tolerances, equal_nan, checks), ())
    except _Mismatch as mismatch:
        text = mismatch.message
        if mismatch.path:
            items = "".join(f"[{key!r}]" for key in mismatch.path)
            text += f"\n\nThe failure occurred for item {items}"
        if msg is not None:
            text = msg(text) if callable(msg) else msg
        raise AssertionError(text) from None


class _Rules:
    def __init__(
        self,
        subclasses: bool,
        tolerances: tuple[float, float] | None,
        equal_nan: bool,
        checks: dict[str, bool],
    ) -> None:
        self.subclasses = subclasses
        self.tolerances = tolerances
        self.equal_nan = equal_nan
        self.checks = checks


def _compare(actual: Any, expected: Any, rules: _Rules, path: tuple[Any, ...]) -> None:
    if _both(actual, expected, Sequence) and not isinstance(actual, str | bytes):
        if len(actual) != len(expected):
            raise _Mismatch(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", path
            )
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            _compare(a, e, rules, (*path, i))
    elif _both(actual, expected, Mapping):
        _compare_mappings(actual, expected, rules, path)
    else:
        try:
            _compare_values(actual, expected, rules)
        except _Mismatch as mismatch:
            raise _Mismatch(mismatch.message, path) from None


def _both(actual: Any, expected: Any, kind: Any) -> bool:
    return isinstance(actual, kind) and isinstance(expected, kind)


def _compare_mappings(actual: Any, expected: Any, rules: _Rules, path: tuple[Any, ...]) -> None:
    missing = sorted(set(expected) - set(actual), key=str)
    additional = sorted(set(actual) - set(expected), key=str)
    if missing or additional:
        raise _Mismatch(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {missing}\n"
            f"Additional keys in the actual mapping: {additional}",
            path,
        )
    for key in actual:
        _compare(actual[key], expected[key], rules, (*path, key))


_NUMBERS = (int, float, complex, np.number)


def _compare_values(actual: Any, expected: Any, rules: _Rules) -> None:
    if actual is None or expected is None:
        if actual is not expected:
            raise _Mismatch(f"None mismatch: {actual} is not {expected}")
    elif _both(actual, expected, bool | np.bool_):
        if bool(actual) is not bool(expected):
            raise _Mismatch(f"Booleans mismatch: {actual} is not {expected}")
    elif _both(actual, expected, _NUMBERS):
        _compare_numbers(actual, expected, rules)
    elif _both(actual, expected, flambeau.Tensor) and (
        rules.subclasses or type(actual) is type(expected)
    ):
        _compare_tensors(actual, expected, rules)
    elif _both(actual, expected, np.ndarray):
        dtypes = (str(actual.dtype), str(expected.dtype))
        _check_attribute("shape", actual.shape, expected.shape)
        if rules.checks["dtype"]:
            _check_attribute("dtype", *dtypes)
        _compare_arrays(actual, expected, rules, dtypes)
    else:
        raise TypeError(
            f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
        )


def _check_attribute(name: str, actual: Any, expected: Any) -> None:
    if actual != expected:
        raise _Mismatch(f"The values for attribute '{name}' do not match: {actual} != {expected}.")


def _compare_tensors(actual: Any, expected: Any, rules: _Rules) -> None:
    _check_attribute("shape", actual.shape, expected.shape)
    if rules.checks["device"]:
        _check_attribute("device", actual.device, expected.device)
    if rules.checks["dtype"]:
        _check_attribute("dtype", actual.dtype, expected.dtype)
    if rules.checks["layout"]:
        _check_attribute("layout", actual.layout, expected.layout)
    if rules.checks["stride"]:
        _check_attribute("stride()", actual.stride(), expected.stride())
    if "meta" in (actual.device.type, expected.device.type):
        return
    if actual.is_quantized and expected.is_quantized:
        if actual.qscheme() != expected.qscheme():
            _check_attribute("qscheme()", actual.qscheme(), expected.qscheme())
        _compare_strided(
            actual.dequantize(), expected.dequantize(), rules, "Quantized tensor-likes"
        )
    elif actual.layout is flambeau.strided and expected.layout is flambeau.strided:
        _compare_strided(actual, expected, rules, "Tensor-likes")
    elif actual.layout != expected.layout:
        _compare_strided(actual.to_dense(), expected.to_dense(), rules, "Tensor-likes")
    else:
        _compare_sparse(actual, expected, rules)


def _compare_strided(actual: Any, expected: Any, rules: _Rules, what: str) -> None:
    dtypes = tuple(str(t.dtype).removeprefix("torch.") for t in (actual, expected))
    _compare_arrays(_to_numpy(actual), _to_numpy(expected), rules, dtypes, what)


def _compare_sparse(actual: Any, expected: Any, rules: _Rules) -> None:
    """Compare the parts of tensors of the same sparse layout: indices exactly, then values."""
    layout = str(actual.layout).rpartition("_")[2].upper()
    parts = ["values"]
    if layout == "COO":
        if actual._nnz() != expected._nnz():
            _count_mismatch("sparse COO", actual, expected)
        if not (actual.is_coalesced() and expected.is_coalesced()):
            actual, expected = actual.coalesce(), expected.coalesce()
        parts = ["indices", *parts]
    else:
        if actual._nnz() != expected._nnz():
            _count_mismatch(f"sparse {layout}", actual, expected)
        by_row = layout in ("CSR", "BSR")
        parts = (
            ["crow_indices", "col_indices", *parts]
            if by_row
            else ["ccol_indices", "row_indices", *parts]
        )
    exact = _Rules(rules.subclasses, (0, 0), rules.equal_nan, rules.checks)
    for part in parts:
        left, right = (getattr(tensor.detach(), part)() for tensor in (actual, expected))
        used = rules if part == "values" else exact
        _compare_strided(left, right, used, f"Sparse {layout} {part}")


def _count_mismatch(kind: str, actual: Any, expected: Any) -> None:
    raise _Mismatch(
        f"The number of specified values in {kind} tensors does not match: {actual._nnz()} != {expected._nnz()}"
    )


def _to_numpy(tensor: Any) -> np.ndarray[Any, Any]:
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype is flambeau.bfloat16:
        tensor = tensor.float()
    return tensor.numpy()


def _compare_numbers(actual: Any, expected: Any, rules: _Rules) -> None:
    kinds = [
        next(k for k in (int, float, complex) if isinstance(v, k) or np.can_cast(type(v), k))
        for v in (actual, expected)
    ]
    if rules.checks["dtype"] and kinds[0] is not kinds[1]:
        raise _Mismatch(f"The (d)types do not match: {type(actual)} != {type(expected)}.")
    exact = kinds == [int, int]
    rtol, atol = rules.tolerances or _default_tolerances("int64" if exact else "float64")
    difference = abs(actual - expected)
    if actual == expected or (rules.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
        return
    if cmath.isfinite(expected) and difference <= atol + rtol * abs(expected):
        return
    raise _Mismatch(_scalar_message(actual, expected, rtol, atol))


def _scalar_message(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    difference = abs(actual - expected)
    relative = difference / abs(expected) if expected != 0 else math.inf
    word, hints = _words(rtol, atol)
    return (
        f"Scalars are not {word}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {difference}{hints[1]}\nRelative difference: {relative}{hints[0]}"
    )


def _words(rtol: float, atol: float) -> tuple[str, tuple[str, str]]:
    if rtol == atol == 0:
        return "equal", ("", "")
    return "close", (f" (up to {rtol} allowed)", f" (up to {atol} allowed)")


def _compare_arrays(
    actual: np.ndarray[Any, Any],
    expected: np.ndarray[Any, Any],
    rules: _Rules,
    dtypes: tuple[str, ...],
    what: str = "Tensor-likes",
) -> None:
    rtol, atol = rules.tolerances or _default_tolerances(*dtypes)
    actual, expected = (a.astype(np.int64) if a.dtype == bool else a for a in (actual, expected))
    common = np.result_type(actual.dtype, expected.dtype)
    actual, expected = actual.astype(common), expected.astype(common)
    with np.errstate(all="ignore"):
        difference = np.abs(actual - expected)
        if common.kind == "u":
            difference = np.where(actual > expected, actual - expected, expected - actual)
        wide = difference.astype(np.float64)
        allowed = atol + rtol * np.abs(expected).astype(np.float64)
        matches = (actual == expected) | (
            np.isfinite(actual) & np.isfinite(expected) & (wide <= allowed)
        )
    if rules.equal_nan:
        matches |= np.isnan(actual) & np.isnan(expected)
    if not matches.all():
        raise _Mismatch(_array_message(actual, expected, difference, matches, rtol, atol, what))


def _array_message(
    actual: Any, expected: Any, difference: Any, matches: Any, rtol: float, atol: float, what: str
) -> str:
    if actual.ndim == 0:
        return _scalar_message(actual.item(), expected.item(), rtol, atol)
    word, hints = _words(rtol, atol)
    with np.errstate(all="ignore"):
        magnitude = np.abs(expected)
        if magnitude.dtype.kind in "iu":  # integers divide in float32
            magnitude = magnitude.astype(np.float32)
        relative = difference.astype(magnitude.dtype) / magnitude
    lines = [f"{what} are not {word}!\n"]
    count = int(matches.size - matches.sum())
    lines.append(f"Mismatched elements: {count} / {matches.size} ({count / matches.size:.1%})")
    for name, values, hint in (
        ("absolute", difference, hints[1]),
        ("relative", relative, hints[0]),
    ):
        values = np.where(matches, np.zeros((), values.dtype), values)
        index = tuple(int(i) for i in np.unravel_index(np.argmax(values), values.shape))
        lines.append(f"Greatest {name} difference: {values[index].item()} at index {index}{hint}")
    return "\n".join(lines)


# What assert_allclose allowed before there was assert_close.
_OLD_TOLERANCES = {
    flambeau.float16: (1e-3, 1e-3),
    flambeau.float32: (1e-4, 1e-5),
    flambeau.float64: (1e-5, 1e-8),
}


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Assert closeness without looking at dtype and device; NaN equals NaN. See assert_close."""
    if not isinstance(actual, flambeau.Tensor):
        actual = flambeau.tensor(actual)
    if not isinstance(expected, flambeau.Tensor):
        expected = flambeau.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = max(_OLD_TOLERANCES.get(t.dtype, (0.0, 0.0)) for t in (actual, expected))
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        check_stride=False,
        msg=msg or None,
    )
