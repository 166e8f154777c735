"""Geometry of views: strides, aliasing, in-place metadata changes and gradients of overlapping views."""

import numpy as np
import pytest

import flambeau

FULL = flambeau.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("make", "shape", "stride", "offset"),
    [
        (lambda x: x.transpose(0, 2), (4, 3, 2), (1, 4, 12), 0),
        (lambda x: x.permute(2, 0, 1), (4, 2, 3), (1, 12, 4), 0),
        (lambda x: x[1], (3, 4), (4, 1), 12),
        (lambda x: x[:, 1:, ::2], (2, 2, 2), (12, 4, 2), 4),
        (lambda x: x.unsqueeze(1), (2, 1, 3, 4), (12, 12, 4, 1), 0),
        (lambda x: x[..., 0].expand(5, 2, 3), (5, 2, 3), (0, 12, 4), 0),
        (lambda x: x.diagonal(1, 1, 2), (2, 3), (12, 5), 1),
        (lambda x: x.unfold(2, 2, 1), (2, 3, 3, 2), (12, 4, 1, 1), 0),
        (lambda x: x.view(6, 4), (6, 4), (4, 1), 0),
        (lambda x: x.transpose(1, 2).unflatten(1, (2, 2)), (2, 2, 2, 3), (12, 2, 1, 4), 0),
        (lambda x: x.T, (4, 3, 2), (1, 4, 12), 0),
        (lambda x: x.mT, (2, 4, 3), (12, 1, 4), 0),
    ],
)
def test_views_have_pytorchs_strides(make, shape, stride, offset):
    view = make(FULL)
    assert tuple(view.shape) == shape
    assert view.stride() == stride
    assert view.storage_offset() == offset
    assert view._storage_key() == FULL._storage_key()


def test_reshape_copies_only_when_it_must():
    assert FULL.reshape(4, 6)._storage_key() == FULL._storage_key()
    assert FULL.transpose(0, 1).reshape(-1)._storage_key() != FULL._storage_key()
    with pytest.raises(RuntimeError, match="view"):
        FULL.transpose(0, 1).view(-1)


def test_contiguous_and_to_return_the_same_object_when_nothing_changes():
    x = flambeau.ones(2)
    assert x.contiguous() is x
    assert x.to(flambeau.float32) is x
    assert x.float() is x
    assert x.to("cpu") is x
    assert x.to(flambeau.float32, copy=True) is not x


def test_in_place_metadata_changes():
    x = flambeau.arange(6.0).reshape(1, 2, 3)
    assert x.squeeze_(0).shape == (2, 3)
    assert x.t_().stride() == (1, 3)
    assert x.unsqueeze_(0).shape == (1, 3, 2)
    assert x.transpose_(0, 1).shape == (3, 1, 2)
    assert x.resize_(4, 4).shape == (4, 4)


def test_view_as_another_dtype():
    x = flambeau.tensor([1.0, -2.0])
    bits = x.view(flambeau.int32)
    assert bits.tolist() == np.array([1.0, -2.0], np.float32).view(np.int32).tolist()
    assert x.view(flambeau.int16).shape == (4,)
    assert x.view(flambeau.float64).shape == (1,)
    with pytest.raises(RuntimeError, match="divisible"):
        flambeau.ones(3).view(flambeau.float64)


def test_gradient_of_overlapping_windows_adds_up():
    x = flambeau.arange(4.0, requires_grad=True)
    x.as_strided((3, 2), (1, 1)).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 2.0, 1.0]
    x.grad = None
    x.unfold(0, 2, 1).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 2.0, 1.0]


def test_as_strided_gradient_reaches_only_what_it_shows():
    base = flambeau.zeros(6, requires_grad=True)
    window = base[1:5]
    window.as_strided((2,), (2,), 2).sum().backward()
    assert base.grad.tolist() == [0.0, 0.0, 1.0, 0.0, 1.0, 0.0]


def test_gradients_of_pieces_nobody_used_are_zero():
    x = flambeau.ones(5, requires_grad=True)
    x.split(2)[1].sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 1.0, 1.0, 0.0]
    x.grad = None
    x.unbind()[3].backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0, 1.0, 0.0]


def test_pieces_refuse_in_place_changes_when_recorded():
    x = flambeau.ones(4, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="multiple views"):
        x.chunk(2)[0].add_(1)


def test_huge_sizes_raise():
    for call in (
        lambda: flambeau.zeros(2**62, 4),
        lambda: flambeau.ones(1).expand(2**40, 2**40),
        lambda: flambeau.ones(2, 2).repeat(2**40, 2**40),
        lambda: flambeau.ones(2).as_strided((2**62,), (2**62,)),
        lambda: flambeau.nn.functional.pad(flambeau.ones(2), (2**62, 2**62)),
        lambda: flambeau.empty_strided((2**33,), (2**33,)),
    ):
        with pytest.raises((RuntimeError, MemoryError)):
            call()
