"""Joining, repeating, reversing."""

import itertools

import numpy as np

from flambeau.testing.opspec import ALL, Case, OpSpec, Shape, case_samples

SOME = ("bool", "int32", "float32", "float64", "complex64")
DIFFERENT = [np.zeros((2, 3)), np.zeros((2, 2))]


def spec(name, reference, *cases, errors, dtypes=SOME, **options):
    return OpSpec(
        name,
        reference,
        case_samples(*cases),
        dtypes=dtypes,
        inplace=False,
        errors=errors,
        **options,
    )


def joiner(function):
    return lambda tensors, *args, **kwargs: function(
        [np.asarray(t) for t in tensors], *args, **kwargs
    )


def cat(tensors, dim=0):
    return np.concatenate(tensors, dim)


def repeat_interleave(x, repeats, dim=None):
    return np.repeat(x, repeats, dim)


def roll(x, shifts, dims=None):
    return np.roll(x, shifts, dims)


def tile(x, dims):
    return np.tile(x, dims)


def meshgrid(*tensors, indexing="ij"):
    return tuple(np.meshgrid(*tensors, indexing=indexing))


A, B, V = Shape((2, 3)), Shape((4, 3)), Shape((3,))

SPECS = [
    spec(
        "cat",
        cat,
        ([A, B],),
        ([A, Shape((2, 1)), Shape((2, 0))], {"dim": 1}),
        ([V],),
        ([A, A, A], -1),
        dtypes=ALL,
        errors=[
            Case(args=(DIFFERENT, 0), match="cat|Sizes of tensors|non-empty"),
            Case(
                args=([],),
                raises=(RuntimeError, ValueError),
                match="cat|Sizes of tensors|non-empty",
            ),
        ],
    ),
    spec(
        "stack",
        joiner(lambda t, dim=0: np.stack(t, dim)),
        ([A, A],),
        ([A, A], 1),
        ([A, A, A], -1),
        ([Shape(()), Shape(())],),
        errors=[Case(args=(DIFFERENT,), match="stack")],
    ),
    spec(
        "hstack",
        joiner(np.hstack),
        ([V, V],),
        ([A, A],),
        ([Shape(()), V],),
        errors=[
            Case(args=([np.zeros((2, 3)), np.zeros((3, 3))],), match="Sizes of tensors must match")
        ],
    ),
    spec(
        "vstack",
        joiner(np.vstack),
        ([V, V],),
        ([A, B],),
        errors=[Case(args=(DIFFERENT,), match="Sizes of tensors must match")],
    ),
    spec(
        "dstack",
        joiner(np.dstack),
        ([V, V],),
        ([A, A],),
        errors=[Case(args=(DIFFERENT,), match="Sizes of tensors must match")],
    ),
    spec(
        "column_stack",
        joiner(np.column_stack),
        ([V, V],),
        ([A, A],),
        errors=[Case(args=([np.zeros(2), np.zeros(3)],), match="Sizes of tensors must match")],
    ),
    spec(
        "flip",
        lambda x, dims: np.flip(x, dims),
        ((2, 3), (0,)),
        ((2, 3), (0, 1)),
        ((5,), (-1,)),
        ((2, 0), (0,)),
        errors=[
            Case(args=(np.zeros(3), (1,)), raises=IndexError, match="flip|Dimension out of range")
        ],
    ),
    spec("fliplr", np.fliplr, ((2, 3),), errors=[Case(args=(np.zeros(3),), match="2-d")]),
    spec("flipud", np.flipud, ((2, 3),), errors=[Case(args=(np.zeros(()),), match="1-d")]),
    spec(
        "rot90",
        lambda x, k=1, dims=(0, 1): np.rot90(x, k, dims),
        ((2, 3),),
        ((2, 3), 2),
        ((2, 3), -1),
        ((2, 3, 4), 1, (1, 2)),
        errors=[Case(args=(np.zeros(3),), match="dims >= 2")],
    ),
    spec(
        "roll",
        roll,
        ((5,), 2),
        ((2, 3), 1, 0),
        ((2, 3), (1, -1), (0, 1)),
        ((2, 3), 4),
        errors=[Case(args=(np.zeros(3), (1, 2), (0,)), match="roll|dim")],
    ),
    spec(
        "tile",
        tile,
        ((3,), (2,)),
        ((2, 3), (2, 1)),
        ((2, 3), (2,)),
        ((3,), (2, 2)),
        errors=[Case(args=(np.zeros(3), (-1,)), match="negative dimension")],
    ),
    spec(
        "Tensor.repeat",
        lambda x, *n: np.tile(x, n),
        ((3,), 2),
        ((2, 3), 2, 1),
        ((3,), 2, 2),
        ((2, 3), 0, 1),
        errors=[Case(args=(np.zeros((2, 3)), 2), match="[Rr]epeat")],
    ),
    spec(
        "repeat_interleave",
        repeat_interleave,
        ((3,), 2),
        ((2, 3), 2, 1),
        ((2, 3), 3, 0),
        errors=[Case(args=(np.zeros(3), -1), match="[Rr]epeat")],
    ),
    spec(
        "kron",
        np.kron,
        ((2,), Shape((3,))),
        ((2, 3), Shape((3, 2))),
        dtypes=("int32", "float32", "float64"),
        errors=[Case(args=(np.zeros(2),), raises=TypeError, match="other")],
    ),
    spec(
        "block_diag",
        lambda *t: np.block(
            [
                [t[0], np.zeros((t[0].shape[0], t[1].shape[1]), t[0].dtype)],
                [np.zeros((t[1].shape[0], t[0].shape[1]), t[0].dtype), t[1]],
            ]
        ),
        ((2, 3), Shape((1, 2))),
        dtypes=("float32", "float64"),
        errors=[Case(args=(np.zeros((2, 2, 2)),), match="2 or fewer dimensions")],
    ),
    spec(
        "meshgrid",
        meshgrid,
        ((2,), Shape((3,)), {"indexing": "ij"}),
        ((2,), Shape((3,)), {"indexing": "xy"}),
        errors=[
            Case(args=(np.zeros((2, 2)), np.zeros(2)), kwargs={"indexing": "ij"}, match="0D or 1D")
        ],
    ),
    spec(
        "cartesian_prod",
        lambda a, b: np.stack([g.ravel() for g in np.meshgrid(a, b, indexing="ij")], -1),
        ((2,), Shape((3,))),
        errors=[Case(args=(np.zeros((2, 2)), np.zeros(2)), match="1D vector")],
    ),
]


def combinations(x, r=2, with_replacement=False):
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return np.array(list(pick(x, r)), x.dtype).reshape(-1, r)


SPECS += [
    spec("combinations", combinations, ((5,),), ((4,), 3), ((3,), 2, True), method=None,
         errors=[Case(args=(np.zeros((2, 2)),), match="1D|1-D|one-dimensional|1 dim"),
                 Case(args=(np.zeros(2), -1), match="non-negative")]),
]  # fmt: skip
