"""complex32: pairs of float16 with arithmetic in complex64."""

import math

import pytest

import flambeau


def pairs(*shape):
    return flambeau.randn(*shape, 2).half()


def test_view_shares_memory_both_ways():
    parts = pairs(3)
    z = flambeau.view_as_complex(parts)
    assert (
        z.dtype is flambeau.complex32
        and z.shape == (3,)
        and z.device.type == "cpu"
        and not z.is_meta
    )
    before = parts.clone()
    z += 1
    assert flambeau.equal(parts[:, 0], before[:, 0] + 1) and flambeau.equal(
        parts[:, 1], before[:, 1]
    )
    assert z.real.data_ptr() == parts.data_ptr()
    assert flambeau.equal(flambeau.view_as_real(z), parts)


def test_arithmetic_rounds_the_complex64_result():
    a, b = flambeau.view_as_complex(pairs(50)), flambeau.view_as_complex(pairs(50))
    expected = (a.to(flambeau.complex64) * b.to(flambeau.complex64)).to(flambeau.complex32)
    assert (a * b).tolist() == expected.tolist()
    assert a.abs().dtype is flambeau.float16


def test_creation_and_printing():
    assert flambeau.zeros(2, dtype=flambeau.complex32).tolist() == [0, 0]
    assert flambeau.tensor([1j, 2], dtype=flambeau.chalf).tolist() == [1j, 2]
    assert flambeau.randn(3).chalf().dtype is flambeau.complex32
    assert (
        flambeau.complex(flambeau.ones(2).half(), flambeau.zeros(2).half()).dtype
        is flambeau.complex32
    )
    assert repr(flambeau.ones(1).chalf()) == "tensor([1.+0.j], dtype=torch.complex32)"
    with pytest.raises(TypeError, match="ComplexHalf"):
        flambeau.ones(1).chalf().numpy()


def test_gradient_passes_through_the_conversion():
    x = flambeau.tensor([3 + 4j], requires_grad=True)
    x.to(flambeau.complex32).abs().sum().backward()
    assert x.grad.dtype is flambeau.complex64
    assert math.isclose(x.grad.item().real, 0.6, rel_tol=1e-3)


def test_promotion():
    c32, c64, c128 = flambeau.complex32, flambeau.complex64, flambeau.complex128
    promote = flambeau.promote_types
    assert promote(c32, flambeau.float16) is c32 and promote(flambeau.int8, c32) is c32
    assert promote(c32, flambeau.bfloat16) is c64 and promote(c32, flambeau.float64) is c128
    assert promote(c32, c128) is c128 and c32.to_real() is flambeau.float16


def test_half_beside_a_complex_number():
    x = flambeau.tensor([1.5, -2, 65504], dtype=flambeau.float16)
    wide = x.to(flambeau.complex64)
    for result, expected in (
        (x * 2j, wide * 2j),
        (0.5j * x, wide * 0.5j),
        (x + 1j, wide + 1j),
        (x - (1 + 2j), wide - (1 + 2j)),
        (1j - x, 1j - wide),
        (x * flambeau.tensor(0.5j), wide * 0.5j),
        (x + flambeau.tensor(1j, dtype=flambeau.complex128), wide + 1j),
        (x[0] * 1j, wide[0] * 1j),
        (flambeau.where(x > 0, x, 1j), flambeau.where(x > 0, wide, 1j)),
    ):
        assert result.dtype is flambeau.complex32
        assert result.tolist() == expected.to(flambeau.complex32).tolist()
    assert (x == 1j).dtype is flambeau.bool
    assert (x.bfloat16() * 1j).dtype is flambeau.complex64
    assert (x * flambeau.tensor([1j])).dtype is flambeau.complex64
    assert flambeau.result_type(x, 1j) is flambeau.complex32
    assert flambeau.result_type(x, flambeau.tensor(1j)) is flambeau.complex32
    with pytest.raises(RuntimeError, match="can't be cast"):
        x *= 1j


def test_gradient_of_half_times_a_complex_number():
    x = flambeau.tensor([1.0, 2.0], dtype=flambeau.float16, requires_grad=True)
    (x * 3j).imag.sum().backward()
    assert x.grad.dtype is flambeau.float16 and x.grad.tolist() == [3, 3]
