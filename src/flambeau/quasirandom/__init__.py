"""torch.quasirandom: scrambled Sobol sequences."""

from functools import cache
from pathlib import Path

import numpy as np

import flambeau

__all__ = ["SobolEngine"]

_MAXBIT = 30
# Dimensions per degree 1, 2, ... of their primitive polynomials.
_COUNTS = (1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7776)


@cache
def _state():
    """Direction numbers as 30-bit integers, shape (21201, 30); S. Joe and F. Y. Kuo, "Constructing Sobol sequences with
    better two-dimensional projections", 2008.
    """
    packed = np.frombuffer((Path(__file__).parent / "directions.bin").read_bytes(), np.uint8)
    rows = [np.ones((1, _MAXBIT), np.int64)]
    for degree, count in enumerate(_COUNTS, 1):
        width = (degree - 1) + degree * (degree - 1) // 2
        size = (count * width + 7) // 8
        bits = np.unpackbits(packed[:size])[: count * width].reshape(count, width).astype(np.int64)
        packed = packed[size:]
        rows.append(_directions(bits, degree))
    return np.concatenate(rows) << np.arange(_MAXBIT - 1, -1, -1)


def _directions(bits, degree):
    """m_1 ... m_30 of the dimensions of one degree from their packed bits (see tools/pack_directions.py)."""
    inner, bits = bits[:, : degree - 1], bits[:, degree - 1 :]
    m = np.ones((len(bits), _MAXBIT), np.int64)
    for k in range(2, degree + 1):
        upper = bits[:, : k - 1] @ (1 << np.arange(k - 2, -1, -1))
        m[:, k - 1] = 2 * upper + 1
        bits = bits[:, k - 1 :]
    for j in range(degree, _MAXBIT):
        value = m[:, j - degree] ^ (m[:, j - degree] << degree)
        for k in range(1, degree):
            value ^= inner[:, k - 1] * (m[:, j - k] << k)
        m[:, j] = value
    return m


def _scrambled(state, triangles):
    """Each direction number times a lower triangular matrix over the two-element field."""
    size = 1 << np.arange(_MAXBIT - 1, -1, -1)
    rows = triangles.copy()
    rows[:, np.arange(_MAXBIT), np.arange(_MAXBIT)] = 1
    number_bits = (state[:, :, None] & size) != 0  # (dimension, number, bit), highest bit first
    # float32 counts of at most 30 are exact, and its matrix product is fast.
    product = rows.astype(np.float32) @ number_bits.astype(np.float32).transpose(0, 2, 1)
    return np.einsum("drn,r->dn", product.astype(np.int64) % 2, size)


class SobolEngine:
    """Draw points of a (scrambled) Sobol sequence: numbers in [0, 1) that fill the unit cube evenly.

    Args:
        dimension: of the points, 1 to 21201.
        scramble: scramble the sequence (Owen's random linear matrix scramble and a digital shift).
        seed: of the scrambling; None takes the default generator.
    Raises:
        ValueError: dimension out of range.
    Example:
        >>> flambeau.quasirandom.SobolEngine(dimension=2).draw(3)
        tensor([[0.0000, 0.0000],
                [0.5000, 0.5000],
                [0.7500, 0.2500]])
    References:
        A. B. Owen, "Scrambling Sobol and Niederreiter-Xing points", 1998. The numbers are PyTorch's.
    """

    MAXBIT = _MAXBIT
    MAXDIM = 21201

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate = flambeau.from_numpy(_state()[:dimension].copy())
        if scramble:
            self._scramble()
        else:
            self.shift = flambeau.zeros(dimension, dtype=flambeau.long)
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**_MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def draw(self, n=1, out=None, dtype=None):
        """The next n points, shape (n, dimension), written to `out` if given; dtype None is the default dtype."""
        dtype = flambeau.get_default_dtype() if dtype is None else dtype
        if self.num_generated == 0:
            result = flambeau.cat([self._first_point.to(dtype), self._advance(n - 1, 0, dtype)])
        else:
            result = self._advance(n, self.num_generated - 1, dtype)
        self.num_generated += n
        if out is not None:
            return out.resize_(result.shape).copy_(result)
        return result

    def draw_base2(self, m, out=None, dtype=None):
        """The next 2 ** m points; their number in all must be a power of two, for the sequence to stay balanced."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. "
                "If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        """Go back to the first point."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        """Skip n points."""
        self._advance(*((n - 1, 0) if self.num_generated == 0 else (n, self.num_generated - 1)))
        self.num_generated += n
        return self

    def _advance(self, n, start, dtype=None):
        """Points start + 1 ... start + n in the order of the Gray code; as a tensor if dtype is given."""
        steps = np.arange(start, start + max(n, 0))
        flipped = np.frexp((steps + 1) & ~steps)[1] - 1  # position of the lowest zero bit
        changes = self.sobolstate.numpy().T[flipped]
        if len(changes):
            changes[0] ^= self.quasi.numpy()
            points = np.bitwise_xor.accumulate(changes, 0)
            self.quasi.copy_(flambeau.from_numpy(points[-1].copy()))
        else:
            points = np.zeros((0, self.dimension), np.int64)
        if dtype is None:
            return None
        return flambeau.from_numpy(points).to(dtype) * 2.0**-_MAXBIT

    def _scramble(self):
        generator = None
        if self.seed is not None:
            generator = flambeau.Generator()
            generator.manual_seed(self.seed)
        draw = lambda *shape: flambeau.randint(2, shape, generator=generator)
        powers = flambeau.from_numpy(1 << np.arange(_MAXBIT))
        self.shift = (draw(self.dimension, _MAXBIT) * powers).sum(-1)
        triangles = draw(self.dimension, _MAXBIT, _MAXBIT).tril()
        state = _scrambled(self.sobolstate.numpy(), triangles.numpy())
        self.sobolstate = flambeau.from_numpy(state)

    def __repr__(self):
        fields = [f"dimension={self.dimension}"]
        if self.scramble:
            fields.append("scramble=True")
        if self.seed is not None:
            fields.append(f"seed={self.seed}")
        return f"{self.__class__.__name__}({', '.join(fields)})"
