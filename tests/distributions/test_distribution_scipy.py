"""Densities, distribution functions, quantiles, moments and entropies against SciPy."""

import numpy as np
import pytest
from scipy import stats

import flambeau
from flambeau import distributions as D


def t(values):
    return flambeau.tensor(values, dtype=flambeau.float64)


A, B = [0.6, 2.5, 7.0], [1.3, 0.4, 3.0]
PROBS = [0.15, 0.5, 0.9]
MEAN, COVARIANCE = [0.5, -1.0], [[2.0, 0.3], [0.3, 0.5]]

CONTINUOUS = {
    "beta": (D.Beta(t(A), t(B)), stats.beta(A, B)),
    "cauchy": (D.Cauchy(t(A), t(B)), stats.cauchy(A, B)),
    "chi2": (D.Chi2(t(A)), stats.chi2(A)),
    "exponential": (D.Exponential(t(A)), stats.expon(scale=1 / np.array(A))),
    "f": (D.FisherSnedecor(t(A), t([5.0, 6.0, 9.0])), stats.f(A, [5.0, 6.0, 9.0])),
    "gamma": (D.Gamma(t(A), t(B)), stats.gamma(A, scale=1 / np.array(B))),
    "generalized_pareto": (
        D.GeneralizedPareto(t(A), t(B), t([-0.4, 0.0, 0.3])),
        stats.genpareto([-0.4, 0.0, 0.3], A, B),
    ),
    "gumbel": (D.Gumbel(t(A), t(B)), stats.gumbel_r(A, B)),
    "half_cauchy": (D.HalfCauchy(t(A)), stats.halfcauchy(scale=A)),
    "half_normal": (D.HalfNormal(t(A)), stats.halfnorm(scale=A)),
    "inverse_gamma": (
        D.InverseGamma(t([2.5, 3.0, 7.0]), t(B)),
        stats.invgamma([2.5, 3.0, 7.0], scale=B),
    ),
    "laplace": (D.Laplace(t(A), t(B)), stats.laplace(A, B)),
    "log_normal": (D.LogNormal(t(A), t(B)), stats.lognorm(B, scale=np.exp(A))),
    "normal": (D.Normal(t(A), t(B)), stats.norm(A, B)),
    "pareto": (D.Pareto(t(B), t([2.5, 3.0, 7.0])), stats.pareto([2.5, 3.0, 7.0], scale=B)),
    "student": (D.StudentT(t([2.5, 3.0, 7.0]), t(A), t(B)), stats.t([2.5, 3.0, 7.0], A, B)),
    "uniform": (
        D.Uniform(t(A), t([3.0, 4.0, 9.0])),
        stats.uniform(A, np.array([3.0, 4.0, 9.0]) - A),
    ),
    "von_mises": (D.VonMises(t([0.0, 1.0, -2.0]), t(A)), stats.vonmises(A, [0.0, 1.0, -2.0])),
    "weibull": (D.Weibull(t(B), t(A)), stats.weibull_min(A, scale=B)),
}
DISCRETE = {
    "bernoulli": (D.Bernoulli(t(PROBS)), stats.bernoulli(PROBS)),
    "binomial": (D.Binomial(7, t(PROBS)), stats.binom(7, PROBS)),
    "geometric": (D.Geometric(t(PROBS)), stats.geom(PROBS, loc=-1)),
    "negative_binomial": (D.NegativeBinomial(t(A), t(PROBS)), stats.nbinom(A, 1 - np.array(PROBS))),
    "poisson": (D.Poisson(t(A)), stats.poisson(A)),
}


def close(got, expected, tolerance=1e-9):
    np.testing.assert_allclose(got.numpy(), expected, rtol=tolerance, atol=tolerance)


def points(reference):
    """Values from deep in one tail to deep in the other: shape (points, batch)."""
    return reference.ppf(np.array([0.001, 0.05, 0.3, 0.5, 0.8, 0.97, 0.9999])[:, None])


@pytest.mark.parametrize("name", CONTINUOUS)
def test_log_density(name):
    d, reference = CONTINUOUS[name]
    values = points(reference)
    close(d.log_prob(t(values)), reference.logpdf(values), 1e-8)


