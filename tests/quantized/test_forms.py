"""Ops on quantized tensors agree with the op on the real values."""

import pytest

import flambeau
import flambeau.nn.functional as F


@pytest.fixture
def q():
    x = flambeau.randn(2, 3, 4, generator=flambeau.Generator().manual_seed(0))
    return flambeau.quantize_per_tensor(x, 0.05, 100, flambeau.quint8)


@pytest.mark.parametrize(
    "op",
    [
        lambda t: t.transpose(0, 2),
        lambda t: t.reshape(6, 4),
        lambda t: t[1, :, ::2],
        lambda t: t.permute(2, 0, 1).contiguous(),
        lambda t: flambeau.cat([t, t], 1),
        lambda t: t.max(),
        lambda t: t.min(1).values,
        lambda t: t.sort(-1).values,
        lambda t: t.topk(2).values,
        lambda t: t.clamp(-0.5, 0.5),
        lambda t: t.relu(),
        lambda t: F.max_pool2d(t, 2),
        lambda t: t.flip(0).repeat(2, 1, 1),
        lambda t: F.interpolate(t[None], scale_factor=2, mode="nearest"),
    ],
)
def test_exact_ops(op, q):
    result = op(q)
    assert result.is_quantized and result.q_scale() == q.q_scale()
    assert flambeau.equal(result.dequantize(), op(q.dequantize()))


@pytest.mark.parametrize(
    "op", [lambda t: t.mean(), lambda t: F.avg_pool2d(t, 2), lambda t: t.std()]
)
def test_rounded_ops(op, q):
    assert flambeau.allclose(op(q).dequantize(), op(q.dequantize()), atol=q.q_scale() / 2 + 1e-6)


def test_comparisons_are_strided(q):
    assert flambeau.equal(q > 0.1, q.dequantize() > 0.1)
    assert flambeau.equal(q, q) and q.equal(q.clone())


def test_activations_have_fixed_parameters(q):
    assert q.sigmoid().q_scale() == 1 / 256 and q.sigmoid().q_zero_point() == 0
    assert q.tanh().q_scale() == 2 / 256 and q.tanh().q_zero_point() == 128


def test_writes_go_through_to_aliases(q):
    view = q.view(-1)
    q.fill_(0.3)
    assert flambeau.allclose(view.dequantize(), flambeau.tensor(0.3))
    q[0] = flambeau.ones(3, 4)
    assert flambeau.allclose(view.dequantize()[:12], flambeau.ones(12))


def test_other_ops_name_the_way_out(q):
    for op in (lambda: q + q, lambda: q.sum(), lambda: q @ q, lambda: q.to(flambeau.float32)):
        with pytest.raises(RuntimeError, match="dequantize"):
            op()


def test_batch_norm_and_pooling_functions():
    x = flambeau.randn(1, 2, 4, 4)
    q = flambeau.quantize_per_tensor(x, 0.05, 100, flambeau.quint8)
    ones, zeros = flambeau.ones(2), flambeau.zeros(2)
    normal = flambeau.quantized_batch_norm(q, ones, zeros, zeros, ones, 1e-5, 0.05, 100)
    assert flambeau.allclose(normal.dequantize(), q.dequantize(), atol=0.05)
    pooled = flambeau.quantized_max_pool2d(q, (2, 2))
    assert flambeau.equal(pooled.dequantize(), F.max_pool2d(q.dequantize(), 2))


def test_max_pool_of_sequences():
    q = flambeau.quantize_per_tensor(flambeau.arange(8.0).reshape(1, 2, 4), 0.5, 3, flambeau.quint8)
    pooled = flambeau.quantized_max_pool1d(q, 2)
    assert pooled.dequantize().tolist() == [[[1, 3], [5, 7]]]


@pytest.mark.parametrize("name", ["ones_like", "empty_like"])
def test_like_of_another_dtype_is_refused(name):
    x = flambeau.quantize_per_tensor(flambeau.ones(2), 0.5, 0, flambeau.qint8)
    with pytest.raises(RuntimeError, match="another dtype"):
        getattr(flambeau, name)(x, dtype=flambeau.float64)


def test_in_place_geometry():
    x = flambeau.quantize_per_tensor(flambeau.arange(6.0).reshape(2, 3), 1.0, 0, flambeau.qint8)
    y = x.view(2, 3)
    assert x.t_() is x and x.dequantize().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert y.dequantize().tolist() == [[0, 1, 2], [3, 4, 5]]
