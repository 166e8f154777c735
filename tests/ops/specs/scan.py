"""Cumulative operations."""

import numpy as np

from flambeau.testing.opspec import (
    COMPLEX,
    FLOATING,
    HALVES,
    INTEGERS,
    Case,
    OpSpec,
    Shape,
    case_samples,
)

DIMS = case_samples(
    ((5,), 0),
    ((2, 3), 0),
    ((2, 3), -1),
    ((3, 0, 2), 1),
    ((2, 3, 4), 1),
    ((40, 70), 0),
    ((40, 70), 1),
)
SPREAD = case_samples(
    ((5,), 0), ((2, 3), 0), ((2, 3), -1), ((2, 3, 4), 1), ((40, 70), 1), spread=True
)
NEAR_ONE = case_samples(((5,), 0), ((2, 3), 0), ((2, 3), -1), ((2, 3, 4), 1), low=0.5, high=1.5)
LONG = 70  # errors are relative to the sum of magnitudes


def bad_dim(name):
    return [
        Case(args=(np.zeros((2, 3)), 2), raises=IndexError, match=f"{name}|Dimension out of range")
    ]


def running(function, pick):
    def reference(x, dim):
        values = function.accumulate(x, axis=dim)
        places = np.broadcast_to(
            np.expand_dims(np.arange(x.shape[dim]), tuple(range(1, x.ndim - dim % x.ndim))), x.shape
        )
        # The position of the latest element that equals the running extreme.
        return values, np.maximum.accumulate(np.where(x == values, places, 0), axis=dim)

    return reference


def promoted(dtype):
    return "int64" if dtype in INTEGERS else dtype


def logcumsumexp(x, dim):
    return np.logaddexp.accumulate(x, axis=dim)


def diff(x, n=1, dim=-1, prepend=None, append=None):
    extra = {
        name: value
        for name, value in (("prepend", prepend), ("append", append))
        if value is not None
    }
    return np.diff(x, n, dim, **extra)


SPECS = [
    OpSpec(
        "cumsum",
        lambda x, dim: np.cumsum(x, dim),
        DIMS,
        k=8,  # complex64 adds up in complex64
        dtypes=(*INTEGERS, *HALVES, *FLOATING, *COMPLEX),
        floor=LONG,
        result_dtype=promoted,
        errors=bad_dim("cumsum"),
        inplace=None,
    ),
    OpSpec(
        "cumprod",
        lambda x, dim: np.cumprod(x, dim),
        NEAR_ONE,
        dtypes=("int32", *FLOATING, "complex128"),
        k=16,
        result_dtype=promoted,
        errors=bad_dim("cumprod"),
    ),
    OpSpec(
        "cummax", running(np.maximum, np.argmax), SPREAD, dtypes=FLOATING, errors=bad_dim("cummax")
    ),
    OpSpec(
        "cummin", running(np.minimum, np.argmin), SPREAD, dtypes=FLOATING, errors=bad_dim("cummin")
    ),
    OpSpec("logcumsumexp", logcumsumexp, DIMS, k=16, errors=bad_dim("logcumsumexp")),
    OpSpec(
        "diff",
        diff,
        case_samples(
            ((5,),),
            ((2, 3), 1, 0),
            ((2, 4), 2),
            ((2, 3), {"prepend": Shape((2, 1))}),
            ((2, 3), {"append": Shape((2, 2)), "dim": 1}),
        ),
        dtypes=("int32", *FLOATING),
        errors=[Case(args=(np.zeros(()),), match="diff")],
    ),
    OpSpec(
        "trapezoid",
        lambda y, x=None, dx=1.0, dim=-1: np.trapezoid(y, x, dx, dim),
        case_samples(((5,),), ((2, 3), {"dx": 0.5}), ((2, 3), {"dim": 0}), ((2, 3), Shape((3,)))),
        floor=8,
        method=False,
        errors=[Case(args=(np.zeros(3), np.zeros(2)), match="one `x` value")],
    ),
    OpSpec(
        "cumulative_trapezoid",
        lambda y, x=None, dx=1.0, dim=-1: np.cumsum(
            (np.take(y, range(1, y.shape[dim]), dim) + np.take(y, range(y.shape[dim] - 1), dim))
            * dx
            / 2,
            dim,
        ),
        case_samples(((5,),), ((2, 3), {"dx": 0.5}), ((2, 3), {"dim": 0})),
        floor=8,
        method=False,
        errors=[Case(args=(np.zeros(3), np.zeros(2)), match="one `x` value")],
    ),
]
