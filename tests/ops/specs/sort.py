"""Sorting and order statistics. Samples are spread, so that ties do not make the answer ambiguous."""

import numpy as np

from flambeau.testing.opspec import FLOATING, Case, OpSpec, case_samples


def bad_dim(name):
    return [
        Case(args=(np.zeros((2, 3)), 2), raises=IndexError, match=f"{name}|Dimension out of range")
    ]


def argsort(x, dim=-1, descending=False, stable=False):
    if x.ndim == 0:
        return np.int64(0)
    return np.argsort(-x if descending else x, axis=dim, kind="stable")


def sort(x, dim=-1, descending=False, stable=False):
    if x.ndim == 0:
        return x, np.int64(0)
    places = argsort(x, dim, descending)
    return np.take_along_axis(x, places, dim), places


def topk(x, k, dim=-1, largest=True, sorted=True):
    values, places = sort(x, dim, descending=largest)
    return np.take(values, range(k), dim), np.take(places, range(k), dim)


def kthvalue(x, k, dim=-1, keepdim=False):
    values, places = sort(x, dim)
    pick = [k - 1] if keepdim else k - 1
    return np.take(values, pick, dim), np.take(places, pick, dim)


def median(x, dim=None, keepdim=False):
    if dim is None:
        return np.sort(x, axis=None)[(x.size - 1) // 2]
    return kthvalue(x, (x.shape[dim] + 1) // 2, dim, keepdim)


SORTED = case_samples(
    ((),),
    ((5,),),
    ((2, 3), 0),
    ((2, 3), -1, True),
    ((2, 3, 4), 1),
    ((0,),),
    ((3, 300), 1),
    spread=True,
)
STABLE = case_samples(
    ((2, 3), {"stable": True}),
    ((3, 300), {"dim": 0, "descending": True, "stable": True}),
    spread=True,
)

TIES = False  # an expanded view is all ties: any index would do

SPECS = [
    OpSpec("sort", sort, SORTED, dtypes=FLOATING, errors=bad_dim("sort")),
    OpSpec("sort", sort, STABLE, variant="stable", errors=bad_dim("sort")),
    OpSpec(
        "argsort",
        argsort,
        SORTED,
        dtypes=FLOATING,
        grad=False,
        result_dtype=lambda d: "int64",
        errors=bad_dim("argsort"),
    ),
    OpSpec(
        "msort",
        lambda x: np.sort(x, 0),
        case_samples(((5,),), ((4, 3),), spread=True),
        errors=[Case(args=(), raises=TypeError, match="msort")],
    ),
    OpSpec(
        "topk",
        views=TIES,
        reference=topk,
        samples=case_samples(
            ((5,), 2), ((2, 6), 3, 1), ((4, 3), 2, 0, False), ((3, 300), 7), spread=True
        ),
        dtypes=FLOATING,
        errors=[Case(args=(np.zeros(3), 4), match="topk|out of range")],
    ),
    OpSpec(
        "kthvalue",
        views=TIES,
        reference=kthvalue,
        samples=case_samples(((5,), 2), ((2, 6), 3, 1, True), ((4, 3), 1, 0), spread=True),
        errors=[Case(args=(np.zeros(3), 4), match="kthvalue|out of range")],
    ),
    OpSpec(
        "median",
        views=TIES,
        reference=median,
        samples=case_samples(((5,),), ((6,),), ((2, 6), 1), ((4, 3), 0, True), spread=True),
        errors=bad_dim("median"),
    ),
    OpSpec(
        "nanmedian",
        views=TIES,
        reference=median,
        samples=case_samples(((5,),), ((2, 6), 1), ((4, 3), 0, True), spread=True),
        errors=bad_dim("nanmedian"),
    ),
    OpSpec(
        "mode",
        views=TIES,
        reference=lambda x, dim=-1, keepdim=False: kthvalue(x, 1, dim, keepdim),
        samples=case_samples(((5,),), ((2, 6), 1), ((4, 3), 0, True), spread=True),
        errors=bad_dim("mode"),
    ),
]
