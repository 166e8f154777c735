"""default_collate and default_convert."""

from collections import namedtuple

import numpy as np
import pytest

import flambeau
from flambeau.utils.data import default_collate, default_convert

Point = namedtuple("Point", "x y")


def test_containers_are_combined_element_by_element():
    batch = default_collate([{"a": (1, 2.0), "s": "p"}, {"a": (3, 4.0), "s": "q"}])
    ints, floats = batch["a"]
    assert (ints.dtype, ints.tolist()) == (flambeau.int64, [1, 3])
    assert (floats.dtype, floats.tolist()) == (flambeau.float64, [2, 4])
    assert batch["s"] == ["p", "q"]


def test_namedtuples_stay():
    batch = default_collate([Point(1, 2), Point(3, 4)])
    assert type(batch) is Point
    assert batch.y.tolist() == [2, 4]


def test_numpy():
    batch = default_collate([np.ones(2, np.float32), np.zeros(2, np.float32)])
    assert (batch.dtype, batch.shape) == (flambeau.float32, (2, 2))
    assert default_collate([np.float64(1.5), np.float64(2)]).tolist() == [1.5, 2]
    with pytest.raises(TypeError, match="batch must contain tensors"):
        default_collate([np.array(["a"])])


@pytest.mark.parametrize(
    ("batch", "error", "message"),
    [
        (
            [object()],
            TypeError,
            "batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class 'object'>",
        ),
        ([[1, 2], [3]], RuntimeError, "each element in list of batch should be of equal size"),
        (
            [flambeau.ones(2), flambeau.ones(3)],
            RuntimeError,
            "stack expects each tensor to be equal size",
        ),
    ],
)
def test_what_cannot_be_combined(batch, error, message):
    with pytest.raises(error, match=message):
        default_collate(batch)


def test_convert_only_touches_arrays():
    converted = default_convert({"a": np.arange(2), "b": ("x", 1), "c": Point(np.ones(1), None)})
    assert converted["a"].tolist() == [0, 1]
    assert converted["b"] == ["x", 1]
    assert converted["c"].x.tolist() == [1]
