"""Transforms: inverses, log determinants against autograd, caches, shapes, compositions, pushed distributions."""

import copy
import math
import pickle

import pytest

import flambeau
from flambeau import distributions as D
from flambeau.distributions import constraints, transforms


def t(values):
    return flambeau.tensor(values, dtype=flambeau.float64)


def random(*shape):
    return flambeau.randn(*shape, dtype=flambeau.float64)


# Transform, and a point of its domain (one event).
BIJECTIONS = {
    "exp": (D.ExpTransform(), t(0.3)),
    "power": (D.PowerTransform(t(-1.7)), t(0.8)),
    "sigmoid": (D.SigmoidTransform(), t(-0.7)),
    "softplus": (D.SoftplusTransform(), t(1.2)),
    "tanh": (D.TanhTransform(), t(0.4)),
    "affine": (D.AffineTransform(1.0, -2.5), t(0.4)),
    "affine_vector": (D.AffineTransform(t([1.0, 0.0]), t([2.0, -3.0]), event_dim=1), t([0.4, 1.0])),
    "affine_one_scale": (D.AffineTransform(0.0, t(3.0), event_dim=1), t([0.4, 1.0, 2.0])),
    "affine_number": (D.AffineTransform(0.0, 3.0, event_dim=2), t([[0.4, 1.0], [2.0, 0.0]])),
    "cdf": (D.CumulativeDistributionTransform(D.Normal(t(0.3), t(1.5))), t(0.9)),
    "compose": (D.ComposeTransform([D.AffineTransform(0.5, 2.0), D.TanhTransform()]), t(0.1)),
    "compose_vector": (
        D.ComposeTransform(
            [D.ExpTransform(), D.AffineTransform(t([1.0, 0.0]), t([2.0, -3.0]), event_dim=1)]
        ),
        t([0.4, 1.0]),
    ),
    "inverse": (D.ExpTransform().inv, t(2.0)),
    "inverse_of_composition": (
        D.ComposeTransform([D.ExpTransform(), D.AffineTransform(0.0, 2.0)]).inv,
        t(3.0),
    ),
    "independent": (D.IndependentTransform(D.ExpTransform(), 1), t([0.2, -0.5])),
    "reshape": (D.ReshapeTransform((2, 2), (4,)), t([[1.0, 2.0], [3.0, 4.0]])),
    "cat": (
        D.IndependentTransform(
            D.CatTransform([D.ExpTransform(), D.TanhTransform()], -1, [1, 2]), 1
        ),
        t([0.3, 0.2, -0.4]),
    ),
    "identity": (D.identity_transform, t(0.3)),
}
# These map onto a surface: the determinant is that of the free coordinates.
SURFACES = {
    "stick_breaking": (D.StickBreakingTransform(), t([0.3, -1.0, 0.5]), lambda y: y[..., :-1]),
    "corr_cholesky": (
        D.CorrCholeskyTransform(),
        t([0.3, -1.0, 0.5, 0.2, 0.9, -0.1]),
        lambda y: flambeau.distributions.utils.tril_matrix_to_vec(y, -1),
    ),
}
ONTO = {
    "abs": (D.AbsTransform(), t([0.3, 2.0])),
    "softmax": (D.SoftmaxTransform(), t([0.3, -1.0, 0.5])),
    "lower_cholesky": (D.LowerCholeskyTransform(), t([[0.3, 0.0], [0.5, -0.2]])),
    "positive_definite": (D.PositiveDefiniteTransform(), t([[0.3, 0.0], [0.5, -0.2]])),
}
EVERY = {
    **BIJECTIONS,
    **{name: entry[:2] for name, entry in SURFACES.items()},
    **ONTO,
}


@pytest.mark.parametrize("name", BIJECTIONS)
def test_log_determinant_is_that_of_the_jacobian(name):
    transform, x = BIJECTIONS[name]
    y = transform(x)
    jacobian = flambeau.autograd.functional.jacobian(transform, x).reshape(y.numel(), x.numel())
    expected = flambeau.linalg.slogdet(jacobian).logabsdet
    log_det = transform.log_abs_det_jacobian(x, y)
    assert log_det.shape == x.shape[: x.dim() - transform.domain.event_dim]
    flambeau.testing.assert_close(log_det, expected)
    flambeau.testing.assert_close(transform.inv.log_abs_det_jacobian(y, x), -expected)


@pytest.mark.parametrize("name", SURFACES)
def test_log_determinant_on_a_surface(name):
    transform, x, coordinates = SURFACES[name]
    jacobian = flambeau.autograd.functional.jacobian(lambda x: coordinates(transform(x)), x)
    expected = flambeau.linalg.slogdet(jacobian).logabsdet
    flambeau.testing.assert_close(transform.log_abs_det_jacobian(x, transform(x)), expected)


@pytest.mark.parametrize("name", EVERY)
def test_inverse_and_codomain(name):
    transform, x = EVERY[name]
    y = transform(x)
    assert transform.domain.check(x).all()
    assert transform.codomain.check(y).all()
    back = transform.inv(y)
    flambeau.testing.assert_close(transform(back), y)
    if transform.bijective:
        flambeau.testing.assert_close(back, x)
    assert transform.inv.inv is transform or name == "identity"
    assert transform.inv.bijective == transform.bijective


