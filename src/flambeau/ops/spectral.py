"""Windows of torch's own namespace, and the short-time Fourier transform. Transforms are in flambeau.fft."""

import math
import warnings

from .. import _C
from .arithmetic import mul
from .create import arange, ones, zeros
from .exp_log import exp
from .fourier import fft_c2c, fft_c2r, fft_r2c
from .pad import constant_pad_nd
from .registry import composite
from .special_bessel import i0
from .trig import cos
from .view import unfold_backward


def _window_dtype(dtype, name):
    dtype = dtype or _C.get_default_dtype()
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    return dtype


def _window(name, formula, window_length, periodic, dtype, device, requires_grad):
    """A window of `window_length` values from formula(n, N) with n = 0 .. N - 1 of a symmetric window of N values."""
    dtype = _window_dtype(dtype, name)
    if window_length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={window_length}"
        )
    if window_length <= 1:
        result = ones(window_length, dtype=dtype, device=device)
    else:
        # A periodic window is a symmetric one that is longer by its last value. In double: the formulas cancel.
        size = window_length + 1 if periodic else window_length
        values = formula(arange(size, dtype=_C.float64), size)
        result = values[:window_length].to(dtype)
        if device is not None:
            result = result.to(device)
    return result.requires_grad_(requires_grad)


def _cosine_sum(coefficients):
    def formula(n, size):
        total = n * 0.0  # a tensor, however few terms there are
        for k, a in enumerate(coefficients):
            total = total + (
                a if k == 0 else (-1) ** k * a * cos(n * (2 * math.pi * k / (size - 1)))
            )
        return total

    return formula


