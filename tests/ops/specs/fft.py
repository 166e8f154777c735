"""Fourier transforms, against scipy.fft in double."""

import numpy as np
import scipy.fft

from flambeau.testing.opspec import COMPLEX, FLOATING, Case, OpSpec, Sample, case_samples

LENGTHS = case_samples(
    ((1,),), ((2,),), ((8,),), ((15,),), ((17,),), ((3, 20),), ((2, 3, 7), None, 1), ((4, 6), 9), ((4, 6), 3, 0),
    ((5,), 8, -1, "ortho"), ((2, 6), None, -1, "forward"),
)  # fmt: skip
HALF_LENGTHS = case_samples(((2,),), ((5,),), ((3, 9), 12), ((3, 9), 7), ((4, 3), None, 0, "ortho"))
PLANES = case_samples(((2, 3),), ((4, 6, 5),), ((4, 6), (3, 8)), ((3, 4, 2), None, (0, 2), "ortho"))
BAD = [
    Case(args=(np.zeros(()),), raises=IndexError, match="no dimensions"),
    Case(args=(np.zeros(3), 0), raises=RuntimeError, match="Invalid number of data points"),
    Case(args=(np.zeros(3), None, 2), raises=IndexError, match="Dimension out of range"),
    Case(args=(np.zeros(3), None, -1, "nope"), raises=RuntimeError, match="norm"),
]
BAD_PLANES = [
    Case(args=(np.zeros((2, 3)), None, (0, 0)), raises=RuntimeError, match="must be unique"),
    Case(args=(np.zeros((2, 3)), (2,), (0, 1)), raises=RuntimeError, match="same length"),
]
# Rounding grows with the logarithm of the length; values are compared with the largest one.
WIDTH = {"k": 40, "floor": 20.0}


def one(name):
    function = getattr(scipy.fft, name)
    return lambda x, n=None, dim=-1, norm=None: function(x, n, dim, norm)


def many(name, dims=None):
    function = getattr(scipy.fft, name)
    return lambda x, s=None, dim=dims, norm=None: function(x, s, dim, norm)


def hermitian_planes(draw):
    yield Sample((draw.array((3, 4)),))
    yield Sample((draw.array((2, 3, 5)), (4, 6), (1, 2)))


SPECS = [
    *(
        OpSpec(f"fft.{name}", one(name), LENGTHS, dtypes=(*FLOATING, *COMPLEX), method=False, errors=BAD, **WIDTH)
        for name in ("fft", "ifft")
    ),
    *(OpSpec(f"fft.{name}", one(name), LENGTHS, method=False, errors=BAD, **WIDTH) for name in ("rfft", "ihfft")),
    *(
        OpSpec(f"fft.{name}", one(name), HALF_LENGTHS, dtypes=COMPLEX, method=False, errors=BAD, **WIDTH)
        for name in ("irfft", "hfft")
    ),
    *(
        OpSpec(f"fft.{name}", many(name), PLANES, dtypes=(*FLOATING, *COMPLEX), method=False,
               errors=BAD_PLANES, **WIDTH)
        for name in ("fftn", "ifftn")
    ),
    OpSpec("fft.fft2", many("fft2", (-2, -1)), PLANES, dtypes=COMPLEX, method=False, errors=BAD_PLANES, **WIDTH),
    OpSpec("fft.ifft2", many("ifft2", (-2, -1)), PLANES, dtypes=COMPLEX, method=False, errors=BAD_PLANES, **WIDTH),
    OpSpec("fft.rfftn", many("rfftn"), PLANES, method=False, errors=BAD_PLANES, **WIDTH),
    OpSpec("fft.rfft2", many("rfft2", (-2, -1)), PLANES, method=False, errors=BAD_PLANES, **WIDTH),
    OpSpec("fft.irfftn", many("irfftn"), hermitian_planes, dtypes=COMPLEX, method=False, errors=BAD_PLANES, **WIDTH),
    OpSpec(
        "fft.fftshift", lambda x, dim=None: np.fft.fftshift(x, dim), case_samples(((5,),), ((4, 3), 1), ((2, 3),)),
        method=False, errors=[Case(args=(np.zeros(3), 2), raises=IndexError, match="Dimension out of range")],
    ),
    OpSpec(
        "fft.ifftshift", lambda x, dim=None: np.fft.ifftshift(x, dim), case_samples(((5,),), ((4, 3), 1), ((2, 3),)),
        method=False, errors=[Case(args=(np.zeros(3), 2), raises=IndexError, match="Dimension out of range")],
    ),
]  # fmt: skip


