"""Indexing kernels at the sizes where they split their work, against NumPy."""

import numpy as np
import pytest

import flambeau

RNG = np.random.default_rng(0)


def tensor(array):
    return flambeau.from_numpy(np.ascontiguousarray(array))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8])
def test_scatter_add_of_one_long_line(dtype):
    index = RNG.integers(0, 1000, 100_000)
    source = RNG.integers(-3, 4, 100_000).astype(dtype)
    start = RNG.integers(-3, 4, 1000).astype(dtype)
    expected = start.copy()
    np.add.at(expected, index, source)
    got = tensor(start).scatter_add(0, tensor(index), tensor(source))
    assert np.array_equal(got.numpy(), expected)
    in_place = tensor(start)
    in_place.scatter_add_(0, tensor(index), tensor(source))
    assert np.array_equal(in_place.numpy(), expected)


@pytest.mark.parametrize("expanded", [False, True])
def test_scatter_add_of_whole_rows(expanded):
    rows = RNG.integers(0, 50, (3000, 1))
    index = tensor(rows).expand(3000, 70) if expanded else tensor(np.repeat(rows, 70, 1))
    source = RNG.integers(-3, 4, (3000, 70)).astype(np.float32)
    expected = np.zeros((50, 70), np.float32)
    np.add.at(expected, rows[:, 0], source)
    got = flambeau.zeros(50, 70).scatter_add(0, index, tensor(source))
    assert np.array_equal(got.numpy(), expected)


def test_scatter_with_a_bad_index_writes_nothing():
    index = RNG.integers(0, 1000, 100_000)
    index[99_999] = 1000
    target = flambeau.zeros(1000)
    with pytest.raises(RuntimeError, match="index 1000 is out of bounds for dimension 0"):
        target.scatter_add_(0, tensor(index), flambeau.ones(100_000))
    assert not target.any()


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("layout", ["dense", "transposed"])
def test_gather(dim, layout):
    x = RNG.standard_normal((40, 50, 60)).astype(np.float32)
    index = RNG.integers(0, x.shape[dim], x.shape)
    expected = np.take_along_axis(x, index, dim)
    if layout == "dense":
        got = tensor(x).gather(dim, tensor(index))
    else:
        got = (
            tensor(x.transpose(2, 0, 1))
            .permute(1, 2, 0)
            .gather(dim, tensor(index.transpose(2, 1, 0)).permute(2, 1, 0))
        )
    assert np.array_equal(got.numpy(), expected)


@pytest.mark.parametrize("bad", [-1, 60])
def test_gather_names_the_first_bad_index(bad):
    index = np.zeros((2000, 60), np.int64)
    index[1500, 3] = bad
    with pytest.raises(RuntimeError, match=f"index {bad} is out of bounds for dimension 1"):
        flambeau.zeros(2000, 60).gather(1, tensor(index))


@pytest.mark.parametrize("dim", [0, 1])
def test_index_add_and_select(dim):
    x, source = RNG.standard_normal((70, 90)), RNG.standard_normal((3000, 3000))
    index = RNG.integers(0, x.shape[dim], 3000)
    source = source[:, :90] if dim == 0 else source[:70]
    expected = x.copy()
    np.add.at(expected, (index,) if dim == 0 else (slice(None), index), source)
    got = tensor(x).index_add(dim, tensor(index), tensor(source))
    assert np.allclose(got.numpy(), expected, rtol=0, atol=1e-11)
    selected = tensor(x).index_select(dim, tensor(index))
    assert np.array_equal(selected.numpy(), np.take(x, index, dim))


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int8])
def test_masks(share, dtype):
    x = RNG.integers(-9, 9, (300, 401)).astype(dtype)
    mask = RNG.random((300, 401)) < share
    assert np.array_equal(tensor(x)[tensor(mask)].numpy(), x[mask])
    assert np.array_equal(tensor(x).T[tensor(mask).T].numpy(), x.T[mask.T])
    assert np.array_equal(tensor(x)[tensor(mask[:, 0])].numpy(), x[mask[:, 0]])
    assert np.array_equal(tensor(mask).nonzero().numpy(), np.argwhere(mask))
    assert np.array_equal(tensor(mask.ravel()).nonzero().numpy(), np.argwhere(mask.ravel()))


def test_byte_mask_counts_any_nonzero_byte():
    mask = flambeau.tensor([0, 1, 128, 255, 0, 0, 0, 127, 2], dtype=flambeau.uint8)
    assert flambeau.arange(9)[mask].tolist() == [1, 2, 3, 7, 8]


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("width", [1, 7, 16, 75, 200])
def test_embedding_bag_widths(mode, dtype, width):
    table = RNG.standard_normal((50, width))
    weight = tensor(table).to(getattr(flambeau, dtype))
    rows = RNG.integers(0, 50, 400)
    offsets = np.sort(RNG.integers(0, 400, 60))
    offsets[0] = 0
    ends = np.append(offsets[1:], 400)
    reduce = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode]
    exact = weight.double().numpy()
    expected = np.stack(
        [
            reduce(exact[rows[a:b]], axis=0) if b > a else np.zeros(width)
            for a, b in zip(offsets, ends, strict=True)
        ]
    )
    got = flambeau.nn.functional.embedding_bag(tensor(rows), weight, tensor(offsets), mode=mode)
    tolerance = {"float32": 1e-5, "float64": 1e-12, "bfloat16": 4e-2}[dtype]
    assert np.allclose(got.double().numpy(), expected, rtol=tolerance, atol=tolerance)


def test_index_add_out_of_range_is_an_index_error():
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        flambeau.ones(5).index_add(0, flambeau.tensor([9]), flambeau.ones(1))


def test_renorm_refuses_a_dim_that_is_not_there():
    with pytest.raises(IndexError, match="Dimension out of range"):
        flambeau.renorm(flambeau.ones(2, 2), 2, 5, 1)