@composite
def hann_window(
    window_length,
    periodic=True,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """Hann window: 0.5 - 0.5 cos(2 pi n / (N - 1)); N = window_length + 1 if periodic."""
    return _window(
        "hann_window",
        _cosine_sum((0.5, 0.5)),
        window_length,
        periodic,
        dtype,
        device,
        requires_grad,
    )


@composite
def hamming_window(
    window_length,
    periodic=True,
    alpha=0.54,
    beta=0.46,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """Hamming window: alpha - beta cos(2 pi n / (N - 1)); N = window_length + 1 if periodic."""
    return _window(
        "hamming_window",
        _cosine_sum((alpha, beta)),
        window_length,
        periodic,
        dtype,
        device,
        requires_grad,
    )


@composite
def blackman_window(
    window_length,
    periodic=True,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """Blackman window: 0.42 - 0.5 cos(2 pi n / (N - 1)) + 0.08 cos(4 pi n / (N - 1))."""
    return _window(
        "blackman_window",
        _cosine_sum((0.42, 0.5, 0.08)),
        window_length,
        periodic,
        dtype,
        device,
        requires_grad,
    )


@composite
def bartlett_window(
    window_length,
    periodic=True,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """Triangular window: 1 - |2 n / (N - 1) - 1|."""

    def formula(n, size):
        return 1 - (n * (2 / (size - 1)) - 1).abs()

    return _window(
        "bartlett_window", formula, window_length, periodic, dtype, device, requires_grad
    )


@composite
def kaiser_window(
    window_length,
    periodic=True,
    beta=12.0,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """Kaiser window: I0(beta sqrt(1 - (2 n / (N - 1) - 1)^2)) / I0(beta)."""

    def formula(n, size):
        inside = (1 - (n * (2 / (size - 1)) - 1) ** 2).clamp(min=0).sqrt()
        return i0(beta * inside) / i0(_full_double(beta))

    return _window("kaiser_window", formula, window_length, periodic, dtype, device, requires_grad)


def _full_double(value):
    return zeros((), dtype=_C.float64) + value


def _centred_window(window, win_length, n_fft, dtype, device):
    if window is None:
        window = ones(win_length, dtype=dtype, device=device)
    if win_length < n_fft:
        left = (n_fft - win_length) // 2
        window = constant_pad_nd(window, [left, n_fft - win_length - left])
    return window


def _check_frames(name, n_fft, hop_length, win_length, window, limit):
    if not 0 < n_fft <= limit:
        raise RuntimeError(f"{name}: expected 0 < n_fft <= {limit}, but got n_fft={n_fft}")
    if hop_length <= 0:
        raise RuntimeError(f"{name}: expected hop_length > 0, but got hop_length={hop_length}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(
            f"{name}: expected 0 < win_length <= n_fft, but got win_length={win_length}"
        )
    if window is not None and (window.ndim != 1 or window.shape[0] != win_length):
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={win_length}, "
            f"but got window with size {list(window.shape)}"
        )


@composite(methods=("stft",))
def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """Short-time Fourier transform: transforms of overlapping windowed frames.

    Args:
        input: real or complex, shape (length,) or (batch, length).
        n_fft: points of each frame. hop_length: step between frames (n_fft // 4).
        win_length: length of `window` (n_fft), centred in the frame. window: 1-D, ones by default.
        center: pad by n_fft // 2 on both sides with `pad_mode`, so that frame t is centred at t * hop_length.
        normalized: scale by 1 / sqrt(n_fft). onesided: only n_fft // 2 + 1 frequencies; the default for real input.
        return_complex: must be given for real input; False returns real and imaginary parts as a last dim of 2.
    Returns:
        Shape (batch?, frequencies, frames), complex.
    """
    real = not input.is_complex() and (window is None or not window.is_complex())
    if return_complex is None:
        if real:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, "
                "and will further require that return_complex=True in a future PyTorch release."
            )
        return_complex = True
    elif not return_complex:
        warnings.warn(
            "stft with return_complex=False is deprecated. Use return_complex=True and view_as_real.",
            UserWarning,
            stacklevel=2,
        )
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            f"stft: expected a tensor of floating point or complex values, got {input.dtype}"
        )
    if not 1 <= input.ndim <= 2:
        raise RuntimeError(f"stft: expected a 1D or 2D tensor, got {input.ndim}D")
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    batch = input if input.ndim == 2 else input.unsqueeze(0)
    if center:
        batch = _pad_signal(batch, n_fft // 2, pad_mode)
    _check_frames("stft", n_fft, hop_length, win_length, window, batch.shape[-1])
    window = _centred_window(window, win_length, n_fft, input.dtype, input.device)
    frames = mul(batch.unfold(-1, n_fft, hop_length), window)  # (batch, frames, n_fft)
    onesided = real if onesided is None else onesided
    if onesided and not real:
        raise RuntimeError("stft, istft: Cannot have onesided output if window or input is complex")
    scale = 1 / math.sqrt(n_fft) if normalized else 1.0
    if onesided:
        spectrum = fft_r2c(frames, 2, scale)
    else:
        spectrum = fft_c2c(
            frames if frames.is_complex() else frames.to(frames.dtype.to_complex()),
            [2],
            scale,
            True,
        )
    spectrum = spectrum.transpose(1, 2)
    if input.ndim == 1:
        spectrum = spectrum.squeeze(0)
    return spectrum if return_complex else _view_as_real(spectrum)


def _view_as_real(value):
    from .view_dtype import view_as_real

    return view_as_real(value)


def _pad_signal(batch, amount, mode):
    from .pad import pad

    if mode == "constant":
        return constant_pad_nd(batch, [amount, amount])
    # Reflection and replication work on the last of three dims.
    return pad(batch.unsqueeze(0), [amount, amount], mode).squeeze(0)


@composite(methods=("istft",))
def istft(  # noqa: PLR0915 (PyTorch's many argument checks, in its order)
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """Inverse of stft by overlap-add, in the sense of least squares.

    Griffin, Lim, "Signal estimation from modified short-time Fourier transform", 1984.

    Args:
        input: complex, shape (batch?, frequencies, frames).
        length: samples to return; by default what the frames cover, less the padding of `center`.
        Others: as given to stft.
    Raises:
        RuntimeError: the windows' squared overlap vanishes somewhere (NOLA).
    """
    if not input.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if not 2 <= input.ndim <= 3:
        raise RuntimeError(f"istft: expected a tensor with 2 or 3 dimensions, but got {input.ndim}")
    if input.numel() == 0:
        raise RuntimeError("istft: input tensor cannot be empty.")
    spectrum = input if input.ndim == 3 else input.unsqueeze(0)
    frequencies, frames = spectrum.shape[1], spectrum.shape[2]
    onesided = frequencies != n_fft if onesided is None else onesided
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if frequencies != wanted:
        raise RuntimeError(
            "istft: expected the frequency dimension (3rd to the last) of the input tensor "
            f"to match n_fft={n_fft}: {wanted}, but got {frequencies}"
        )
    if not 0 < hop_length <= win_length:
        raise RuntimeError(
            f"istft: expected 0 < hop_length <= win_length, got hop_length={hop_length}, win_length={win_length}"
        )
    _check_frames("istft", n_fft, hop_length, win_length, window, n_fft)
    if return_complex and onesided:
        raise RuntimeError("stft, istft: Cannot have onesided output if window or input is complex")
    if window is not None and window.is_complex() and not return_complex:
        raise RuntimeError("istft: Complex windows are incompatible with return_complex=False")
    window = _centred_window(window, win_length, n_fft, input.dtype.to_real(), input.device)
    spectrum = spectrum.transpose(1, 2)  # (batch, frames, frequencies)
    scale = 1 / math.sqrt(n_fft) if normalized else 1 / n_fft
    if return_complex:
        pieces = fft_c2c(spectrum, [2], scale, False)
    else:
        pieces = fft_c2r(spectrum if onesided else spectrum[..., : n_fft // 2 + 1], 2, n_fft, scale)
    covered = n_fft + hop_length * (frames - 1)
    signal = _overlap_add(mul(pieces, window), hop_length, covered)
    envelope = _overlap_add(mul(window, window).expand(1, frames, n_fft), hop_length, covered)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else (covered - n_fft // 2 if center else covered)
    missing = end - covered
    signal, envelope = signal[:, start:end], envelope[:, start:end]
    smallest = envelope.abs().min().item()
    if not smallest > 1e-11:
        raise RuntimeError(
            f"istft: window overlap add min: {smallest}. The squared windows must not vanish where samples are wanted."
        )
    signal = signal / envelope
    if missing > 0:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
            "Please check your center, hop_length, and win_length settings.",
            UserWarning,
            stacklevel=2,
        )
        signal = constant_pad_nd(signal, [0, missing])
    return signal if input.ndim == 3 else signal.squeeze(0)


def _overlap_add(pieces, hop_length, covered):
    """Sum frames of shape (batch, frames, n_fft) at steps of hop_length."""
    return unfold_backward(pieces, [pieces.shape[0], covered], 1, pieces.shape[2], hop_length)


def symmetric_window(name, formula, M, sym, dtype, device, requires_grad):
    """A window of flambeau.signal.windows: as _window, with that namespace's argument checks."""
    dtype = dtype or _C.get_default_dtype()
    if M < 0:
        raise ValueError(f"{name}: expected M to be non-negative, got {M}")
    if dtype not in (_C.float32, _C.float64):
        raise ValueError(f"{name}: expected dtype float32 or float64, got {dtype}")
    return _window(name, formula, M, not sym, dtype, device, requires_grad)


def gaussian_formula(std):
    """exp(-((n - (N - 1) / 2) / std)^2 / 2)"""
    return lambda n, size: exp(((n - (size - 1) / 2) / std) ** 2 * -0.5)


__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "istft",
    "kaiser_window",
    "stft",
]
