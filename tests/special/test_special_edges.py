"""Edge values of torch.special, its argument rules and its derivatives."""

import math

import numpy as np
import pytest
import scipy.special

import flambeau
from flambeau.autograd import gradcheck, gradgradcheck

special = flambeau.special
INF, NAN = math.inf, math.nan


def double(values, **options):
    return flambeau.tensor(values, dtype=flambeau.float64, **options)


EDGES = {
    "entr": ([0, -1, INF, NAN], [0, -INF, -INF, NAN]),
    "erfinv": ([1, -1, 1.5, NAN], [INF, -INF, NAN, NAN]),
    "erfcx": ([-27, 0, INF], [INF, 1, 0]),
    "log1p": ([-1, -2], [-INF, NAN]),
    "logit": ([-0.1, 0, 1, 1.1], [NAN, -INF, INF, NAN]),
    "digamma": ([0, -1, -2, INF], [-INF, NAN, NAN, INF]),
    "gammaln": ([0, -1, INF, -INF], [INF, INF, INF, INF]),
    "ndtr": ([-9, -30, 0, INF, -INF], [1.1285884059538405e-19, 4.906713927148187e-198, 0.5, 1, 0]),
    "log_ndtr": ([-40, INF, -INF], [-804.608442013754, 0, -INF]),
    "ndtri": ([0, 1, -0.1, 1.1], [-INF, INF, NAN, NAN]),
    "sinc": ([0, 1, 1e30, INF], [1, 0, 0, NAN]),
    "i0": ([713, INF, -INF, 0], [6.7051282611454e307, INF, INF, 1]),
    "i1": ([0, INF, -INF], [0, INF, -INF]),
    "i0e": ([0, INF], [1, 0]),
    "i1e": ([0, INF, -INF], [0, 0, 0]),
    "bessel_y0": ([0, -1], [-INF, NAN]),
    "bessel_y1": ([0, -1], [-INF, NAN]),
    "bessel_j0": ([0, NAN], [1, NAN]),
    "modified_bessel_k0": ([0, -1, INF], [INF, NAN, 0]),
    "modified_bessel_k1": ([0, -1, INF], [INF, NAN, 0]),
    "scaled_modified_bessel_k0": ([0, -1, INF], [INF, NAN, 0]),
    "scaled_modified_bessel_k1": ([0, -1, INF], [INF, NAN, 0]),
    "spherical_bessel_j0": ([0, INF], [1, 0]),
    "airy_ai": ([0, INF], [0.3550280538878172, 0]),
    "logerfc": ([-1, 0, 1, 30], [0.6112323176780, 0, -1.849605509933, -903.974117110612]),
    "logerfcx": ([-1, 0, 1, 30], [1.6112323176780, 0, -0.849605509933, -3.974117110612]),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges_of_one_argument(name):
    arguments, expected = EDGES[name]
    got = getattr(special, name)(double(arguments)).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-9)


PAIR_EDGES = {
    "gammainc": [
        (0, 0, NAN),
        (0, 1, 1),
        (-1, 1, NAN),
        (1, -1, NAN),
        (INF, 1, 0),
        (INF, NAN, NAN),
        (1, INF, 1),
    ],
    "gammaincc": [(0, 0, NAN), (0, 1, 0), (-1, 1, NAN), (1, -1, NAN), (INF, 1, 1), (INF, NAN, NAN)],
    "xlogy": [(0, 0, 0), (0, -1, 0), (0, NAN, NAN), (2, 3, 2.1972245773362196)],
    "xlog1py": [(0, -1, 0), (0, -2, 0), (0, NAN, NAN), (-1, 1, -0.6931471805599453)],
    "zeta": [
        (1, 2, INF),
        (0.5, 2, NAN),
        (2, 0, INF),
        (2, -3, INF),
        (2, INF, 0),
        (2, 1, np.pi**2 / 6),
        (2.5, -0.5, NAN),
    ],
    "iv": [
        (0, 0, 1),
        (1, 0, 0),
        (-0.5, 0, INF),
        (-2, 0, 0),
        (0.5, -1, NAN),
        (0, INF, INF),
        (0, 1.5, 1.6467231897728904),
        (1, 1.5, 0.9816664285779076),
        (2.5, 1.5, 0.17166202),
    ],
    "ive": [
        (0, INF, 0),
        (0, 1.5, 0.36743361),
        (1, 1.5, 0.21903939),
        (2.5, 1.5, 0.03830297),
        (NAN, 1, NAN),
    ],
}


