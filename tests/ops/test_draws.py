"""Random ops: the distribution of what they draw, the same draws from the same seed, meta tensors, and arguments."""

import math

import numpy as np
import pytest
from scipy import stats

import flambeau

COUNT = 20_000


def filled(method, *args):
    return lambda size, **kw: getattr(flambeau.empty(size), method)(*args, **kw)


# Draw of a size -> the distribution it has to have.
CONTINUOUS = {
    "rand": (flambeau.rand, stats.uniform()),
    "randn": (flambeau.randn, stats.norm()),
    "normal": (lambda size, **kw: flambeau.normal(2.0, 3.0, size, **kw), stats.norm(2, 3)),
    "normal_": (filled("normal_", -1.0, 0.5), stats.norm(-1, 0.5)),
    "uniform_": (filled("uniform_", -2.0, 5.0), stats.uniform(-2, 7)),
    "exponential_": (filled("exponential_", 1.5), stats.expon(scale=1 / 1.5)),
    "cauchy_": (filled("cauchy_", 1.0, 2.0), stats.cauchy(1, 2)),
    "log_normal_": (filled("log_normal_", 0.3, 0.7), stats.lognorm(0.7, scale=math.exp(0.3))),
    "gamma": (
        lambda size, **kw: flambeau._standard_gamma(flambeau.full(size, 2.5), **kw),
        stats.gamma(2.5),
    ),
    "small gamma": (
        lambda size, **kw: flambeau._standard_gamma(flambeau.full(size, 0.3), **kw),
        stats.gamma(0.3),
    ),
}
DISCRETE = {
    "randint": (lambda size, **kw: flambeau.randint(3, 9, size, **kw), stats.randint(3, 9)),
    "random_": (filled("random_", 2, 6), stats.randint(2, 6)),
    "bernoulli": (
        lambda size, **kw: flambeau.bernoulli(flambeau.full(size, 0.3), **kw),
        stats.bernoulli(0.3),
    ),
    "bernoulli_": (filled("bernoulli_", 0.8), stats.bernoulli(0.8)),
    "geometric_": (filled("geometric_", 0.4), stats.geom(0.4)),
    "poisson": (
        lambda size, **kw: flambeau.poisson(flambeau.full(size, 4.0), **kw),
        stats.poisson(4),
    ),
    "large poisson": (
        lambda size, **kw: flambeau.poisson(flambeau.full(size, 90.0), **kw),
        stats.poisson(90),
    ),
    "binomial": (
        lambda size, **kw: flambeau.binomial(
            flambeau.full(size, 12.0), flambeau.full(size, 0.4), **kw
        ),
        stats.binom(12, 0.4),
    ),
    "large binomial": (
        lambda size, **kw: flambeau.binomial(
            flambeau.full(size, 300.0), flambeau.full(size, 0.6), **kw
        ),
        stats.binom(300, 0.6),
    ),
    "multinomial": (
        lambda size, **kw: flambeau.multinomial(
            flambeau.tensor([1.0, 1.0, 2.0]), math.prod(size), True, **kw
        ),
        stats.rv_discrete(values=([0, 1, 2], [0.25, 0.25, 0.5])),
    ),
}
ALL = {**CONTINUOUS, **DISCRETE}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_draws_have_their_distribution(name):
    draw, distribution = CONTINUOUS[name]
    values = draw((COUNT,), generator=flambeau.Generator().manual_seed(1)).double().numpy()
    assert stats.kstest(values, distribution.cdf).pvalue > 1e-4


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_draws_have_their_distribution(name):
    draw, distribution = DISCRETE[name]
    values = draw((COUNT,), generator=flambeau.Generator().manual_seed(1)).double().numpy()
    found, counts = np.unique(values, return_counts=True)
    expected = distribution.pmf(found) * COUNT
    common = expected > 5
    assert expected[common].sum() > 0.98 * COUNT
    statistic = ((counts[common] - expected[common]) ** 2 / expected[common]).sum()
    assert stats.chi2(common.sum()).sf(statistic) > 1e-4
    assert values.mean() == pytest.approx(
        distribution.mean(), abs=5 * distribution.std() / math.sqrt(COUNT)
    )