@pytest.mark.parametrize("name", EVERY)
def test_batches_and_shapes(name):
    transform, x = EVERY[name]
    batch = x.expand((5, 3, *x.shape))
    y = transform(batch)
    assert transform.forward_shape(batch.shape) == y.shape
    assert transform.inverse_shape(y.shape) == batch.shape
    flambeau.testing.assert_close(y, transform(x).expand(y.shape))
    if transform.bijective:
        log_det = transform.log_abs_det_jacobian(batch, y)
        assert log_det.shape == (5, 3)


@pytest.mark.parametrize("name", EVERY)
def test_caches(name):
    transform, x = EVERY[name]
    cached = transform.with_cache(1)
    if isinstance(transform, transforms.ComposeTransform) and not transform.parts:
        return
    assert cached.inv(cached(x)) is x or name.startswith("inverse_of")
    assert cached.with_cache(1) is cached
    other = x + 0.0
    flambeau.testing.assert_close(cached(other), transform(x))
    assert pickle.loads(pickle.dumps(cached)).with_cache(0)(x).equal(transform(x))
    assert copy.deepcopy(transform)(x).equal(transform(x))


def test_a_cache_keeps_what_the_function_rounds_away():
    x = t(30.0)
    assert D.TanhTransform().inv(D.TanhTransform()(x)).isinf()
    cached = D.TanhTransform(cache_size=1)
    assert cached.inv(cached(x)) is x


def test_signs():
    assert D.ExpTransform().sign == 1
    assert D.AffineTransform(0.0, -2.0).sign == -1
    assert D.AffineTransform(0.0, t([-2.0, 3.0])).sign.tolist() == [-1.0, 1.0]
    assert D.PowerTransform(t(-1.0)).sign == -1
    both = D.ComposeTransform([D.AffineTransform(0.0, -2.0), D.AffineTransform(0.0, -1.0)])
    assert both.sign == 1 and both.inv.sign == 1
    with pytest.raises(NotImplementedError):
        _ = D.SoftmaxTransform().sign


def test_equality():
    assert D.ExpTransform() == D.ExpTransform()
    assert D.ExpTransform() != D.TanhTransform()
    assert D.ExpTransform().inv == D.ExpTransform().inv
    assert D.AffineTransform(0.0, 1.0) == D.AffineTransform(t(0.0), t(1.0))
    assert D.AffineTransform(0.0, 1.0) != D.AffineTransform(0.0, 2.0)
    assert D.PowerTransform(t(2.0)) == D.PowerTransform(2.0)
    assert D.ComposeTransform([D.ExpTransform()]) == D.ComposeTransform([D.ExpTransform()])
    assert D.ReshapeTransform((2,), (1, 2)) != D.ReshapeTransform((2,), (1, 2))  # by identity


def test_event_dims_of_compositions():
    composed = D.ComposeTransform([D.ExpTransform(), D.StickBreakingTransform()])
    assert (composed.domain.event_dim, composed.codomain.event_dim) == (1, 1)
    back = D.ComposeTransform(
        [D.IndependentTransform(D.ExpTransform(), 2), D.AffineTransform(0.0, 1.0)]
    )
    assert (back.domain.event_dim, back.codomain.event_dim) == (2, 2)
    with pytest.raises(
        ValueError, match="CorrCholeskyTransform: the event has 1 dims in the domain and 2"
    ):
        _ = D.CorrCholeskyTransform().event_dim


def test_stack_within_an_event_adds_a_dim():
    parts = [D.ExpTransform(), D.TanhTransform()]
    assert D.StackTransform(parts, dim=-1).event_dim == 1
    assert D.StackTransform(parts, dim=0).event_dim == 0


def test_stack_transforms_each_index():
    parts = [D.ExpTransform(), D.TanhTransform()]
    transform, x = D.StackTransform(parts, dim=1), random(3, 2, 4)
    y = transform(x)
    assert y[:, 0].equal(x[:, 0].exp()) and y[:, 1].equal(x[:, 1].tanh())
    flambeau.testing.assert_close(transform.inv(y), x)
    log_det = transform.log_abs_det_jacobian(x, y)
    expected = [p.log_abs_det_jacobian(x[:, i], y[:, i]) for i, p in enumerate(parts)]
    assert log_det.equal(flambeau.stack(expected, 1))


