"""scatter gives everything to the one device, gather joins parts."""

import pytest

import flambeau
from flambeau.nn.parallel.scatter_gather import gather, scatter, scatter_kwargs


def test_gather_joins_nested_outputs():
    a, b = flambeau.ones(2, 3), flambeau.zeros(1, 3)
    joined = gather([{"x": (a, [a])}, {"x": (b, [b])}], "cpu")
    assert joined["x"][0].shape == (3, 3) and joined["x"][1][0].shape == (3, 3)
    assert gather([flambeau.tensor(1.0), flambeau.tensor(2.0)], "cpu").tolist() == [1.0, 2.0]


def test_scatter_is_the_identity_for_one_device():
    assert scatter((1, 2), ["cpu"]) == [(1, 2)]
    assert scatter_kwargs((1,), {"a": 2}, ["cpu"]) == (((1,),), ({"a": 2},))
    with pytest.raises(RuntimeError, match="expected one device"):
        scatter(1, [0, 1])
