"""Argument parsing of native ops: what a schema accepts, and what its errors say."""

import numpy as np
import pytest

import flambeau


@pytest.fixture
def x():
    return flambeau.arange(6.0).reshape(2, 3)


def test_keywords_numpy_spellings_and_defaults(x):
    assert flambeau.sum(x, dim=1).tolist() == [3, 12]
    assert x.sum(axis=1, keepdims=True).shape == (2, 1)
    assert flambeau.add(input=x, other=x, alpha=2).tolist() == (x + 2 * x).tolist()


def test_varargs_sizes(x):
    assert x.view(3, 2).shape == x.view((3, 2)).shape == x.view([3, 2]).shape == (3, 2)
    assert x.view(size=(6,)).shape == (6,)
    assert x.permute(1, 0).shape == (3, 2)
    assert flambeau.zeros(flambeau.tensor(2), np.int64(3)).shape == (2, 3)


def test_numbers_of_every_kind(x):
    for number in (2, 2.0, True, np.float32(2), np.int64(2), flambeau.tensor(2)):
        assert (x + number).shape == (2, 3)
    assert (x + 1j).dtype == flambeau.complex64


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (
            lambda x: flambeau.add(x, "a"),
            TypeError,
            r"argument 'other' \(position 2\) must be Tensor, not str",
        ),
        (lambda x: flambeau.add(x), TypeError, 'missing 1 required positional arguments: "other"'),
        (lambda x: flambeau.add(x, x, x, x), TypeError, "takes"),
        (lambda x: flambeau.add(x, x, nope=1), TypeError, "unexpected keyword argument 'nope'"),
        (lambda x: flambeau.add(x, other=x, input=x), TypeError, "multiple values"),
        (lambda x: flambeau.add([1], x), TypeError, "must be Tensor, not list"),
        (lambda x: flambeau.exp(None), TypeError, "not NoneType"),
        (lambda x: x.view("a"), TypeError, "."),
        (lambda x: x.view(2.0), TypeError, "."),
        (lambda x: x.transpose(0, True), TypeError, "."),
        (lambda x: x.view(10**30), (OverflowError, RuntimeError), "."),
        (lambda x: flambeau.exp(x, out="a"), TypeError, "out"),
        (lambda x: flambeau.zeros(2, device="cuda"), RuntimeError, "cpu"),
        (lambda x: flambeau.zeros(2, device="nonsense:x"), RuntimeError, "."),
        (lambda x: flambeau.zeros(2, dtype="float32"), TypeError, "."),
        (lambda x: flambeau.cat(x), TypeError, "tuple of Tensors"),
        (lambda x: flambeau.cat([x, 3]), TypeError, "tuple of Tensors"),
        (lambda x: flambeau.max(x, "a"), TypeError, "must be Tensor, not str"),
        (lambda x: flambeau.normal(x, "a"), TypeError, "invalid combination of arguments"),
    ],
)
def test_errors(x, call, error, match):
    with pytest.raises(error, match=match):
        call(x)


def test_operators_return_not_implemented_for_strangers(x):
    class Other:
        def __radd__(self, left):
            return "reflected"

    assert x + Other() == "reflected"
    assert (x == "text") is False
    with pytest.raises(TypeError):
        x + "text"


def test_out_is_written_resized_and_checked(x):
    out = flambeau.empty(0)
    assert flambeau.exp(x, out=out) is out
    assert out.shape == (2, 3)
    with pytest.warns(UserWarning, match="resized"):
        flambeau.exp(x, out=flambeau.empty(5))
    with pytest.raises(RuntimeError, match="can't be cast"):
        flambeau.exp(x, out=flambeau.empty(2, 3, dtype=flambeau.int64))
    x.requires_grad_()
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        flambeau.exp(x, out=out)


def test_named_tuples_unpack_and_print(x):
    result = flambeau.max(x, 1)
    values, indices = result
    assert values is result.values and indices is result.indices
    assert repr(result).startswith("torch.return_types.max(\nvalues=tensor(")


def test_list_that_shrinks_while_it_is_read():
    sizes = [1, 2, 3]

    class Shrinks:
        def __index__(self):
            sizes.clear()
            return 1

    sizes[0] = Shrinks()
    with pytest.raises(RuntimeError, match="changed its size"):
        flambeau.zeros(sizes)


@pytest.mark.parametrize(
    ("name", "expected"), [("add", 5), ("sub", -1), ("mul", 6), ("div", 2 / 3), ("floor_divide", 0)]
)
def test_arithmetic_takes_a_number_first(name, expected):
    x = flambeau.full((2,), 3.0)
    assert getattr(flambeau, name)(2, x).tolist() == pytest.approx([expected] * 2)


def test_sizes_beyond_64_bits_are_an_error():
    with pytest.raises(OverflowError):
        flambeau.Size([2**64])


def test_two_numbers_give_the_default_dtype():
    assert flambeau.add(1.5, 2).dtype is flambeau.float32
    assert flambeau.mul(2, 3).dtype is flambeau.int64
    condition = flambeau.tensor([True])
    assert flambeau.where(condition, 1.0, 2.0).dtype is flambeau.float32
