"""Circular and hyperbolic functions and their inverses."""

import numpy as np

from flambeau.testing.opspec import (
    COMPLEX,
    FLOATING,
    HALVES,
    Case,
    OpSpec,
    binary_samples,
    unary_samples,
)

REAL = (*HALVES, *FLOATING)
DTYPES = ("bool", "int32", *REAL)


def unary(
    name, reference, low=-3, high=3, dtypes=(*DTYPES, *COMPLEX), arguments=("text",), **options
):
    return OpSpec(
        name,
        # NumPy would compute a bool's function in float16.
        lambda x: reference(x.astype(int) if x.dtype == bool else x),
        unary_samples(low, high, specials=not set(dtypes) & set(COMPLEX)),
        dtypes=dtypes,
        errors=[Case(args=arguments, raises=TypeError, match=name)],
        **options,
    )


SPECS = [
    unary("sin", np.sin, -100, 100, dtypes=DTYPES),
    unary("cos", np.cos, -100, 100, dtypes=DTYPES),
    unary("tan", np.tan, -1.3, 1.3, dtypes=DTYPES),
    unary("asin", np.arcsin, -0.95, 0.95, dtypes=DTYPES),
    unary("acos", np.arccos, -0.95, 0.95, dtypes=DTYPES),
    unary("atan", np.arctan, -5, 5, dtypes=DTYPES),
    unary("sinh", np.sinh, dtypes=DTYPES),
    unary("cosh", np.cosh, dtypes=DTYPES),
    unary("tanh", np.tanh, dtypes=DTYPES),
    unary("asinh", np.arcsinh, -5, 5, dtypes=DTYPES),
    unary("acosh", np.arccosh, 1.1, 5, dtypes=DTYPES),
    unary("atanh", np.arctanh, -0.95, 0.95, dtypes=DTYPES),
    # Complex numbers apart: NumPy's own values at infinities differ between platforms.
    unary("sin", np.sin, dtypes=COMPLEX, variant="complex"),
    unary("cos", np.cos, dtypes=COMPLEX, variant="complex"),
    unary("tan", np.tan, dtypes=COMPLEX, variant="complex", k=8),  # a quotient of two
    unary("sinh", np.sinh, dtypes=COMPLEX, variant="complex"),
    unary("cosh", np.cosh, dtypes=COMPLEX, variant="complex"),
    unary("tanh", np.tanh, dtypes=COMPLEX, variant="complex", k=8),  # a quotient of two
    OpSpec(
        "atan2",
        np.arctan2,
        binary_samples(0.2, 3, specials=True),
        dtypes=("int32", *REAL),
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match="atan2|size of tensor")],
    ),
    OpSpec(
        "hypot",
        np.hypot,
        binary_samples(0.2, 3),
        dtypes=FLOATING,
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match="hypot|size of tensor")],
    ),
    unary("sinc", np.sinc, 0.2, 4, dtypes=FLOATING, k=16),  # PyTorch rounds pi * x first
    unary("deg2rad", np.deg2rad, -360, 360, dtypes=("int32", *FLOATING), arguments=()),
    unary("rad2deg", np.rad2deg, dtypes=("int32", *FLOATING), arguments=()),
]
