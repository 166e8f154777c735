"""assert_close: what it accepts, and PyTorch's messages for what it doesn't."""

import math

import numpy as np
import pytest

import flambeau
from flambeau import tensor
from flambeau.testing import assert_allclose, assert_close

BOTH = "(up to 1e-05 allowed)\nGreatest relative difference: {} at index {} (up to 1.3e-06 allowed)"

FAILURES = [
    (
        lambda: assert_close(tensor([1.0, 2, 3]), tensor([1.0, 2, 4])),
        "Tensor-likes are not close!\n\nMismatched elements: 1 / 3 (33.3%)\n"
        "Greatest absolute difference: 1.0 at index (2,) " + BOTH.format("0.25", "(2,)"),
    ),
    (
        lambda: assert_close(tensor([[1.0, 2], [3, 4]]), tensor([[1.0, 2], [3, 5.5]])),
        "Tensor-likes are not close!\n\nMismatched elements: 1 / 4 (25.0%)\n"
        "Greatest absolute difference: 1.5 at index (1, 1) "
        + BOTH.format("0.27272728085517883", "(1, 1)"),
    ),
    (
        lambda: assert_close(tensor(1.0), tensor(2.0)),
        "Scalars are not close!\n\nExpected 2.0 but got 1.0.\nAbsolute difference: 1.0 (up to 1e-05 allowed)\n"
        "Relative difference: 0.5 (up to 1.3e-06 allowed)",
    ),
    (
        lambda: assert_close(1, 2),
        "Scalars are not equal!\n\nExpected 2 but got 1.\nAbsolute difference: 1\nRelative difference: 0.5",
    ),
    (
        lambda: assert_close(tensor([1, 2, 3]), tensor([1, 5, 9])),
        "Tensor-likes are not equal!\n\nMismatched elements: 2 / 3 (66.7%)\n"
        "Greatest absolute difference: 6 at index (2,)\n"
        "Greatest relative difference: 0.6666666865348816 at index (2,)",
    ),
    (
        lambda: assert_close(
            [tensor([1.0]), {"a": tensor([1.0])}], [tensor([1.0]), {"a": tensor([2.0])}]
        ),
        "Tensor-likes are not close!\n\nMismatched elements: 1 / 1 (100.0%)\n"
        "Greatest absolute difference: 1.0 at index (0,) "
        + BOTH.format("0.5", "(0,)")
        + "\n\nThe failure occurred for item [1]['a']",
    ),
    (
        lambda: assert_close(tensor([1.0]), tensor([1.0, 2])),
        "The values for attribute 'shape' do not match: torch.Size([1]) != torch.Size([2]).",
    ),
    (
        lambda: assert_close(tensor([1]), tensor([1.0])),
        "The values for attribute 'dtype' do not match: torch.int64 != torch.float32.",
    ),
    (
        lambda: assert_close(flambeau.ones(1, device="meta"), flambeau.ones(1)),
        "The values for attribute 'device' do not match: meta != cpu.",
    ),
    (
        lambda: assert_close(
            tensor([1.0, 2]).expand(2, 2), tensor([[1.0, 2], [1, 2]]), check_stride=True
        ),
        "The values for attribute 'stride()' do not match: (0, 1) != (2, 1).",
    ),
    (lambda: assert_close([1.0], [1.0, 2.0]), "The length of the sequences mismatch: 1 != 2"),
    (
        lambda: assert_close({"a": 1}, {"b": 1}),
        "The keys of the mappings do not match:\nMissing keys in the actual mapping: ['b']\n"
        "Additional keys in the actual mapping: ['a']",
    ),
    (lambda: assert_close(True, False), "Booleans mismatch: True is not False"),
    (lambda: assert_close(None, 1), "None mismatch: None is not 1"),
    (lambda: assert_close(1.0, 1), "The (d)types do not match: <class 'float'> != <class 'int'>."),
    (lambda: assert_close(tensor([1.0]), tensor([2.0]), msg="hello"), "hello"),
    (lambda: assert_close(1, 2, msg=lambda text: text[:11] + "!"), "Scalars are!"),
]


@pytest.mark.parametrize(("check", "message"), FAILURES)
def test_messages_are_pytorchs(check, message):
    with pytest.raises(AssertionError) as caught:
        check()
    assert str(caught.value) == message


def test_tolerances_follow_the_dtype():
    assert_close(tensor([1.0]), tensor([1.000001]))
    assert_close(tensor([1e-6]), tensor([0.0]))
    assert_close(tensor([1.0], dtype=flambeau.bfloat16), tensor([1.01], dtype=flambeau.bfloat16))
    for dtype in (flambeau.float16, flambeau.float64):
        with pytest.raises(AssertionError):
            assert_close(tensor([1.0], dtype=dtype), tensor([1.01], dtype=dtype))
    assert_close(tensor([1.0]), tensor([1.1]), rtol=0, atol=0.2)
    assert_close(flambeau.ones(2), flambeau.ones(2, dtype=flambeau.float64), check_dtype=False)


def test_nan_and_inf():
    nan, inf = math.nan, math.inf
    assert_close(tensor([inf, -inf]), tensor([inf, -inf]))
    assert_close(tensor([nan]), tensor([nan]), equal_nan=True)
    assert_allclose(tensor([nan]), tensor([nan]))
    for bad in (
        lambda: assert_close(tensor([nan]), tensor([nan])),
        lambda: assert_close(tensor([inf]), tensor([-inf])),
        lambda: assert_close(tensor([1.0]), tensor([inf])),
        lambda: assert_close(3.0, nan),
    ):
        with pytest.raises(AssertionError):
            bad()


def test_other_kinds_of_inputs():
    assert_close(np.array([1.0]), np.array([1.0]))
    assert_close(np.float32(1), 1.0)
    assert_close((tensor([1.0]),), [tensor([1.0])])
    assert_close(tensor([]), tensor([]))
    assert_close(tensor([1 + 1j]), tensor([1 + 1j]))
    for pair in ((tensor([1.0]), np.array([1.0])), ("a", "b"), (1.0, tensor(1.0))):
        with pytest.raises(TypeError, match="No comparison pair"):
            assert_close(*pair)


def test_tolerances_come_in_pairs():
    with pytest.raises(ValueError, match="got no atol"):
        assert_close(1, 1, rtol=1)
    with pytest.raises(ValueError, match="at least 0"):
        assert_close(1, 1, rtol=-1, atol=0)


@pytest.mark.parametrize(
    ("convert", "message"),
    [
        (lambda t: t.to_sparse(), "Sparse COO values are not close"),
        (lambda t: t.to_sparse_csr(), "Sparse CSR values are not close"),
        (
            lambda t: flambeau.quantize_per_tensor(t, 0.1, 0, flambeau.quint8),
            "Quantized tensor-likes are not close",
        ),
    ],
)
def test_tensors_without_strided_memory(convert, message):
    value = flambeau.eye(2)
    assert_close(convert(value), convert(value))
    with pytest.raises(AssertionError, match=message):
        assert_close(convert(value), convert(2 * value))
    assert_close(value, value.to_sparse(), check_layout=False)
    with pytest.raises(AssertionError, match="number of specified values in sparse COO"):
        assert_close(value.to_sparse(), flambeau.ones(2, 2).to_sparse())
