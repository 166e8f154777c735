"""Pack the direction numbers of Joe and Kuo (as SciPy ships them) into src/flambeau/quasirandom/directions.bin.

    python tools/pack_directions.py

Layout: for each degree s = 1 ... 18, and the dimensions of that degree in order, first the s - 1 inner bits of the
primitive polynomials, then for k = 2 ... s the k - 1 upper bits of m_k (which is odd); most significant bit first,
groups padded to bytes.
"""

from pathlib import Path

import numpy as np
import scipy.stats

OUT = Path(__file__).parent.parent / "src" / "flambeau" / "quasirandom" / "directions.bin"


def bits(values, count):
    """(n, count) bits of n numbers, most significant first."""
    return (values[:, None] >> np.arange(count - 1, -1, -1)) & 1


def main():
    with np.load(Path(scipy.stats.__file__).parent / "_sobol_direction_numbers.npz") as table:
        polynomials, numbers = table["poly"], table["vinit"]
    degree = np.array([int(p).bit_length() - 1 for p in polynomials])
    packed = b""
    for s in range(1, degree.max() + 1):
        own = degree == s
        columns = [bits(polynomials[own] >> 1, s - 1)]
        columns += [bits(numbers[own, k - 1] >> 1, k - 1) for k in range(2, s + 1)]
        packed += np.packbits(np.concatenate(columns, 1).astype(np.uint8)).tobytes()
    OUT.write_bytes(packed)
    print(f"{OUT}: {len(packed)} bytes")


if __name__ == "__main__":
    main()
