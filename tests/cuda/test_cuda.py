"""The CUDA namespace of a library without GPUs: what programs read from it."""

import pytest

import flambeau


@pytest.mark.parametrize("name", ["FloatTensor", "LongTensor", "HalfTensor"])
def test_types_exist_and_nothing_is_of_them(name):
    kind = getattr(flambeau.cuda, name)
    assert kind is getattr(flambeau.cuda, name) and not isinstance(flambeau.ones(1), kind)
    with pytest.raises(TypeError, match=f"type torch.cuda.{name} not available"):
        kind(3)


def test_nothing_is_initialized():
    assert flambeau.cuda._initialized is False and not flambeau.cuda.is_available()


def test_flat_tensors():
    from flambeau._utils import _flatten_dense_tensors, _unflatten_dense_tensors

    tensors = [flambeau.randn(2, 3), flambeau.randn(4), flambeau.randn(1, 1, 2)]
    flat = _flatten_dense_tensors(tensors)
    assert flat.shape == (12,)
    for part, tensor in zip(_unflatten_dense_tensors(flat, tensors), tensors, strict=True):
        assert flambeau.equal(part, tensor)
