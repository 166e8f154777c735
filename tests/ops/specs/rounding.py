"""Rounding, signs and parts of numbers."""

import numpy as np

from flambeau.testing.opspec import (
    FLOATING,
    HALVES,
    INTEGERS,
    Case,
    OpSpec,
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
