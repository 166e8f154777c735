"""Gather and scatter."""

import numpy as np

from flambeau.testing.opspec import ALL, Case, Indices, OpSpec, Sample, Shape, case_samples, keep

NUMERIC = ("int32", "float32", "float64", "complex64")
OUT = [
    Case(
        args=(np.zeros(3), 0, np.array([3]), np.zeros(1)),
        raises=(IndexError, RuntimeError),
        match="out of bounds",
    )
]


def positions(index, dim):
    places = list(np.indices(index.shape))
    places[dim] = index
    return tuple(places)


def scatter(x, dim, index, src):
    result = x.copy()
    result[positions(index, dim)] = src if np.isscalar(src) else src[tuple(map(slice, index.shape))]
    return result


def scatter_add(x, dim, index, src):
    result = x.copy()
    np.add.at(result, positions(index, dim), src[tuple(map(slice, index.shape))])
    return result


def scatter_reduce(x, dim, index, src, reduce, include_self=True):
    result = x.copy()
    source = src[tuple(map(slice, index.shape))]
    {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}[reduce].at(
        result, positions(index, dim), source
    )
    return result


def distinct_columns(draw):
    """Indices along dim 1 without repeats in a row: which write wins would be undefined."""
    return keep(np.stack([draw.rng.permutation(4)[:2] for _ in range(3)]).astype(np.int64))


def slice_scatter(x, src, dim=0, start=None, end=None, step=1):
    result = x.copy()
    np.moveaxis(result, dim, 0)[start:end:step] = np.moveaxis(src, dim, 0)
    return result


def select_scatter(x, src, dim, index):
    result = x.copy()
    np.moveaxis(result, dim, 0)[index] = src
    return result


def diagonal_scatter(x, src, offset=0):
    result = x.copy()
    rows = np.arange(len(src))
    result[rows - min(offset, 0), rows + max(offset, 0)] = src
    return result


SPECS = [
    OpSpec(
        "gather",
        lambda x, dim, index: np.take_along_axis(x, index, dim),
        case_samples(
            ((3, 4), 1, Indices((3, 2), 4)),
            ((5,), 0, Indices((0,), 5)),
            ((3, 4), 0, Indices((2, 4), 3)),
            ((3, 4), -1, Indices((3, 6), 4)),
        ),
        dtypes=ALL,
        inplace=False,
        errors=[
            Case(
                args=(np.zeros(3), 0, np.array([3])),
                raises=(IndexError, RuntimeError),
                match="out of bounds",
            )
        ],
    ),
    OpSpec(
        "scatter",
        scatter,
        lambda draw: [
            Sample((draw.array((3, 4)), 1, distinct_columns(draw), draw.array((3, 2)))),
            Sample((draw.array((3, 4)), 1, distinct_columns(draw), 1)),
        ],
        dtypes=NUMERIC,
        errors=OUT,
    ),
    OpSpec(
        "scatter_add",
        scatter_add,
        case_samples(
            ((3, 4), 1, Indices((3, 2), 4), Shape((3, 2))),
            ((3, 4), 0, Indices((6, 4), 3), Shape((6, 4))),
        ),
        dtypes=NUMERIC,
        floor=8,
        errors=OUT,
    ),
    *(
        OpSpec(
            "scatter_reduce",
            scatter_reduce,
            variant=how,
            samples=case_samples(
                ((3, 4), 0, Indices((4, 4), 3), Shape((4, 4)), how), low=0.5, high=2, spread=True
            ),
            dtypes=("float32", "float64"),
            floor=8,
            k=8,
            errors=[
                Case(args=(np.zeros(3), 0, np.array([0]), np.zeros(1), "nonsense"), match="reduce")
            ],
        )
        for how in ("sum", "prod", "amax", "amin")
    ),
    OpSpec(
        "slice_scatter",
        slice_scatter,
        case_samples(((5, 3), Shape((2, 3)), 0, 1, 3), ((5, 3), Shape((5, 2)), 1, 0, 3, 2)),
        dtypes=NUMERIC,
        errors=[
            Case(
                args=(np.zeros((5, 3)), np.zeros((3, 3)), 0, 1, 3), match="size equal to the slice"
            )
        ],
    ),
    OpSpec(
        "select_scatter",
        select_scatter,
        case_samples(((5, 3), Shape((3,)), 0, 1), ((5, 3), Shape((5,)), 1, -1)),
        dtypes=NUMERIC,
        errors=[Case(args=(np.zeros((5, 3)), np.zeros(2), 0, 1), match="size equal to the slice")],
    ),
    OpSpec(
        "diagonal_scatter",
        diagonal_scatter,
        case_samples(((3, 4), Shape((3,))), ((3, 4), Shape((2,)), -1)),
        dtypes=NUMERIC,
        errors=[Case(args=(np.zeros((3, 4)), np.zeros(2)), match="size equal to the slice")],
    ),
]
