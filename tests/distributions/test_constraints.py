"""Constraints: what they accept, how they combine, and how they print."""

import math

import pytest

import flambeau
from flambeau import tensor
from flambeau.distributions import constraints as c

ROTATED = [[1.0, 0.0], [0.6, 0.8]]
# constraint, accepted, rejected
SINGLE = [
    (c.boolean, [0.0, 1.0], [0.5, 2.0, math.nan]),
    (c.integer_interval(1, 3), [1.0, 3.0], [0.0, 1.5, 4.0]),
    (c.interval(-1.0, 1.0), [-1.0, 1.0], [1.5, math.nan]),
    (c.half_open_interval(-1.0, 1.0), [-1.0, 0.9], [1.0]),
    (c.unit_interval, [0.0, 1.0], [-0.1, 1.1]),
    (c.positive, [0.1, math.inf], [0.0, -1.0, math.nan]),
    (c.nonnegative, [0.0], [-0.1, math.nan]),
    (c.greater_than(2), [2.5], [2.0]),
    (c.greater_than_eq(2), [2.0], [1.9]),
    (c.less_than(2), [1.9, -math.inf], [2.0]),
    (c.nonnegative_integer, [0.0, 3.0], [-1.0, 0.5]),
    (c.positive_integer, [1.0], [0.0]),
    (c.real, [-1e30, math.inf], [math.nan]),
    (c.real_vector, [[1.0, 2.0]], [[1.0, math.nan]]),
    (c.simplex, [[0.2, 0.8], [0.0, 1.0]], [[0.2, 0.7], [-0.5, 1.5]]),
    (c.one_hot, [[0.0, 1.0]], [[1.0, 1.0], [0.5, 0.5], [0.0, 0.0]]),
    (c.multinomial(3), [[1.0, 2.0], [0.0, 1.0]], [[2.0, 2.0], [-1.0, 2.0]]),
    (c.lower_triangular, [[[1.0, 0.0], [2.0, -3.0]]], [[[1.0, 2.0], [0.0, 1.0]]]),
    (c.lower_cholesky, [[[1.0, 0.0], [2.0, 3.0]]], [[[1.0, 0.0], [2.0, -3.0]]]),
    (c.corr_cholesky, [ROTATED], [[[1.0, 0.0], [0.6, 0.7]], [[1.0, 0.1], [0.6, 0.8]]]),
    (c.square, [[[1.0, 0.0], [2.0, 3.0]]], [[[1.0, 0.0, 0.0], [2.0, 3.0, 0.0]]]),
    (c.symmetric, [[[1.0, 2.0], [2.0, 3.0]]], [[[1.0, 2.0], [2.1, 3.0]]]),
    (
        c.positive_definite,
        [[[1.0, 0.5], [0.5, 1.0]]],
        [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [0.5, 1.0]]],
    ),
    (c.positive_semidefinite, [[[1.0, 0.0], [0.0, 0.0]]], [[[1.0, 2.0], [2.0, 1.0]]]),
    (c.independent(c.positive, 1), [[1.0, 2.0]], [[1.0, -2.0]]),
    (c.cat([c.positive, c.real], -1, [1, 2]), [], []),
    (c.MixtureSameFamilyConstraint(c.positive), [2.0], [-1.0]),
]


@pytest.mark.parametrize(("constraint", "good", "bad"), SINGLE, ids=lambda value: str(value)[:30])
def test_check(constraint, good, bad):
    for value in good:
        result = constraint.check(tensor(value))
        assert result.dtype is flambeau.bool and result.shape == () and result
    for value in bad:
        assert not constraint.check(tensor(value)).any()


@pytest.mark.parametrize(("constraint", "good", "bad"), SINGLE, ids=lambda value: str(value)[:30])
def test_check_drops_the_event_dims(constraint, good, bad):
    for value in good + bad:
        batch = tensor(value).expand((2, 3, *tensor(value).shape))
        assert constraint.check(batch).shape == (2, 3)


def test_pieces():
    cat = c.cat([c.positive, c.real], -1, [1, 2])
    assert cat.check(tensor([1.0, -2.0, 3.0])).tolist() == [True, True, True]
    assert cat.check(tensor([-1.0, -2.0, math.nan])).tolist() == [False, True, False]
    stack = c.stack([c.positive, c.boolean], 0)
    assert stack.is_discrete and stack.event_dim == 0
    assert stack.check(tensor([[2.0], [2.0]])).tolist() == [[True], [False]]
    assert c.stack([c.real, c.real], -1).event_dim == 1  # along a dim of the event
    with pytest.raises(ValueError, match="size 2 along dim 0"):
        stack.check(flambeau.ones(3))
    with pytest.raises(AssertionError, match="dim within"):
        c.cat([c.real], dim=3).check(flambeau.ones(1))
    with pytest.raises(AssertionError, match="one length per constraint"):
        c.cat([c.real], lengths=[1, 2])


def test_dependent():
    assert c.is_dependent(c.dependent) and not c.is_dependent(c.real)
    with pytest.raises(ValueError, match="dependent"):
        c.dependent.check(tensor(0.0))
    for name in ("event_dim", "is_discrete"):
        with pytest.raises(NotImplementedError, match=name):
            getattr(c.dependent, name)
    known = c.dependent(event_dim=1)(is_discrete=True)
    assert (known.event_dim, known.is_discrete) == (1, True)


def test_dependent_property():
    class Owner:
        @c.dependent_property(is_discrete=False, event_dim=2)
        def plain(self):
            return c.real

        @c.dependent_property
        def unknown(self):
            return c.positive

    assert Owner().plain is c.real and Owner().unknown is c.positive
    assert Owner.plain.event_dim == 2 and not Owner.plain.is_discrete
    with pytest.raises(NotImplementedError):
        _ = Owner.unknown.event_dim


def test_independent_needs_enough_dims():
    constraint = c.independent(c.positive, 2)
    assert constraint.event_dim == 2
    with pytest.raises(ValueError, match=r"value\.dim"):
        constraint.check(flambeau.ones(3))
    with pytest.raises(AssertionError):
        c.independent(3, 1)
    with pytest.raises(AssertionError):
        c.independent(c.real, -1)


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        (c.real, "Real()"),
        (c.positive, "GreaterThan(lower_bound=0.0)"),
        (c.unit_interval, "Interval(lower_bound=0.0, upper_bound=1.0)"),
        (c.half_open_interval(0, 1), "HalfOpenInterval(lower_bound=0, upper_bound=1)"),
        (c.integer_interval(0, 3), "IntegerInterval(lower_bound=0, upper_bound=3)"),
        (c.less_than(3), "LessThan(upper_bound=3)"),
        (c.real_vector, "IndependentConstraint(Real(), 1)"),
        (c.MixtureSameFamilyConstraint(c.real), "MixtureSameFamilyConstraint(Real())"),
        (c.multinomial(3), "Multinomial()"),
    ],
)
def test_repr(constraint, text):
    assert repr(constraint) == text


def test_base_class():
    with pytest.raises(NotImplementedError):
        c.Constraint().check(tensor(0.0))
