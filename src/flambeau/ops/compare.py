"""Comparisons, tests of values and logic: results are bool and have no gradient."""

from flambeau import _C

from .pointwise import BOOLEAN, binary, ones_like, require_tensors, unary
from .registry import composite


def _compare(name, doc, *methods, numbers=True):
    return binary(name, doc, methods=(name, *methods), non_differentiable=BOOLEAN, numbers=numbers)


def _test(name, doc):
    return unary(name, doc, inplace=False, out=False, non_differentiable=BOOLEAN)


eq = _compare("eq", "Whether input equals other, elementwise.", "__eq__")
ne = not_equal = _compare(
    "ne", "Whether input differs from other, elementwise.", "not_equal", "__ne__"
)
lt = less = _compare("lt", "Whether input < other, elementwise.", "less", "__lt__")
le = less_equal = _compare("le", "Whether input <= other, elementwise.", "less_equal", "__le__")
gt = greater = _compare("gt", "Whether input > other, elementwise.", "greater", "__gt__")
ge = greater_equal = _compare(
    "ge", "Whether input >= other, elementwise.", "greater_equal", "__ge__"
)

logical_and = _compare("logical_and", "Whether both are nonzero.", numbers=False)
logical_or = _compare("logical_or", "Whether one is nonzero.", numbers=False)
logical_xor = _compare("logical_xor", "Whether exactly one is nonzero.", numbers=False)
logical_not = unary("logical_not", "Whether input is zero.", non_differentiable=BOOLEAN)

isnan = _test("isnan", "Whether values are NaN (in either part).")
isinf = _test("isinf", "Whether values are infinite (in either part).")
isfinite = _test("isfinite", "Whether values are neither infinite nor NaN.")
isposinf = unary("isposinf", "Whether values are +inf.", inplace=False, non_differentiable=BOOLEAN)
isneginf = unary("isneginf", "Whether values are -inf.", inplace=False, non_differentiable=BOOLEAN)


@composite(methods=("isreal",))
def isreal(input):
    """Whether values have no imaginary part."""
    if input.is_complex():
        return input.imag == 0
    return ones_like(input, dtype=_C.bool)


@composite(methods=("isclose",))
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |input - other| <= atol + rtol * |other|, elementwise.

    Args:
        input, other: tensors of one dtype, shapes that broadcast.
        rtol, atol: relative and absolute tolerance, not negative.
        equal_nan: count two NaN as close.
    """
    require_tensors("isclose", input, other)
    if input.dtype != other.dtype:
        raise RuntimeError(f"{_dtype_name(input)} did not match {_dtype_name(other)}")
    if rtol < 0:
        raise RuntimeError(f"isclose: rtol must be greater than or equal to zero, but got {rtol}")
    if atol < 0:
        raise RuntimeError(f"isclose: atol must be greater than or equal to zero, but got {atol}")
    input, other = input.to_dense(), other.to_dense()
    close = input == other
    if equal_nan and (input.is_floating_point() or input.is_complex()):
        close = close | (isnan(input) & isnan(other))
    if rtol == 0 and atol == 0:
        return close
    if not (input.is_floating_point() or input.is_complex()):
        input, other = input.double(), other.double()
    allowed = atol + (rtol * other).abs()
    distance = (input - other).abs()
    return close | (isfinite(distance) & (distance <= allowed))


def _dtype_name(tensor):
    return str(tensor.dtype).removeprefix("torch.").title()


@composite(methods=("allclose",))
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close, as isclose() says: a Python bool."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


__all__ = [
    "allclose", "eq", "ge", "greater", "greater_equal", "gt", "isclose", "isfinite", "isinf", "isnan",
    "isneginf", "isposinf", "isreal", "le", "less", "less_equal", "logical_and", "logical_not", "logical_or",
    "logical_xor", "lt", "ne", "not_equal",
]  # fmt: skip
