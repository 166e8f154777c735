"""Gradients of reparameterised draws, of densities and entropies; moments of seeded draws."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import flambeau
from flambeau import distributions as D

HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location("distribution_cases", HERE / "cases.py")
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)


def t(values, grad=False):
    return flambeau.tensor(values, dtype=flambeau.float64, requires_grad=grad)


# Draws that are smooth functions of the parameters for fixed noise: a difference of two seeded draws is a derivative.
SMOOTH = {
    "cauchy": (D.Cauchy, [0.5, 2.0]),
    "continuous_bernoulli": (D.ContinuousBernoulli, [0.3]),
    "exponential": (D.Exponential, [1.5]),
    "generalized_pareto": (D.GeneralizedPareto, [0.5, 2.0, 0.3]),
    "gumbel": (D.Gumbel, [0.5, 2.0]),
    "half_cauchy": (D.HalfCauchy, [2.0]),
    "half_normal": (D.HalfNormal, [2.0]),
    "kumaraswamy": (D.Kumaraswamy, [1.5, 2.5]),
    "laplace": (D.Laplace, [0.5, 2.0]),
    "log_normal": (D.LogNormal, [0.5, 0.8]),
    "normal": (D.Normal, [0.5, 2.0]),
    "pareto": (D.Pareto, [1.5, 3.0]),
    "relaxed_bernoulli": (D.RelaxedBernoulli, [0.7, 0.3]),
    "uniform": (D.Uniform, [0.5, 2.0]),
    "weibull": (D.Weibull, [1.5, 2.0]),
}


def draw(cls, params):
    flambeau.manual_seed(5)
    return cls(*params).rsample((20,))


@pytest.mark.parametrize("name", SMOOTH)
def test_rsample_gradients(name):
    cls, values = SMOOTH[name]
    params = [t(value, grad=True) for value in values]
    weights = flambeau.linspace(-1, 1, 20, dtype=flambeau.float64)
    (draw(cls, params) * weights).sum().backward()
    step = 1e-6
    for index, param in enumerate(params):
        ends = []
        for sign in (1, -1):
            moved = [t(value + sign * step * (k == index)) for k, value in enumerate(values)]
            ends.append((draw(cls, moved) * weights).sum())
        difference = (ends[0] - ends[1]) / (2 * step)
        flambeau.testing.assert_close(param.grad, difference, rtol=1e-5, atol=1e-6)


def test_multivariate_normal_rsample_gradient():
    def objective(loc, factor):
        flambeau.manual_seed(1)
        covariance = factor @ factor.mT + flambeau.eye(3, dtype=flambeau.float64)
        return D.MultivariateNormal(loc, covariance).rsample((4,)).pow(2).sum()

    inputs = (t([0.5, 1.0, -1.0], True), flambeau.randn(3, 3).double().requires_grad_())
    assert flambeau.autograd.gradcheck(objective, inputs)


def test_lowrank_rsample_gradient():
    def objective(loc, factor, diag):
        flambeau.manual_seed(1)
        return D.LowRankMultivariateNormal(loc, factor, diag).rsample((4,)).pow(2).sum()

    inputs = (t([0.5, 1.0], True), t([[1.0], [0.3]], True), t([0.5, 2.0], True))
    assert flambeau.autograd.gradcheck(objective, inputs)


# E[f(x)] has a known derivative: the mean over many draws must approach it.
EXPECTATIONS = {
    # mean a / b
    "gamma": (D.Gamma, [2.5, 1.5], lambda a, b: a / b),
    "beta": (D.Beta, [2.5, 1.5], lambda a, b: a / (a + b)),
    "chi2": (D.Chi2, [3.0], lambda df: df),
    "inverse_gamma": (D.InverseGamma, [6.0, 1.5], lambda a, b: b / (a - 1)),
    "f": (D.FisherSnedecor, [5.0, 12.0], lambda a, b: b / (b - 2)),
}


@pytest.mark.parametrize("name", EXPECTATIONS)
def test_implicit_gradients_of_means(name):
    cls, values, mean = EXPECTATIONS[name]
    params = [t(value, grad=True) for value in values]
    cls(*params).rsample((40000,)).mean().backward()
    exact = [t(value, grad=True) for value in values]
    mean(*exact).backward()
    for got, expected in zip(params, exact, strict=True):
        expected = expected.grad if expected.grad is not None else t(0.0)
        flambeau.testing.assert_close(got.grad, expected, rtol=0.05, atol=0.01)


def test_dirichlet_gradient_of_means():
    alpha = t([0.7, 2.0, 3.0], True)
    weights = t([1.0, -2.0, 0.5])
    (D.Dirichlet(alpha).rsample((40000,)).mean(0) * weights).sum().backward()
    exact = t([0.7, 2.0, 3.0], True)
    (exact / exact.sum() * weights).sum().backward()
    flambeau.testing.assert_close(alpha.grad, exact.grad, rtol=0.05, atol=0.01)


def test_student_and_wishart_draws_pass_gradients():
    df = t(3.0, True)
    D.StudentT(df, 0.5, 2.0).rsample((5,)).sum().backward()
    assert df.grad is not None and flambeau.isfinite(df.grad)
    df, factor = t(5.0, True), t([[1.0, 0.0], [0.5, 0.7]], True)
    draws = D.Wishart(df, scale_tril=factor).rsample((20000,)).mean(0)
    draws.diagonal().sum().backward()
    # E[trace] = df * trace(L L^T)
    flambeau.testing.assert_close(df.grad, factor.detach().pow(2).sum(), rtol=0.05, atol=0.0)
    flambeau.testing.assert_close(factor.grad, (10.0 * factor.detach()).tril(), rtol=0.05, atol=0.1)


def test_straight_through_passes_the_gradient_of_probs():
    logits = t([0.5, -0.5, 0.0], True)
    weights = t([1.0, 2.0, 3.0])
    d = D.OneHotCategoricalStraightThrough(logits=logits)
    sample = d.rsample()
    assert set(sample.tolist()) == {0.0, 1.0}
    (sample * weights).sum().backward()
    other = t([0.5, -0.5, 0.0], True)
    (flambeau.softmax(other, -1) * weights).sum().backward()
    flambeau.testing.assert_close(logits.grad, other.grad)


def scaled(expression, factor, grad=False):
    """The distribution of an expression with all its tensors multiplied by a factor, and these tensors."""
    leaves = []

    def tensor(values):
        leaves.append((t(values) * factor).requires_grad_(grad))
        return leaves[-1]

    return eval(expression, {"D": D, "T": tensor}), leaves


@pytest.fixture
def double():
    flambeau.set_default_dtype(flambeau.float64)
    yield
    flambeau.set_default_dtype(flambeau.float32)
    D.Distribution.set_default_validate_args(True)


# Not those with probabilities of 1, which cannot grow, and rates of 0, where x log(rate) has no derivative.
SMOOTHLY_SCALED = [
    expression
    for expression in cases.DISTRIBUTIONS
    if "T([" in expression
    and not expression.startswith(("D.Bernoulli(T", "D.Binomial(5", "D.Poisson"))
]


@pytest.mark.filterwarnings("ignore:Wishart")
@pytest.mark.parametrize("expression", SMOOTHLY_SCALED)
def test_log_prob_gradients(expression, double):
    """Against a central difference, along the parameters themselves: that keeps zeros and symmetry."""
    D.Distribution.set_default_validate_args(False)
    d, leaves = scaled(expression, 1.0, grad=True)
    value = d.sample((3,))
    finite = flambeau.isfinite(d.log_prob(value))
    d, leaves = scaled(expression, 1.0, grad=True)
    total = d.log_prob(value)[finite].sum()
    gradients = flambeau.autograd.grad(total, leaves, allow_unused=True)
    step = 1e-6
    ends = [
        scaled(expression, 1.0 + sign * step)[0].log_prob(value)[finite].sum() for sign in (1, -1)
    ]
    along = sum(
        (g * leaf).sum() for g, leaf in zip(gradients, leaves, strict=True) if g is not None
    )
    difference = (ends[0] - ends[1]) / (2 * step)
    flambeau.testing.assert_close(along.detach(), difference, rtol=1e-5, atol=1e-6)


def test_entropy_gradients():
    def entropy(a, b):
        return sum(
            d.entropy().sum()
            for d in (
                D.Beta(a, b),
                D.Gamma(a, b),
                D.Weibull(a, b),
                D.StudentT(a, 0.0, b),
                D.Gumbel(a, b),
            )
        )

    assert flambeau.autograd.gradcheck(entropy, (t([0.7, 2.0], True), t([1.5, 0.4], True)))


def test_density_gradients():
    def density(a, b):
        x = t([0.2, 0.6])
        return sum(
            cls(a, b).log_prob(x).sum()
            for cls in (D.Beta, D.Gamma, D.Weibull, D.Normal, D.Laplace, D.Kumaraswamy, D.VonMises)
        )

    assert flambeau.autograd.gradcheck(density, (t([0.7, 2.0], True), t([1.5, 0.4], True)))


def test_exponential_family_entropy():
    """The generic formula agrees with the closed forms, and is differentiable."""
    generic = D.ExponentialFamily.entropy
    a, b = t([0.7, 2.0], True), t([1.5, 0.4], True)
    for make in (
        lambda: D.Normal(a, b),
        lambda: D.Gamma(a, b),
        lambda: D.Exponential(a),
        lambda: D.Bernoulli(logits=a),
    ):
        flambeau.testing.assert_close(generic(make()), make().entropy())
        (first,) = flambeau.autograd.grad(generic(make()).sum(), a, allow_unused=True)
        (second,) = flambeau.autograd.grad(make().entropy().sum(), a, allow_unused=True)
        if second is not None:
            flambeau.testing.assert_close(first, second)
    assert not generic(D.Exponential(1.0)).requires_grad


# Heavy tails: their sample moments do not settle.
UNSETTLED = (
    "Cauchy",
    "HalfCauchy",
    "FisherSnedecor",
    "InverseGamma",
    "Pareto",
    "StudentT",
    "GeneralizedPareto",
)


@pytest.mark.filterwarnings("ignore:Wishart")
@pytest.mark.parametrize("expression", cases.DISTRIBUTIONS)
def test_moments_of_draws(expression, double):
    if expression.partition("(")[0].removeprefix("D.") in (*UNSETTLED, "VonMises"):
        return
    d = cases.build(expression, flambeau, flambeau.float64)
    try:
        mean, variance = d.mean, d.variance
    except NotImplementedError:
        return
    count = 4000
    sample = d.sample((count,))
    if flambeau.isnan(mean).any():
        return
    # six standard errors of the mean; the variance of the sample variance needs the fourth moment
    error = 6 * (variance / count).sqrt() + 1e-9
    assert ((sample.mean(0) - mean).abs() <= error).all()
    centred = (sample - mean).pow(2)
    error = 6 * (centred.var(0) / count).sqrt() + 1e-9
    assert ((centred.mean(0) - variance).abs() <= error).all()


def test_draws_do_not_depend_on_the_number_of_threads():
    before = flambeau.get_num_threads()
    try:
        results = []
        for threads in (1, 2):
            flambeau.set_num_threads(threads)
            flambeau.manual_seed(0)
            results.append(D.Gamma(flambeau.full((1000,), 1.5), 1.0).sample((50,)))
        assert results[0].equal(results[1])
    finally:
        flambeau.set_num_threads(before)


def test_von_mises_draws_have_the_right_direction():
    loc = t([0.0, 2.0, -3.0])
    sample = D.VonMises(loc, t(3.0)).sample((20000,))
    assert sample.abs().max() <= np.pi
    angle = flambeau.atan2(sample.sin().mean(0), sample.cos().mean(0))
    flambeau.testing.assert_close(angle, loc, rtol=0.0, atol=0.03)
