"""Divergences against numerical integration, and the choice of the formula by class. See also the recorded values."""

import math

import numpy as np
import pytest

import flambeau
from flambeau import distributions as D
from flambeau.distributions import kl, kl_divergence, register_kl


def t(values):
    return flambeau.tensor(values, dtype=flambeau.float64)


CONTINUOUS = {
    "beta": D.Beta(t(1.7), t(2.5)),
    "continuous_bernoulli": D.ContinuousBernoulli(t(0.3)),
    "exponential": D.Exponential(t(1.3)),
    "gamma": D.Gamma(t(2.5), t(1.7)),
    "gumbel": D.Gumbel(t(0.3), t(1.2)),
    "laplace": D.Laplace(t(0.2), t(0.8)),
    "normal": D.Normal(t(0.4), t(0.9)),
    "pareto": D.Pareto(t(0.2), t(5.0)),
    "uniform": D.Uniform(t(0.2), t(0.9)),
    "cauchy": D.Cauchy(t(0.3), t(0.7)),
    "half_normal": D.HalfNormal(t(1.3)),
}
OTHER = {
    "beta": D.Beta(t(0.9), t(1.5)),
    "continuous_bernoulli": D.ContinuousBernoulli(t(0.8)),
    "exponential": D.Exponential(t(0.6)),
    "gamma": D.Gamma(t(1.5), t(0.7)),
    "gumbel": D.Gumbel(t(-0.3), t(0.9)),
    "laplace": D.Laplace(t(-0.2), t(1.5)),
    "normal": D.Normal(t(0.1), t(1.4)),
    "pareto": D.Pareto(t(0.1), t(2.0)),
    "uniform": D.Uniform(t(0.0), t(1.0)),
    "cauchy": D.Cauchy(t(0.0), t(1.1)),
    "half_normal": D.HalfNormal(t(0.8)),
}


def integrated(p, q):
    """E_p[log p - log q] over a fine grid of p's quantiles, or of the real line where p has none."""
    grid = np.concatenate([-np.geomspace(1e7, 1e-9, 400001), np.geomspace(1e-9, 1e7, 400001)])
    if isinstance(p, D.Beta | D.ContinuousBernoulli | D.Uniform):
        low, high = (0.2, 0.9) if isinstance(p, D.Uniform) else (0.0, 1.0)
        grid = low + (high - low) * (np.arange(400000) + 0.5) / 400000
    elif isinstance(p, D.Pareto):
        grid = 0.2 + np.geomspace(1e-9, 1e7, 800001)
    elif isinstance(p, D.Exponential | D.Gamma | D.HalfNormal):
        grid = np.geomspace(1e-9, 1e5, 800001)
    x = t(grid)
    log_p, log_q = p.log_prob(x), q.log_prob(x)
    terms = flambeau.where(log_p > -700, log_p.exp() * (log_p - log_q), t(0.0)).numpy()
    return np.trapezoid(terms, grid)


@pytest.fixture
def unchecked():
    """Densities of values outside the support are asked for."""
    D.Distribution.set_default_validate_args(False)
    yield
    D.Distribution.set_default_validate_args(True)


@pytest.mark.parametrize("first", CONTINUOUS)
@pytest.mark.parametrize("second", OTHER)
def test_against_integration(first, second, unchecked):
    p, q = CONTINUOUS[first], OTHER[second]
    try:
        got = kl_divergence(p, q).item()
    except NotImplementedError:
        return
    if math.isinf(got):
        assert outside(p, q)
        return
    assert abs(got - integrated(p, q)) < 2e-4 * (1 + abs(got))


def outside(p, q):
    """Whether p has draws that q does not have."""
    sample = p.sample((200000,))
    return not (q.support.check(sample) & (q.log_prob(sample) > -math.inf)).all()


