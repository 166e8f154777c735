"""Packed and padded sequences."""

import pytest

import flambeau
from flambeau.nn.utils import rnn


def sequences():
    return [
        flambeau.arange(6.0).reshape(3, 2),
        flambeau.arange(2.0).reshape(1, 2) + 10,
        flambeau.ones(2, 2),
    ]


@pytest.mark.parametrize("batch_first", [True, False])
def test_pad_and_unpad(batch_first):
    padded = rnn.pad_sequence(sequences(), batch_first, padding_value=-1)
    assert padded.shape == (3, 3, 2)
    back = rnn.unpad_sequence(padded, flambeau.tensor([3, 1, 2]), batch_first)
    assert [s.tolist() for s in back] == [s.tolist() for s in sequences()]


def test_pad_left():
    padded = rnn.pad_sequence([flambeau.ones(2), flambeau.ones(1)], True, padding_side="left")
    assert padded.tolist() == [[1, 1], [0, 1]]


def test_pack_is_by_time_step():
    packed = rnn.pack_sequence(sequences(), enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 2, 1]
    assert packed.sorted_indices.tolist() == [0, 2, 1]
    assert packed.unsorted_indices.tolist() == [0, 2, 1]
    assert packed.data.tolist() == [[0, 1], [1, 1], [10, 11], [2, 3], [1, 1], [4, 5]]
    assert [s.tolist() for s in rnn.unpack_sequence(packed)] == [s.tolist() for s in sequences()]


def test_total_length_and_value():
    packed = rnn.pack_sequence(sequences(), enforce_sorted=False)
    padded, lengths = rnn.pad_packed_sequence(packed, True, padding_value=9, total_length=4)
    assert lengths.tolist() == [3, 1, 2]
    assert padded.shape == (3, 4, 2)
    assert padded[1, 1:].unique().tolist() == [9]
    with pytest.raises(ValueError, match="Expected total_length to be at least"):
        rnn.pad_packed_sequence(packed, total_length=2)


def test_unsorted_lengths_are_refused():
    with pytest.raises(RuntimeError, match="must be sorted in decreasing order"):
        rnn.pack_sequence(sequences()[1:])


def test_gradients_flow_through():
    padded = flambeau.randn(3, 2, 2, requires_grad=True)
    packed = rnn.pack_padded_sequence(padded, [3, 1])
    packed.data.sum().backward()
    assert padded.grad[:, 1].sum().item() == 2


def test_conversion():
    packed = rnn.pack_sequence(sequences(), enforce_sorted=False)
    assert packed.double().data.dtype == flambeau.float64
    assert packed.cpu() is packed