@pytest.mark.parametrize("name", ALL)
def test_seed_decides(name):
    draw = ALL[name][0]
    flambeau.manual_seed(5)
    first, second = draw((64,)), draw((64,))
    flambeau.manual_seed(5)
    assert flambeau.equal(draw((64,)), first) and flambeau.equal(draw((64,)), second)
    own = draw((64,), generator=flambeau.Generator().manual_seed(5))
    assert flambeau.equal(own, first) and not flambeau.equal(first, second)


@pytest.mark.parametrize("name", ALL)
def test_empty_and_larger_ranks(name):
    draw = ALL[name][0]
    if name != "multinomial":  # it needs something to draw
        assert draw((0, 3)).shape == (0, 3)
        assert draw((2, 0)).numel() == 0
        assert draw((2, 3, 4)).shape == (2, 3, 4)


@pytest.mark.parametrize(
    "call",
    [
        lambda device: flambeau.rand(2, 3, device=device),
        lambda device: flambeau.randn(2, 3, device=device),
        lambda device: flambeau.randint(5, (2, 3), device=device),
        lambda device: flambeau.randperm(6, device=device).view(2, 3),
        lambda device: flambeau.empty(2, 3, device=device).normal_(),
        lambda device: flambeau.empty(2, 3, device=device).uniform_(),
        lambda device: flambeau.empty(2, 3, device=device).exponential_(),
        lambda device: flambeau.bernoulli(flambeau.empty(2, 3, device=device)),
        lambda device: flambeau.poisson(flambeau.empty(2, 3, device=device)),
        lambda device: flambeau.rand_like(flambeau.empty(2, 3, device=device)),
        lambda device: flambeau.randn_like(flambeau.empty(2, 3, device=device)),
        lambda device: flambeau.nn.functional.dropout(flambeau.empty(2, 3, device=device)),
    ],
)
def test_meta_tensors_have_shapes_and_take_no_draws(call):
    flambeau.manual_seed(0)
    state = flambeau.get_rng_state()
    result = call("meta")
    assert result.is_meta and result.shape == (2, 3)
    assert flambeau.equal(flambeau.get_rng_state(), state)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floating_dtypes_keep_their_ranges(dtype):
    values = flambeau.rand(COUNT, dtype=getattr(flambeau, dtype))
    assert values.min() >= 0 and values.max() < 1
    assert abs(values.double().mean().item() - 0.5) < 0.02


def test_permutations_and_sampling_without_replacement():
    assert sorted(flambeau.randperm(50).tolist()) == list(range(50))
    picked = flambeau.multinomial(flambeau.ones(4, 10), 10)
    assert flambeau.equal(picked.sort(1).values, flambeau.arange(10).expand(4, 10))
    never = flambeau.multinomial(flambeau.tensor([0.0, 1.0, 1.0]), 1000, True)
    assert never.min() == 1


def test_dropout_keeps_the_mean_and_its_share():
    kept = flambeau.nn.functional.dropout(flambeau.ones(COUNT), 0.25)
    share = (kept != 0).double().mean().item()
    assert share == pytest.approx(0.75, abs=0.02)
    assert flambeau.allclose(kept[kept != 0], flambeau.tensor(1 / 0.75))


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: flambeau.empty(2).normal_(0, -1), RuntimeError, "std"),
        (lambda: flambeau.empty(2).uniform_(1, 0), RuntimeError, "from"),
        (lambda: flambeau.empty(2).exponential_(-1), RuntimeError, "lambda"),
        (lambda: flambeau.bernoulli(flambeau.tensor([2.0])), RuntimeError, "p"),
        (lambda: flambeau.poisson(flambeau.tensor([-1.0])), RuntimeError, "Poisson"),
        (lambda: flambeau.randint(5, 5, (2,)), RuntimeError, "from"),
        (lambda: flambeau.multinomial(flambeau.zeros(3), 1), RuntimeError, "sum"),
        (lambda: flambeau.multinomial(flambeau.ones(3), 4), RuntimeError, "num_samples|sample"),
        (lambda: flambeau.randperm(-1), RuntimeError, "n >= 0"),
    ],
)
def test_bad_parameters(call, error, match):
    with pytest.raises(error, match=match):
        call()
