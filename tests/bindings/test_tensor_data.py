"""flambeau.tensor and as_tensor: inferred dtypes, sizes and errors."""

import numpy as np
import pytest

import flambeau


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (True, flambeau.bool), (1, flambeau.int64), (1.5, flambeau.float32), (1j, flambeau.complex64),
        ([True, 1], flambeau.int64), ([1, 2.5], flambeau.float32), ([1, 2j], flambeau.complex64),
        ([], flambeau.float32),
        (np.float64(1), flambeau.float64), ([np.float32(1)], flambeau.float32), ([np.int32(1)], flambeau.int32),
        (np.bool_(True), flambeau.bool), (np.ones(2, np.float16), flambeau.float16), (range(3), flambeau.int64),
    ],
)  # fmt: skip
def test_dtype_is_inferred(data, dtype):
    assert flambeau.tensor(data).dtype == dtype


def test_nested_sequences():
    assert flambeau.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert flambeau.tensor(((1.0,), (2.0,))).shape == (2, 1)
    assert flambeau.tensor([[], []]).shape == (2, 0)
    assert flambeau.tensor([flambeau.tensor(1), flambeau.tensor(2.0)]).tolist() == [1.0, 2.0]
    assert flambeau.tensor([np.array([1, 2]), np.array([3, 4])]).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("data", "keywords", "error", "match"),
    [
        ([[1], [2, 3]], {}, ValueError, "expected sequence of length 1 at dim 1"),
        ([[1, 2], 3], {}, TypeError, "not a sequence"),
        ([1, [2]], {}, TypeError, "cannot be interpreted as an integer"),
        ("a", {}, TypeError, "invalid data type 'str'"),
        (None, {}, RuntimeError, "Could not infer dtype of NoneType"),
        ({1}, {}, RuntimeError, "Could not infer dtype of set"),
        (2**63, {}, ValueError, "Overflow"),
        (300, {"dtype": flambeau.uint8}, RuntimeError, "without overflow"),
        (float("nan"), {"dtype": flambeau.int64}, RuntimeError, "without overflow"),
        (1j, {"dtype": flambeau.float32}, TypeError, "real number"),
        ([1], {"requires_grad": True}, RuntimeError, "floating point and complex"),
        ([1], {"dtype": "x"}, TypeError, "dtype"),
        ([1], {"colour": 1}, TypeError, "unexpected keyword"),
    ],
)
def test_bad_data_raises(data, keywords, error, match):
    with pytest.raises(error, match=match):
        flambeau.tensor(data, **keywords)


def test_endless_nesting_raises():
    data = []
    data.append(data)
    with pytest.raises(ValueError, match="too many dimensions"):
        flambeau.tensor(data)


def test_a_list_that_shrinks_while_it_is_read():
    class Shrinking:
        def __init__(self, data):
            self.data = data

        def __float__(self):
            self.data.clear()
            return 1.0

        def __index__(self):
            self.data.clear()
            return 1

    data = [1.0, 2.0]
    data.append(Shrinking(data))
    data.append(3.0)
    with pytest.raises((ValueError, RuntimeError)):
        flambeau.tensor(data, dtype=flambeau.float64)


def test_as_tensor_shares_memory():
    array = np.ones(2)
    x = flambeau.as_tensor(array)
    array[0] = 5
    assert x.tolist() == [5.0, 1.0]
    assert flambeau.as_tensor(x) is x
    assert flambeau.as_tensor(x, dtype=flambeau.float32).dtype == flambeau.float32
    y = flambeau.ones(2, requires_grad=True)
    assert flambeau.as_tensor(y, dtype=flambeau.float64).requires_grad


def test_tensor_copies():
    array = np.ones(2)
    x = flambeau.tensor(array)
    array[0] = 5
    assert x.tolist() == [1.0, 1.0]
    with pytest.warns(UserWarning, match="clone"):
        assert flambeau.tensor(x) is not x


def test_number_without_a_truth_value_raises_its_own_error():
    class Undecided(int):
        def __bool__(self):
            raise KeyError("undecided")

    with pytest.raises(KeyError, match="undecided"):
        flambeau.tensor([Undecided(1)], dtype=flambeau.bool)
