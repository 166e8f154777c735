"""Reading and writing by index."""

import numpy as np

from flambeau.testing.opspec import ALL, Case, Indices, OpSpec, Sample, Shape, case_samples

SOME = ("bool", "int32", "float32", "float64", "complex64")
OUT = Case(args=(np.zeros(3), 0, np.array([3])), raises=IndexError, match="out of range")


def spec(name, reference, samples, errors, dtypes=SOME, **options):
    return OpSpec(name, reference, samples, dtypes=dtypes, errors=errors, **options)


def along(x, dim, index, write):
    moved = np.moveaxis(x.copy() if x.ndim else x.reshape(1).copy(), dim, 0)
    write(moved, index)
    return np.moveaxis(moved, 0, dim).reshape(x.shape)


def index_add(x, dim, index, source, alpha=1):
    return along(x, dim, index, lambda m, i: np.add.at(m, i, alpha * np.moveaxis(source, dim, 0)))


def index_copy(x, dim, index, source):
    return along(x, dim, index, lambda m, i: m.__setitem__(i, np.moveaxis(source, dim, 0)))


def index_fill(x, dim, index, value):
    return along(x, dim, index, lambda m, i: m.__setitem__(i, value))


def masked(draw, shape=(3, 4)):
    return draw.array(shape), draw.mask(shape)


def masked_fill(x, mask, value):
    return np.where(mask, np.asarray(value), x).astype(x.dtype)


def masked_scatter(x, mask, source):
    result = x.copy()
    result[mask] = source.ravel()[: mask.sum()]
    return result


def put(x, index, source, accumulate=False):
    result = x.copy().ravel()
    if accumulate:
        np.add.at(result, index.ravel(), source.ravel())
    else:
        result[index.ravel()] = source.ravel()
    return result.reshape(x.shape)


def distinct(draw, count, size):
    from flambeau.testing.opspec import keep

    return keep(draw.rng.permutation(size)[:count].astype(np.int64))


NUMERIC = ("int32", "float32", "float64", "complex64")

SPECS = [
    spec(
        "index_select",
        lambda x, dim, index: np.take(x, index, dim),
        case_samples(
            ((5, 3), 0, Indices((4,), 5)),
            ((5, 3), -1, Indices((2,), 3)),
            ((4,), 0, Indices((0,), 4)),
        ),
        [OUT],
        dtypes=ALL,
        inplace=False,
    ),
    spec(
        "index_add",
        index_add,
        case_samples(
            ((5, 3), 0, Indices((4,), 5), Shape((4, 3))),
            ((5, 3), 1, Indices((2,), 3), Shape((5, 2)), {"alpha": 2}),
        ),
        [
            Case(
                args=(np.zeros(3), 0, np.array([3]), np.zeros(1)),
                raises=(IndexError, RuntimeError),
                match="out of bounds",
            )
        ],
        dtypes=NUMERIC,
        floor=8,
    ),
    spec(
        "index_copy",
        index_copy,
        lambda draw: [
            Sample((draw.array((5, 3)), 0, distinct(draw, 4, 5), draw.array((4, 3)))),
            Sample((draw.array((5, 3)), 1, distinct(draw, 2, 3), draw.array((5, 2)))),
        ],
        [
            Case(
                args=(np.zeros(3), 0, np.array([3]), np.zeros(1)),
                raises=(IndexError, RuntimeError),
                match="out of bounds",
            )
        ],
    ),
    spec(
        "index_fill",
        index_fill,
        case_samples(((5, 3), 0, Indices((2,), 5), 1), ((5, 3), 1, Indices((2,), 3), 0)),
        [
            Case(
                args=(np.zeros(3), 0, np.array([3]), 1.0),
                raises=(IndexError, RuntimeError),
                match="out of bounds",
            )
        ],
    ),
    spec(
        "masked_fill",
        masked_fill,
        lambda draw: [Sample((*masked(draw), 1)), Sample((draw.array((2, 3)), draw.mask((3,)), 0))],
        [Case(args=(np.zeros(3), np.zeros(3), 1.0), match="masked_fill|mask")],
    ),
    spec(
        "masked_select",
        lambda x, mask: np.broadcast_to(x, np.broadcast_shapes(x.shape, mask.shape))[
            np.broadcast_to(mask, np.broadcast_shapes(x.shape, mask.shape))
        ],
        lambda draw: [Sample(masked(draw)), Sample((draw.array((2, 3)), draw.mask((3,))))],
        [Case(args=(np.zeros(3), np.zeros(3)), match="masked_select|mask")],
        meta=False,
        inplace=False,
    ),
    spec(
        "masked_scatter",
        masked_scatter,
        lambda draw: [Sample((*masked(draw), draw.array((12,))))],
        [Case(args=(np.zeros(3), np.zeros(3), np.zeros(3)), match="masked_scatter|mask")],
    ),
    spec(
        "take",
        lambda x, index: np.take(x, index),
        case_samples(((3, 4), Indices((5,), 12)), ((3, 4), Indices((2, 2), 12))),
        [Case(args=(np.zeros(3), np.array([3])), raises=IndexError, match="take|out of range")],
        inplace=False,
    ),
    spec(
        "take_along_dim",
        lambda x, index, dim=None: np.take_along_axis(x, index, dim),
        case_samples(((3, 4), Indices((3, 2), 4), 1), ((3, 4), Indices((2, 4), 3), 0)),
        [Case(args=(np.zeros((2, 3)), np.zeros((2, 3)), 1), match="dtype of indices")],
        inplace=False,
    ),
    spec(
        "put",
        put,
        lambda draw: [
            Sample((draw.array((3, 4)), distinct(draw, 5, 12), draw.array((5,)))),
            Sample((draw.array((3, 4)), draw.index((5,), 12), draw.array((5,)), True)),
        ],
        [
            Case(
                args=(np.zeros(3), np.array([3]), np.zeros(1)),
                raises=(IndexError, RuntimeError),
                match="out of range",
            )
        ],
        dtypes=NUMERIC,
        function=None,
        floor=8,
    ),
    spec(
        "nonzero",
        lambda x: np.stack(np.nonzero(x), -1),
        case_samples(((5,),), ((2, 3),), ((0,),)),
        [Case(args=("text",), raises=TypeError, match="nonzero")],
        meta=False,
        grad=False,
        result_dtype=lambda d: "int64",
    ),
    spec(
        "argwhere",
        np.argwhere,
        case_samples(((5,),), ((2, 3),)),
        [Case(args=("text",), raises=(TypeError, AttributeError), match="must be Tensor")],
        meta=False,
        grad=False,
        result_dtype=lambda d: "int64",
    ),
]