@pytest.mark.parametrize("name", DISCRETE)
def test_log_probability(name):
    d, reference = DISCRETE[name]
    values = points(reference)
    close(d.log_prob(t(values)), reference.logpmf(values))


WITHOUT_CDF = ("beta", "chi2", "f", "student", "von_mises")


@pytest.mark.parametrize("name", [name for name in CONTINUOUS if name not in WITHOUT_CDF])
def test_distribution_function_and_its_inverse(name):
    d, reference = CONTINUOUS[name]
    values = points(reference)
    close(d.cdf(t(values)), reference.cdf(values))
    if name in ("gamma", "inverse_gamma"):  # no quantiles in closed form
        with pytest.raises(NotImplementedError):
            d.icdf(t([0.5]))
        return
    levels = np.array([0.01, 0.5, 0.95])[:, None]
    close(d.icdf(t(levels)), reference.ppf(levels), 1e-8)
    assert (d.cdf(d.icdf(t(levels))) - t(levels)).abs().max() < 1e-12


@pytest.mark.parametrize("name", CONTINUOUS)
def test_mean_and_variance(name):
    d, reference = CONTINUOUS[name]
    if name == "von_mises":  # circular: E[cos(x - loc)]
        resultant = [reference.expect(lambda x: np.cos(x)) for reference in map(stats.vonmises, A)]
        close(d.variance, 1 - np.array(resultant), 1e-6)
        close(d.mean, [0.0, 1.0, -2.0])
        return
    expected = reference.var()
    expected = np.where(np.isin(name, ["cauchy", "half_cauchy"]), np.inf, expected)
    close(d.variance, expected)
    close(d.stddev, np.sqrt(expected))
    if name != "half_cauchy":
        close(d.mean, reference.mean())


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_mean_and_variance(name):
    d, reference = DISCRETE[name]
    close(d.mean, reference.mean())
    close(d.variance, reference.var())


@pytest.mark.parametrize(
    "name", [n for n in CONTINUOUS if n not in ("f", "von_mises", "half_cauchy")]
)
def test_entropy(name):
    d, reference = CONTINUOUS[name]
    close(d.entropy(), reference.entropy(), 1e-7)


def test_discrete_entropy():
    for name in ("bernoulli", "binomial", "geometric"):
        d, reference = DISCRETE[name]
        close(d.entropy(), reference.entropy(), 1e-7)


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_mode_is_the_likeliest(name):
    d, reference = {**CONTINUOUS, **DISCRETE}[name]
    mode = d.mode
    known = ~flambeau.isnan(mode) & (mode != 0)  # at 0, the density may be infinite
    inside = d.log_prob(t(points(reference)))
    at_mode = d.log_prob(flambeau.where(known, mode, d.sample()))
    assert not ((inside > at_mode + 1e-9) & known).any()


def test_kumaraswamy():
    a, b = t([0.7, 2.0, 5.0]), t([1.5, 3.0, 0.8])
    d = D.Kumaraswamy(a, b)
    x = t([[0.1], [0.5], [0.93]])
    close(d.cdf(x), (1 - (1 - x**a) ** b).numpy())
    close(d.log_prob(x), (a * b * x ** (a - 1) * (1 - x**a) ** (b - 1)).log().numpy())
    assert abs(d.mode[1].item() - np.sqrt(1 / 5)) < 1e-12  # ((a - 1) / (a b - 1))^(1 / a)


def test_continuous_bernoulli_is_smooth_around_one_half():
    probs = t([0.4989, 0.4990001, 0.5, 0.501, 0.5010001])
    d = D.ContinuousBernoulli(probs)
    x = np.linspace(0, 1, 200001)
    for index, p in enumerate(probs.tolist()):
        weights = p**x * (1 - p) ** (1 - x)
        constant = np.trapezoid(weights, x)
        mean = np.trapezoid(x * weights, x) / constant
        assert abs(d._cont_bern_log_norm()[index].item() + np.log(constant)) < 1e-8
        assert abs(d.mean[index].item() - mean) < 1e-8