@pytest.mark.parametrize("name", PAIR_EDGES)
def test_edges_of_two_arguments(name):
    first, second, expected = zip(*PAIR_EDGES[name], strict=True)
    got = getattr(special, name)(double(first), double(second)).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_polygamma_and_multigammaln():
    half = double([1, 0.5])
    np.testing.assert_allclose(
        special.polygamma(1, half).numpy(), [np.pi**2 / 6, np.pi**2 / 2], rtol=1e-14
    )
    assert special.polygamma(1, double([-1.0, -2.0])).tolist() == [INF, INF]
    with pytest.raises(RuntimeError, match="negative n"):
        special.polygamma(-1, half)
    values = special.multigammaln(double([2.5, 3]), 2).numpy()
    np.testing.assert_allclose(
        values, [scipy.special.multigammaln(v, 2) for v in (2.5, 3)], rtol=1e-14
    )
    with pytest.raises(RuntimeError):
        special.multigammaln(half, 0)


def test_logit_clamps():
    x = double([-0.5, 0, 0.5, 1], requires_grad=True)
    y = special.logit(x, eps=0.01)
    np.testing.assert_allclose(
        y.detach().numpy(), [-4.59511985, -4.59511985, 0, 4.59511985], rtol=1e-8
    )
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 4, 0]


def test_reductions_of_nothing_and_of_minus_infinity():
    low = double([-INF, -INF])
    assert special.logsumexp(low, 0).item() == -INF
    assert special.softmax(low, 0).isnan().all()
    assert special.logsumexp(flambeau.empty(0), 0).item() == -INF
    assert special.softmax(flambeau.tensor([1, 2]), 0, dtype=flambeau.float32).sum() == 1
    with pytest.raises(RuntimeError):
        special.softmax(flambeau.tensor([1, 2]), 0)
    with pytest.raises(TypeError):
        special.logsumexp(low)


def test_round():
    x = double([0.5, 1.5, 2.5, -0.5])
    assert special.round(x).tolist() == [0, 2, 2, -0.0]
    assert special.round(double([1234.5]), decimals=-2).item() == 1200


DEGREE_3 = {"t": -1, "u": -1, "v": -1, "w": -1}


def test_polynomials_of_degree_3_and_10():
    x = double([0.5])
    for kind, expected in DEGREE_3.items():
        assert getattr(special, f"chebyshev_polynomial_{kind}")(x, 3).item() == expected
    assert special.hermite_polynomial_h(x, 3).item() == -5
    assert special.hermite_polynomial_he(x, 3).item() == -1.375
    assert special.laguerre_polynomial_l(x, 3).item() == pytest.approx(-0.145833333333)
    assert special.legendre_polynomial_p(x, 3).item() == -0.4375
    assert special.shifted_chebyshev_polynomial_t(x, 3).item() == 0
    assert special.chebyshev_polynomial_t(x, 10).item() == -0.5
    assert special.legendre_polynomial_p(x, 10).item() == pytest.approx(-0.1882286)
    assert special.hermite_polynomial_he(x, 10).item() == pytest.approx(49.043945312)
    assert special.legendre_polynomial_p(x, -2).item() == 0
    assert special.legendre_polynomial_p(x, 3.9).item() == -0.4375


# ---- argument rules ----

UNARY = (
    "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e"
    " i1 i1e log1p log_ndtr logerfc logerfcx logit modified_bessel_i0 modified_bessel_i1 modified_bessel_k0"
    " modified_bessel_k1 ndtr ndtri psi scaled_modified_bessel_k0 scaled_modified_bessel_k1 sinc spherical_bessel_j0"
).split()
POLYNOMIALS = [name for name in special.__all__ if "polynomial" in name]
BINARY = ["xlogy", "xlog1py", "zeta", "iv", "ive", *POLYNOMIALS]


