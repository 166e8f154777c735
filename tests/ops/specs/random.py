"""Derivatives of gamma and Dirichlet draws. The draws themselves: tests/core/test_random.py, tests/distributions."""

import numpy as np
from scipy import stats

from flambeau.testing.opspec import Case, OpSpec, Sample

# The approximations are right to a few thousandths; everything else about the ops is checked to that tolerance.
ROUGH = 5e-3 / np.finfo(np.float64).eps


def implicit(distribution, parameter, x):
    """-(dF/dparameter) / f by central differences."""
    step = 1e-4 * parameter
    slope = distribution(parameter + step).cdf(x) - distribution(parameter - step).cdf(x)
    return -slope / (2 * step) / distribution(parameter).pdf(x)


def standard_gamma_grad(input, output):
    return implicit(stats.gamma, input, output)


def dirichlet_grad(x, alpha, total):
    return implicit(lambda a: stats.beta(a, total - alpha), alpha, x) / (1 - x)


def gamma_samples(draw):
    for a, b in (((), ()), ((5,), (5,)), ((0,), (1,)), ((2, 1, 3), (4, 1)), ((33, 5), (33, 5))):
        alpha = draw.array(a, 0.3, 12)
        yield Sample((alpha, draw.array(b, 0.3, 12)))


def dirichlet_samples(draw):
    for shape in ((), (5,), (0,), (3, 4)):
        alpha = draw.array(shape, 0.3, 10)
        yield Sample((draw.array(shape, 0.05, 0.95), alpha, alpha + draw.array(shape, 0.3, 10)))


SPECS = [
    OpSpec(
        "_standard_gamma_grad",
        standard_gamma_grad,
        gamma_samples,
        dtypes=("float64",),
        k=ROUGH,
        grad=False,
        errors=[Case(args=(np.ones(2), np.ones(3)), match="broadcast|match")],
    ),
    OpSpec(
        "_dirichlet_grad",
        dirichlet_grad,
        dirichlet_samples,
        dtypes=("float64",),
        k=ROUGH,
        grad=False,
        errors=[
            Case(
                args=(np.ones(2), np.ones(2, np.float32), np.ones(2)),
                raises=RuntimeError,
                match="one floating point dtype",
            )
        ],
    ),
]