def test_cat_joins_log_determinants_along_a_batch_dim():
    x = random(3, 4)
    with pytest.raises(RuntimeError):  # stick breaking changes the last size
        D.CatTransform([D.ExpTransform(), D.StickBreakingTransform()], 0, [1, 2])(x)
    same = D.CatTransform([D.ExpTransform(), D.AffineTransform(0.0, 2.0, event_dim=1)], 0, [1, 2])
    log_det = same.log_abs_det_jacobian(x, same(x))
    flambeau.testing.assert_close(log_det[0], x[0].sum())
    flambeau.testing.assert_close(log_det[1:], t([4 * math.log(2.0)] * 2))


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: D.ExpTransform(cache_size=2), ValueError, "cache_size 0 or 1, got 2"),
        (lambda: D.ReshapeTransform((2,), (3,)), ValueError, "equally many"),
        (lambda: D.ReshapeTransform((2,), (1, 2)).forward_shape((3,)), ValueError, "ends in"),
        (lambda: D.SoftmaxTransform().forward_shape(()), ValueError, "at least one dim"),
        (lambda: D.StickBreakingTransform().inverse_shape(()), ValueError, "at least one dim"),
        (lambda: D.CorrCholeskyTransform().forward_shape((4,)), ValueError, "n \\(n - 1\\) / 2"),
        (lambda: D.CorrCholeskyTransform().inverse_shape((2, 3)), ValueError, "square"),
        (lambda: D.CorrCholeskyTransform()(random(4)), ValueError, "lower triangle"),
        (
            lambda: D.IndependentTransform(D.ExpTransform(), 1)(t(0.0)),
            ValueError,
            "at least 1 dims",
        ),
        (lambda: D.CatTransform([D.ExpTransform(), 3]), AssertionError, "transforms"),
        (
            lambda: D.CatTransform([D.ExpTransform()])(random(2)),
            AssertionError,
            "size 1 along dim 0",
        ),
        (lambda: D.StackTransform([D.ExpTransform()])(random(2)), AssertionError, "size 1"),
        (lambda: D.StackTransform([D.ExpTransform()], 2)(random(1)), AssertionError, "dim within"),
        (lambda: transforms.Transform()(t(0.0)), NotImplementedError, None),
        (
            lambda: D.SoftmaxTransform().log_abs_det_jacobian(t(0.0), t(0.0)),
            NotImplementedError,
            None,
        ),
    ],
)
def test_errors(make, error, match):
    with pytest.raises(error, match=match):
        make()


class Cubic(transforms.Transform):
    """A transform of a user, with an __init__ of its own."""

    domain = codomain = constraints.real
    bijective = True
    sign = 1

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def _call(self, x):
        return self.factor * x**3

    def _inverse(self, y):
        return (y / self.factor).abs().pow(1 / 3) * y.sign()

    def log_abs_det_jacobian(self, x, y):
        return math.log(3 * self.factor) + 2 * x.abs().log()


def test_a_transform_of_a_user():
    d = D.TransformedDistribution(D.Normal(t(0.0), t(1.0)), [Cubic(2.0)])
    y = d.sample((3,))
    x = (y / 2).abs().pow(1 / 3) * y.sign()
    expected = D.Normal(t(0.0), t(1.0)).log_prob(x) - math.log(6.0) - 2 * x.abs().log()
    flambeau.testing.assert_close(d.log_prob(y), expected)
    flambeau.testing.assert_close(d.icdf(d.cdf(y)), y)
    with pytest.raises(NotImplementedError, match="with_cache"):
        Cubic(1.0).with_cache(1)


def test_reprs():
    assert repr(D.ExpTransform()) == "ExpTransform()"
    assert repr(D.ExpTransform().inv) == "_InverseTransform(ExpTransform())"
    assert (
        repr(D.IndependentTransform(D.ExpTransform(), 1))
        == "IndependentTransform(ExpTransform(), 1)"
    )
    composed = D.ComposeTransform([D.ExpTransform(), D.TanhTransform()])
    assert repr(composed) == "ComposeTransform(\n    ExpTransform(),\n    TanhTransform()\n)"


# ---- pushed distributions ----


def test_batch_dims_become_event_dims():
    d = D.TransformedDistribution(D.Normal(flambeau.zeros(4, 3), 1.0), D.StickBreakingTransform())
    assert (d.batch_shape, d.event_shape) == ((4,), (4,))
    assert isinstance(d.base_dist, D.Independent)
    assert d.log_prob(d.sample()).shape == (4,)


def test_a_transform_that_broadcasts_expands_the_base():
    shift = D.AffineTransform(flambeau.arange(3.0), 1.0)
    d = D.TransformedDistribution(D.Normal(0.0, 1.0), shift)
    assert d.batch_shape == (3,)
    assert d.sample((2,)).shape == (2, 3)
    assert d.expand((4, 3)).sample().shape == (4, 3)


def test_a_decreasing_transform_turns_the_distribution_function_around():
    base = D.Exponential(t(2.0))
    d = D.TransformedDistribution(base, D.AffineTransform(1.0, t(-3.0)))
    y = t([0.5, -2.0])
    flambeau.testing.assert_close(d.cdf(y), 1 - base.cdf((1 - y) / 3))
    flambeau.testing.assert_close(d.icdf(d.cdf(y)), y)


def test_no_transform_at_all():
    base = D.Normal(t([0.0, 1.0]), 1.0)
    d = D.TransformedDistribution(base, [])
    x = base.sample()
    assert d.log_prob(x).equal(base.log_prob(x))
    assert d.support is base.support
