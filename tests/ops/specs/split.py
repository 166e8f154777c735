"""Splitting into views."""

from dataclasses import replace

import numpy as np

from flambeau.testing.opspec import Case, OpSpec, case_samples


def split(x, size, dim=0):
    if isinstance(size, int):
        return tuple(np.split(x, range(size, x.shape[dim], size), dim)) if x.shape[dim] else (x,)
    return tuple(np.split(x, np.cumsum(size)[:-1], dim))


def chunk(x, chunks, dim=0):
    return split(x, max(-(-x.shape[dim] // chunks), 1), dim)


def tensor_split(x, indices_or_sections, dim=0):
    return tuple(np.array_split(x, indices_or_sections, dim))


def spec(name, reference, *cases, errors):
    return OpSpec(
        name,
        reference,
        case_samples(*cases),
        dtypes=("int32", "float32", "float64"),
        inplace=False,
        errors=errors,
    )


SPECS = [
    spec(
        "split",
        split,
        ((5,), 2),
        ((4, 3), 2),
        ((4, 3), 2, 1),
        ((5,), (1, 4)),
        ((2, 6), (1, 2, 3), 1),
        errors=[Case(args=(np.zeros(5), (2, 2)), match="split")],
    ),
    spec(
        "split_with_sizes",
        split,
        ((5,), (1, 4)),
        ((2, 6), (1, 2, 3), 1),
        errors=[Case(args=(np.zeros(5), (2, 2)), match="split")],
    ),
    spec(
        "chunk",
        chunk,
        ((5,), 2),
        ((4, 3), 3),
        ((4, 3), 2, 1),
        ((3,), 7),
        errors=[Case(args=(np.zeros(5), 0), match="chunk")],
    ),
    spec(
        "tensor_split",
        tensor_split,
        ((5,), 2),
        ((7,), 3),
        ((4, 3), (1, 2), 1),
        ((5,), (2, 2)),
        errors=[Case(args=(np.zeros(5), 0), match="number of sections must be larger than 0")],
    ),
    spec(
        "unbind",
        lambda x, dim=0: tuple(np.moveaxis(x, dim, 0)),
        ((3,),),
        ((2, 3), 1),
        ((2, 3, 4), -1),
        errors=[
            Case(
                args=(np.zeros((2, 3)), 2), raises=IndexError, match="unbind|Dimension out of range"
            )
        ],
    ),
    spec(
        "hsplit",
        lambda x, n: tuple(np.hsplit(x, n)),
        ((4,), 2),
        ((3, 4), 2),
        errors=[Case(args=(np.zeros((2, 3)), 2), match="hsplit")],
    ),
    spec(
        "vsplit",
        lambda x, n: tuple(np.vsplit(x, n)),
        ((4, 3), 2),
        errors=[Case(args=(np.zeros((3, 3)), 2), match="vsplit")],
    ),
    spec(
        "dsplit",
        lambda x, n: tuple(np.dsplit(x, n)),
        ((2, 3, 4), 2),
        errors=[Case(args=(np.zeros((2, 2, 3)), 2), match="dsplit")],
    ),
]

BY_NAME = {spec.name: spec for spec in SPECS}
COUNTED = (((5,), 2), ((4, 3), 2), ((4, 3), 2, 1))
WRONG_SIZE = [Case(args=(np.zeros(5), -1), match="split|non-negative")]
# Forms without views: pieces with memory of their own, and pieces that autograd sees as no views.
SPECS += [
    spec("split_copy", split, *COUNTED, errors=WRONG_SIZE),
    spec("unsafe_split", split, *COUNTED, errors=WRONG_SIZE),
    *(
        replace(BY_NAME[base], name=name)
        for base, name in (
            ("split_with_sizes", "split_with_sizes_copy"),
            ("split_with_sizes", "unsafe_split_with_sizes"),
            ("chunk", "unsafe_chunk"),
            ("unbind", "unbind_copy"),
        )
    ),
]
