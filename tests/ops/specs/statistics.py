"""Spread, quantiles, covariance and distances."""

import warnings

import numpy as np

from flambeau.testing.opspec import (
    COMPLEX,
    FLOATING,
    HALVES,
    Case,
    OpSpec,
    Sample,
    Shape,
    case_samples,
)


def var(x, dim=None, correction=1, keepdim=False):
    return np.var(x, axis=dim, ddof=correction, keepdims=keepdim)


def std(x, dim=None, correction=1, keepdim=False):
    return np.sqrt(var(x, dim, correction, keepdim))


SPREAD = case_samples(
    ((5,),),
    ((4, 3), 0),
    ((4, 3), 1, {"correction": 0}),
    ((2, 3, 4), (0, 2), {"keepdim": True}),
    ((40, 70), 0),
    ((40, 70), 1),
)
BAD = [Case(args=(np.zeros((2, 3)), 2), raises=IndexError, match="Dimension out of range")]


def quantile(x, q, dim=None, keepdim=False, interpolation="linear"):
    return np.quantile(x, q, axis=dim, keepdims=keepdim, method=interpolation)


def p_norm(d, p, axis=-1, keepdims=False):
    if p == np.inf:
        return np.abs(d).max(axis, keepdims=keepdims)
    return (np.abs(d) ** p).sum(axis, keepdims=keepdims) ** (1 / p)


def cosine(a, b, dim=1, eps=1e-8):
    return (a * b).sum(dim) / (p_norm(a, 2, dim) * p_norm(b, 2, dim))


SPECS = [
    # The square of a deviation doubles its relative error.
    OpSpec("var", var, SPREAD, dtypes=(*HALVES, *FLOATING, *COMPLEX), k=8, errors=BAD),
    OpSpec("std", std, SPREAD, dtypes=(*HALVES, *FLOATING), k=8, errors=BAD),
    OpSpec(
        "var_mean",
        lambda x, *a, **k: (
            var(x, *a, **k),
            x.mean(a[0] if a else None, keepdims=k.get("keepdim", False)),
        ),
        SPREAD,
        k=8,
        errors=BAD,
    ),
    OpSpec(
        "std_mean",
        lambda x, *a, **k: (
            std(x, *a, **k),
            x.mean(a[0] if a else None, keepdims=k.get("keepdim", False)),
        ),
        SPREAD,
        k=8,
        errors=BAD,
    ),
    OpSpec(
        "quantile",
        quantile,
        case_samples(
            ((7,), 0.3),
            ((4, 5), 0.5, 1),
            ((4, 5), 0.25, 0, True),
            ((4, 5), 0.4, 1, {"interpolation": "lower"}),
            ((4, 5), 0.4, 1, {"interpolation": "higher"}),
            ((4, 5), 0.4, 1, {"interpolation": "midpoint"}),
            spread=True,
        ),
        k=16,
        views=False,
        meta=False,
        errors=[
            Case(args=(np.zeros(3), 2.0), match="range"),
            Case(args=(np.zeros(0), 0.5), match="non-empty"),
        ],
    ),
    OpSpec(
        "cov",
        lambda x, correction=1: np.cov(x, ddof=correction),
        case_samples(((3, 6),), ((2, 5), {"correction": 0})),
        k=16,
        views=False,
        meta=False,
        errors=[Case(args=(np.zeros((2, 2, 2)),), match="two or fewer")],
    ),
    OpSpec(
        "corrcoef",
        np.corrcoef,
        case_samples(((3, 6),)),
        k=32,
        views=False,
        meta=False,
        errors=[Case(args=(np.zeros((2, 2, 2)),), match="two or fewer")],
    ),
    OpSpec(
        "dist",
        lambda a, b, p=2: p_norm((a - b).ravel(), p),
        case_samples(((3, 4), Shape((3, 4))), ((5,), Shape((5,)), 3)),
        k=16,
        errors=[Case(args=(np.zeros(3), np.zeros(4)), match="broadcast")],
    ),
    OpSpec(
        "nn.functional.pairwise_distance",
        lambda a, b, p=2.0, eps=1e-6, keepdim=False: p_norm(a - b + eps, p, keepdims=keepdim),
        case_samples(((4, 3), Shape((4, 3))), ((4, 3), Shape((4, 3)), 1.0, 0.1, True)),
        k=16,
        errors=[Case(args=(np.zeros((2, 3)), np.zeros((2, 4))), match="broadcast")],
    ),
    OpSpec(
        "nn.functional.cosine_similarity",
        cosine,
        case_samples(((4, 3), Shape((4, 3))), ((4, 3), Shape((4, 3)), 0), low=0.5, high=2),
        k=16,
        errors=[Case(args=(np.zeros((2, 3)), np.zeros((2, 4))), match="broadcast")],
    ),
]


def nanquantile(x, q, dim=None, keepdim=False, interpolation="linear"):
    with warnings.catch_warnings():  # NumPy warns of slices of NaN only
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanquantile(x, q, axis=dim, keepdims=keepdim, method=interpolation)


def nan_samples(draw):
    for dim in (None, 0, 1):
        x = draw.spread((5, 7))
        if not draw.smooth:
            x.ravel()[::6] = np.nan
        yield Sample((x, 0.3), {"dim": dim})
        yield Sample((x, 0.6), {"dim": dim, "keepdim": True, "interpolation": "nearest"})


def gradient(x, *, spacing=1, dim=None, edge_order=1):
    found = np.gradient(x, spacing, axis=dim, edge_order=edge_order)
    return tuple(found) if isinstance(found, (list, tuple)) else (found,)


SPECS += [
    OpSpec("nanquantile", nanquantile, nan_samples, k=8, meta=False,
           errors=[Case(args=(np.zeros(2), 2.0), match=r"\[0, 1\]|range")]),
    OpSpec("gradient", gradient,
           case_samples(((6,),), ((4, 5),), ((4, 5), {"dim": 1, "spacing": 0.5}), ((5, 4), {"edge_order": 2})),
           k=8, method=False, errors=[Case(args=(np.zeros(1),), match="edge_order|size")]),
]  # fmt: skip
