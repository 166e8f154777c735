"""_foreach ops: one op on each tensor of a list."""

import pytest

import flambeau


def lists():
    flambeau.manual_seed(0)
    return [[flambeau.rand(3) + 0.5, flambeau.rand(2, 2) + 0.5] for _ in range(3)]


def same(found, expected):
    return all(flambeau.equal(a, b) for a, b in zip(found, expected, strict=True))


def test_results_are_those_of_the_op():
    a, b, c = lists()
    assert same(
        flambeau._foreach_add(a, b, alpha=2), [x.add(y, alpha=2) for x, y in zip(a, b, strict=True)]
    )
    assert same(flambeau._foreach_mul(a, 3.0), [x * 3.0 for x in a])
    assert same(flambeau._foreach_div(a, [2.0, 4.0]), [a[0] / 2, a[1] / 4])
    assert same(flambeau._foreach_sqrt(a), [x.sqrt() for x in a])
    assert same(flambeau._foreach_maximum(a, 1.0), [x.clamp(min=1.0) for x in a])
    assert same(flambeau._foreach_norm(a), [flambeau.linalg.vector_norm(x) for x in a])
    expected = [x.addcdiv(y, z, value=0.1) for x, y, z in zip(a, b, c, strict=True)]
    assert same(flambeau._foreach_addcdiv(a, b, c, 0.1), expected)


def test_inplace_forms_write():
    a, b, c = lists()
    expected = [x.lerp(y, 0.3) for x, y in zip(a, b, strict=True)]
    assert flambeau._foreach_lerp_(a, b, 0.3) is None and same(a, expected)
    expected = [x.addcmul(y, z, value=v) for x, y, z, v in zip(a, b, c, (0.1, 0.2), strict=True)]
    flambeau._foreach_addcmul_(a, b, c, [0.1, 0.2])
    assert same(a, expected)
    flambeau._foreach_clamp_min_(a, 0.9)
    assert min(x.min().item() for x in a) >= 0.9 - 1e-6
    flambeau._foreach_copy_(a, b)
    assert same(a, b)
    flambeau._foreach_zero_(a)
    assert not any(x.any() for x in a)


def test_lists_must_fit():
    a, b, _ = lists()
    with pytest.raises(RuntimeError, match="same number"):
        flambeau._foreach_add(a, b[:1])
    assert not hasattr(flambeau, "_foreach_no_such_op")
