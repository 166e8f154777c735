"""Reductions: one value from many."""

import numpy as np

from flambeau.testing.opspec import (
    ALL,
    COMPLEX,
    FLOATING,
    HALVES,
    INTEGERS,
    Case,
    OpSpec,
    case_samples,
    join_samples,
    reduction_samples,
)

REAL = (*HALVES, *FLOATING)
LONG = (
    70  # elements of the longest sum: errors are relative to the sum of magnitudes, not to the sum
)


def axis(dim):
    return tuple(dim) if isinstance(dim, list | tuple) else dim


def numpy_reduction(function, **fixed):
    def reference(x, dim=None, keepdim=False, **options):
        # A 0-d array has no axes for NumPy; PyTorch lets dim be 0 or -1.
        if x.ndim == 0 and dim is not None:
            return function(x.reshape(1), axis=0, keepdims=False, **options, **fixed)
        return function(x, axis=axis(dim), keepdims=keepdim, **options, **fixed)

    return reference


def reduction(name, function, dtypes=REAL, samples=None, **options):
    bad_dim = Case(
        args=(np.zeros((2, 3)), 2), raises=IndexError, match=f"{name}|Dimension out of range"
    )
    return OpSpec(
        name,
        numpy_reduction(function),
        samples or reduction_samples(),
        dtypes=dtypes,
        errors=options.pop("errors", [bad_dim]),
        **options,
    )


def extreme(function, position):
    def reference(x, dim=None, keepdim=False):
        if dim is None:
            return function(x)
        flat = x.reshape(1) if x.ndim == 0 else x
        places = position(flat, axis=dim, keepdims=keepdim and x.ndim > 0)
        return function(flat, axis=dim, keepdims=keepdim and x.ndim > 0), places

    return reference


def arg_extreme(position):
    def reference(x, dim=None, keepdim=False):
        if x.ndim == 0:
            return np.int64(0)
        return position(x, axis=dim, keepdims=keepdim)

    return reference


NOT_EMPTY = reduction_samples(several=False, empty=False, spread=True)
SOME = reduction_samples(empty=False, spread=True)


def std_reference(function):
    def reference(x, dim=None, correction=1, keepdim=False):
        return function(x, axis=axis(dim), ddof=correction, keepdims=keepdim)

    return reference


SPREAD = case_samples(
    ((5,),),
    ((2, 3),),
    ((4, 3), {"dim": 0}),
    ((4, 3), {"dim": 1, "keepdim": True}),
    ((2, 3, 4), {"dim": (0, 2), "correction": 0}),
    ((40, 70), {"dim": 0}),
    ((40, 70), {"dim": 1, "correction": 2}),
)


def norm_reference(x, p=2, dim=None, keepdim=False):
    flat = np.abs(x)
    if p == np.inf:
        return flat.max(axis=axis(dim), keepdims=keepdim)
    return (flat**p).sum(axis=axis(dim), keepdims=keepdim) ** (1 / p)


SPECS = [
    reduction(
        "sum",
        np.sum,
        dtypes=ALL,
        floor=LONG,
        result_dtype=lambda d: d if d not in ("bool", *INTEGERS) else "int64",
    ),
    reduction(
        "mean", np.mean, dtypes=(*REAL, *COMPLEX), samples=reduction_samples(empty=False), floor=2
    ),
    reduction("nansum", np.nansum, dtypes=FLOATING, floor=LONG),
    reduction(
        "nanmean", np.nanmean, dtypes=FLOATING, samples=reduction_samples(empty=False), floor=2
    ),
    reduction(
        "prod",
        np.prod,
        dtypes=(*FLOATING, "complex128"),
        samples=reduction_samples(0.5, 1.5, several=False),
        k=64,
    ),
    reduction("amax", np.max, dtypes=(*INTEGERS, *REAL), samples=SOME),
    reduction("amin", np.min, dtypes=(*INTEGERS, *REAL), samples=SOME),
    reduction(
        "all",
        np.all,
        dtypes=("bool", "uint8", "int32", *FLOATING),
        grad=False,
        result_dtype=lambda d: "uint8" if d == "uint8" else "bool",
    ),
    reduction(
        "any",
        np.any,
        dtypes=("bool", "uint8", "int32", *FLOATING),
        grad=False,
        result_dtype=lambda d: "uint8" if d == "uint8" else "bool",
    ),
    OpSpec(
        "max",
        extreme(np.max, np.argmax),
        NOT_EMPTY,
        dtypes=REAL,
        errors=[Case(args=(np.zeros((2, 0)), 1), raises=IndexError, match="max")],
    ),
    OpSpec(
        "min",
        extreme(np.min, np.argmin),
        NOT_EMPTY,
        dtypes=REAL,
        errors=[Case(args=(np.zeros((2, 0)), 1), raises=IndexError, match="min")],
    ),
    OpSpec(
        "argmax",
        arg_extreme(np.argmax),
        NOT_EMPTY,
        dtypes=REAL,
        grad=False,
        result_dtype=lambda d: "int64",
        errors=[Case(args=(np.zeros(0),), raises=(IndexError, RuntimeError), match="argmax")],
    ),
    OpSpec(
        "argmin",
        arg_extreme(np.argmin),
        NOT_EMPTY,
        dtypes=REAL,
        grad=False,
        result_dtype=lambda d: "int64",
        errors=[Case(args=(np.zeros(0),), raises=(IndexError, RuntimeError), match="argmin")],
    ),
    OpSpec(
        "aminmax",
        lambda x, dim=None, keepdim=False: (
            numpy_reduction(np.min)(x, dim, keepdim),
            numpy_reduction(np.max)(x, dim, keepdim),
        ),
        case_samples(
            ((5,), {"dim": 0}), ((2, 3), {"dim": 1, "keepdim": True}), ((2, 3),), spread=True
        ),
        dtypes=("int32", *FLOATING),
        errors=[Case(args=(np.zeros(0),), match="aminmax|reduce")],
    ),
    OpSpec(
        "count_nonzero",
        lambda x, dim=None: np.count_nonzero(x, axis=axis(dim)),
        case_samples(((5,),), ((2, 3), {"dim": 0}), ((2, 3, 4), {"dim": (0, 2)}), ((0,),)),
        dtypes=ALL,
        grad=False,
        result_dtype=lambda d: "int64",
        errors=[
            Case(
                args=(np.zeros(3), 1),
                raises=IndexError,
                match="count_nonzero|Dimension out of range",
            )
        ],
    ),
    OpSpec(
        "var",
        std_reference(np.var),
        SPREAD,
        floor=4,
        k=16,  # along columns the first row stands in for the mean
        errors=[Case(args=(np.zeros(3), 1), raises=IndexError, match="var|Dimension out of range")],
    ),
    OpSpec(
        "std",
        std_reference(np.std),
        SPREAD,
        floor=4,
        k=16,  # along columns the first row stands in for the mean
        errors=[Case(args=(np.zeros(3), 1), raises=IndexError, match="std|Dimension out of range")],
    ),
    OpSpec(
        "norm",
        norm_reference,
        join_samples(
            case_samples(
                ((5,),),
                ((2, 3), 2),
                ((2, 3), 1, 0),
                ((2, 3), 3, 1, True),
                ((2, 3), np.inf, 0),
                ((40, 70), 2, 1),
            )
        ),
        k=8,  # a power of a sum of powers
        errors=[
            Case(args=(np.zeros(3), 2, 1), raises=IndexError, match="norm|Dimension out of range")
        ],
    ),
]
