"""Windows; scipy.signal.windows is the reference. Sizes 0 and 1 and the checks: tests/signal."""

import numpy as np
import scipy.signal.windows

import flambeau
from flambeau.testing.opspec import Case, OpSpec, Sample

NEGATIVE = Case(args=(-1,), raises=ValueError, match="non-negative|negative")
PARAMETERS = {
    "exponential": {"tau": 2.0},
    "gaussian": {"std": 1.7},
    "general_cosine": {"a": [0.4, 0.3, 0.2]},
    "general_hamming": {"alpha": 0.7},
    "kaiser": {"beta": 6.0},
}
FIXED = {
    "dtypes": ("float32",),
    "grad": False,
    "views": False,
    "method": False,
    "meta": False,
    "result_dtype": lambda dtype: "float32",
}


def window(name):
    parameters = PARAMETERS.get(name, {})
    calls = [
        Sample((size,), {**parameters, "sym": sym})
        for size in (0, 1, 2, 7, 64)
        for sym in (True, False)
    ]
    error = Case(
        args=NEGATIVE.args, kwargs=parameters, raises=NEGATIVE.raises, match=NEGATIVE.match
    )
    reference = getattr(scipy.signal.windows, name)
    return OpSpec(f"signal.windows.{name}", reference, lambda draw: calls, errors=[error], **FIXED)


def top_level(name, *arguments):
    """The functions of PyTorch's first versions, periodic unless told otherwise."""

    def reference(size, periodic=True, *rest):
        return getattr(scipy.signal.windows, name)(size, *rest, sym=not periodic)

    calls = [
        Sample((size, periodic, *arguments)) for size in (1, 2, 7, 64) for periodic in (True, False)
    ]
    return OpSpec(
        f"{name}_window",
        reference,
        lambda draw: calls,
        errors=[Case(args=(-1,), match="window_length")],
        **FIXED,
    )


SPECS = [
    *map(
        window,
        (
            *("bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine"),
            *("general_hamming", "hamming", "hann", "kaiser", "nuttall"),
        ),
    ),
    *map(top_level, ("bartlett", "blackman", "hamming", "hann")),
    top_level("kaiser", 6.0),
]


# ---- short-time Fourier transforms ----


def stft(x, n_fft, hop_length=None, window=None, center=True, onesided=True, return_complex=True):
    hop = n_fft // 4 if hop_length is None else hop_length
    if center:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)], "reflect")
    frames = np.lib.stride_tricks.sliding_window_view(x, n_fft, -1)[..., ::hop, :]
    frames = frames * (1 if window is None else window)
    transform = np.fft.rfft if onesided else np.fft.fft
    return np.swapaxes(transform(frames), -1, -2)


def stft_samples(draw):
    for center in (True, False):
        options = {"center": center, "return_complex": True}
        yield Sample((draw.array((2, 40)), 8), {"hop_length": 3, **options})
        yield Sample((draw.array((40,)), 8), {"window": draw.array((8,), 0.5, 1), **options})
        yield Sample((draw.array((40,)), 8), {"onesided": False, **options})


def there_and_back(x, window):
    spectrum = flambeau.stft(x, 8, 4, window=window, return_complex=True)
    return flambeau.istft(spectrum, 8, 4, window=window, length=x.shape[-1])


SPECS += [
    OpSpec("stft", stft, stft_samples, k=40, floor=20.0, method=False,
           errors=[Case(args=(np.zeros(3), 8), kwargs={"return_complex": True, "center": False}, match="n_fft")]),
    OpSpec("istft", lambda x, window: x, lambda draw: [Sample((draw.array((2, 40)), draw.array((8,), 0.5, 1)))],
           k=40, floor=20.0, method=False, meta=False, function=there_and_back,
           errors=[Case(args=(np.zeros(40), np.zeros(8)), match="window")]),
]  # fmt: skip
