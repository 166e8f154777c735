"""Specs of the distances between rows (src/flambeau/ops/distance.py)."""

import numpy as np

from flambeau.testing.opspec import Case, OpSpec, Shape, case_samples


def p_norm(d, p):
    if p == np.inf:
        return np.abs(d).max(-1)
    return (np.abs(d) ** p).sum(-1) ** (1 / p)


def cdist(a, b, p=2.0, compute_mode=None):
    difference = a[..., :, None, :] - b[..., None, :, :]
    return (difference != 0).sum(-1).astype(a.dtype) if p == 0 else p_norm(difference, p)


def pdist(x, p=2.0):
    first, second = np.triu_indices(len(x), 1)
    return p_norm(x[first] - x[second], p)


SPECS = [
    OpSpec(
        "cdist",
        cdist,
        case_samples(
            ((4, 3), Shape((5, 3))),
            ((2, 4, 3), Shape((2, 2, 3)), 1.0),
            ((2, 1, 4, 3), Shape((3, 2, 3)), 1.5),
            ((4, 3), Shape((5, 3)), np.inf),
            ((4, 3), Shape((5, 3)), 0.0),
            ((4, 3), Shape((5, 3)), 3.0),
            ((4, 3), Shape((5, 3)), 2.0, "use_mm_for_euclid_dist"),
        ),
        k=16,
        views=False,
        errors=[Case(args=(np.zeros((2, 3)), np.zeros((2, 4))), match="columns")],
    ),
    OpSpec(
        "nn.functional.pdist",
        pdist,
        case_samples(((4, 3),), ((5, 2), 3.0)),
        k=16,
        views=False,
        errors=[Case(args=(np.zeros(3),), match="2D")],
    ),
]
