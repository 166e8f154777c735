"""The elementwise engine: layouts in and out, conversion, broadcasting, overlap, large and tiny tensors."""

import itertools

import numpy as np
import pytest

import flambeau


def layouts(array):
    """The same values as tensors with different strides."""
    plain = flambeau.from_numpy(array.copy())
    yield plain
    order = tuple(reversed(range(array.ndim)))
    yield flambeau.from_numpy(array.transpose(order).copy()).permute(order)
    wide = flambeau.zeros(*array.shape[:-1], 2 * array.shape[-1], dtype=plain.dtype)
    wide[..., ::2] = plain
    yield wide[..., ::2]


@pytest.mark.parametrize("shape", [(5,), (3, 4), (130, 3), (2, 3, 200), (2, 5, 7, 9)])
def test_layouts_of_both_operands(shape):
    rng = np.random.default_rng(0)
    a, b = (
        rng.integers(0, 50, shape).astype(np.float32),
        rng.integers(0, 50, shape).astype(np.int64),
    )
    for x, y in itertools.product(layouts(a), layouts(b)):
        np.testing.assert_array_equal((x + y).numpy(), (a + b).astype(np.float32))
        np.testing.assert_array_equal((x > y).numpy(), a > b)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((4, 1), (1, 5)),
        ((3, 1, 300), (7, 1)),
        ((), (4,)),
        ((2000, 3), (3,)),
        ((3, 2000), (3, 1)),
        ((0, 3), (3,)),
    ],
)
def test_broadcasting(left, right):
    rng = np.random.default_rng(1)
    a, b = np.asarray(rng.normal(size=left)), np.asarray(rng.normal(size=right))
    np.testing.assert_array_equal((flambeau.tensor(a) * flambeau.tensor(b)).numpy(), a * b)


def test_output_keeps_a_shared_layout():
    x = flambeau.rand(2, 3, 4, 5).to(memory_format=flambeau.channels_last)
    assert (x + x).is_contiguous(memory_format=flambeau.channels_last)
    assert x.exp().stride() == x.stride()
    assert (x * 2.0).stride() == x.stride()
    assert (x + flambeau.rand(1, 3, 1, 1)).stride() == x.stride()
    y = flambeau.rand(4, 6).t()
    assert (y + y).stride() == (1, 6)
    assert (y + y.contiguous()).stride() == (1, 6)  # the first operand decides


def test_results_do_not_depend_on_threads():
    x = flambeau.rand(300, 1001)
    threads = flambeau.get_num_threads()
    try:
        results = []
        for count in (1, 2, 5):
            flambeau.set_num_threads(count)
            results.append((x * x.t().contiguous().t() + x[:, :1]).sin())
        assert all(flambeau.equal(results[0], result) for result in results)
    finally:
        flambeau.set_num_threads(threads)


def test_in_place_on_a_view_leaves_the_rest_alone():
    base = flambeau.zeros(4, 6)
    base[:, ::2].add_(1)
    assert base.sum().item() == 12
    base.t().mul_(flambeau.arange(4))
    np.testing.assert_array_equal(base[:, 0].numpy(), [0, 1, 2, 3])


def test_in_place_result_dtype_must_fit():
    with pytest.raises(
        RuntimeError, match="result type Float can't be cast to the desired output type Long"
    ):
        flambeau.tensor([1, 2]).mul_(0.5)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        flambeau.zeros(3).add_(flambeau.zeros(2, 3))


def test_overlap_is_an_error():
    expanded = flambeau.zeros(1).expand(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        expanded.add_(1)
    x = flambeau.zeros(4)
    with pytest.raises(
        RuntimeError, match="some elements of the input tensor and the written-to tensor"
    ):
        x[1:].add_(x[:-1])
    flambeau.add(x, x, out=x)  # the same tensor is no partial overlap


def test_out_is_resized_and_converted():
    out = flambeau.empty(0)
    assert flambeau.add(flambeau.ones(2, 3), 1, out=out) is out
    assert out.shape == (2, 3)
    wide = flambeau.empty(3, dtype=flambeau.float64)
    flambeau.exp(flambeau.zeros(3), out=wide)
    assert wide.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="can't be cast"):
        flambeau.exp(flambeau.zeros(3), out=flambeau.empty(3, dtype=flambeau.int64))


def test_lazy_conjugates_and_negatives():
    z = flambeau.tensor([1 + 2j, 3 - 4j])
    np.testing.assert_array_equal((z.conj() * 1).numpy(), [1 - 2j, 3 + 4j])
    np.testing.assert_array_equal((z.conj().imag + 1).numpy(), [-1, 5])
    z.conj().mul_(1j)
    np.testing.assert_array_equal(z.numpy(), np.conj([(1 - 2j) * 1j, (3 + 4j) * 1j]))


def test_meta_gives_shape_and_strides():
    x = flambeau.empty(2, 3, 4, 5, device="meta").to(memory_format=flambeau.channels_last)
    y = x + flambeau.empty(3, 1, 1, device="meta")
    assert (y.device.type, y.shape, y.stride()) == ("meta", x.shape, x.stride())


def test_shapes_that_do_not_broadcast():
    with pytest.raises(
        RuntimeError, match=r"size of tensor a \(2\) must match the size of tensor b \(3\)"
    ):
        flambeau.zeros(2) + flambeau.zeros(3)
