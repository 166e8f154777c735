"""Short-time Fourier transforms against their definition, and back."""

import numpy as np
import pytest

import flambeau


def stft_by_definition(x, n_fft, hop, window, center):
    if center:
        x = np.pad(x, n_fft // 2, mode="reflect")
    frames = 1 + (len(x) - n_fft) // hop
    return np.stack(
        [np.fft.rfft(x[t * hop : t * hop + n_fft] * window) for t in range(frames)], axis=1
    )


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize(("n_fft", "hop"), [(16, 4), (15, 7), (32, 32)])
def test_stft_equals_its_definition(n_fft, hop, center):
    x = np.random.default_rng(0).standard_normal(200)
    window = np.hanning(n_fft + 1)[:-1]
    got = flambeau.stft(
        flambeau.from_numpy(x),
        n_fft,
        hop,
        window=flambeau.from_numpy(window),
        center=center,
        return_complex=True,
    )
    assert np.allclose(got.numpy(), stft_by_definition(x, n_fft, hop, window, center), atol=1e-12)


@pytest.mark.parametrize("length", [None, 190])
@pytest.mark.parametrize("normalized", [False, True])
def test_istft_inverts_stft(normalized, length):
    x = flambeau.from_numpy(np.random.default_rng(1).standard_normal((3, 192)))
    window = flambeau.hann_window(24, dtype=flambeau.float64)
    spectrum = flambeau.stft(x, 32, 8, 24, window, normalized=normalized, return_complex=True)
    back = flambeau.istft(spectrum, 32, 8, 24, window, normalized=normalized, length=length)
    assert back.sub(x[:, : back.shape[1]]).abs().max().item() < 1e-12


def test_complex_signal_has_two_sides():
    x = flambeau.from_numpy(np.random.default_rng(2).standard_normal(64) + 0j)
    spectrum = x.stft(16, 4, window=flambeau.hann_window(16, dtype=flambeau.float64))
    assert spectrum.shape == (16, 17)
    window = flambeau.hann_window(16, dtype=flambeau.float64)
    back = spectrum.istft(16, 4, window=window, return_complex=True)
    assert back.sub(x).abs().max().item() < 1e-12


def test_gradients_flow_through_both():
    x = flambeau.from_numpy(np.random.default_rng(3).standard_normal(40)).requires_grad_()
    window = flambeau.hann_window(8, dtype=flambeau.float64)

    def there_and_back(signal):
        return flambeau.istft(
            flambeau.stft(signal, 8, 2, window=window, return_complex=True), 8, 2, window=window
        )

    assert flambeau.autograd.gradcheck(there_and_back, (x,))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda x: flambeau.stft(x, 8), "return_complex"),
        (lambda x: flambeau.stft(x, 8, 0, return_complex=True), "hop_length"),
        (lambda x: flambeau.stft(x, 8, win_length=9, return_complex=True), "win_length"),
        (lambda x: flambeau.stft(x, 8, window=flambeau.ones(3), return_complex=True), "window"),
        (lambda x: flambeau.stft(x, 800, center=False, return_complex=True), "n_fft"),
        (lambda x: flambeau.stft(x.view(2, 2, -1), 8, return_complex=True), "1D or 2D"),
        (lambda x: flambeau.istft(x, 8), "complex-valued"),
        (lambda x: flambeau.istft(flambeau.zeros(4, 3, dtype=flambeau.complex64), 8), "n_fft"),
        (
            lambda x: flambeau.istft(
                flambeau.zeros(5, 3, dtype=flambeau.complex64), 8, 8, window=flambeau.zeros(8)
            ),
            "overlap",
        ),
    ],
)
def test_errors(call, match):
    with pytest.raises(RuntimeError, match=match):
        call(flambeau.ones(40))


@pytest.mark.parametrize("n", [65536, 3 * 5 * 7 * 1024, 2 * 65536])
def test_long_lines_are_cut_in_two(n):
    random = np.random.RandomState(0)
    values = random.randn(2, n) + 1j * random.randn(2, n)
    x = flambeau.tensor(values)
    np.testing.assert_allclose(flambeau.fft.fft(x).numpy(), np.fft.fft(values), atol=1e-10)
    np.testing.assert_allclose(flambeau.fft.ifft(x[0]).numpy(), np.fft.ifft(values[0]), atol=1e-14)
    half = flambeau.fft.rfft(x[0].real)
    np.testing.assert_allclose(half.numpy(), np.fft.rfft(values[0].real), atol=1e-10)
    np.testing.assert_allclose(flambeau.fft.irfft(half, n).numpy(), values[0].real, atol=1e-13)
