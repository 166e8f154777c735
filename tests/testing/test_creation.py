"""make_tensor: ranges, layouts and flags."""

import pytest

import flambeau
from flambeau.testing import make_tensor

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("name", DTYPES)
def test_default_ranges(name):
    dtype = getattr(flambeau, name)
    made = make_tensor(200, 3, dtype=dtype)
    assert made.dtype is dtype
    assert made.shape == (200, 3)
    parts = flambeau.view_as_real(made) if dtype.is_complex else made
    values = parts.to(flambeau.float64).flatten().tolist()
    low, high = {"bool": (0, 1), "uint8": (0, 9)}.get(name, (-9, 9))
    assert low <= min(values) < 1
    assert high - 1 <= max(values) <= high


def test_bounds_and_zeros():
    made = make_tensor((50,), dtype=flambeau.int64, low=0, high=2, exclude_zero=True)
    assert set(made.tolist()) == {1}
    made = make_tensor(50, dtype=flambeau.float32, low=2, high=3)
    assert all(2 <= v < 3 for v in made.tolist())
    with pytest.raises(ValueError, match="low < high"):
        make_tensor(2, dtype=flambeau.int64, low=3, high=3)


def test_noncontiguous_and_flags():
    made = make_tensor(3, 4, dtype=flambeau.float32, noncontiguous=True, requires_grad=True)
    assert not made.is_contiguous()
    assert made.requires_grad
    assert make_tensor(
        1, 2, 3, 4, dtype=flambeau.float32, memory_format=flambeau.channels_last
    ).is_contiguous(memory_format=flambeau.channels_last)
    with pytest.raises(ValueError, match="requires_grad"):
        make_tensor(2, dtype=flambeau.int64, requires_grad=True)


def test_same_seed_same_values():
    flambeau.manual_seed(0)
    first = make_tensor(5, dtype=flambeau.float32)
    flambeau.manual_seed(0)
    assert flambeau.empty(5).uniform_(-9, 9).tolist() == first.tolist()