def test_multivariate_normal():
    reference = stats.multivariate_normal(MEAN, COVARIANCE)
    values = reference.rvs(size=6, random_state=0)
    precision = np.linalg.inv(COVARIANCE)
    for matrix in (
        {"covariance_matrix": t(COVARIANCE)},
        {"precision_matrix": t(precision)},
        {"scale_tril": t(np.linalg.cholesky(COVARIANCE))},
    ):
        d = D.MultivariateNormal(t(MEAN), **matrix)
        close(d.log_prob(t(values)), reference.logpdf(values))
        close(d.entropy(), reference.entropy())
        close(d.covariance_matrix, COVARIANCE)
        close(d.precision_matrix, precision)
        close(d.scale_tril, np.linalg.cholesky(COVARIANCE))
        close(d.variance, np.diag(COVARIANCE))


def test_lowrank_multivariate_normal_is_the_full_one():
    factor, diag = flambeau.randn(5, 2).double(), flambeau.rand(3, 5).double() + 0.1
    low = D.LowRankMultivariateNormal(flambeau.randn(5).double(), factor, diag)
    full = D.MultivariateNormal(low.loc, low.covariance_matrix)
    values = low.sample((4,))
    close(low.log_prob(values), full.log_prob(values).numpy())
    for name in ("precision_matrix", "scale_tril", "variance"):
        close(getattr(low, name), getattr(full, name).numpy())
    close(low.entropy(), full.entropy().numpy())


def test_dirichlet_multinomial_wishart():
    alpha = [0.7, 2.0, 3.5]
    d, reference = D.Dirichlet(t(alpha)), stats.dirichlet(alpha)
    x = reference.rvs(size=4, random_state=0)
    close(d.log_prob(t(x)), reference.logpdf(x.T))
    close(d.entropy(), reference.entropy())
    close(d.variance, reference.var())

    d, reference = D.Multinomial(5, t([0.2, 0.5, 0.3])), stats.multinomial(5, [0.2, 0.5, 0.3])
    x = reference.rvs(size=4, random_state=0).astype(float)
    close(d.log_prob(t(x)), reference.logpmf(x))
    close(d.entropy(), reference.entropy())

    d, reference = D.Wishart(t(4.5), t(COVARIANCE)), stats.wishart(4.5, COVARIANCE)
    x = reference.rvs(size=4, random_state=0)
    close(d.log_prob(t(x)), reference.logpdf(np.moveaxis(x, 0, -1)))
    close(d.entropy(), reference.entropy())
    close(d.mean, reference.mean())
    close(d.variance, reference.var())
    close(d.mode, reference.mode())


def test_lkj_density_integrates_to_one():
    # for dim 2 the factor has one free entry r, the correlation, in (-1, 1)
    r = np.linspace(-1, 1, 400003)[1:-1]
    for concentration in (0.7, 1.0, 3.0):
        d = D.LKJCholesky(2, t(concentration))
        factors = np.zeros((len(r), 2, 2))
        factors[:, 0, 0], factors[:, 1, 0], factors[:, 1, 1] = 1, r, np.sqrt(1 - r**2)
        # the density is with respect to the correlation's Cholesky factor, whose volume element is dr
        density = d.log_prob(t(factors)).exp().numpy()
        assert abs(np.trapezoid(density, r) - 1) < 2e-3


def test_mixture_is_the_weighted_sum():
    weights, loc, scale = [0.3, 0.7], [-1.0, 2.0], [0.5, 1.5]
    d = D.MixtureSameFamily(D.Categorical(t(weights)), D.Normal(t(loc), t(scale)))
    x = np.linspace(-4, 6, 9)
    components = stats.norm(loc, scale)
    close(d.log_prob(t(x)), np.log(components.pdf(x[:, None]) @ weights))
    close(d.cdf(t(x)), components.cdf(x[:, None]) @ weights)
    mean = np.dot(weights, loc)
    close(d.mean, mean)
    close(d.variance, np.dot(weights, np.square(scale) + np.square(np.array(loc) - mean)))
