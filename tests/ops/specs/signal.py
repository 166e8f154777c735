"""Windows; scipy.signal.windows is the reference. Sizes 0 and 1 and the checks: tests/signal."""

import scipy.signal.windows

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
