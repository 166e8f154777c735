"""Window functions: PyTorch's torch.signal.windows.

Each takes the number of values `M`, `sym` (symmetric, or periodic when False), and dtype, layout, device,
requires_grad.
"""

import math

from .. import _C
from ..ops.exp_log import exp
from ..ops.special_bessel import i0
from ..ops.spectral import _cosine_sum, _full_double, gaussian_formula, symmetric_window
from ..ops.trig import sin

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _check_layout(layout):
    if layout is not None and layout is not _C.strided:
        raise ValueError(f"expected layout strided, got {layout}")


def bartlett(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """Triangular window: 1 - |2 n / (M - 1) - 1|."""
    _check_layout(layout)
    return symmetric_window(
        "bartlett",
        lambda n, size: 1 - (n * (2 / (size - 1)) - 1).abs(),
        M,
        sym,
        dtype,
        device,
        requires_grad,
    )


def general_cosine(M, *, a, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """Sum of cosines: sum_k (-1)^k a[k] cos(2 pi k n / (M - 1))."""
    _check_layout(layout)
    try:
        coefficients = [float(value) for value in a]
    except TypeError:
        raise TypeError("Coefficients must be a list/tuple") from None
    if not coefficients:
        raise ValueError("Coefficients cannot be empty")
    return symmetric_window(
        "general_cosine", _cosine_sum(coefficients), M, sym, dtype, device, requires_grad
    )


def _cosine_window(a, M, sym, dtype, layout, device, requires_grad):
    return general_cosine(
        M, a=a, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def general_hamming(
    M, *, alpha=0.54, sym=True, dtype=None, layout=None, device=None, requires_grad=False
):
    """alpha - (1 - alpha) cos(2 pi n / (M - 1))"""
    return _cosine_window([alpha, 1.0 - alpha], M, sym, dtype, layout, device, requires_grad)


def hamming(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """0.54 - 0.46 cos(2 pi n / (M - 1))"""
    return general_hamming(
        M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def hann(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """0.5 - 0.5 cos(2 pi n / (M - 1))"""
    return general_hamming(
        M,
        alpha=0.5,
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def blackman(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1))"""
    return _cosine_window([0.42, 0.5, 0.08], M, sym, dtype, layout, device, requires_grad)


def nuttall(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """Minimum 4-term Blackman-Harris window (Nuttall, "Some windows with very good sidelobe behavior", 1981)."""
    return _cosine_window(
        [0.3635819, 0.4891775, 0.1365995, 0.0106411], M, sym, dtype, layout, device, requires_grad
    )


def cosine(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """sin(pi (n + 0.5) / M)"""
    _check_layout(layout)
    return symmetric_window(
        "cosine",
        lambda n, size: sin((n + 0.5) * (math.pi / size)),
        M,
        sym,
        dtype,
        device,
        requires_grad,
    )


def exponential(
    M, *, center=None, tau=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False
):
    """exp(-|n - center| / tau), center (M - 1) / 2 by default."""
    _check_layout(layout)
    if tau <= 0:
        raise ValueError(f"exponential: Tau must be positive, got {tau}")
    if sym and center is not None:
        raise ValueError("exponential: Center must be None for symmetric windows")

    def formula(n, size):
        middle = (size - 1) / 2 if center is None else center
        return exp((n - middle).abs() * (-1 / tau))

    return symmetric_window("exponential", formula, M, sym, dtype, device, requires_grad)


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """exp(-((n - (M - 1) / 2) / std)^2 / 2)"""
    _check_layout(layout)
    if std <= 0:
        raise ValueError(f"gaussian: Standard deviation must be positive, got {std}")
    return symmetric_window("gaussian", gaussian_formula(std), M, sym, dtype, device, requires_grad)


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """I0(beta sqrt(1 - (2 n / (M - 1) - 1)^2)) / I0(beta)"""
    _check_layout(layout)
    if beta < 0:
        raise ValueError(f"kaiser: beta must be non-negative, got {beta}")

    def formula(n, size):
        inside = (1 - (n * (2 / (size - 1)) - 1) ** 2).clamp(min=0).sqrt()
        return i0(beta * inside) / i0(_full_double(beta))

    return symmetric_window("kaiser", formula, M, sym, dtype, device, requires_grad)
