"""How to write a spec file (this one is not loaded: its name starts with an underscore).

One file per family, named like the family's file in flambeau/ops. It defines SPECS, a list of OpSpec. An OpSpec needs a
name, a reference over NumPy arrays and a generator of samples; that alone drives all suites of tests/ops: values in all
`dtypes`, zero-size, 0-d and broadcast shapes, strided, transposed and expanded inputs, first and second derivatives,
the in-place and out= forms, the method, the meta result, and every CPU level.

    PYTHONPATH=src python -m pytest -q tests/ops -k logaddexp
"""

import numpy as np
import scipy.special

from flambeau.testing.opspec import (
    ALL,
    FLOATING,
    HALVES,
    INTEGERS,
    Case,
    Draw,
    Indices,
    OpSpec,
    Sample,
    Shape,
    binary_samples,
    case_samples,
    join_samples,
    reduction_samples,
    unary_samples,
)


def sum_reference(x, dim=None, keepdim=False):
    return np.sum(x, axis=dim, keepdims=keepdim)


def gather_samples(draw: Draw):
    """Samples written by hand: draw.array for data, draw.index for indices (kept int64), draw.mask for masks."""
    yield Sample((draw.array((3, 4)), 1, draw.index((3, 2), 4)))
    yield Sample((draw.array((5,)), 0, draw.index((0,), 5)))


SPECS = [
    # Elementwise, one input. `specials` adds 0, -0, 1, -1, inf, -inf, nan; `avoid` keeps gradients away from kinks.
    OpSpec(
        "erf",
        reference=scipy.special.erf,
        samples=unary_samples(low=-4, high=4, specials=True),
        dtypes=(*HALVES, *FLOATING),
        errors=[Case(args=("text",), raises=TypeError, match="erf")],
    ),
    OpSpec(
        "abs",
        reference=np.abs,
        samples=unary_samples(avoid=(0,)),
        dtypes=ALL[1:],
        errors=[Case(args=(), raises=TypeError, match="abs")],
    ),
    # Two inputs over broadcasting pairs; `numbers` tries Python numbers as the second operand.
    OpSpec(
        "logaddexp",
        reference=np.logaddexp,
        samples=binary_samples(low=-50, high=50, specials=True),
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match="logaddexp: expected")],
    ),
    OpSpec(
        "add",
        reference=lambda a, b, alpha=1: a + alpha * b,
        dtypes=(*INTEGERS, *FLOATING),
        samples=binary_samples(numbers=(2, 0.5), kwargs=({}, {"alpha": 2})),
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match="add: expected")],
    ),
    # Reductions: no dim, one dim, several dims, keepdim, empty. More than the default k = 4 needs a comment.
    OpSpec(
        "sum",
        reference=sum_reference,
        samples=reduction_samples(),
        k=8,  # the reference sums in float64, the op in float32
        errors=[Case(args=(np.zeros((2, 3)), 2), raises=IndexError, match="sum: expected dim in")],
    ),
    # Anything else: explicit calls (shape of the first tensor, other arguments, keywords). Shape is a further tensor,
    # Indices an index tensor; a list of Shapes is a list of tensors.
    OpSpec(
        "where",
        reference=np.where,
        samples=lambda draw: [Sample((draw.mask((2, 3)), draw.array((2, 3)), draw.array((3,))))],
        errors=[Case(args=(np.zeros(2), np.zeros(2), np.zeros(3)), match="where")],
    ),
    OpSpec(
        "cat",
        reference=lambda tensors, dim=0: np.concatenate(tensors, dim),
        inplace=False,
        samples=case_samples(
            ([Shape((2, 3)), Shape((1, 3))], 0), ([Shape((2, 1)), Shape((2, 0))], {"dim": 1})
        ),
        errors=[Case(args=([np.zeros((2, 3)), np.zeros((2, 2))], 0), match="cat: expected")],
    ),
    OpSpec(
        "index_select",
        reference=lambda x, dim, index: np.take(x, index, dim),
        dtypes=ALL,
        samples=join_samples(
            case_samples(((5, 3), 0, Indices((4,), 5)), ((5, 3), -1, Indices((0,), 3)))
        ),
        errors=[
            Case(
                args=(np.zeros(3), 0, np.array([3])),
                raises=IndexError,
                match="index_select: expected",
            )
        ],
    ),
    OpSpec(
        "gather",
        reference=lambda x, dim, index: np.take_along_axis(x, index, dim),
        samples=gather_samples,
        errors=[
            Case(args=(np.zeros(3), 0, np.array([3])), raises=IndexError, match="gather: expected")
        ],
    ),
]
