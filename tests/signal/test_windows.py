"""Windows against scipy.signal.windows."""

import numpy as np
import pytest
import scipy.signal.windows as reference

import flambeau

CASES = [
    ("bartlett", {}, {}),
    ("blackman", {}, {}),
    ("cosine", {}, {}),
    ("exponential", {"tau": 2.0}, {"tau": 2.0}),
    ("gaussian", {"std": 1.7}, {"std": 1.7}),
    ("general_cosine", {"a": [0.4, 0.3, 0.2]}, {"a": [0.4, 0.3, 0.2]}),
    ("general_hamming", {"alpha": 0.7}, {"alpha": 0.7}),
    ("hamming", {}, {}),
    ("hann", {}, {}),
    ("kaiser", {"beta": 6.0}, {"beta": 6.0}),
    ("nuttall", {}, {}),
]


@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("size", [0, 1, 2, 7, 64])
@pytest.mark.parametrize(("name", "ours", "theirs"), CASES, ids=[case[0] for case in CASES])
def test_values(name, ours, theirs, size, sym):
    got = getattr(flambeau.signal.windows, name)(size, sym=sym, dtype=flambeau.float64, **ours)
    expected = getattr(reference, name)(size, sym=sym, **theirs)
    assert np.allclose(got.numpy(), expected, rtol=0, atol=2e-15)


def test_functions_of_the_top_level_are_periodic():
    for name, beta in (
        ("hann_window", None),
        ("hamming_window", None),
        ("blackman_window", None),
        ("bartlett_window", None),
    ):
        got = getattr(flambeau, name)(10, dtype=flambeau.float64)
        expected = getattr(reference, name.removesuffix("_window"))(10, sym=False)
        assert np.allclose(got.numpy(), expected, rtol=0, atol=2e-15), (name, beta)
    got = flambeau.kaiser_window(10, True, 6.0, dtype=flambeau.float64)
    assert np.allclose(got.numpy(), reference.kaiser(10, 6.0, sym=False), rtol=0, atol=2e-15)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda w: w.hann(-1), ValueError),
        (lambda w: w.hann(4, dtype=flambeau.int64), ValueError),
        (lambda w: w.hann(4, layout=flambeau.sparse_coo), ValueError),
        (lambda w: w.gaussian(4, std=0), ValueError),
        (lambda w: w.exponential(4, tau=-1), ValueError),
        (lambda w: w.exponential(4, center=1), ValueError),
        (lambda w: w.kaiser(4, beta=-1), ValueError),
        (lambda w: w.general_cosine(4, a=[]), ValueError),
        (lambda w: w.general_cosine(4, a=3), TypeError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error):
        call(flambeau.signal.windows)


def test_half_precision_window_is_refused_by_the_namespace_only():
    assert flambeau.hann_window(4, dtype=flambeau.float16).dtype is flambeau.float16
    with pytest.raises(ValueError, match="float32 or float64"):
        flambeau.signal.windows.hann(4, dtype=flambeau.float16)
