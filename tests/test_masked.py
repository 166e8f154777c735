"""Masked reductions against numpy.ma, with gradients at masked places zero."""

import numpy as np
import pytest

import flambeau

REDUCTIONS = {
    "sum": lambda m, axis: m.sum(axis=axis),
    "prod": lambda m, axis: m.prod(axis=axis),
    "amax": lambda m, axis: m.max(axis=axis),
    "amin": lambda m, axis: m.min(axis=axis),
    "mean": lambda m, axis: m.mean(axis=axis),
    "var": lambda m, axis: m.var(axis=axis, ddof=1),
    "std": lambda m, axis: m.std(axis=axis, ddof=1),
    "logsumexp": lambda m, axis: np.log(np.exp(m).sum(axis=axis)),
}


@pytest.fixture
def data():
    generator = np.random.default_rng(0)
    x = generator.standard_normal((3, 4, 5))
    mask = generator.random((3, 4, 5)) < 0.3
    mask[..., :2] = mask[:, :2] = mask[:2] = True  # two elements at least along every dim
    return x, mask


@pytest.mark.parametrize("dim", [0, 1, -1, (0, 2), None])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, dim, data):
    x, mask = data
    if name == "prod" and isinstance(dim, tuple | type(None)):
        pytest.skip("numpy.ma multiplies along one axis only")
    got = getattr(flambeau.masked, name)(
        flambeau.from_numpy(x), dim, mask=flambeau.from_numpy(mask)
    )
    expected = np.asarray(REDUCTIONS[name](np.ma.array(x, mask=~mask), dim))
    assert np.allclose(got.numpy(), expected, rtol=1e-12)


def test_masked_places_get_no_gradient(data):
    x, mask = data
    t = flambeau.from_numpy(x).requires_grad_()
    flambeau.masked.softmax(t, -1, mask=flambeau.from_numpy(mask)).pow(2).sum().backward()
    assert (t.grad.numpy()[~mask] == 0).all()
    assert np.abs(t.grad.numpy()[mask]).max() > 0


def test_nothing_under_the_mask():
    x, mask = flambeau.ones(2, 2), flambeau.zeros(2, 2, dtype=flambeau.bool)
    assert flambeau.masked.sum(x, 1, mask=mask).tolist() == [0, 0]
    assert flambeau.masked.amax(x, 1, mask=mask).tolist() == [float("-inf")] * 2
    assert flambeau.masked.mean(x, 1, mask=mask).isnan().all()


def test_errors():
    with pytest.raises(TypeError, match="mask"):
        flambeau.masked.sum(flambeau.ones(2), mask=[True, False])
    with pytest.raises(IndexError):
        flambeau.masked.sum(flambeau.ones(2), 3)
    with pytest.raises(RuntimeError, match="multiple times"):
        flambeau.masked.sum(flambeau.ones(2, 2), (0, -2))