@pytest.mark.filterwarnings("ignore:Wishart")
@pytest.mark.parametrize(
    ("p", "q"),
    [
        (D.Bernoulli(t(0.3)), D.Bernoulli(t(0.8))),
        (D.Bernoulli(t(0.3)), D.Poisson(t(0.8))),
        (D.Binomial(6, t(0.3)), D.Binomial(6, t(0.6))),
        (D.Categorical(t([0.2, 0.3, 0.5])), D.Categorical(t([0.6, 0.3, 0.1]))),
        (D.OneHotCategorical(t([0.2, 0.3, 0.5])), D.OneHotCategorical(t([0.6, 0.3, 0.1]))),
        (D.Geometric(t(0.4)), D.Geometric(t(0.2))),
        (D.Poisson(t(3.0)), D.Poisson(t(4.5))),
        (D.Dirichlet(t([0.8, 2.0, 3.0])), D.Dirichlet(t([1.0, 1.0, 2.0]))),
        (D.Chi2(t(3.0)), D.Chi2(t(5.0))),
        (D.LogNormal(t(0.3), t(0.5)), D.LogNormal(t(0.0), t(0.8))),
        (
            D.Wishart(t(5.0), t([[1.0, 0.2], [0.2, 0.7]])),
            D.Wishart(t(6.5), t([[0.8, 0.0], [0.0, 1.1]])),
        ),
        (
            D.MultivariateNormal(t([0.3, 0.0]), t([[1.0, 0.2], [0.2, 0.7]])),
            D.LowRankMultivariateNormal(t([0.0, 0.5]), t([[1.0], [0.4]]), t([0.5, 0.9])),
        ),
        (
            D.LowRankMultivariateNormal(t([0.0, 0.5]), t([[1.0], [0.4]]), t([0.5, 0.9])),
            D.LowRankMultivariateNormal(t([0.2, 0.1]), t([[0.5], [-0.4]]), t([0.7, 0.6])),
        ),
    ],
    ids=lambda d: type(d).__name__,
)
def test_against_draws(p, q):
    sample = p.sample((20000,))
    terms = p.log_prob(sample) - q.log_prob(sample)
    error = 6 * terms.std() / math.sqrt(len(terms))
    assert abs(kl_divergence(p, q) - terms.mean()) <= error + 1e-9
    flambeau.testing.assert_close(kl_divergence(p, p), t(0.0), atol=1e-9, rtol=0.0)


@pytest.mark.filterwarnings("ignore:Wishart")
def test_wishart_batches_are_independent():
    matrices = t([[[1.0, 0.2], [0.2, 0.7]], [[0.8, 0.0], [0.0, 1.1]]])
    df = t([5.0, 3.5])
    p, q = D.Wishart(df, matrices), D.Wishart(df + 1, matrices.flip(0))
    single = [
        kl_divergence(D.Wishart(df[i], matrices[i]), D.Wishart(df[i] + 1, matrices[1 - i]))
        for i in range(2)
    ]
    flambeau.testing.assert_close(kl_divergence(p, q), flambeau.stack(single))


def test_continuous_bernoulli_and_uniform_on_the_same_interval():
    p = D.ContinuousBernoulli(t(0.3))
    unit = D.Uniform(t(0.0), t(1.0))
    flambeau.testing.assert_close(kl_divergence(p, unit), -p.entropy())
    assert kl_divergence(unit, p).isfinite()


def test_infinite_divergences_have_the_joint_batch_shape():
    p = D.Normal(0.0, flambeau.ones(3, 1))
    assert kl_divergence(p, D.Beta(flambeau.ones(2), 1.0)).equal(flambeau.full((3, 2), math.inf))


def test_edges_of_probabilities():
    p, q = D.Bernoulli(t([0.0, 0.0, 1.0, 0.5])), D.Bernoulli(t([0.0, 1.0, 1.0, 1.0]))
    assert kl_divergence(p, q).tolist() == [0.0, math.inf, 0.0, math.inf]
    p = D.Categorical(t([[0.0, 1.0], [0.5, 0.5]]))
    assert kl_divergence(p, D.Categorical(t([0.0, 1.0]))).tolist() == [0.0, math.inf]
    p, q = D.Binomial(5, t(0.5)), D.Binomial(t([3, 5]), t(0.5).expand(2))
    assert kl_divergence(p.expand((2,)), q).tolist() == [math.inf, 0.0]
    with pytest.raises(NotImplementedError, match="no closed form"):
        kl_divergence(D.Binomial(3, t(0.5)), D.Binomial(5, t(0.5)))


