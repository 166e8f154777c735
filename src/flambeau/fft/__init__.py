"""Discrete Fourier transforms: PyTorch's torch.fft.

Lengths that factor into 2, 3, 4, 5, 7, 11 and 13 run as mixed-radix Stockham transforms, others by
Bluestein's algorithm (Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", 1970).
Normalisation: "backward" (default) scales inverse transforms by 1/n, "forward" forward ones, "ortho" both by 1/sqrt(n).
"""

import math

from .. import _C
from ..ops import arange, cat, constant_pad_nd, fft_c2c, fft_c2r, fft_r2c, roll
from ..ops._autocast import FLOAT32, wrap_names
from ..ops.registry import write_out
from ..tensor import Tensor  # torch.fft has this name too

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


def _finish(result, out, name):
    return result if out is None else write_out(out, result, name)


def _scale(name, norm, count, forward):
    if norm in (None, "backward"):
        return 1.0 if forward else 1.0 / count
    if norm == "forward":
        return 1.0 / count if forward else 1.0
    if norm == "ortho":
        return 1.0 / math.sqrt(count)
    raise RuntimeError(f'{name}: expected norm "forward", "backward" or "ortho", got {norm!r}.')


def _to_float(input, name):
    """Integers become the default dtype; half precision has no transform here."""
    if not isinstance(input, _C.TensorBase):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    if input.dtype in (_C.float16, _C.bfloat16):
        raise RuntimeError(
            f"{name}: expected float32, float64, complex64, complex128 or integer input, got {input.dtype}."
        )
    if not (input.is_floating_point() or input.is_complex()):
        return input.to(_C.get_default_dtype())
    return input


def _to_complex(input, name):
    input = _to_float(input, name)
    return input if input.is_complex() else input.to(input.dtype.to_complex())


def _to_real(input, name):
    if isinstance(input, _C.TensorBase) and input.is_complex():
        raise RuntimeError(f"{name}: expected a real input tensor, got {input.dtype}.")
    return _to_float(input, name)


def _resized(input, dim, n):
    """Zero-pad or trim at the end of one dim."""
    size = input.shape[dim]
    if n == size:
        return input
    if n < size:
        return input.narrow(dim, 0, n)
    pad = [0, 0] * (input.ndim - dim)
    pad[-1] = n - size
    return constant_pad_nd(input, pad)


def _wrap(dim, ndim):
    bound = max(ndim, 1)
    if not -bound <= dim < bound:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {dim})"
        )
    return dim % bound


def _checked_n(name, n):
    if n < 1:
        raise RuntimeError(f"{name}: Invalid number of data points ({n}) specified")
    return n


def _one_dim(input, n, dim, name):
    if input.ndim == 0:
        raise IndexError(f"{name}: Dimension specified as {dim} but tensor has no dimensions")
    dim = _wrap(dim, input.ndim)
    return dim, _checked_n(name, input.shape[dim] if n is None else n)


def _as_ints(values):
    return [values] if isinstance(values, int) else [int(value) for value in values]


def _many_dims(input, s, dim, name):
    """Transformed dims and their lengths, as NumPy and PyTorch pair s and dim up."""
    if dim is not None:
        dims = [_wrap(d, input.ndim) for d in _as_ints(dim)]
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"{name}: FFT dims must be unique, got {tuple(dims)}.")
    if s is None:
        dims = dims if dim is not None else list(range(input.ndim))
        sizes = [input.shape[d] for d in dims]
    else:
        sizes = _as_ints(s)
        if dim is None:
            if len(sizes) > input.ndim:
                raise RuntimeError(
                    f"{name}: Got shape with {len(sizes)} values but input tensor only has {input.ndim} dimensions."
                )
            dims = list(range(input.ndim - len(sizes), input.ndim))
        elif len(dims) != len(sizes):
            raise RuntimeError(
                f"{name}: When given, dim and shape arguments must have the same length, "
                f"got {len(dims)} and {len(sizes)}."
            )
        sizes = [
            input.shape[d] if size == -1 else size for d, size in zip(dims, sizes, strict=True)
        ]
    for size in sizes:
        _checked_n(name, size)
    return dims, sizes


