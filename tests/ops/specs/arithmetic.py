"""The four operations, remainders, and their relatives."""

import numpy as np

from flambeau.testing.opspec import (
    ALL,
    COMPLEX,
    FLOATING,
    HALVES,
    INTEGERS,
    Case,
    OpSpec,
    Shape,
    binary_samples,
    case_samples,
)

REAL = (*HALVES, *FLOATING)
NUMBERS = ALL[1:]


def mismatch(name):
    return [Case(args=(np.zeros(2), np.zeros(3)), match=f"{name}|size of tensor")]


def binary(name, reference, samples, dtypes=NUMBERS, **options):
    return OpSpec(name, reference, samples, dtypes=dtypes, errors=mismatch(name), **options)


def add(input, other, alpha=1):
    return input + alpha * other


def sub(input, other, alpha=1):
    return input - alpha * other


def div(input, other, rounding_mode=None):
    quotient = input / other
    return {None: lambda q: q, "trunc": np.trunc, "floor": np.floor}[rounding_mode](quotient)


POSITIVE = binary_samples(-4, 4, other_low=1, other_high=4, numbers=(2, 3))

SPECS = [
    binary("add", add, binary_samples(numbers=(2, 0.5), kwargs=({}, {"alpha": 2}), specials=True)),
    binary("sub", sub, binary_samples(numbers=(2, 0.5), kwargs=({}, {"alpha": 2}), specials=True)),
    binary("mul", np.multiply, binary_samples(numbers=(2, 0.5), specials=True)),
    binary("div", div, POSITIVE, dtypes=(*INTEGERS, *REAL, *COMPLEX)),
    binary(
        "div",
        div,
        binary_samples(
            -9,
            9,
            other_low=1,
            other_high=4,
            kwargs=({"rounding_mode": "floor"}, {"rounding_mode": "trunc"}),
        ),
        dtypes=("int32", "int64", *FLOATING),
        grad=False,  # piecewise constant
        variant="rounded",
        # Integers divided by integers stay integers when rounded.
        result_dtype=lambda dtype: dtype,
    ),
    binary(
        "floor_divide",
        lambda a, b: np.floor_divide(a, b),
        POSITIVE,
        dtypes=(*INTEGERS, *FLOATING),
        grad=False,
    ),
    binary("remainder", np.remainder, POSITIVE, dtypes=(*INTEGERS, *FLOATING), grad=False),
    binary("fmod", np.fmod, POSITIVE, dtypes=(*INTEGERS, *FLOATING), grad=False),
    binary("true_divide", np.true_divide, POSITIVE, dtypes=FLOATING),
    binary("maximum", np.maximum, binary_samples(specials=True), dtypes=(*INTEGERS, *REAL)),
    binary("minimum", np.minimum, binary_samples(specials=True), dtypes=(*INTEGERS, *REAL)),
    binary("fmax", np.fmax, binary_samples(), dtypes=(*INTEGERS, *FLOATING)),
    binary("fmin", np.fmin, binary_samples(), dtypes=(*INTEGERS, *FLOATING)),
    OpSpec(
        "addcmul",
        lambda x, a, b, value=1: x + value * a * b,
        case_samples(
            ((2, 3), Shape((2, 3)), Shape((3,))),
            ((5,), Shape((1,)), Shape((5,)), {"value": 2}),
            ((), Shape(()), Shape(())),
        ),
        dtypes=("int32", *FLOATING, *COMPLEX),
        floor=4,
        errors=[Case(args=(np.zeros(2), np.zeros(3), np.zeros(2)), match="addcmul|size of tensor")],
    ),
    OpSpec(
        "addcdiv",
        lambda x, a, b, value=1: x + value * a / b,
        case_samples(
            ((2, 3), Shape((2, 3)), Shape((3,), 1, 3)),
            ((5,), Shape((1,)), Shape((5,), 1, 3), {"value": 2}),
        ),
        floor=4,
        errors=[Case(args=(np.zeros(2), np.zeros(3), np.zeros(2)), match="addcdiv|size of tensor")],
    ),
    OpSpec(
        "lerp",
        lambda a, b, w: a + w * (b - a),
        case_samples(
            ((2, 3), Shape((3,)), 0.25),
            ((2, 3), Shape((2, 3)), Shape((2, 3), 0, 1)),
            ((), Shape(()), 0.75),
        ),
        floor=4,
        errors=[Case(args=(np.zeros(2), np.zeros(3), 0.5), match="lerp|size of tensor")],
    ),
]


def frexp(x):
    mantissa, exponent = np.frexp(x)
    return mantissa, exponent.astype(np.int32)


WHOLE = [Case(args=(np.zeros(2), np.zeros(2)), match="not implemented|integral|Double")]

SPECS += [
    binary("rsub", lambda a, b, alpha=1: b - alpha * a, binary_samples(numbers=(2,), kwargs=({}, {"alpha": 2})),
           method=False),
    binary("heaviside", np.heaviside, binary_samples(), dtypes=("int32", *REAL), grad=False,
           result_dtype=lambda dtype: dtype),
    OpSpec("gcd", np.gcd, binary_samples(-30, 30), dtypes=("uint8", "int16", "int32", "int64"), grad=False,
           errors=WHOLE),
    OpSpec("lcm", np.lcm, binary_samples(-9, 9), dtypes=("uint8", "int32", "int64"), grad=False, errors=WHOLE),
    OpSpec("ldexp", lambda a, b: a * 2.0**b, binary_samples(-3, 3, other_low=-3, other_high=3), dtypes=FLOATING,
           errors=mismatch("ldexp")),
    binary("float_power", lambda a, b: np.float_power(a, b), binary_samples(0.3, 3, numbers=(2, 0.5)),
           dtypes=("float64",), k=8),
    OpSpec("frexp", frexp, case_samples(((5,),), ((2, 3),), ((),), ((0,),)), dtypes=FLOATING, grad=False,
           result_dtype=lambda dtype: None, errors=[Case(args=(np.zeros(2, np.int64),), match="floating-point")]),
    binary("clamp_max", np.minimum, binary_samples(numbers=(1,)), dtypes=("int32", *FLOATING)),
    binary("clamp_min", np.maximum, binary_samples(numbers=(1,)), dtypes=("int32", *FLOATING)),
]  # fmt: skip
