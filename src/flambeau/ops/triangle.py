"""Triangles and diagonals of matrices: tril, triu, diag, diag_embed, trace, vander."""

from .registry import composite, native

tril = native(
    "tril(Tensor input, int diagonal=0) -> Tensor",
    methods=("tril",),
    inplace=True,
    out=True,
    doc="The elements on and below a diagonal of each matrix; the rest is 0.",
)


@tril.vjp
def tril_vjp(grad, diagonal):
    return grad.tril(diagonal)


triu = native(
    "triu(Tensor input, int diagonal=0) -> Tensor",
    methods=("triu",),
    inplace=True,
    out=True,
    doc="The elements on and above a diagonal of each matrix; the rest is 0.",
)


@triu.vjp
def triu_vjp(grad, diagonal):
    return grad.triu(diagonal)


tril_indices = native(
    "tril_indices(int row, int col, int offset=0, *, dtype? dtype=None, device? device=None) -> Tensor",
    doc="Row and column numbers (2, n) of the elements that tril keeps, row by row.",
)
triu_indices = native(
    "triu_indices(int row, int col, int offset=0, *, dtype? dtype=None, device? device=None) -> Tensor",
    doc="Row and column numbers (2, n) of the elements that triu keeps, row by row.",
)

diag_embed = native(
    "diag_embed(Tensor input, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    methods=("diag_embed",),
    doc="Matrices with the last dim of input on a diagonal over dim1 and dim2.",
)


@diag_embed.vjp
def diag_embed_vjp(grad, offset, dim1, dim2):
    return grad.diagonal(offset, dim1, dim2)


@composite(methods=("diag",), out=True)
def diag(input, diagonal=0):
    """The diagonal of a matrix, or the matrix with a vector on its diagonal.

    Raises:
        RuntimeError: input has neither 1 nor 2 dims.
    """
    if input.ndim == 1:
        return diag_embed(input, diagonal)
    if input.ndim == 2:
        return input.diagonal(diagonal).clone()
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")


@composite(methods=("diagflat",))
def diagflat(input, offset=0):
    """A matrix with all elements of input on its diagonal."""
    return diag_embed(input.reshape(-1), offset)


@composite(methods=("trace",))
def trace(input):
    """Sum of the diagonal of a matrix."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    return input.diagonal().sum()


@composite
def vander(x, N=None, increasing=False):
    """Vandermonde matrix: the powers N - 1 ... 0 of each element (0 ... N - 1 if increasing), one row each."""
    from .create import empty
    from .join import cat

    if x.ndim != 1:
        raise RuntimeError("vander: x must be a one-dimensional tensor.")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError("vander: N must be non-negative.")
    if count == 0:
        return empty(x.shape[0], 0, dtype=x.dtype)
    ones = x.new_ones((x.shape[0], 1))
    if count == 1:
        return ones if x.dtype.is_floating_point or x.dtype.is_complex else ones.long()
    powers = x.unsqueeze(-1).expand(x.shape[0], count - 1).cumprod(-1)
    powers = cat([ones.to(powers.dtype), powers], -1)
    return powers if increasing else powers.flip(-1)


__all__ = [
    "diag",
    "diag_embed",
    "diagflat",
    "trace",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "vander",
]
