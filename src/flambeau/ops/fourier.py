"""Discrete Fourier transforms. The three native ops; everything of flambeau.fft is composed of them."""

from .registry import native

fft_c2c = native(
    "fft_c2c(Tensor input, int[] dim, float scale, bool forward) -> Tensor",
    doc="Complex transform over `dim`, times `scale`; exp(-2 pi i k n / N) if forward, else exp(+...).",
)


@fft_c2c.vjp
def fft_c2c_vjp(grad, dim, scale, forward):
    return fft_c2c(grad, dim, scale, not forward)


fft_r2c = native(
    "fft_r2c(Tensor input, int dim, float scale) -> Tensor",
    doc="Non-redundant half, N // 2 + 1 values, of the forward transform of real input along one dim, times `scale`.",
)


@fft_r2c.vjp
def fft_r2c_vjp(grad, input_meta, dim, scale):
    # The real part of the inverse transform of the gradient, zero-padded to full length: each value of the half
    # spectrum is one output, its mirror image is none.
    from .create import zeros
    from .join import cat

    size = input_meta.shape[dim]
    missing = size - grad.shape[dim]
    if missing:
        shape = list(grad.shape)
        shape[dim] = missing
        grad = cat([grad, zeros(shape, dtype=grad.dtype)], dim)
    return fft_c2c(grad, [dim], scale, False).real


fft_c2r = native(
    "fft_c2r(Tensor input, int dim, int n, float scale) -> Tensor",
    doc="Real inverse transform of length n of a half Hermitian spectrum along one dim, times `scale`.",
)


@fft_c2r.vjp
def fft_c2r_vjp(grad, input_meta, dim, n, scale):
    from .arithmetic import mul
    from .create import full, zeros
    from .join import cat

    result = fft_r2c(grad, dim, scale)
    # Values with a mirror image count twice.
    half = result.shape[dim]
    weights = [full((half,), 2.0, dtype=grad.dtype)]
    weights[0][0] = 1.0
    if n % 2 == 0:
        weights[0][-1] = 1.0
    shape = [1] * result.ndim
    shape[dim] = half
    result = mul(result, weights[0].view(shape))
    surplus = input_meta.shape[dim] - half
    if surplus:
        shape = list(result.shape)
        shape[dim] = surplus
        result = cat([result, zeros(shape, dtype=result.dtype)], dim)
    return result


__all__ = ["fft_c2c", "fft_c2r", "fft_r2c"]
