"""Creation ops: values against NumPy, dtypes, keywords and errors."""

import numpy as np
import pytest

import flambeau


@pytest.mark.parametrize(
    "arguments", [(5,), (1, 5), (1, 6, 2), (5, 1, -2), (0.0, 1.0, 0.25), (0,), (1.5, -1.5, -0.5)]
)
def test_arange_is_numpys(arguments):
    result = flambeau.arange(*arguments)
    expected = np.arange(*arguments)
    assert result.dtype == (flambeau.int64 if expected.dtype.kind == "i" else flambeau.float32)
    np.testing.assert_allclose(result.numpy(), expected)


@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "match"),
    [
        ((5, 0), {}, RuntimeError, "inconsistent with step sign"),
        ((0, 1, 0), {}, RuntimeError, "nonzero"),
        ((float("nan"),), {}, RuntimeError, "unsupported range"),
        ((0, float("inf")), {}, RuntimeError, "unsupported range"),
        ((0, 5, 0.5), {"dtype": flambeau.int64}, ValueError, "nonzero"),
        ((3,), {"dtype": flambeau.bool}, NotImplementedError, "Bool"),
        ((0, 2**63 - 1, 1), {}, (RuntimeError, MemoryError), "overflow|memory|allocate"),
        (("a",), {}, TypeError, "arange"),
    ],
)
def test_bad_ranges_raise(arguments, keywords, error, match):
    with pytest.raises(error, match=match):
        flambeau.arange(*arguments, **keywords)


def test_int64_bounds_do_not_overflow():
    assert flambeau.arange(2**62, 2**63 - 1, 2**61).tolist() == [2**62, 2**62 + 2**61]
    assert flambeau.arange(-(2**63), -(2**63) + 2).tolist() == [-(2**63), -(2**63) + 1]


@pytest.mark.parametrize(
    ("start", "end", "steps"), [(0, 1, 5), (3, -3, 4), (2, 2, 3), (1, 5, 1), (0, 1, 0)]
)
def test_spaces_are_numpys(start, end, steps):
    result = flambeau.linspace(start, end, steps, dtype=flambeau.float64)
    np.testing.assert_allclose(result.numpy(), np.linspace(start, end, steps))
    result = flambeau.logspace(start, end, steps, base=2, dtype=flambeau.float64)
    np.testing.assert_allclose(result.numpy(), np.logspace(start, end, steps, base=2))


def test_spaces_end_exactly():
    assert flambeau.linspace(0, 0.1, 7)[-1].item() == np.float32(0.1)
    with pytest.raises(RuntimeError, match="non-negative"):
        flambeau.linspace(0, 1, -1)
    with pytest.raises(RuntimeError, match="0-dim"):
        flambeau.linspace(flambeau.zeros(2), 1, 3)


def test_triangle_indices_are_numpys():
    for rows, columns, offset in (
        (3, 3, 0),
        (2, 4, 1),
        (4, 2, -2),
        (0, 3, 0),
        (3, 2, -9),
        (3, 2, 9),
    ):
        np.testing.assert_array_equal(
            flambeau.tril_indices(rows, columns, offset), np.tril_indices(rows, offset, columns)
        )
        np.testing.assert_array_equal(
            flambeau.triu_indices(rows, columns, offset), np.triu_indices(rows, offset, columns)
        )
    assert flambeau.triu_indices(2**62, 1).tolist() == [[0], [0]]


def test_full_infers_its_dtype():
    assert flambeau.full((2,), True).dtype == flambeau.bool
    assert flambeau.full((2,), 1).dtype == flambeau.int64
    assert flambeau.full((2,), 1.0).dtype == flambeau.float32
    assert flambeau.full((2,), 1j).dtype == flambeau.complex64


def test_factories_take_the_usual_keywords():
    x = flambeau.zeros(
        2, 3, dtype=flambeau.float64, device="cpu", requires_grad=True, layout=flambeau.strided
    )
    assert x.requires_grad and x.dtype == flambeau.float64
    assert flambeau.zeros(size=(2, 3)).shape == (2, 3)
    assert flambeau.ones(2, 0).shape == (2, 0)
    assert flambeau.zeros(2, device="meta").is_meta
    with pytest.raises(RuntimeError, match="floating point"):
        flambeau.zeros(2, dtype=flambeau.int64, requires_grad=True)
    with pytest.raises(RuntimeError, match="non-negative"):
        flambeau.zeros(-1)
    with pytest.raises(RuntimeError, match="dtype"):
        flambeau.ones(2, dtype=flambeau.int32, out=flambeau.empty(2))


def test_like_keeps_memory_order():
    x = flambeau.zeros(2, 3, 4, 5).permute(0, 2, 3, 1)
    assert flambeau.empty_like(x).stride() == x.stride()
    assert flambeau.zeros_like(x, memory_format=flambeau.contiguous_format).is_contiguous()
    assert x.new_ones(2, dtype=flambeau.int32).dtype == flambeau.int32


def test_frombuffer():
    data = bytearray(b"\x01\x00\x02\x00\x03\x00")
    x = flambeau.frombuffer(data, dtype=flambeau.int16, offset=2)
    assert x.tolist() == [2, 3]
    data[2] = 9
    assert x.tolist() == [9, 3]
    with pytest.raises(ValueError, match="multiple of element size"):
        flambeau.frombuffer(data, dtype=flambeau.int32)
    with pytest.raises(ValueError, match="must not be greater"):
        flambeau.frombuffer(data, dtype=flambeau.int16, count=9)


def test_padding_gradient_checks_its_shapes():
    from flambeau.ops.pad import pad_mode_backward

    with pytest.raises(RuntimeError, match="pad"):
        pad_mode_backward(flambeau.ones(()), [], [], "replicate")
    with pytest.raises(RuntimeError, match="pad"):
        pad_mode_backward(flambeau.ones(9), [3], [1, 1], "reflect")


def test_broadcast_shapes():
    assert flambeau.broadcast_shapes((3, 1), (2,), 1) == (3, 2)
    assert flambeau.broadcast_shapes((0, 1), (1, 4)) == (0, 4)
    with pytest.raises(RuntimeError, match="broadcast"):
        flambeau.broadcast_shapes((2,), (3,))
