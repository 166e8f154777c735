"""Copies: every pair of dtypes, transposes of all sizes, fills, overlap, conversions of numbers that do not fit."""

import numpy as np
import pytest

import flambeau

NAMES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("source", NAMES)
@pytest.mark.parametrize("target", NAMES)
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_conversion_equals_numpy(source, target):
    values = np.arange(-3, 70).astype(source)
    if target == "uint8" and source.startswith(("float", "complex")):
        values = np.abs(values).astype(source)  # negative to unsigned is undefined in NumPy
    with np.errstate(all="ignore"):
        parts = (
            values.real
            if source.startswith("complex") and not target.startswith("complex")
            else values
        )
        expected = parts.astype(target)
    x = flambeau.tensor(values)
    np.testing.assert_array_equal(x.to(getattr(flambeau, target)).numpy(), expected)
    strided = flambeau.zeros(73, 2, dtype=x.dtype)
    strided[:, 1] = x
    np.testing.assert_array_equal(strided[:, 1].to(getattr(flambeau, target)).numpy(), expected)


def test_bfloat16_rounds_to_even():
    values = flambeau.tensor(
        [1.0, 1.00390625, 1.01171875, float("nan"), float("inf"), 3.3961775e38] * 8
    )
    assert values.bfloat16().float()[:3].tolist() == [1.0, 1.0, 1.015625]
    assert values.bfloat16().isnan().sum().item() == 8
    assert values.bfloat16()[5].item() == float("inf")


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(1, 7), (5, 3), (16, 16), (33, 65), (100, 31), (257, 130)])
def test_transpose(dtype, shape):
    values = np.arange(shape[0] * shape[1]).reshape(shape).astype(dtype)
    np.testing.assert_array_equal(flambeau.tensor(values).t().contiguous().numpy(), values.T)


def test_permutation_of_four_dims():
    values = np.arange(2 * 35 * 9 * 41, dtype=np.float32).reshape(2, 35, 9, 41)
    x = flambeau.from_numpy(values)
    for order in ((0, 2, 3, 1), (3, 2, 1, 0), (0, 2, 1, 3), (1, 0, 3, 2)):
        np.testing.assert_array_equal(
            x.permute(order).contiguous().numpy(), values.transpose(order)
        )


def test_out_of_range_floats_become_the_lowest_integer():
    x = flambeau.tensor([3e9, -3e9, float("nan"), float("inf"), 5.9, -5.9] * 5)
    assert x.int()[:6].tolist() == [-(2**31)] * 4 + [5, -5]
    assert x.double().int()[:6].tolist() == [-(2**31)] * 4 + [5, -5]
    assert flambeau.tensor([1e19, -1e19, 7.5]).long().tolist() == [-(2**63), -(2**63), 7]


def test_fill_checks_the_number():
    x = flambeau.zeros(3, dtype=flambeau.uint8)
    with pytest.raises(
        RuntimeError, match="value cannot be converted to type uint8_t without overflow"
    ):
        x.fill_(300)
    assert x.fill_(-1).tolist() == [255] * 3
    with pytest.raises(RuntimeError, match="without overflow"):
        flambeau.zeros(1).fill_(1e300)
    assert flambeau.zeros(1).expand(3).fill_(2).tolist() == [2, 2, 2]


def test_copy_between_overlapping_views():
    x = flambeau.arange(6.0)
    with pytest.raises(RuntimeError, match="unsupported operation"):
        x[1:].copy_(x[:-1])
    x.copy_(x)


def test_clone_keeps_dense_layouts():
    x = flambeau.rand(3, 4).t()
    assert x.clone().stride() == x.stride()
    assert x.clone(memory_format=flambeau.contiguous_format).is_contiguous()