@pytest.mark.parametrize("name", UNARY)
def test_unary_arguments(name):
    function = getattr(special, name)
    with pytest.raises(TypeError):
        function(0.5)
    whole = flambeau.tensor([1, 0])
    assert function(whole).dtype == flambeau.float32
    flambeau.set_default_dtype(flambeau.float64)
    try:
        assert function(whole).dtype == flambeau.float64
    finally:
        flambeau.set_default_dtype(flambeau.float32)
    x = double([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    expected = function(x)
    assert flambeau.equal(function(x.t()), expected.t())
    assert flambeau.equal(function(x[:, ::2]), expected[:, ::2])
    assert function(x[0, 0]).shape == () and function(x[:0]).shape == (0, 3)
    assert function(double([NAN])).isnan().all()
    narrow = flambeau.empty(2, 3)
    assert function(x, out=narrow) is narrow
    with pytest.raises(RuntimeError):
        function(x, out=flambeau.empty(2, 3, dtype=flambeau.int64))


@pytest.mark.parametrize("name", BINARY)
def test_binary_arguments(name):
    function = getattr(special, name)
    with pytest.raises(TypeError):
        function(1.0, 2.0)
    x, n = double([[1.5], [2.5]]), double([2.0, 3.0, 4.0])
    assert function(x, n).shape == (2, 3)
    assert flambeau.equal(function(x, 2.0), function(x, double(2.0)))
    assert flambeau.equal(function(1.5, n), function(double(1.5), n))
    assert function(flambeau.tensor([2]), flambeau.tensor([3])).dtype == flambeau.float32
    assert function(double([NAN]), double([2.0])).isnan().all()
    with pytest.raises(RuntimeError):
        function(x, n, out=flambeau.empty(2, 3, dtype=flambeau.int64))


# ---- derivatives ----

DOMAINS = {
    "erfinv": (-0.9, 0.9),
    "logit": (0.1, 0.9),
    "ndtri": (0.1, 0.9),
    "entr": (0.1, 2),
    "airy_ai": (-4, 3),
    "erfcx": (-1.5, 3),
    **dict.fromkeys(
        ["bessel_j0", "bessel_j1", "i0", "i1", "modified_bessel_i0", "modified_bessel_i1"], (-4, 4)
    ),
    **dict.fromkeys(["ndtr", "log_ndtr", "logerfc", "logerfcx", "spherical_bessel_j0"], (-4, 4)),
}


@pytest.mark.parametrize("name", UNARY)
def test_derivatives_of_one_argument(name):
    low, high = DOMAINS.get(name, (0.3, 3))
    x = double(np.linspace(low, high, 8).tolist(), requires_grad=True)
    function = getattr(special, name)
    assert gradcheck(function, (x,))
    assert gradgradcheck(function, (x,))


@pytest.mark.parametrize(
    ("name", "at_zero"),
    [
        ("i1", 0.5),
        ("i1e", 0.5),
        ("modified_bessel_i1", 0.5),
        ("bessel_j1", 0.5),
        ("sinc", 0),
        ("spherical_bessel_j0", 0),
        ("entr", INF),
    ],
)
def test_derivatives_at_zero(name, at_zero):
    x = double([0.0], requires_grad=True)
    getattr(special, name)(x).backward()
    assert x.grad.item() == at_zero


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_derivatives_of_the_incomplete_gamma_functions(name):
    a = double([0.3, 1.5, 4, 30, 200], requires_grad=True)
    x = double([0.2, 2, 3, 31, 195], requires_grad=True)
    function = getattr(special, name)
    assert gradcheck(function, (a, x), rtol=1e-5)
    assert gradgradcheck(function, (a, x), rtol=1e-4)


def test_derivatives_of_zeta():
    s = double([1.5, 2, 3.5, 7], requires_grad=True)
    q = double([0.5, 1, 2.5, 20], requires_grad=True)
    assert gradcheck(special.zeta, (s, q))
    assert gradgradcheck(special.zeta, (s, q))
    assert gradcheck(lambda t: special.zeta(t, 2.0), (s,))
    assert gradcheck(lambda t: special.zeta(2.0, t), (q,))


@pytest.mark.parametrize("name", ["iv", "ive"])
def test_derivatives_of_real_order(name):
    function = getattr(special, name)
    v = double([0, 1, 2.5, 0.3])
    x = double([0.5, -1.5, 3, 80], requires_grad=True)
    weight = double([1, 1, 1, 1e-30 if name == "iv" else 1])
    assert gradcheck(lambda t: function(v, t) * weight, (x,))
    assert gradgradcheck(lambda t: function(v, t) * weight, (x,))
    assert gradcheck(lambda t: function(2.5, t.abs()) * weight, (x,))
    y = function(v.requires_grad_(), x.detach())
    with pytest.raises(NotImplementedError, match="differentiable in x only"):
        y.sum().backward()


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_derivatives_of_polynomials(name):
    function = getattr(special, name)
    x = double([-1, -0.4, 0, 0.6, 1, 1.3], requires_grad=True)
    for degree in (0, 1, 2, 5, 8):
        n = double([degree])
        assert gradcheck(lambda t, n=n: function(t, n), (x,), rtol=1e-5)
        assert gradgradcheck(lambda t, n=n: function(t, n), (x,), rtol=1e-4)
    n = double([2.0], requires_grad=True)
    (grad,) = flambeau.autograd.grad(function(x, n).sum(), n, allow_unused=True)
    assert grad is None or grad.item() == 0


def test_polynomials_whose_one_step_leaves_the_range():
    values = flambeau.special.chebyshev_polynomial_u(
        flambeau.tensor([-1e300, 1e300], dtype=flambeau.float64), flambeau.tensor(1e15)
    )
    assert values.isinf().all()
