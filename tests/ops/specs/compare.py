"""Comparisons, logic, and predicates on numbers."""

import numpy as np

from flambeau.testing.opspec import (
    ALL,
    FLOATING,
    HALVES,
    INTEGERS,
    Case,
    OpSpec,
    Sample,
    binary_samples,
    case_samples,
    unary_samples,
)

REAL = (*HALVES, *FLOATING)


def comparison(name, reference, dtypes=("bool", *INTEGERS, *REAL), numbers=(1, 0.5), **options):
    return OpSpec(
        name,
        reference,
        binary_samples(numbers=numbers, specials=True),
        dtypes=dtypes,
        grad=False,
        inplace=False,  # the in-place form keeps the tensor's dtype
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match=f"{name}|size of tensor")],
        **options,
    )


def predicate(name, reference, dtypes=("int32", *REAL)):
    return OpSpec(
        name,
        reference,
        unary_samples(specials=True),
        dtypes=dtypes,
        grad=False,
        errors=[Case(args=("text",), raises=TypeError, match=name)],
    )


def where_samples(draw):
    yield Sample((draw.mask((2, 3)), draw.array((2, 3)), draw.array((3,))))
    yield Sample((draw.mask((4, 1)), draw.array(()), draw.array((3,))))
    yield Sample((draw.mask(()), draw.array((2,)), draw.array((2,))))


def close(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    return np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


SPECS = [
    comparison("eq", np.equal, dtypes=ALL),
    comparison("ne", np.not_equal, dtypes=ALL),
    comparison("lt", np.less),
    comparison("le", np.less_equal),
    comparison("gt", np.greater),
    comparison("ge", np.greater_equal),
    comparison("logical_and", np.logical_and, numbers=()),
    comparison("logical_or", np.logical_or, numbers=()),
    comparison("logical_xor", np.logical_xor, numbers=()),
    OpSpec(
        "logical_not",
        np.logical_not,
        unary_samples(specials=True),
        dtypes=("bool", "int32", *FLOATING),
        grad=False,
        inplace=False,
        errors=[Case(args=("text",), raises=TypeError, match="logical_not")],
    ),
    predicate("isnan", np.isnan),
    predicate("isinf", np.isinf),
    predicate("isfinite", np.isfinite),
    predicate("isposinf", np.isposinf, FLOATING),
    predicate("isneginf", np.isneginf, FLOATING),
    OpSpec(
        "isclose",
        close,
        binary_samples(kwargs=({}, {"atol": 1.0}, {"equal_nan": True}), specials=True),
        grad=False,
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match="isclose|size of tensor")],
    ),
    OpSpec(
        "where",
        np.where,
        where_samples,
        dtypes=ALL,
        method=False,  # the tensor is not the first argument
        inplace=False,
        errors=[
            Case(args=(np.ones(2, bool), np.zeros(2), np.zeros(3)), match="where|size of tensor")
        ],
    ),
]


SIMPLE = {"grad": False, "views": False, "meta": False, "inplace": False, "out": False}


def pairs(draw):
    x = draw.array((2, 3))
    yield Sample((x, x.copy()))
    yield Sample((x, x + 1))
    yield Sample((draw.array((0,)), draw.array((0,))))


def answer(name, reference, samples, error, **options):
    """A question with a Python answer."""
    return OpSpec(name, reference, samples, **{"dtypes": ("int32", "float32", "float64"), **SIMPLE, **options},
                  errors=[error])  # fmt: skip


NOT_A_TENSOR = Case(args=("text",), raises=(TypeError, AttributeError), match="Tensor|attribute")

SPECS += [
    answer("equal", np.array_equal, pairs, Case(args=(np.zeros(2), "x"), raises=TypeError, match="Tensor")),
    answer("allclose", np.allclose, pairs,
           Case(args=(np.zeros(2), np.zeros(2, np.float32)), match="did not match|dtype")),
    OpSpec("isreal", np.isreal, case_samples(((2, 3),), ((),)), dtypes=("int32", "float32", "complex64"), grad=False,
           inplace=False, errors=[NOT_A_TENSOR]),
    answer("is_nonzero", bool, lambda draw: [Sample((np.array(v),)) for v in (0, 1)],
           Case(args=(np.zeros(2),), match="ambiguous")),
    answer("numel", np.size, case_samples(((2, 3),), ((),), ((0, 2),)), NOT_A_TENSOR),
    answer("is_floating_point", lambda x: x.dtype.kind == "f", case_samples(((2,),)), NOT_A_TENSOR),
    answer("is_complex", lambda x: x.dtype.kind == "c", case_samples(((2,),)), NOT_A_TENSOR,
           dtypes=("int32", "float32", "complex64")),
    answer("is_conj", lambda x: False, case_samples(((2,),)), NOT_A_TENSOR),
    answer("is_neg", lambda x: False, case_samples(((2,),)), NOT_A_TENSOR),
]  # fmt: skip
