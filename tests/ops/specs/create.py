"""New tensors of known values."""

import numpy as np

from flambeau.testing.opspec import FLOATING, Case, OpSpec, Sample, case_samples

NOT_A_SIZE = [Case(args=("text",), raises=TypeError, match="")]


def spec(name, reference, *calls, errors=NOT_A_SIZE, result="float32", **options):
    def samples(draw):
        return [Sample(call) for call in calls]

    return OpSpec(name, reference, samples, dtypes=("float32",), grad=False, views=False, method=False,
                  meta=False, inplace=False,
                  errors=errors, result_dtype=lambda dtype: result, **options)  # fmt: skip


def like(name, reference):
    return OpSpec(name, reference, case_samples(((2, 3),), ((),), ((0, 3),)),
                  dtypes=("bool", "int32", *FLOATING, "complex64"),
                  grad=False, views=False, inplace=False, method=False, errors=NOT_A_SIZE)  # fmt: skip


NEGATIVE = [Case(args=((-1,),), match="negative|non-negative|dimension")]

SPECS = [
    spec("zeros", np.zeros, ((2, 3),), ((),), ((0, 2),), errors=NEGATIVE),
    spec("ones", np.ones, ((2, 3),), ((),), errors=NEGATIVE),
    spec(
        "full",
        lambda size, value: np.full(size, value),
        ((2, 3), 1.5),
        ((), 2.5),
        errors=NOT_A_SIZE,
    ),
    spec(
        "arange",
        lambda *a: np.arange(*a),
        (5,),
        (2, 7),
        (7, 2, -2),
        (0,),
        result="int64",
        errors=[Case(args=(1, 5, -1), match="")],
    ),
    spec(
        "arange",
        lambda *a: np.arange(*a),
        (0.0, 1.0, 0.25),
        (2.5,),
        variant="float",
        errors=[Case(args=(0.0, 1.0, 0.0), match="")],
    ),
    spec(
        "linspace",
        np.linspace,
        (0, 1, 5),
        (-2.0, 3.0, 1),
        (1, 2, 0),
        (3, -3, 100),
        errors=[Case(args=(0, 1, -1), match="steps")],
    ),
    spec(
        "logspace",
        np.logspace,
        (0, 1, 5),
        (-2.0, 1.0, 3),
        errors=[Case(args=(0, 1, -1), match="steps")],
        k=32,
    ),
    spec("eye", np.eye, (3,), (2, 4), (0,), errors=[Case(args=(-1,), match="")]),
    spec(
        "tril_indices",
        lambda r, c, offset=0: np.stack(np.tril_indices(r, offset, c)),
        (3, 3),
        (3, 4, 1),
        (4, 3, -1),
        result="int64",
    ),
    spec(
        "triu_indices",
        lambda r, c, offset=0: np.stack(np.triu_indices(r, offset, c)),
        (3, 3),
        (3, 4, 1),
        (4, 3, -1),
        result="int64",
    ),
    like("zeros_like", np.zeros_like),
    like("ones_like", np.ones_like),
    OpSpec(
        "full_like",
        lambda x, value: np.full_like(x, value),
        case_samples(((2, 3), 2), ((), 1)),
        dtypes=("int32", *FLOATING),
        grad=False,
        views=False,
        inplace=False,
        method=False,
        errors=[Case(args=(np.zeros(2),), raises=TypeError, match="")],
    ),
    OpSpec(
        "clone",
        lambda x: x.copy(),
        case_samples(((2, 3),), ((),), ((0, 3),)),
        dtypes=("bool", "int32", *FLOATING, "complex64"),
        errors=NOT_A_SIZE,
        out=False,
    ),
]
