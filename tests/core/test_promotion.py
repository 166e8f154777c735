"""Type promotion: PyTorch's table, and the ranks of tensors, 0-d tensors and numbers."""

import itertools

import pytest

import flambeau

NAMES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
# Rows and columns in the order above; recorded from PyTorch 2.13's promote_types.
TABLE = """
b1 u1 i1 i2 i4 i8 f2 bf f4 f8 c8 c16
u1 u1 i2 i2 i4 i8 f2 bf f4 f8 c8 c16
i1 i2 i1 i2 i4 i8 f2 bf f4 f8 c8 c16
i2 i2 i2 i2 i4 i8 f2 bf f4 f8 c8 c16
i4 i4 i4 i4 i4 i8 f2 bf f4 f8 c8 c16
i8 i8 i8 i8 i8 i8 f2 bf f4 f8 c8 c16
f2 f2 f2 f2 f2 f2 f2 f4 f4 f8 c8 c16
bf bf bf bf bf bf f4 bf f4 f8 c8 c16
f4 f4 f4 f4 f4 f4 f4 f4 f4 f8 c8 c16
f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 c16 c16
c8 c8 c8 c8 c8 c8 c8 c8 c8 c16 c8 c16
c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16
"""
SHORT = dict(zip("b1 u1 i1 i2 i4 i8 f2 bf f4 f8 c8 c16".split(), NAMES, strict=True))


def test_promote_types_table():
    rows = [row.split() for row in TABLE.strip().splitlines()]
    for (i, a), (j, b) in itertools.product(enumerate(NAMES), repeat=2):
        expected = getattr(flambeau, SHORT[rows[i][j]])
        assert flambeau.promote_types(getattr(flambeau, a), getattr(flambeau, b)) is expected, (
            a,
            b,
        )


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((2, "int32"), 1.5, "float32"),
        ((2, "float16"), 1.5, "float16"),
        ((2, "uint8"), 300, "uint8"),
        ((2, "bool"), 1, "int64"),
        ((2, "bool"), True, "bool"),
        ((2, "float32"), 1j, "complex64"),
        ((2, "float64"), 1j, "complex128"),
        ((2, "int64"), 1j, "complex64"),
        ((2, "float32"), ((), "float64"), "float32"),
        ((2, "int32"), ((), "int64"), "int32"),
        ((2, "int32"), ((), "float64"), "float64"),
        (((), "float64"), (2, "complex64"), "complex64"),
        (((), "int32"), 2.5, "float32"),
        (((), "float64"), 2.5, "float64"),
        ((2, "bfloat16"), (2, "float16"), "float32"),
    ],
)
def test_result_type(left, right, expected):
    def make(spec):
        if isinstance(spec, tuple):
            shape, dtype = spec
            return flambeau.ones(shape, dtype=getattr(flambeau, dtype))
        return spec

    a, b = make(left), make(right)
    assert flambeau.result_type(a, b) is getattr(flambeau, expected)
    if getattr(a, "dtype", None) is not flambeau.bool or not isinstance(b, bool):
        assert (a + b).dtype is getattr(flambeau, expected)


def test_can_cast_never_drops_a_kind():
    kinds = ("bool", "uint8", "int64", "float32", "complex64")
    for i, source in enumerate(kinds):
        for j, target in enumerate(kinds):
            allowed = i <= j or (source, target) == ("int64", "uint8")
            assert (
                flambeau.can_cast(getattr(flambeau, source), getattr(flambeau, target)) is allowed
            )
