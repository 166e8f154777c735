"""Softmax and log-sum-exp."""

import numpy as np
import scipy.special

from flambeau.testing.opspec import FLOATING, HALVES, Case, OpSpec, case_samples

DIMS = case_samples(
    ((), 0),
    ((5,), 0),
    ((2, 3), 0),
    ((2, 3), -1),
    ((2, 3, 4), 1),
    ((3, 300), 1),
    ((0, 3), 1),
    low=-20,
    high=20,
)
BAD_DIM = [
    Case(
        args=(np.zeros((2, 3)), 2),
        raises=IndexError,
        match="softmax|Dimension out of range|logsumexp",
    )
]


def softmax(x, dim):
    return scipy.special.softmax(x, axis=dim) if x.ndim else np.ones(())


def log_softmax(x, dim):
    return scipy.special.log_softmax(x, axis=dim) if x.ndim else np.zeros(())


def logsumexp(x, dim, keepdim=False):
    return scipy.special.logsumexp(x, axis=dim, keepdims=keepdim)


SPECS = [
    OpSpec("softmax", softmax, DIMS, dtypes=(*HALVES, *FLOATING), errors=BAD_DIM),
    OpSpec("log_softmax", log_softmax, DIMS, dtypes=(*HALVES, *FLOATING), floor=20, errors=BAD_DIM),
    OpSpec(
        "nn.functional.softmin", lambda x, dim: softmax(-x, dim), DIMS, method=False, errors=BAD_DIM
    ),
    OpSpec(
        "logsumexp",
        logsumexp,
        case_samples(
            ((5,), 0), ((2, 3), 1, True), ((2, 3, 4), (0, 2)), ((3, 300), 1), low=-20, high=20
        ),
        dtypes=(*HALVES, *FLOATING),
        errors=BAD_DIM,
    ),
]
