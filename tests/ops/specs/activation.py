"""Activation functions."""

from dataclasses import replace

import numpy as np
import scipy.special

from flambeau.testing.opspec import (
    FLOATING,
    HALVES,
    Case,
    OpSpec,
    Sample,
    case_samples,
    in_place_form,
    unary_samples,
)

REAL = (*HALVES, *FLOATING)


def activation(name, reference, low=-4, high=4, avoid=(), kwargs=({},), dtypes=REAL, **options):
    return OpSpec(
        name,
        reference,
        unary_samples(low, high, avoid=avoid, kwargs=kwargs),
        dtypes=dtypes,
        method=False,
        inplace=options.pop("inplace", None),
        errors=[Case(args=(), raises=TypeError, match=name.rpartition(".")[2].rstrip("_"))],
        **options,
    )


def functional(name, *arguments, **options):
    return activation(f"nn.functional.{name}", *arguments, inplace=False, **options)


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(x))


def selu(x):
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return scale * elu(x, alpha)


def gelu(x, approximate="none"):
    if approximate == "none":
        return x * 0.5 * (1 + scipy.special.erf(x / np.sqrt(2)))
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def softplus(x, beta=1.0, threshold=20.0):
    return np.where(
        x * beta > threshold, x, np.log1p(np.exp(np.minimum(x * beta, threshold))) / beta
    )


def leaky_relu(x, negative_slope=0.01):
    return np.where(x > 0, x, x * negative_slope)


def threshold(x, threshold, value):
    return np.where(x > threshold, x, value)


def prelu_samples(draw):
    for shape, channels in (((2, 3), (3,)), ((2, 3, 4), (3,)), ((5,), (1,)), ((2, 3), (1,))):
        x = draw.array(shape)
        if draw.smooth:
            x = np.where(np.abs(x) < 0.05, 0.05, x)
        yield Sample((x, draw.array(channels)))


def prelu(x, weight):
    shaped = weight.reshape((1, -1) + (1,) * (x.ndim - 2)) if weight.size > 1 else weight
    return np.where(x > 0, x, x * shaped)


def rrelu(x, lower=1 / 8, upper=1 / 3, training=False):
    return np.where(x >= 0, x, x * (lower + upper) / 2)


def glu(x, dim=-1):
    first, second = np.split(x, 2, dim)
    return first * scipy.special.expit(second)


def softmax_form(name, reference):
    def along(x, dim, dtype=None):
        return reference(x, dim)

    return OpSpec(
        f"nn.functional.{name}",
        along,
        case_samples(((5,), 0), ((2, 3), -1), ((2, 3, 4), 1), ((3, 300), 1)),
        dtypes=REAL,
        k=16,  # a sum of exponentials
        method=False,
        inplace=False,
        errors=[Case(args=(np.zeros(2), 1), raises=IndexError, match="Dimension out of range")],
    )


SPECS = [
    activation("relu", lambda x: np.maximum(x, 0), avoid=(0,), dtypes=("int32", *REAL)),
    activation("selu", selu, avoid=(0,)),
    activation(
        "celu",
        lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x / alpha)),
        avoid=(0,),
        kwargs=({}, {"alpha": 2.0}),
    ),
    functional("elu", elu, avoid=(0,), kwargs=({}, {"alpha": 0.5})),
    functional(
        "gelu", gelu, kwargs=({}, {"approximate": "tanh"}), k=8
    ),  # 1 + erf cancels for negative x
    functional("silu", lambda x: x * scipy.special.expit(x)),
    functional("mish", lambda x: x * np.tanh(softplus(x))),
    functional("softplus", softplus, kwargs=({}, {"beta": 2.0, "threshold": 3.0}), avoid=(1.5,)),
    functional("softsign", lambda x: x / (1 + np.abs(x)), avoid=(0,)),
    functional("logsigmoid", lambda x: -softplus(-x, threshold=np.inf)),
    functional("tanhshrink", lambda x: x - np.tanh(x)),
    functional("leaky_relu", leaky_relu, avoid=(0,), kwargs=({}, {"negative_slope": 0.3})),
    functional("relu6", lambda x: np.clip(x, 0, 6), low=-3, high=9, avoid=(0, 6)),
    functional(
        "hardtanh",
        lambda x, min_val=-1.0, max_val=1.0: np.clip(x, min_val, max_val),
        avoid=(-1, 1, -2),
        kwargs=({}, {"min_val": -2.0}),
    ),
    functional("hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6, avoid=(-3, 3)),
    functional("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6, avoid=(-3, 3)),
    activation(
        "hardshrink", lambda x, lambd=0.5: np.where(np.abs(x) > lambd, x, 0), avoid=(-0.5, 0.5)
    ),
    functional(
        "softshrink",
        lambda x, lambd=0.5: np.sign(x) * np.maximum(np.abs(x) - lambd, 0),
        avoid=(-0.5, 0.5),
    ),
    OpSpec(
        "threshold",
        threshold,
        unary_samples(args=((0.5, -1.0),), avoid=(0.5,)),
        dtypes=REAL,
        method=False,
        inplace=False,
        errors=[Case(args=(np.zeros(2),), raises=TypeError, match="threshold")],
    ),
    OpSpec(
        "prelu",
        prelu,
        prelu_samples,
        dtypes=FLOATING,
        errors=[Case(args=(np.zeros((2, 3)), np.zeros(2)), match="prelu|Mismatch")],
    ),
]

SPECS += [
    activation(
        "rrelu",
        rrelu,
        avoid=(0,),
        kwargs=({}, {"lower": 0.2, "upper": 0.4}),
        inplace=False,
    ),
    OpSpec(
        "nn.functional.glu",
        glu,
        case_samples(((4,),), ((2, 6),), ((4, 3), 0), ((2, 4, 3), 1)),
        dtypes=REAL,
        method=False,
        inplace=False,
        errors=[
            Case(args=(np.zeros(()),), match="does not support scalars"),
            Case(args=(np.zeros(3),), match="must be even"),
        ],
    ),
    softmax_form("softmax", scipy.special.softmax),
    softmax_form("log_softmax", scipy.special.log_softmax),
]

BY_NAME = {spec.name: spec for spec in SPECS}
# nn.functional wraps these for its `inplace` argument.
SPECS += [
    replace(BY_NAME[name], name=f"nn.functional.{name}", inplace=False)
    for name in ("relu", "selu", "celu", "rrelu", "threshold")
]
SPECS += [
    in_place_form(BY_NAME[name], f"nn.functional.{name.rpartition('.')[2]}_")
    for name in (
        *("relu", "selu", "celu", "rrelu", "threshold"),
        *(f"nn.functional.{name}" for name in ("elu", "hardtanh", "leaky_relu")),
    )
]
