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
