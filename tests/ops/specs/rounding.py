"""Rounding, signs and parts of numbers."""

import numpy as np

from flambeau.testing.opspec import (
    FLOATING,
    HALVES,
    INTEGERS,
    Case,
    OpSpec,
    Sample,
    binary_samples,
    unary_samples,
)

REAL = (*HALVES, *FLOATING)


def unary(name, reference, dtypes=REAL, specials=True, avoid=(), arguments=("text",), **options):
    return OpSpec(
        name,
        reference,
        unary_samples(-4, 4, specials=specials, avoid=avoid),
        dtypes=dtypes,
        errors=[Case(args=arguments, raises=TypeError, match=name)],
        **options,
    )


def fraction(x):
    return x - np.trunc(x)


SIGNED = (*INTEGERS[1:], *REAL)

SPECS = [
    unary("floor", np.floor, avoid=range(-4, 5)),
    unary("ceil", np.ceil, avoid=range(-4, 5)),
    unary("trunc", np.trunc, avoid=range(-4, 5)),
    unary("round", np.round, avoid=np.arange(-4.5, 5)),
    unary(
        "frac", fraction, avoid=range(-4, 5), specials=False
    ),  # frac(inf) is NaN in PyTorch, and so is this reference
    unary("abs", np.abs, dtypes=(*INTEGERS, *REAL), avoid=(0,)),
    unary("neg", np.negative, dtypes=SIGNED),
    unary(
        "sign", np.sign, dtypes=("int32", "uint8", *FLOATING), avoid=(0,), specials=False
    ),  # sign(nan) is 0
    unary("sgn", np.sign, dtypes=("int32", *FLOATING), avoid=(0,), specials=False),
    unary("positive", np.positive, dtypes=(*INTEGERS, *REAL), arguments=()),
    unary("reciprocal", np.reciprocal, dtypes=FLOATING, avoid=(0,)),
    unary("signbit", np.signbit, dtypes=FLOATING, grad=False),
    OpSpec(
        "clamp",
        lambda x, min=None, max=None: np.clip(x, min, max),
        unary_samples(
            -4,
            4,
            kwargs=({"min": -1}, {"max": 2}, {"min": -1, "max": 2}),
            specials=True,
            avoid=(-1, 2),
        ),
        dtypes=("int32", *REAL),
        errors=[Case(args=(np.zeros(2),), match="min.*max")],
    ),
    OpSpec(
        "copysign",
        np.copysign,
        binary_samples(0.2, 3, numbers=(-1.0,)),
        dtypes=FLOATING,
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match="copysign|size of tensor")],
    ),
]


def nan_samples(draw):
    for options in (
        {"nan": 1.0, "posinf": 2.0, "neginf": -3.0},
        {"nan": 0.0, "posinf": 9.0, "neginf": 0.0},
    ):
        values = draw.array((3, 4))
        if draw.kind == "f" and not draw.smooth:
            values.ravel()[::4] = [np.nan, np.inf, -np.inf]
        yield Sample((values,), options)


SPECS += [
    OpSpec("nan_to_num", np.nan_to_num, nan_samples, dtypes=("int32", *FLOATING),
           errors=[Case(args=("x",), raises=TypeError, match="nan_to_num")]),
    # The neighbour in float64: the reference knows no other dtype.
    OpSpec("nextafter", np.nextafter, binary_samples(), dtypes=("float64",), grad=False, floor=0,
           errors=[Case(args=(np.zeros(2), np.zeros(3)), match="nextafter|size of tensor")]),
]  # fmt: skip
