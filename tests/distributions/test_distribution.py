"""What all distributions share: shapes, expansion, checks of parameters and values, reprs."""

import copy
import importlib.util
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import flambeau
from flambeau import distributions as D
from flambeau import tensor
from flambeau.distributions import constraints

HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location("distribution_cases", HERE / "cases.py")
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
ALL = pytest.mark.parametrize("expression", cases.DISTRIBUTIONS)


def build(expression):
    return cases.build(expression, flambeau, flambeau.float32)


def test_import_of_the_package_leaves_distributions_alone():
    code = "import sys, flambeau; assert not any('distributions' in name for name in sys.modules)"
    environment = {"PYTHONPATH": str(HERE.parents[1] / "src")}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_every_public_name_has_a_docstring():
    missing = [name for name in D.__all__ if not (getattr(D, name).__doc__ or "").strip()]
    assert not missing


@pytest.mark.parametrize("name", ["normal", "studentT", "lowrank_multivariate_normal", "von_mises"])
def test_modules_have_pytorch_names(name):
    module = importlib.import_module(f"flambeau.distributions.{name}")
    for public in module.__all__:
        assert getattr(D, public) is getattr(module, public)


@ALL
def test_sample_and_log_prob_shapes(expression):
    d = build(expression)
    batch, event = d.batch_shape, d.event_shape
    assert d.sample().shape == batch + event
    assert d.sample((2, 3)).shape == (2, 3) + tuple(batch + event)
    assert d.log_prob(d.sample((2,))).shape == (2, *batch)
    if d.has_rsample:
        assert d.rsample([4]).shape == (4, *batch, *event)
    else:
        with pytest.raises(NotImplementedError):
            d.rsample()
    assert d.support.check(d.sample((5,))).all()


@ALL
def test_expand_broadcasts_parameters(expression):
    d = build(expression)
    shape = (3, *d.batch_shape)
    wide = d.expand(shape)
    assert type(wide) is type(d)
    assert wide.batch_shape == shape
    assert wide.event_shape == d.event_shape
    value = d.sample()
    flambeau.testing.assert_close(wide.log_prob(value), d.log_prob(value).expand(shape))
    assert wide.sample((2,)).shape == (2, *shape, *d.event_shape)
    for name in ("mean", "variance"):
        try:
            expected = getattr(d, name)
        except NotImplementedError:
            continue
        wide_value = getattr(wide, name)
        expected = expected.expand(shape + tuple(d.event_shape))
        flambeau.testing.assert_close(wide_value, expected, equal_nan=True)


@ALL
def test_copies_and_pickles(expression):
    d = build(expression)
    value = d.sample()
    expected = d.log_prob(value)
    for other in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        flambeau.testing.assert_close(other.log_prob(value), expected)


def test_transforms_are_named_by_the_public_module_in_files():
    for name in D.transforms.__all__:
        if isinstance(getattr(D, name), type):
            assert getattr(D, name).__module__ == "flambeau.distributions.transforms"


@ALL
def test_enumerated_support(expression):
    d = build(expression)
    if not d.has_enumerate_support:
        with pytest.raises(NotImplementedError):
            d.enumerate_support()
        return
    try:
        values = d.enumerate_support()
    except NotImplementedError:
        return  # several counts in one batch
    narrow = d.enumerate_support(expand=False)
    assert narrow.expand(values.shape).equal(values)
    total = d.log_prob(values).exp().sum(0)
    flambeau.testing.assert_close(total, flambeau.ones_like(total))


@ALL
def test_values_are_checked(expression):
    d = build(expression)
    with pytest.raises((ValueError, TypeError)):
        d.log_prob("zero")
    with pytest.raises((ValueError, RuntimeError)):
        d.log_prob(flambeau.full(d.batch_shape + d.event_shape, float("nan")))
    if d.event_shape:
        with pytest.raises(ValueError):
            d.log_prob(flambeau.zeros((*d.batch_shape, 17)))


def test_value_outside_the_support():
    with pytest.raises(ValueError, match="Exponential: expected a value within the support"):
        D.Exponential(1.0).log_prob(tensor(-1.0))
    d = D.Exponential(1.0, validate_args=False)
    assert d.log_prob(tensor(-1.0)) == 1


