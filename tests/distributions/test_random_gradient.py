"""Implicit derivatives of gamma and Dirichlet draws against the definition, with SciPy's distribution functions."""

import numpy as np
import pytest
from scipy import stats

import flambeau


def t(values):
    return flambeau.tensor(values, dtype=flambeau.float64)


def implicit(distribution, parameter, x):
    """-(dF/dparameter) / f, by central differences."""
    step = 1e-4 * parameter
    slope = (distribution(parameter + step).cdf(x) - distribution(parameter - step).cdf(x)) / (
        2 * step
    )
    return -slope / distribution(parameter).pdf(x)


# below 0.8: a series; alpha above 8: an expansion, with another one around the mean; a fit between.
@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0, 3.0, 7.9, 8.5, 30.0, 1000.0])
def test_standard_gamma_grad(alpha):
    levels = np.array([0.02, 0.2, 0.45, 0.5, 0.6, 0.9, 0.99])
    x = stats.gamma(alpha).ppf(levels)
    x = x[x > 1e-8]
    got = flambeau._standard_gamma_grad(t(alpha), t(x)).numpy()
    np.testing.assert_allclose(got, implicit(stats.gamma, alpha, x), rtol=2e-3)


@pytest.mark.parametrize("beta", [0.3, 1.5, 8.0, 40.0])
@pytest.mark.parametrize("alpha", [0.3, 1.5, 8.0, 40.0])
def test_dirichlet_grad(alpha, beta):
    levels = np.array([0.05, 0.3, 0.5, 0.55, 0.8, 0.95])
    x = stats.beta(alpha, beta).ppf(levels)
    x = x[(x > 1e-6) & (x < 1 - 1e-6)]
    got = flambeau._dirichlet_grad(t(x), t(alpha), t(alpha + beta)).numpy()
    expected = implicit(lambda a: stats.beta(a, beta), alpha, x) / (1 - x)
    np.testing.assert_allclose(got, expected, rtol=5e-3)


def test_recorded_values():
    # PyTorch 2.13: torch._standard_gamma_grad, torch._dirichlet_grad
    alpha = t([0.5, 2.0, 5.0, 9.0, 9.0, 50.0])
    x = t([0.1, 1.7, 9.0, 9.1, 14.0, 48.0])
    got = flambeau._standard_gamma_grad(alpha, x)
    expected = [
        0.509765567071,
        0.999883174142,
        1.36723910865,
        1.02428800078,
        1.26028318042,
        0.98300167455,
    ]
    flambeau.testing.assert_close(got, t(expected), rtol=1e-9, atol=0.0)
    x = t([0.05, 0.9, 0.95, 0.5, 0.3, 0.4])
    alpha, total = t([0.5, 3.0, 0.5, 2.0, 8.0, 9.0]), t([2.0, 3.4, 5.0, 6.0, 20.0, 22.0])
    got = flambeau._dirichlet_grad(x, alpha, total)
    expected = [
        0.280657954493,
        0.347311988188,
        0.758131430269,
        0.234424668061,
        0.0447289186964,
        0.0464786305955,
    ]
    flambeau.testing.assert_close(got, t(expected), rtol=1e-9, atol=0.0)


def test_vjp_of_draws():
    alpha = t([0.5, 2.0, 9.0]).requires_grad_()
    sample = flambeau._standard_gamma(alpha)
    (sample * t([1.0, -2.0, 3.0])).sum().backward()
    expected = flambeau._standard_gamma_grad(alpha.detach(), sample.detach()) * t([1.0, -2.0, 3.0])
    flambeau.testing.assert_close(alpha.grad, expected)
    # the components of a Dirichlet draw sum to 1 whatever the parameters
    (gradient,) = flambeau.autograd.grad(flambeau._sample_dirichlet(alpha).sum(), alpha)
    flambeau.testing.assert_close(gradient, t([0.0, 0.0, 0.0]), rtol=0.0, atol=1e-9)


def test_broadcasting_dtypes_and_meta():
    out = flambeau._standard_gamma_grad(flambeau.ones(3, 1), flambeau.ones(2))
    assert out.shape == (3, 2) and out.dtype is flambeau.float32
    half = flambeau._standard_gamma_grad(flambeau.ones(3).bfloat16(), flambeau.ones(3).bfloat16())
    assert half.dtype is flambeau.bfloat16
    meta = flambeau.ones(4, device="meta")
    assert flambeau._dirichlet_grad(meta, meta, meta).shape == (4,)
    with pytest.raises(RuntimeError, match="one floating point dtype"):
        flambeau._dirichlet_grad(flambeau.ones(2), flambeau.ones(2).double(), flambeau.ones(2))
    with pytest.raises(RuntimeError):
        flambeau._standard_gamma_grad(flambeau.ones(2).int(), flambeau.ones(2).int())
