"""Bessel and Airy functions and orthogonal polynomials: SciPy is the reference; tests/special has the whole range."""

import numpy as np
import scipy.special

from flambeau.testing.opspec import FLOATING, Case, OpSpec, Sample, binary_samples, unary_samples


def bessel(name, reference, low=-5, high=5):
    return OpSpec(
        name,
        reference,
        unary_samples(low, high),
        dtypes=("int32", *FLOATING),
        k=16,  # SciPy's own error, near zeros of the function
        errors=[Case(args=("text",), raises=TypeError, match=name.removeprefix("special."))],
    )


def real_order(name, reference):
    return OpSpec(
        f"special.{name}",
        reference,
        binary_samples(0.3, 4),
        k=64,  # SciPy's own error: tests/special compares with exact values
        grad_arguments=(1,),
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match=f"{name}|size of tensor")],
    )


def polynomial(name, reference, low=-1.2, high=1.2):
    def samples(draw):
        for degree in (0, 1, 4, 7):
            yield Sample((draw.array((2, 3), low, high), degree))
        if not draw.smooth:
            yield Sample((draw.array((3, 1), low, high), np.array([0.0, 2.0, 5.0])))

    return OpSpec(
        f"special.{name}",
        reference,
        samples,
        k=64,  # SciPy goes through the hypergeometric function
        views=False,
        errors=[Case(args=(1.0, 2.0), raises=TypeError, match=name)],
    )


def third(x, n):
    return scipy.special.eval_chebyu(n, x) - scipy.special.eval_chebyu(np.asarray(n) - 1, x) * (
        np.asarray(n) > 0
    )


def fourth(x, n):
    return scipy.special.eval_chebyu(n, x) + scipy.special.eval_chebyu(np.asarray(n) - 1, x) * (
        np.asarray(n) > 0
    )


KINDS = {
    "t": lambda x, n: scipy.special.eval_chebyt(n, x),
    "u": lambda x, n: scipy.special.eval_chebyu(n, x),
    "v": third,
    "w": fourth,
}

SPECS = [
    bessel("i0", scipy.special.i0),
    bessel("special.i0e", scipy.special.i0e, 0.1),
    bessel("special.i1", scipy.special.i1, 0.1),
    bessel("special.i1e", scipy.special.i1e, 0.1),
    bessel("special.bessel_j0", scipy.special.j0),
    bessel("special.bessel_j1", scipy.special.j1, 0.1),
    bessel("special.bessel_y0", scipy.special.y0, 0.6),
    bessel("special.bessel_y1", scipy.special.y1, 0.6),
    bessel("special.modified_bessel_i0", scipy.special.i0),
    bessel("special.modified_bessel_i1", scipy.special.i1, 0.1),
    bessel("special.modified_bessel_k0", scipy.special.k0, 0.4),
    bessel("special.modified_bessel_k1", scipy.special.k1, 0.4),
    bessel("special.scaled_modified_bessel_k0", scipy.special.k0e, 0.4),
    bessel("special.scaled_modified_bessel_k1", scipy.special.k1e, 0.4),
    bessel("special.spherical_bessel_j0", lambda x: scipy.special.spherical_jn(0, x)),
    bessel("special.airy_ai", lambda x: scipy.special.airy(x)[0]),
    real_order("iv", scipy.special.iv),
    real_order("ive", scipy.special.ive),
    polynomial("hermite_polynomial_h", lambda x, n: scipy.special.eval_hermite(np.int64(n), x)),
    polynomial(
        "hermite_polynomial_he", lambda x, n: scipy.special.eval_hermitenorm(np.int64(n), x)
    ),
    polynomial("laguerre_polynomial_l", lambda x, n: scipy.special.eval_laguerre(n, x)),
    polynomial("legendre_polynomial_p", lambda x, n: scipy.special.eval_legendre(n, x)),
]
for _kind, _reference in KINDS.items():
    SPECS.append(polynomial(f"chebyshev_polynomial_{_kind}", _reference))
    SPECS.append(
        polynomial(
            f"shifted_chebyshev_polynomial_{_kind}",
            lambda x, n, plain=_reference: plain(2 * x - 1, n),
            -0.1,
            1.1,
        )
    )