def test_wrapped_distributions():
    p, q = D.Normal(t([0.0, 1.0]), 1.0), D.Normal(t([1.0, 3.0]), 2.0)
    each = kl_divergence(p, q)
    independent = kl_divergence(D.Independent(p, 1), D.Independent(q, 1))
    flambeau.testing.assert_close(independent, each.sum())
    transforms = [D.ExpTransform(), D.AffineTransform(1.0, 2.0)]
    wrapped = [D.TransformedDistribution(d, transforms) for d in (p, q)]
    flambeau.testing.assert_close(kl_divergence(*wrapped), each)
    with pytest.raises(NotImplementedError, match="reinterpreted"):
        kl_divergence(D.Independent(p, 1), D.Independent(q, 0))
    with pytest.raises(NotImplementedError, match="same transforms"):
        kl_divergence(wrapped[0], D.TransformedDistribution(q, [D.ExpTransform()]))


def test_gradients():
    def objective(loc, scale):
        p, q = D.Normal(loc, scale), D.Normal(t(0.0), t(1.0))
        gammas = kl_divergence(D.Gamma(scale, 1.0), D.Gamma(2.0, scale))
        family = kl._exponential_family(D.Gamma(scale, 1.0), D.Gamma(2.0, scale))
        return (kl_divergence(p, q) + gammas + family).sum()

    inputs = (t([0.5, -1.0]).requires_grad_(), t([0.7, 2.0]).requires_grad_())
    assert flambeau.autograd.gradcheck(objective, inputs)


def test_bregman_divergences_agree_with_closed_forms():
    for p, q in (
        (D.Gamma(t(2.0), t(3.0)), D.Gamma(t(1.5), t(0.7))),
        (D.Beta(t(2.0), t(3.0)), D.Beta(t(1.5), t(0.7))),
        (D.Normal(t([0.5, 1.0]), t(3.0)), D.Normal(t(1.5), t(0.7))),
        (D.Dirichlet(t([[2.0, 3.0], [1.0, 0.4]])), D.Dirichlet(t([0.7, 1.0]))),
    ):
        flambeau.testing.assert_close(kl._exponential_family(p, q), kl_divergence(p, q))
        assert not kl._exponential_family(p, q).requires_grad
    with pytest.raises(NotImplementedError, match="different classes"):
        kl._exponential_family(D.Gamma(1.0, 1.0), D.Normal(0.0, 1.0))


@pytest.fixture
def registry():
    """A registry that forgets what a test adds."""
    before = dict(kl._KL_REGISTRY)
    yield
    kl._KL_REGISTRY.clear()
    kl._KL_REGISTRY.update(before)
    kl._KL_MEMOIZE.clear()


class Base(D.Distribution):
    def __init__(self):
        super().__init__(validate_args=False)


class Left(Base):
    pass


class Right(Base):
    pass


def test_unregistered_pairs():
    with pytest.raises(
        NotImplementedError,
        match=r"No KL\(p \|\| q\) is implemented for p type Left and q type Right",
    ):
        kl_divergence(Left(), Right())
    with pytest.raises(TypeError, match="register_kl: expected type_q to be a class, got a Base"):
        register_kl(Base, Base())


def test_the_most_specific_pair_wins(registry):
    register_kl(Base, Base)(lambda p, q: "base")
    assert kl_divergence(Left(), Right()) == "base"
    register_kl(Left, Right)(lambda p, q: "specific")  # replaces what was looked up before
    assert kl_divergence(Left(), Right()) == "specific"
    assert kl_divergence(Right(), Left()) == "base"


def test_ambiguous_pairs_warn(registry):
    register_kl(Left, Base)(lambda p, q: "left")
    register_kl(Base, Right)(lambda p, q: "right")
    with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Left, Right\)"):
        assert kl_divergence(Left(), Right()) == "left"


def test_subclasses_inherit_formulas():
    flambeau.testing.assert_close(
        kl_divergence(D.Chi2(t(3.0)), D.Gamma(t(2.0), t(0.5))),
        kl_divergence(D.Gamma(t(1.5), t(0.5)), D.Gamma(t(2.0), t(0.5))),
    )