def test_value_of_a_wrong_shape():
    with pytest.raises(
        ValueError, match=r"broadcasts with batch_shape \+ event_shape \(3,\), got shape"
    ):
        D.Normal(flambeau.zeros(3), 1.0).log_prob(flambeau.zeros(2))


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: D.Normal(0.0, -1.0), ValueError, "Normal: expected parameter scale"),
        (lambda: D.Normal(float("nan"), 1.0), ValueError, "parameter loc"),
        (lambda: D.Normal(None, 1.0), ValueError, "numbers and tensors"),
        (lambda: D.Normal(flambeau.zeros(2), flambeau.ones(3)), RuntimeError, None),
        (lambda: D.Bernoulli(), ValueError, "either `probs` or `logits`, got neither"),
        (lambda: D.Bernoulli(tensor(0.5), tensor(0.0)), ValueError, "got both"),
        (lambda: D.Bernoulli(2.0), ValueError, "parameter probs"),
        (lambda: D.Geometric(0.0), ValueError, "above 0"),
        (lambda: D.ContinuousBernoulli(1.5), ValueError, "within"),
        (lambda: D.Binomial(tensor(1.5), tensor(0.5)), ValueError, "total_count"),
        (lambda: D.NegativeBinomial(3.0, tensor(1.0)), ValueError, "parameter probs"),
        (lambda: D.Categorical(tensor(1.0)), ValueError, "at least one dim"),
        (lambda: D.Categorical(tensor([-1.0, 2.0])), ValueError, "parameter probs"),
        (lambda: D.Dirichlet(tensor(1.0)), ValueError, "at least one dim"),
        (lambda: D.Uniform(1.0, 0.0), ValueError, "parameter low"),
        (lambda: D.Multinomial(tensor(2), tensor([0.5, 0.5])), NotImplementedError, "one int"),
        (lambda: D.LKJCholesky(1), ValueError, "dim of at least 2"),
        (lambda: D.Independent(D.Normal(0.0, 1.0), 1), ValueError, "reinterpreted_batch_ndims"),
        (lambda: D.MultivariateNormal(flambeau.zeros(2)), ValueError, "exactly one of"),
        (
            lambda: D.MultivariateNormal(flambeau.zeros(2), flambeau.eye(2), flambeau.eye(2)),
            ValueError,
            "exactly one of",
        ),
        (lambda: D.MultivariateNormal(tensor(0.0), flambeau.eye(1)), ValueError, "loc"),
        (lambda: D.MultivariateNormal(flambeau.zeros(2), flambeau.ones(2)), ValueError, "two dims"),
        (
            lambda: D.MultivariateNormal(flambeau.zeros(2), -flambeau.eye(2)),
            ValueError,
            "covariance_matrix",
        ),
        (
            lambda: D.LowRankMultivariateNormal(
                flambeau.zeros(2), flambeau.ones(3, 1), flambeau.ones(2)
            ),
            ValueError,
            "cov_factor",
        ),
        (
            lambda: D.LowRankMultivariateNormal(
                flambeau.zeros(2), flambeau.ones(2, 1), flambeau.ones(3)
            ),
            ValueError,
            "cov_diag",
        ),
        (
            lambda: D.LowRankMultivariateNormal(
                flambeau.zeros(3, 2), flambeau.ones(2, 2, 1), flambeau.ones(2)
            ),
            ValueError,
            "broadcast",
        ),
        (lambda: D.Wishart(0.5, flambeau.eye(2)), ValueError, "df above 1"),
        (
            lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0)),
            ValueError,
            "Categorical",
        ),
        (
            lambda: D.MixtureSameFamily(
                D.Categorical(flambeau.ones(2)), D.Normal(flambeau.zeros(3), 1.0)
            ),
            ValueError,
            "as many components",
        ),
        (
            lambda: D.MixtureSameFamily(
                D.Categorical(flambeau.ones(3, 2)), D.Normal(flambeau.zeros(4, 2), 1.0)
            ),
            ValueError,
            "batch_shape",
        ),
        (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3), ValueError, "Transform"),
        (
            lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()),
            ValueError,
            "at least 1",
        ),
        (lambda: D.Distribution.set_default_validate_args(3), ValueError, "True or False"),
        (lambda: D.Normal(tensor([0.0, 1.0]), 1.0).expand((3,)), RuntimeError, None),
        (lambda: D.Normal(0.0, 1.0).enumerate_support(), NotImplementedError, None),
        (
            lambda: D.Independent(D.Bernoulli(tensor([0.5])), 1).enumerate_support(),
            NotImplementedError,
            "product",
        ),
        (
            lambda: D.Binomial(tensor([1.0, 2.0]), 0.5 * flambeau.ones(2)).enumerate_support(),
            NotImplementedError,
            "one total_count",
        ),
    ],
)
def test_errors(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_checks_can_be_switched_off_for_all():
    D.Distribution.set_default_validate_args(False)
    try:
        assert D.Normal(0.0, -1.0).scale == -1
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError):
        D.Normal(0.0, -1.0)
    with pytest.raises(ValueError):
        D.Beta(-1.0, 1.0, validate_args=True)


