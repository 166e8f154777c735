"""x[...] and x[...] = value, against NumPy and in PyTorch's error words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flambeau

SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=3)


def slices(size):
    bound = st.none() | st.integers(-size - 2, size + 2)
    return st.builds(slice, bound, bound, st.none() | st.integers(1, 3))


@st.composite
def basic_indices(draw):
    shape = draw(SIZES)
    index = [
        draw(st.integers(-n, n - 1) | slices(n)) for n in shape[: draw(st.integers(0, len(shape)))]
    ]
    for _ in range(draw(st.integers(0, 2))):
        index.insert(draw(st.integers(0, len(index))), None)
    if draw(st.booleans()):
        index.append(Ellipsis)  # elsewhere the indices would meet other dims
    return shape, tuple(index)


@st.composite
def advanced_indices(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=2, max_size=3))
    width = draw(st.sampled_from([(), (1,), (3,), (2, 3)]))
    index = []
    for n in shape[: draw(st.integers(1, len(shape)))]:
        # NumPy puts the result of ints beside arrays elsewhere than PyTorch does: arrays, slices and masks only.
        kind = draw(st.sampled_from(["array", "slice", "array"]))
        index.append(
            np.array(draw(st.lists(st.integers(-n, n - 1), min_size=6, max_size=6)))[
                : int(np.prod(width))
            ].reshape(width)
            if kind == "array" and width
            else draw(slices(n))
        )
    return shape, tuple(index)


def tensors(index):
    return tuple(flambeau.tensor(i) if isinstance(i, np.ndarray) else i for i in index)


def numbered(shape):
    return np.arange(float(np.prod(shape))).reshape(shape)


@given(basic_indices())
def test_basic_indexing_is_numpys_and_a_view(case):
    shape, index = case
    array = numbered(shape)
    x = flambeau.tensor(array)
    result = x[index]
    np.testing.assert_array_equal(result.numpy(), array[index])
    assert result._storage_key() == x._storage_key()
    x[index] = -1.0
    array[index] = -1.0
    np.testing.assert_array_equal(x.numpy(), array)


@given(advanced_indices())
def test_advanced_indexing_is_numpys(case):
    shape, index = case
    array = numbered(shape)
    x = flambeau.tensor(array)
    expected = array[index]
    np.testing.assert_array_equal(x[tensors(index)].numpy(), expected)
    x[tensors(index)] = -2.0
    array[index] = -2.0
    np.testing.assert_array_equal(x.numpy(), array)


@given(advanced_indices())
def test_gradient_of_indexing_counts_uses(case):
    shape, index = case
    x = flambeau.tensor(numbered(shape), requires_grad=True)
    x[tensors(index)].sum().backward()
    counts = np.zeros(shape)
    np.add.at(counts, index, 1)
    np.testing.assert_array_equal(x.grad.numpy(), counts)


def test_mask_selects_and_assigns():
    x = flambeau.arange(6.0).reshape(2, 3)
    mask = flambeau.tensor([[True, False, True], [False, True, False]])
    assert x[mask].tolist() == [0.0, 2.0, 4.0]
    assert x[[True, False]].tolist() == [[0.0, 1.0, 2.0]]
    x[mask] = flambeau.tensor([7.0, 8.0, 9.0])
    assert x.tolist() == [[7.0, 1.0, 8.0], [3.0, 9.0, 5.0]]


def test_mask_over_some_dims_in_the_middle():
    x = flambeau.arange(24.0).reshape(2, 3, 4)
    mask = flambeau.tensor([[True, False, False, False], [False] * 4, [False, False, False, True]])
    assert x[:, mask].tolist() == [[0.0, 11.0], [12.0, 23.0]]
    assert x[0, mask].tolist() == [0.0, 11.0]


def test_separated_index_tensors_put_their_dims_first():
    x = flambeau.zeros(2, 3, 4)
    assert x[[0, 1], :, [0, 1]].shape == (2, 3)
    assert flambeau.zeros(2, 3, 4, 5)[:, [0, 1], :, [0, 1]].shape == (2, 2, 4)
    assert flambeau.zeros(2, 3, 4, 5)[:, [0, 1], [0, 1]].shape == (2, 2, 5)


def test_bools_add_a_dim():
    x = flambeau.ones(2, 3)
    assert x[True].shape == (1, 2, 3)
    assert x[False].shape == (0, 2, 3)
    assert flambeau.tensor(3.0)[None].shape == (1,)
    assert flambeau.tensor(3.0)[...].item() == 3.0


def test_numbers_of_other_kinds():
    x = flambeau.arange(4)
    assert x[flambeau.tensor(2)].item() == 2
    assert x[np.int64(-1)].item() == 3
    assert x[flambeau.tensor(1) :].tolist() == [1, 2, 3]
    assert x[range(2)].tolist() == [0, 1]
    assert x[[]].shape == (0,)


@pytest.mark.parametrize(
    ("index", "error", "match"),
    [
        (5, IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        ((0, -4), IndexError, "index -4 is out of bounds for dimension 1 with size 3"),
        ((0, 0, 0), IndexError, "too many indices for tensor of dimension 2"),
        (1.5, IndexError, "only integers, slices"),
        ({}, IndexError, "only integers, slices"),
        ("a", TypeError, "invalid data type"),
        (2**70, ValueError, "Overflow"),
        (-(2**63), IndexError, "out of bounds"),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (slice(1.5, None), TypeError, "slice indices"),
        ([2], IndexError, "index 2 is out of bounds"),
        ([2**62], IndexError, "out of bounds"),
        ([0.5], IndexError, "tensors used as indices must be long, int, byte or bool"),
        (([0, 1], [0, 1, 2]), IndexError, "could not be broadcast together"),
        ([True], IndexError, "shape of the mask"),
    ],
)
def test_bad_indices_raise(index, error, match):
    x = flambeau.zeros(2, 3)
    with pytest.raises(error, match=match):
        x[index]
    with pytest.raises(error, match=match):
        x[index] = 1


def test_zero_dim_tensors_take_no_index():
    with pytest.raises(IndexError, match="0-dim tensor"):
        flambeau.tensor(1.0)[0]
    with pytest.raises(IndexError, match="0-dim tensor"):
        flambeau.tensor(1.0)[:]


@pytest.mark.parametrize("value", ["a", None, [1.0, 2.0, 3.0], object()])
def test_only_numbers_and_tensors_are_assigned(value):
    with pytest.raises(TypeError, match="can't assign a"):
        flambeau.zeros(2, 3)[0] = value


def test_assignment_broadcasts_and_converts():
    x = flambeau.zeros(2, 3)
    x[0] = flambeau.tensor([[1, 2, 3]])
    x[:, 0] = flambeau.tensor([5.0, 6.0], dtype=flambeau.float64)
    assert x.tolist() == [[5.0, 2.0, 3.0], [6.0, 0.0, 0.0]]
    with pytest.raises(RuntimeError, match="must match the existing size"):
        x[0] = flambeau.zeros(2)
    with pytest.raises(RuntimeError, match="dtypes match"):
        x[[0]] = flambeau.zeros(3, dtype=flambeau.float64)
    with pytest.raises(RuntimeError, match="shape mismatch"):
        x[x > 1] = flambeau.zeros(5)
    with pytest.raises(RuntimeError, match="without overflow"):
        x[0] = 1j
    with pytest.raises(TypeError, match="deleting"):
        del x[0]


def test_repeated_indices_take_the_last_value_or_add():
    x = flambeau.zeros(3)
    index = (flambeau.tensor([0, 0, 2]),)
    assert x.index_put(index, flambeau.tensor([1.0, 2.0, 3.0])).tolist() == [2.0, 0.0, 3.0]
    assert x.index_put(index, flambeau.tensor([1.0, 2.0, 3.0]), accumulate=True).tolist() == [
        3.0,
        0.0,
        3.0,
    ]


def test_assignment_from_itself_reads_first():
    x = flambeau.arange(4.0)
    x[[1, 2, 3]] = x[:3]
    assert x.tolist() == [0.0, 0.0, 1.0, 2.0]


def test_assignment_is_differentiated():
    base = flambeau.zeros(2, 3, requires_grad=True)
    value = flambeau.tensor([1.0, 2.0], requires_grad=True)
    x = base * 1
    x[:, 0] = value
    x[1, [1, 2]] = value * 3
    (x * flambeau.arange(6.0).reshape(2, 3)).sum().backward()
    assert base.grad.tolist() == [[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]
    assert value.grad.tolist() == [12.0, 18.0]


def test_writing_through_a_lazy_conjugate():
    base = flambeau.tensor([1 + 1j, 2 + 2j])
    view = base.conj()
    view[flambeau.tensor([0])] = 5 + 5j
    view[1] = 1j
    assert base.tolist() == [5 - 5j, -1j]


def test_meta_tensors_give_shapes():
    x = flambeau.zeros(4, 5, device="meta")
    assert x[1:, None, 0].shape == (3, 1)
    assert x[[0, 1, 1]].shape == (3, 5)
    with pytest.raises(RuntimeError, match="device"):
        flambeau.zeros(4)[flambeau.zeros(2, dtype=flambeau.int64, device="meta")]


def test_subclass_results_keep_their_class():
    class Named(flambeau.Tensor):
        pass

    x = flambeau.zeros(2, 3).as_subclass(Named)
    assert type(x[0]) is Named
    x[0] = 1
    assert x.sum().item() == 3


def test_subclass_as_index_or_value_takes_over():
    class Loud(flambeau.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return "taken"

    x = flambeau.arange(4.0)
    index = flambeau.tensor([1]).as_subclass(Loud)
    assert x[index] == x[(index,)] == "taken"
    x[index] = 9.0
    x[0] = flambeau.ones(()).as_subclass(Loud)
    assert x.tolist() == [0, 1, 2, 3]