def _resized_all(input, dims, sizes):
    for dim, size in zip(dims, sizes, strict=True):
        input = _resized(input, dim, size)
    return input


def _complex_one(name, input, n, dim, norm, forward, out):
    input = _to_complex(input, name)
    dim, n = _one_dim(input, n, dim, name)
    return _finish(
        fft_c2c(_resized(input, dim, n), [dim], _scale(name, norm, n, forward), forward), out, name
    )


def _complex_many(name, input, s, dim, norm, forward, out):
    input = _to_complex(input, name)
    dims, sizes = _many_dims(input, s, dim, name)
    if not dims:
        return _finish(input.clone(), out, name)
    scale = _scale(name, norm, math.prod(sizes), forward)
    return _finish(fft_c2c(_resized_all(input, dims, sizes), dims, scale, forward), out, name)


def fft(input, n=None, dim=-1, norm=None, *, out=None):
    """Forward transform along one dim, zero-padded or trimmed to `n` points; complex result."""
    return _complex_one("fft", input, n, dim, norm, True, out)


def ifft(input, n=None, dim=-1, norm=None, *, out=None):
    """Inverse of fft."""
    return _complex_one("ifft", input, n, dim, norm, False, out)


def fftn(input, s=None, dim=None, norm=None, *, out=None):
    """Forward transform over several dims (all by default), resized to `s`."""
    return _complex_many("fftn", input, s, dim, norm, True, out)


def ifftn(input, s=None, dim=None, norm=None, *, out=None):
    """Inverse of fftn."""
    return _complex_many("ifftn", input, s, dim, norm, False, out)


def fft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """Forward transform over two dims."""
    return _complex_many("fft2", input, s, dim, norm, True, out)


def ifft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """Inverse of fft2."""
    return _complex_many("ifft2", input, s, dim, norm, False, out)


def _real_to_complex(name, input, dims, sizes, norm, forward):
    """Half spectrum: real transform of the last dim, complex ones of the others."""
    input = _resized_all(input, dims, sizes)
    result = fft_r2c(input, dims[-1], _scale(name, norm, math.prod(sizes), forward))
    if len(dims) > 1:
        result = fft_c2c(result, dims[:-1], 1.0, True)
    return result if forward else result.conj()


