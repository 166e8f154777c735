"""Helpers of the distributions: broadcasting, probabilities and logits, lazy properties, triangles."""

import pytest

import flambeau
from flambeau import tensor
from flambeau.distributions import utils


def test_broadcast_all():
    a, b = utils.broadcast_all(1, flambeau.zeros(2, 1, dtype=flambeau.float64))
    assert a.dtype is flambeau.float64 and a.shape == b.shape == (2, 1)
    (number,) = utils.broadcast_all(3)
    assert number.dtype is flambeau.float32 and number.shape == ()
    with pytest.raises(
        ValueError, match="broadcast_all: expected numbers and tensors, got float, list"
    ):
        utils.broadcast_all(1.0, [2.0])


@pytest.mark.parametrize("is_binary", [True, False])
def test_probs_and_logits_undo_each_other(is_binary):
    logits = flambeau.randn(3, 4).double()
    probs = utils.logits_to_probs(logits, is_binary)
    back = utils.probs_to_logits(probs, is_binary)
    expected = logits if is_binary else logits.log_softmax(-1)
    flambeau.testing.assert_close(back, expected)
    assert utils.probs_to_logits(tensor([0.0, 1.0]), is_binary).isfinite().all()


def test_clamp_probs():
    eps = flambeau.finfo(flambeau.float32).eps
    assert utils.clamp_probs(tensor([0.0, 0.5, 1.0])).tolist() == [eps, 0.5, 1 - eps]


class Owner:
    calls = 0

    @utils.lazy_property
    def value(self):
        """What it is."""
        Owner.calls += 1
        return 3


def test_lazy_property():
    owner = Owner()
    assert owner.value == owner.value == 3
    assert Owner.calls == 1
    assert isinstance(Owner.value, property)  # as documentation tools expect
    assert Owner.__dict__["value"].__doc__ == "What it is."


@pytest.mark.parametrize("diag", [-2, -1, 0, 1, 2])
def test_triangles(diag):
    matrix = flambeau.randn(2, 4, 4)
    vector = utils.tril_matrix_to_vec(matrix, diag)
    assert vector.shape[-1] == int(flambeau.ones(4, 4).tril(diag).sum())
    back = utils.vec_to_tril_matrix(vector, diag)
    assert back.equal(matrix.tril(diag))


def test_triangles_that_do_not_fit():
    with pytest.raises(ValueError, match="lower triangle, got 4 entries"):
        utils.vec_to_tril_matrix(flambeau.ones(4))
    with pytest.raises(ValueError, match="diag < 2, got 2"):
        utils.tril_matrix_to_vec(flambeau.ones(2, 2), 2)