def test_expanded_copies_keep_validate_args():
    d = D.Exponential(1.0, validate_args=False).expand((2,))
    assert d.log_prob(tensor(-1.0)).equal(tensor([1.0, 1.0]))


class Shifted(D.Normal):
    def __init__(self, loc, shift):
        self.shift = shift
        super().__init__(loc + shift, 1.0)


def test_a_subclass_with_its_own_init_must_override_expand():
    with pytest.raises(NotImplementedError, match="Shifted"):
        Shifted(0.0, 1.0).expand((2,))


class Half(D.Distribution):
    """A user's distribution with the minimum of definitions."""

    arg_constraints = {"high": constraints.positive}  # noqa: RUF012 - as programs write it

    def __init__(self, high, validate_args=None):
        self.high = high
        super().__init__(high.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.interval(0, self.high)

    def rsample(self, sample_shape=()):
        return flambeau.rand(self._extended_shape(sample_shape)) * self.high


def test_a_class_of_a_user():
    d = Half(tensor([1.0, 2.0]))
    assert d.sample((3,)).shape == (3, 2)
    assert repr(d) == "Half(high: torch.Size([2]))"
    assert not constraints.is_dependent(d.support)
    assert constraints.is_dependent(Half.support)
    for answer in (d.entropy, lambda: d.mean, lambda: d.expand((2, 2)), lambda: d.mode):
        with pytest.raises(NotImplementedError):
            answer()
    with pytest.raises(ValueError, match="Half: expected parameter high"):
        Half(tensor(-1.0))


class Bare(D.Distribution):
    pass


def test_missing_constraints_warn():
    with pytest.warns(UserWarning, match="arg_constraints"):
        Bare()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Bare(validate_args=False)


def test_sample_n_is_deprecated():
    with pytest.warns(FutureWarning):
        assert D.Normal(0.0, 1.0).sample_n(3).shape == (3,)


def test_perplexity_counts_categories():
    flambeau.testing.assert_close(D.Categorical(flambeau.ones(5)).perplexity(), tensor(5.0))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: D.Normal(0.0, 1.0), "Normal(loc: 0.0, scale: 1.0)"),
        (
            lambda: D.Normal(flambeau.zeros(2, 3), 1.0),
            "Normal(loc: torch.Size([2, 3]), scale: torch.Size([2, 3]))",
        ),
        (lambda: D.Categorical(flambeau.ones(4)), "Categorical(probs: torch.Size([4]))"),
        (lambda: D.Pareto(1.0, 2.0), "Pareto(alpha: 2.0, scale: 1.0)"),
        (lambda: D.Beta(1.0, 2.0), "Beta()"),
        (
            lambda: D.Independent(D.Normal(flambeau.zeros(2), 1.0), 1),
            "Independent(Normal(loc: torch.Size([2]), scale: torch.Size([2])), 1)",
        ),
        (
            lambda: D.MixtureSameFamily(
                D.Categorical(flambeau.ones(2)), D.Normal(flambeau.zeros(2), 1.0)
            ),
            "MixtureSameFamily(\n  Categorical(probs: torch.Size([2]), logits: torch.Size([2])),\n"
            "  Normal(loc: torch.Size([2]), scale: torch.Size([2])))",
        ),
    ],
)
def test_repr(make, text):
    assert repr(make()) == text


def test_probs_and_logits_are_computed_once():
    d = D.Bernoulli(logits=tensor([0.0, 1.0], requires_grad=True))
    with flambeau.no_grad():
        probs = d.probs
    assert probs is d.probs
    assert probs.requires_grad  # although it was first asked for without gradients


def test_integer_parameters_become_floats():
    assert D.Normal(0, 1).sample().dtype is flambeau.float32
    assert D.Chi2(3).log_prob(tensor(1.0)).dtype is flambeau.float32


@pytest.mark.parametrize("dtype", [flambeau.float16, flambeau.bfloat16])
def test_half_types(dtype):
    loc = flambeau.zeros(3, dtype=dtype)
    d = D.Normal(loc, flambeau.ones(3, dtype=dtype))
    assert d.rsample().dtype is dtype
    assert d.log_prob(d.sample()).dtype is dtype
