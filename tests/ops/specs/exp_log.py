"""Exponentials, logarithms, powers and roots."""

import numpy as np
import scipy.special

from flambeau.testing.opspec import (
    ALL,
    COMPLEX,
    FLOATING,
    HALVES,
    Case,
    OpSpec,
    binary_samples,
    unary_samples,
)

REAL = (*HALVES, *FLOATING)
EVERY = ("bool", "int32", "int64", *REAL, *COMPLEX)


def unary(name, reference, low=-3, high=3, dtypes=EVERY, specials=True, **options):
    return OpSpec(
        name,
        # NumPy would compute a bool's function in float16.
        lambda x: reference(x.astype(int) if x.dtype == bool else x),
        unary_samples(low, high, specials=specials),
        dtypes=dtypes,
        errors=[Case(args=("text",), raises=TypeError, match=name)],
        **options,
    )


def rsqrt(x):
    return 1 / np.sqrt(x)


SPECS = [
    unary("exp", np.exp),
    unary("exp2", np.exp2, dtypes=("int32", *REAL)),
    unary("expm1", np.expm1, dtypes=("int32", *REAL)),
    unary("log", np.log, 0.1, 5),
    unary("log2", np.log2, 0.1, 5, dtypes=("int32", *REAL)),
    unary("log10", np.log10, 0.1, 5, dtypes=("int32", *REAL)),
    unary("log1p", np.log1p, -0.9, 5, dtypes=("int32", *REAL)),
    unary("sqrt", np.sqrt, 0.1, 5),
    unary("rsqrt", rsqrt, 0.1, 5, dtypes=("int32", *REAL)),
    unary("square", np.square, dtypes=ALL[1:]),
    unary("sigmoid", scipy.special.expit, -6, 6, dtypes=("int32", *REAL)),
    OpSpec(
        "logaddexp",
        np.logaddexp,
        binary_samples(-50, 50, specials=True),
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match="logaddexp|size of tensor")],
    ),
    OpSpec(
        "logaddexp2",
        np.logaddexp2,
        binary_samples(-50, 50, specials=True),
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match="logaddexp2|size of tensor")],
    ),
    OpSpec(
        "xlogy",
        scipy.special.xlogy,
        binary_samples(0.1, 4, numbers=(2.0,)),
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match="xlogy|size of tensor")],
    ),
    OpSpec(
        "pow",
        np.power,
        binary_samples(0.2, 3, other_low=-2, other_high=2, numbers=(2, 3.0, 0.5)),
        dtypes=(*FLOATING, *COMPLEX),
        k=8,  # the error of log(base) is multiplied by the exponent
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match="pow|size of tensor")],
    ),
]
