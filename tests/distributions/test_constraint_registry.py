"""transform_to and biject_to: the transform's values satisfy the constraint."""

import importlib.util
from pathlib import Path

import pytest

import flambeau
from flambeau import distributions as D
from flambeau.distributions import biject_to, constraints, transform_to
from flambeau.distributions.constraint_registry import ConstraintRegistry

HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location("distribution_cases", HERE / "cases.py")
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)

CONSTRAINTS = [
    (constraints.real, (3,)),
    (constraints.real_vector, (3,)),
    (constraints.positive, (3,)),
    (constraints.nonnegative, (3,)),
    (constraints.greater_than(2.0), (3,)),
    (constraints.greater_than_eq(flambeau.tensor([2.0, 3.0, 4.0])), (3,)),
    (constraints.less_than(-1.0), (3,)),
    (constraints.unit_interval, (3,)),
    (constraints.interval(-3.0, 5.0), (3,)),
    (constraints.half_open_interval(-3.0, 5.0), (3,)),
    (constraints.simplex, (3,)),
    (constraints.corr_cholesky, (6,)),
    (constraints.lower_cholesky, (3, 3)),
    (constraints.positive_definite, (3, 3)),
    (constraints.positive_semidefinite, (3, 3)),
    (constraints.independent(constraints.positive, 1), (3,)),
    (constraints.cat([constraints.positive, constraints.unit_interval], -1, [1, 2]), (3,)),
    (constraints.stack([constraints.positive, constraints.real], -1), (2,)),
]


@pytest.mark.parametrize("registry", [transform_to, biject_to], ids=["transform_to", "biject_to"])
@pytest.mark.parametrize(("constraint", "shape"), CONSTRAINTS, ids=lambda value: str(value)[:30])
def test_values_satisfy_the_constraint(registry, constraint, shape):
    try:
        transform = registry(constraint)
    except NotImplementedError:
        assert registry is biject_to  # matrices have redundant entries
        return
    x = flambeau.randn(4, *shape)
    y = transform(x)
    assert constraint.check(y).all()
    flambeau.testing.assert_close(transform(transform.inv(y)), y, rtol=1e-3, atol=1e-4)
    if registry is biject_to:
        assert transform.bijective
        flambeau.testing.assert_close(transform.inv(y), x, rtol=1e-3, atol=1e-3)


def test_choices():
    assert isinstance(transform_to(constraints.simplex), D.SoftmaxTransform)
    assert isinstance(biject_to(constraints.simplex), D.StickBreakingTransform)
    assert isinstance(transform_to(constraints.unit_interval), D.SigmoidTransform)
    assert transform_to(constraints.real) is D.identity_transform


@pytest.mark.parametrize("expression", cases.DISTRIBUTIONS)
def test_every_continuous_support_has_a_transform(expression):
    d = cases.build(expression, flambeau, flambeau.float32)
    support = d.support
    if support.is_discrete or isinstance(support, constraints.MixtureSameFamilyConstraint):
        with pytest.raises(NotImplementedError, match="Cannot transform"):
            transform_to(support)
        return
    if isinstance(d, D.GeneralizedPareto):
        return  # bounded above or not, element by element
    transform = transform_to(support)
    shape = transform.inverse_shape((5, *d.batch_shape, *d.event_shape))
    value = transform(0.5 * flambeau.randn(shape))
    assert d.log_prob(value).isfinite().all()


def test_registration():
    registry = ConstraintRegistry()

    @registry.register(constraints.positive)
    def positive(constraint):
        return D.ExpTransform()

    assert registry(constraints.greater_than(0.0)) == D.ExpTransform()
    registry.register(type(constraints.simplex), lambda constraint: D.SoftmaxTransform())
    assert registry(constraints.simplex) == D.SoftmaxTransform()
    with pytest.raises(NotImplementedError, match="Cannot transform _Real constraints"):
        registry(constraints.real)
    with pytest.raises(TypeError, match="register: expected a Constraint"):
        registry.register(3, positive)
