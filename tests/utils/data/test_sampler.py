"""Samplers give PyTorch's orders for the same seed (recorded from PyTorch 2.13)."""

import pytest

import flambeau
from flambeau.utils import data


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: data.RandomSampler(range(10)), [6, 9, 0, 7, 3, 5, 4, 2, 1, 8]),
        (lambda: data.WeightedRandomSampler([1, 2, 3.0], 5), [2, 2, 1, 2, 2]),
        (lambda: data.SequentialSampler(range(3)), [0, 1, 2]),
    ],
)
def test_recorded_order(make, expected):
    flambeau.manual_seed(0)
    assert list(make()) == expected


def test_orders_in_sequence_share_the_default_generator():
    flambeau.manual_seed(0)
    drawn = [
        list(data.WeightedRandomSampler([1, 2, 3.0], 5)),
        list(data.SubsetRandomSampler([5, 6, 7])),
        list(data.RandomSampler(range(5), replacement=True, num_samples=70))[-10:],
        list(data.RandomSampler(range(3), num_samples=7)),
    ]
    assert drawn == [
        [2, 2, 1, 2, 2],
        [7, 6, 5],
        [1, 1, 1, 4, 3, 0, 4, 1, 1, 1, 4, 3, 2][-10:],
        [1, 2, 0, 1, 2, 0, 2],
    ]


def test_generator_of_ones_own():
    first, second = (
        list(data.RandomSampler(range(20), generator=g)) for g in (seeded(3), seeded(3))
    )
    assert first == second
    assert sorted(first) == list(range(20))


def seeded(seed):
    generator = flambeau.Generator()
    generator.manual_seed(seed)
    return generator


@pytest.mark.parametrize("drop_last", [True, False])
def test_batches(drop_last):
    batches = data.BatchSampler(range(7), 3, drop_last)
    expected = [[0, 1, 2], [3, 4, 5]] + ([] if drop_last else [[6]])
    assert list(batches) == expected
    assert len(batches) == len(expected)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: data.RandomSampler([]),
            ValueError,
            "num_samples should be a positive integer value, but got num_samples=0",
        ),
        (
            lambda: data.RandomSampler([1], replacement=3),
            TypeError,
            "replacement should be a boolean",
        ),
        (
            lambda: data.BatchSampler([1], 0, False),
            ValueError,
            "batch_size should be a positive integer value",
        ),
        (
            lambda: data.WeightedRandomSampler([[1.0]], 2),
            ValueError,
            "weights should be a 1d sequence",
        ),
    ],
)
def test_bad_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("drop_last", [True, False])
def test_distributed_parts_cover_the_dataset(shuffle, drop_last):
    parts = [
        data.DistributedSampler(range(10), 3, rank, shuffle, drop_last=drop_last)
        for rank in range(3)
    ]
    indices = [list(part) for part in parts]
    assert {len(part) for part in indices} == {3 if drop_last else 4}
    seen = {i for part in indices for i in part}
    assert len(seen) == (9 if drop_last else 10)
    parts[0].set_epoch(1)
    assert (list(parts[0]) != indices[0]) is shuffle


def test_replacement_without_an_end_starts_at_once():
    order = iter(data.RandomSampler(range(7), replacement=True, num_samples=10**15))
    assert all(0 <= next(order) < 7 for _ in range(40))
