"""Datasets and random_split."""

import pytest

import flambeau
from flambeau.utils import data


class Numbers(data.IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))

    def __len__(self):
        return self.count


def test_tensor_dataset():
    dataset = data.TensorDataset(flambeau.arange(6).reshape(3, 2), flambeau.arange(3))
    row, label = dataset[1]
    assert (row.tolist(), label.item(), len(dataset)) == ([2, 3], 1, 3)
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        data.TensorDataset(flambeau.ones(2), flambeau.ones(3))


def test_concatenation():
    joined = data.ConcatDataset([[1, 2], [3]]).__add__([4, 5])
    assert [joined[i] for i in range(5)] == [1, 2, 3, 4, 5]
    assert joined[-1] == 5
    with pytest.raises(ValueError, match="absolute value of index"):
        joined[-6]


def test_chain():
    chained = Numbers(2) + Numbers(3)
    assert list(chained) == [0, 1, 0, 1, 2]
    assert len(chained) == 5


def test_stack():
    assert data.StackDataset([1, 2], [3, 4])[1] == (2, 4)
    assert data.StackDataset(a=[1, 2], b=[3, 4])[0] == {"a": 1, "b": 3}
    with pytest.raises(ValueError, match="Size mismatch"):
        data.StackDataset([1], [1, 2])


def test_subset_fetches_at_once():
    subset = data.Subset([10, 20, 30], [2, 0])
    assert subset[0] == 30
    assert subset.__getitems__([0, 1]) == [30, 10]


def test_split_is_recorded_one():
    flambeau.manual_seed(0)
    first = [subset.indices for subset in data.random_split(range(10), [3, 7])]
    second = [subset.indices for subset in data.random_split(range(10), [0.33, 0.67])]
    assert first == [[4, 1, 7], [5, 3, 9, 0, 8, 6, 2]]
    assert second == [[3, 9, 4, 2], [7, 8, 6, 0, 5, 1]]


def test_split_of_wrong_size():
    with pytest.raises(ValueError, match="Sum of input lengths does not equal"):
        data.random_split(range(3), [1, 1])
