"""gradient against NumPy's, low-rank decompositions by what they must satisfy."""

import numpy as np
import pytest

import flambeau


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("spacing", [1, 0.5, "uneven"])
def test_gradient_is_numpys(spacing, edge_order):
    x = np.random.default_rng(0).standard_normal((5, 6))
    if spacing == "uneven":
        coordinates = [
            np.cumsum(np.random.default_rng(d).random(n) + 0.1) for d, n in enumerate(x.shape)
        ]
        expected = np.gradient(x, *coordinates, edge_order=edge_order)
        ours = [flambeau.from_numpy(c) for c in coordinates]
    else:
        expected = np.gradient(x, spacing, edge_order=edge_order)
        ours = spacing
    got = flambeau.gradient(flambeau.from_numpy(x), spacing=ours, edge_order=edge_order)
    for a, b in zip(got, expected, strict=True):
        assert np.allclose(a.numpy(), b, rtol=1e-12, atol=1e-12)


def test_gradient_along_chosen_dims():
    x = flambeau.arange(12.0).view(3, 4)
    (rows,) = flambeau.gradient(x, dim=0)
    assert rows.tolist() == [[4.0] * 4] * 3
    with pytest.raises(RuntimeError, match="edge_order"):
        flambeau.gradient(x, edge_order=3)
    with pytest.raises(RuntimeError, match="at least edge_order"):
        flambeau.gradient(flambeau.ones(1))
    with pytest.raises(RuntimeError, match="spacing"):
        flambeau.gradient(x, spacing=[1.0, 2.0, 3.0])
    with pytest.raises(IndexError):
        flambeau.gradient(x, dim=2)


@pytest.mark.parametrize("shape", [(12, 7), (2, 7, 12)])
def test_low_rank_matrices_are_rebuilt(shape):
    generator = np.random.default_rng(0)
    a = generator.standard_normal((*shape[:-1], 3)) @ generator.standard_normal(
        (*shape[:-2], 3, shape[-1])
    )
    t = flambeau.from_numpy(a)
    U, S, V = flambeau.svd_lowrank(t, q=4)
    assert np.allclose((U * S.unsqueeze(-2) @ V.mH).numpy(), a, atol=1e-10)
    U, S, V = flambeau.pca_lowrank(t, q=4)
    centred = a - a.mean(-2, keepdims=True)
    assert np.allclose((U * S.unsqueeze(-2) @ V.mH).numpy(), centred, atol=1e-10)
    with pytest.raises(ValueError, match="not greater than"):
        flambeau.svd_lowrank(t, q=100)
    with pytest.raises(ValueError, match="niter"):
        flambeau.pca_lowrank(t, niter=-1)
