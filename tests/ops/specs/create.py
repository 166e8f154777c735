"""New tensors of known values."""

import warnings

import numpy as np

import flambeau
from flambeau.testing.opcheck import resolve
from flambeau.testing.opspec import FLOATING, Case, OpSpec, Sample, case_samples

NOT_A_SIZE = [Case(args=("text",), raises=TypeError, match="argument")]


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
        errors=[Case(args=(1, 5, -1), match="inconsistent with step sign")],
    ),
    spec(
        "arange",
        lambda *a: np.arange(*a),
        (0.0, 1.0, 0.25),
        (2.5,),
        variant="float",
        errors=[Case(args=(0.0, 1.0, 0.0), match="step must be nonzero")],
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
    spec(
        "eye",
        np.eye,
        (3,),
        (2, 4),
        (0,),
        errors=[Case(args=(-1,), match="n must be greater or equal to 0")],
    ),
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
        errors=[Case(args=(np.zeros(2),), raises=TypeError, match="full_like.*fill_value")],
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


def quiet_range(*args):
    """It is deprecated for arange, and says so: tests/ops/test_create.py."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return flambeau.range(*args)


def filled(function):
    """What an uninitialised tensor is: its shape and dtype; the values are written over."""
    return lambda *args, **kwargs: resolve(function)(*args, **kwargs).fill_(1)


def uninitialised(name, shape_of, *calls, error):
    return spec(
        name,
        lambda *args: np.ones(shape_of(*args)),
        *calls,
        errors=[error],
        function=filled(name),
        out=False,
    )


def as_tensor_samples(draw):
    yield Sample(([[1.5, 2.0], [3.0, 4.0]],))
    yield Sample(((1.0, 2.0),))
    yield Sample((2.5,))


def converted(name, *, error):
    return OpSpec(name, np.asarray, as_tensor_samples, dtypes=("float32",), grad=False, views=False, method=False,
                  meta=False, inplace=False, out=False, errors=[error],
                  result_dtype=lambda dtype: "float32")  # fmt: skip


RAGGED = Case(args=([[1.0], [2.0, 3.0]],), raises=ValueError, match="expected sequence of length 1")

SPECS += [
    uninitialised("empty", lambda size: size, ((2, 3),), ((),), ((0, 2),), error=NEGATIVE[0]),
    uninitialised("empty_strided", lambda size, stride: size, ((2, 3), (3, 1)), ((2, 3), (1, 2)),
                  error=Case(args=((2, 3), (1,)), match="size and stride|mismatch|same length|dimensionality")),
    uninitialised("empty_permuted", lambda size, order: size, ((2, 3), (1, 0)), ((2, 3, 4), (2, 0, 1)),
                  error=Case(args=((2, 3), (0, 0)), match="physical_layout|permut|duplicate")),
    OpSpec("empty_like", np.ones_like, case_samples(((2, 3),), ((),), ((0, 3),)), dtypes=("int32", *FLOATING),
           grad=False, inplace=False, method=False, out=False, meta=False, function=filled("empty_like"),
           errors=NOT_A_SIZE),
    spec("scalar_tensor", np.array, (1.5,), (2,), errors=[Case(args=("x",), raises=TypeError, match="argument")]),
    spec("range", lambda start, end, step=1.0: np.arange(start, end + step / 2, step), (0.0, 4.0), (1.0, 2.0, 0.5),
         errors=[Case(args=(0.0, 1.0, 0.0), match="step must be nonzero")], function=quiet_range),
    converted("tensor", error=RAGGED),
    converted("as_tensor", error=RAGGED),
    converted("asarray", error=RAGGED),
]  # fmt: skip
