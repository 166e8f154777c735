"""Building complex numbers and taking them apart."""

import numpy as np

from flambeau.testing.opspec import (
    COMPLEX,
    FLOATING,
    Case,
    OpSpec,
    Sample,
    binary_samples,
    unary_samples,
)

TO_COMPLEX = {"float32": "complex64", "float64": "complex128"}


def unary(name, reference, dtypes=COMPLEX, **options):
    return OpSpec(
        name,
        reference,
        unary_samples(0.3, 3),
        dtypes=dtypes,
        errors=[Case(args=("text",), raises=TypeError, match=name)],
        **options,
    )


def built_from_two(name, reference):
    return OpSpec(
        name,
        reference,
        binary_samples(0.3, 3),
        result_dtype=TO_COMPLEX.get,
        errors=[Case(args=(np.zeros(2), np.zeros(2, np.float32)), match="scalar type")],
    )


def view_samples(draw):
    yield Sample((draw.array((3, 2)),))
    yield Sample((draw.array((2,)),))


SPECS = [
    unary("angle", np.angle),
    unary("conj_physical", np.conj, dtypes=("int32", *FLOATING, *COMPLEX)),
    unary("conj", np.conj, dtypes=("int32", *FLOATING, *COMPLEX)),
    unary("real", np.real),
    unary("imag", np.imag),
    unary("abs", np.abs, variant="complex", inplace=False),
    unary("view_as_real", lambda x: np.stack([x.real, x.imag], -1), views=False),
    built_from_two("complex", lambda a, b: a + 1j * b),
    built_from_two("polar", lambda a, b: a * np.exp(1j * b)),
    OpSpec(
        "view_as_complex",
        lambda x: x[..., 0] + 1j * x[..., 1],
        view_samples,
        views=False,  # the last stride must be 1
        result_dtype=TO_COMPLEX.get,
        errors=[Case(args=(np.zeros(3),), match="last dimension of size 2")],
    ),
]