def _complex_to_real(name, input, dims, sizes, norm, forward):
    """Inverse of the above; sizes[-1] is the length of the real result."""
    input = _resized_all(input, dims, [*sizes[:-1], sizes[-1] // 2 + 1])
    scale = _scale(name, norm, math.prod(sizes), forward)
    if forward:
        input = input.conj()
    if len(dims) > 1:
        input = fft_c2c(input, dims[:-1], 1.0, False)
    return fft_c2r(input, dims[-1], sizes[-1], scale)


def rfft(input, n=None, dim=-1, norm=None, *, out=None):
    """Transform of real input along one dim: the first n // 2 + 1 values, the others are their conjugates."""
    input = _to_real(input, "rfft")
    dim, n = _one_dim(input, n, dim, "rfft")
    return _finish(_real_to_complex("rfft", input, [dim], [n], norm, True), out, "rfft")


def ihfft(input, n=None, dim=-1, norm=None, *, out=None):
    """Inverse of hfft: half of a Hermitian signal from its real spectrum."""
    input = _to_real(input, "ihfft")
    dim, n = _one_dim(input, n, dim, "ihfft")
    return _finish(
        _real_to_complex("ihfft", input, [dim], [n], norm, False).resolve_conj(), out, "ihfft"
    )


def _half_one(name, input, n, dim, norm, forward, out):
    input = _to_complex(input, name)
    if input.ndim == 0:
        raise IndexError(f"{name}: Dimension specified as {dim} but tensor has no dimensions")
    dim = _wrap(dim, input.ndim)
    n = _checked_n(name, 2 * (input.shape[dim] - 1) if n is None else n)
    return _finish(_complex_to_real(name, input, [dim], [n], norm, forward), out, name)


def irfft(input, n=None, dim=-1, norm=None, *, out=None):
    """Inverse of rfft: `n` real values (2 * (m - 1) by default) from a half spectrum of m."""
    return _half_one("irfft", input, n, dim, norm, False, out)


def hfft(input, n=None, dim=-1, norm=None, *, out=None):
    """Real spectrum of a Hermitian signal given by its first half."""
    return _half_one("hfft", input, n, dim, norm, True, out)


def _real_many(name, input, s, dim, norm, forward, out):
    input = _to_real(input, name)
    dims, sizes = _many_dims(input, s, dim, name)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    return _finish(
        _real_to_complex(name, input, dims, sizes, norm, forward).resolve_conj(), out, name
    )


def _half_many(name, input, s, dim, norm, forward, out):
    input = _to_complex(input, name)
    dims, sizes = _many_dims(input, s, dim, name)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    if s is None or _as_ints(s)[-1] == -1:
        sizes[-1] = _checked_n(name, 2 * (input.shape[dims[-1]] - 1))
    return _finish(_complex_to_real(name, input, dims, sizes, norm, forward), out, name)


def rfftn(input, s=None, dim=None, norm=None, *, out=None):
    """Transform of real input over several dims; half of the last one."""
    return _real_many("rfftn", input, s, dim, norm, True, out)


def rfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """Transform of real input over two dims."""
    return _real_many("rfft2", input, s, dim, norm, True, out)


def ihfftn(input, s=None, dim=None, norm=None, *, out=None):
    """Inverse of hfftn."""
    return _real_many("ihfftn", input, s, dim, norm, False, out)


def ihfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """Inverse of hfft2."""
    return _real_many("ihfft2", input, s, dim, norm, False, out)


def irfftn(input, s=None, dim=None, norm=None, *, out=None):
    """Inverse of rfftn."""
    return _half_many("irfftn", input, s, dim, norm, False, out)


def irfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """Inverse of rfft2."""
    return _half_many("irfft2", input, s, dim, norm, False, out)


def hfftn(input, s=None, dim=None, norm=None, *, out=None):
    """Real spectrum of a signal that is Hermitian over several dims."""
    return _half_many("hfftn", input, s, dim, norm, True, out)


def hfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """Real spectrum of a signal that is Hermitian over two dims."""
    return _half_many("hfft2", input, s, dim, norm, True, out)


def _spacing(length):
    """1 / length as floating point hardware divides: infinite for 0."""
    return 1.0 / length if length else math.inf


def _sample_count(n, name):
    """n as a length, which both frequency functions want."""
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise TypeError(f"{name}(): argument 'n' must be int, not {type(n).__name__}")
    n = n.__index__()
    if n < 0:
        raise RuntimeError(f"{name}: expected n >= 0, got {n}: a negative dimension.")
    return n


def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """Frequencies of fft's values, in cycles per unit of the sample spacing `d`."""
    n = _sample_count(n, "fftfreq")
    dtype = dtype or _C.get_default_dtype()
    positive = arange(0, (n + 1) // 2, dtype=dtype, device=device)
    negative = arange(-(n // 2), 0, dtype=dtype, device=device)
    result = cat([positive, negative]) * _spacing(n * d)
    return _finish(result.requires_grad_(requires_grad), out, "fftfreq")


def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """Frequencies of rfft's values, in cycles per unit of the sample spacing `d`."""
    n = _sample_count(n, "rfftfreq")
    result = arange(0, n // 2 + 1, dtype=dtype or _C.get_default_dtype(), device=device) * _spacing(
        n * d
    )
    return _finish(result.requires_grad_(requires_grad), out, "rfftfreq")


def fftshift(input, dim=None):
    """Move the zero frequency to the middle of each dim."""
    dims = list(range(input.ndim)) if dim is None else [_wrap(d, input.ndim) for d in _as_ints(dim)]
    return roll(input, [input.shape[d] // 2 for d in dims], dims) if dims else input.clone()


def ifftshift(input, dim=None):
    """Inverse of fftshift."""
    dims = list(range(input.ndim)) if dim is None else [_wrap(d, input.ndim) for d in _as_ints(dim)]
    return roll(input, [(input.shape[d] + 1) // 2 for d in dims], dims) if dims else input.clone()


wrap_names(
    globals(),
    "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft",
    FLOAT32,
)
