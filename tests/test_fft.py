"""Transforms of every kind of length, laws, and lines that must not disturb each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flambeau

LENGTHS = [
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    11,
    13,
    16,
    17,
    19,
    30,
    49,
    64,
    97,
    121,
    128,
    143,
    210,
    256,
    289,
    360,
    499,
    512,
    1000,
    1009,
    4096,
]


@pytest.mark.parametrize("n", LENGTHS)
def test_lengths_against_numpy(n):
    x = np.random.default_rng(n).standard_normal((11, n)) + 1j * np.random.default_rng(
        n + 1
    ).standard_normal((11, n))
    t = flambeau.from_numpy(x)
    bound = 1e-13 * np.sqrt(n) * 10
    assert np.abs(flambeau.fft.fft(t).numpy() - np.fft.fft(x)).max() < bound
    assert np.abs(flambeau.fft.ifft(t).numpy() - np.fft.ifft(x)).max() < bound
    half = np.fft.rfft(x.real)
    assert np.abs(flambeau.fft.rfft(t.real).numpy() - half).max() < bound
    assert (
        np.abs(
            flambeau.fft.irfft(flambeau.from_numpy(half), n).numpy() - np.fft.irfft(half, n)
        ).max()
        < bound
    )


@pytest.mark.parametrize("n", [12, 96, 97, 1009, 4096])
def test_single_precision_stays_single(n):
    x = np.random.default_rng(n).standard_normal(n).astype(np.float32)
    result = flambeau.fft.fft(flambeau.from_numpy(x))
    assert result.dtype is flambeau.complex64
    error = np.abs(result.numpy() - np.fft.fft(x.astype(np.float64))).max()
    assert error < 3e-7 * np.sqrt(n) * np.log2(n)


@pytest.mark.parametrize("function", ["fft", "rfft"])
def test_a_line_with_nan_spoils_no_other(function):
    x = np.random.default_rng(0).standard_normal((9, 24))
    x[4, 3] = np.nan
    result = getattr(flambeau.fft, function)(flambeau.from_numpy(x)).numpy()
    assert np.isnan(result[4]).all()
    assert not np.isnan(np.delete(result, 4, 0)).any()


@given(st.integers(1, 200), st.integers(0, 2**31))
def test_inverse_and_energy(n, seed):
    x = flambeau.from_numpy(np.random.default_rng(seed).standard_normal(n))
    spectrum = flambeau.fft.fft(x, norm="ortho")
    assert flambeau.fft.ifft(spectrum, norm="ortho").real.sub(x).abs().max().item() < 1e-12
    assert abs(spectrum.abs().pow(2).sum().item() - x.pow(2).sum().item()) < 1e-9 * max(1, n)


def test_integers_become_floats_and_halves_are_refused():
    assert flambeau.fft.fft(flambeau.arange(4)).dtype is flambeau.complex64
    with pytest.raises(RuntimeError, match="float16"):
        flambeau.fft.fft(flambeau.ones(4, dtype=flambeau.float16))
    with pytest.raises(RuntimeError, match="real"):
        flambeau.fft.rfft(flambeau.ones(4, dtype=flambeau.complex64))


def test_frequencies():
    assert (
        flambeau.fft.fftfreq(5, 0.5, dtype=flambeau.float64).tolist()
        == np.fft.fftfreq(5, 0.5).tolist()
    )
    assert (
        flambeau.fft.rfftfreq(6, 2.0, dtype=flambeau.float64).tolist()
        == np.fft.rfftfreq(6, 2.0).tolist()
    )


def test_gradient_of_the_power_spectrum():
    x = flambeau.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    (flambeau.fft.fft(x).abs() ** 2).sum().backward()
    assert np.allclose(x.grad.tolist(), [8, 16, 24, 32], rtol=1e-6)


def test_out_is_written():
    out = flambeau.empty(0, dtype=flambeau.complex128)
    assert flambeau.fft.fft(flambeau.ones(3, dtype=flambeau.float64), out=out) is out
    assert out.tolist() == [3, 0, 0]