def hermitian(forward, real, inverse):
    """hfft and ihfft over several dims: a transform of the conjugate with the other direction's norm."""
    swapped = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}

    def reference(x, s=None, dim=None, norm=None):
        if forward:
            return getattr(scipy.fft, real)(x.conj(), s, dim, swapped[norm])
        return getattr(scipy.fft, inverse)(x, s, dim, swapped[norm]).conj()

    return reference


def two_dims(function):
    return lambda x, s=None, dim=(-2, -1), norm=None: function(x, s, dim, norm)


def frequencies(name):
    return OpSpec(
        f"fft.{name}",
        getattr(np.fft, name),
        lambda draw: [Sample(call) for call in ((1,), (8,), (9,), (5, 0.25))],
        dtypes=("float32",),
        grad=False,
        views=False,
        meta=False,
        method=False,
        result_dtype=lambda dtype: "float32",
        errors=[
            Case(args=("text",), raises=TypeError, match="argument 'n' must be int"),
            Case(args=(-1,), match="negative dimension"),
        ],
    )


FORWARD = hermitian(True, "irfftn", None)
INVERSE = hermitian(False, None, "rfftn")


def low_level(name, reference, samples, **options):
    """The transforms that the public ones end in; scale is the norm's factor."""
    return OpSpec(name, reference, samples, method=False, **WIDTH, **options)


SPECS += [
    OpSpec("fft.irfft2", many("irfft2", (-2, -1)), hermitian_planes, dtypes=COMPLEX, method=False,
           errors=BAD_PLANES, **WIDTH),
    OpSpec("fft.hfftn", FORWARD, hermitian_planes, dtypes=COMPLEX, method=False, errors=BAD_PLANES, **WIDTH),
    OpSpec("fft.hfft2", two_dims(FORWARD), hermitian_planes, dtypes=COMPLEX, method=False, errors=BAD_PLANES, **WIDTH),
    OpSpec("fft.ihfftn", INVERSE, PLANES, method=False, errors=BAD_PLANES, **WIDTH),
    OpSpec("fft.ihfft2", two_dims(INVERSE), PLANES, method=False, errors=BAD_PLANES, **WIDTH),
    frequencies("fftfreq"),
    frequencies("rfftfreq"),
    low_level("fft_c2c", lambda x, dim, scale, forward: scale * (
        scipy.fft.fftn(x, axes=dim) if forward else scipy.fft.ifftn(x, axes=dim, norm="forward")),
        case_samples(((6,), (0,), 0.5, True), ((3, 4), (0, 1), 2.0, False)), dtypes=COMPLEX,
        errors=[Case(args=(np.zeros(3), (0,), 1.0, True), match="complex")]),
    low_level("fft_r2c", lambda x, dim, scale: scale * scipy.fft.rfft(x, axis=dim),
        case_samples(((6,), 0, 0.5), ((3, 5), 1, 2.0)),
        errors=[Case(args=(np.zeros(3, np.complex128), 0, 1.0), match="real|floating")]),
    low_level("fft_c2r", lambda x, dim, n, scale: scale * scipy.fft.irfft(x, n, dim, "forward"),
        case_samples(((4,), 0, 6, 0.5), ((3, 3), 1, 5, 2.0)), dtypes=COMPLEX,
        errors=[Case(args=(np.zeros(3), 0, 4, 1.0), match="complex")]),
]  # fmt: skip