def index_put(x, indices, values, accumulate=False):
    result = x.copy()
    where = tuple(slice(None) if index is None else index for index in indices)
    if accumulate:
        np.add.at(result, where, values)
    else:
        result[where] = values
    return result


def index_put_samples(draw):
    yield Sample((draw.array((5, 3)), [distinct(draw, 3, 5)], draw.array((3, 3))))
    yield Sample(
        (draw.array((5, 3)), [distinct(draw, 2, 5), draw.index((2,), 3)], draw.array((2,)))
    )
    yield Sample((draw.array((5, 3)), [draw.index((4,), 5)], draw.array((3,)), True))


REDUCE = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def index_reduce(x, dim, index, source, reduce, *, include_self=True):
    moved, parts = np.moveaxis(x.copy(), dim, 0), np.moveaxis(source, dim, 0)
    for i in range(moved.shape[0]):
        rows = list(parts[index == i])
        if not rows:
            continue
        rows = ([moved[i].copy()] if include_self else []) + rows
        if reduce == "mean":
            moved[i] = sum(rows) / len(rows)
        else:
            moved[i] = REDUCE[reduce].reduce(rows)
    return np.moveaxis(moved, 0, dim)


def index_reduce_samples(draw):
    for how in ("prod", "mean", "amax", "amin"):
        for include in (True, False):
            x, source = draw.spread((5, 3)), draw.spread((4, 3), -2.9, 2.8)
            yield Sample((x, 0, draw.index((4,), 5), source, how), {"include_self": include})


def nonzero_static(x, *, size, fill_value=-1):
    found = np.argwhere(x)[:size]
    return np.pad(found, [(0, size - len(found)), (0, 0)], constant_values=fill_value)


WIDE_INDEX = {"result_dtype": lambda dtype: "int64", "grad": False, "inplace": False}

SPECS += [
    spec("index_put", index_put, index_put_samples,
         [Case(args=(np.zeros(3), [np.array([3])], np.zeros(1)), raises=IndexError, match="out of bounds")],
         dtypes=NUMERIC, floor=8),
    spec("index_reduce", index_reduce, index_reduce_samples,
         [Case(args=(np.zeros(3), 0, np.array([0]), np.zeros(1), "sum"), match="reduce")],
         dtypes=("float32", "float64"), floor=8, k=8),
    spec("nonzero_static", nonzero_static,
         lambda draw: [Sample((np.round(draw.array((3, 4))),), {"size": size}) for size in (2, 12)],
         [Case(args=(np.zeros(3),), kwargs={"size": -1}, match="size")], **WIDE_INDEX),
    spec("unravel_index", np.unravel_index, lambda draw: [Sample((draw.index((2, 3), 24), (2, 3, 4)))],
         [Case(args=(np.array([1.0]), (2,)), raises=(RuntimeError, ValueError, TypeError), match="int")],
         dtypes=("int64",), method=False, **WIDE_INDEX),
]  # fmt: skip
