"""Special functions: SciPy is the reference."""

import numpy as np
import scipy.special

from flambeau.testing.opspec import (
    FLOATING,
    HALVES,
    Case,
    OpSpec,
    Sample,
    binary_samples,
    unary_samples,
)


def special(name, reference, low=-3, high=3, dtypes=("int32", *FLOATING), errors=None, **options):
    return OpSpec(
        name,
        reference,
        unary_samples(
            low, high, avoid=options.pop("avoid", ()), kwargs=options.pop("kwargs", ({},))
        ),
        dtypes=dtypes,
        errors=errors or [Case(args=("text",), raises=TypeError, match=name)],
        **options,
    )


def logit(x, eps=None):
    return scipy.special.logit(x if eps is None else np.clip(x, eps, 1 - eps))


def polygamma_samples(draw):
    for order in (0, 1, 2):
        yield Sample((order, draw.array((5,), 0.5, 4)))


def incomplete(name, reference):
    return OpSpec(
        name,
        reference,
        binary_samples(0.5, 5),
        k=64,  # SciPy's own error, in its continued fraction; tests/special compares with exact values
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match=f"{name}|size of tensor")],
    )


def pair(name, reference, low, high, **options):
    return OpSpec(
        f"special.{name}",
        reference,
        binary_samples(low, high),
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match=f"{name}|size of tensor")],
        **options,
    )


SPECS = [
    special("erf", scipy.special.erf, dtypes=("int32", *HALVES, *FLOATING)),
    special("erfc", scipy.special.erfc, dtypes=("int32", *HALVES, *FLOATING)),
    special(
        "erfinv", scipy.special.erfinv, -0.9, 0.9, dtypes=FLOATING, k=8
    ),  # two Newton steps end within 3 eps
    special(
        "lgamma", scipy.special.gammaln, 0.3, 6, k=16
    ),  # PyTorch's own is off by as much near 1 and 2
    special(
        "digamma", scipy.special.digamma, 0.4, 6, k=16
    ),  # recurrence, then an asymptotic series
    special(
        "logit",
        logit,
        0.05,
        0.95,
        dtypes=FLOATING,
        kwargs=({}, {"eps": 0.2}),
        avoid=(0.2, 0.8),
        k=8,
    ),
    OpSpec(
        "polygamma",
        scipy.special.polygamma,
        polygamma_samples,
        k=32,  # the Hurwitz zeta function by Euler-Maclaurin
        method=False,  # the tensor is the second argument
        inplace=False,
        errors=[Case(args=(1, "text"), raises=TypeError, match="polygamma")],
    ),
    special("special.entr", scipy.special.entr, 0.1, 3),
    special("special.erfcx", scipy.special.erfcx, -2, 3, k=8),  # SciPy's own error is as large
    special("special.logerfc", lambda x: np.log(scipy.special.erfc(x)), -2, 2, k=8),  # as above
    special("special.logerfcx", lambda x: np.log(scipy.special.erfcx(x)), -2, 3, k=8),  # as above
    special("special.ndtr", scipy.special.ndtr),
    special("special.log_ndtr", scipy.special.log_ndtr, k=8),  # SciPy's own error is as large
    special("special.ndtri", scipy.special.ndtri, 0.05, 0.95, dtypes=FLOATING, k=8),  # as above
    pair("xlog1py", scipy.special.xlog1py, 0.2, 3),
    pair("zeta", scipy.special.zeta, 1.5, 6, k=8),  # SciPy's own error is as large
    incomplete("igamma", scipy.special.gammainc),
    incomplete("igammac", scipy.special.gammaincc),
    OpSpec(
        "mvlgamma",
        lambda x, p: np.vectorize(lambda value: scipy.special.multigammaln(value, p))(x),
        lambda draw: [
            Sample((draw.array((3,), 2.5, 5), 3)),
            Sample((draw.array((2, 2), 1.5, 5), 2)),
        ],
        k=32,  # a sum of lgammas
        errors=[Case(args=(np.array([3.0]), 0), match="mvlgamma|p has to be")],
    ),
]
