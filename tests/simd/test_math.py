"""Accuracy of the vector functions, against float64 (for float32) and NumPy's long double (for float64)."""

import numpy as np
import pytest
import scipy.special
from mpmath import mp, mpf

import flambeau

FUNCTIONS = {
    "exp": (np.exp, -80, 80, 2),
    "exp2": (np.exp2, -120, 120, 2),
    "expm1": (np.expm1, -5, 5, 2),
    "log": (np.log, 1e-3, 1e3, 2),
    "log2": (np.log2, 1e-3, 1e3, 2),
    "log10": (np.log10, 1e-3, 1e3, 2.5),
    "log1p": (np.log1p, -0.9, 5, 2),
    "sin": (np.sin, -100, 100, 2),
    "cos": (np.cos, -100, 100, 2),
    "tan": (np.tan, -1.5, 1.5, 4),
    "asin": (np.arcsin, -1, 1, 3),
    "acos": (np.arccos, -1, 1, 3),
    "atan": (np.arctan, -10, 10, 3),
    "sinh": (np.sinh, -10, 10, 3),
    "cosh": (np.cosh, -10, 10, 3),
    "tanh": (np.tanh, -5, 5, 3),
    "asinh": (np.arcsinh, -10, 10, 3),
    "acosh": (np.arccosh, 1, 10, 3),
    "atanh": (np.arctanh, -1, 1, 3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_error_in_units_of_the_last_place(name, dtype):
    reference, low, high, bound = FUNCTIONS[name]
    x = np.random.default_rng(0).uniform(low, high, 20000).astype(dtype)
    wide = x.astype(np.float64 if dtype == "float32" else np.longdouble)
    expected = reference(wide)
    got = getattr(flambeau, name)(flambeau.from_numpy(x)).numpy()
    spacing = np.spacing(np.abs(expected).astype(dtype))
    assert np.max(np.abs(got - expected) / spacing) <= bound


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_angles(name):
    x = np.array([1e5, 1e10, -3e20, 8193.0, np.inf, np.nan], dtype=np.float32)
    with np.errstate(invalid="ignore"):
        expected = getattr(np, name)(x.astype(np.float64))
    np.testing.assert_allclose(
        getattr(flambeau, name)(flambeau.from_numpy(x)).numpy(), expected, rtol=1e-5
    )


def test_subnormal_results_and_arguments():
    assert flambeau.exp(flambeau.tensor([-100.0] * 20)).tolist() == pytest.approx(
        [3.7835e-44] * 20, rel=0.03
    )
    assert flambeau.log(flambeau.tensor([1e-40] * 20))[0].item() == pytest.approx(
        -92.1034, rel=1e-5
    )


def test_erf_erfinv_and_gelu():
    x = np.linspace(-4, 4, 4001).astype(np.float32)
    t = flambeau.from_numpy(x)
    np.testing.assert_allclose(
        flambeau.erf(t).numpy(), scipy.special.erf(x.astype(np.float64)), rtol=3e-7, atol=1e-7
    )
    y = np.linspace(-0.9999, 0.9999, 4001).astype(np.float32)
    expected = scipy.special.erfinv(y.astype(np.float64))
    np.testing.assert_allclose(
        flambeau.erfinv(flambeau.from_numpy(y)).numpy(), expected, rtol=1e-6, atol=1e-7
    )
    gelu = flambeau.nn.functional.gelu(t).numpy()
    np.testing.assert_allclose(
        gelu, x * scipy.special.ndtr(x.astype(np.float64)), rtol=3e-6, atol=1e-7
    )


@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide", "atan2", "pow", "hypot"])
def test_pairs_of_special_values(name):
    values = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e30, 7.0]
    a, b = (np.array(v, dtype=np.float32).ravel() for v in np.meshgrid(values, values))
    reference = {"atan2": np.arctan2, "pow": np.power}.get(name) or getattr(np, name)
    with np.errstate(all="ignore"):
        expected = reference(a, b)
    got = getattr(flambeau, name)(flambeau.from_numpy(a), flambeau.from_numpy(b)).numpy()
    if (
        name == "floor_divide"
    ):  # PyTorch gives a / b for zero divisors, as NumPy does; inf / finite differs from it
        finite = np.isfinite(a) & np.isfinite(b)
        got, expected = got[finite], expected[finite]
    if (
        name == "remainder"
    ):  # NumPy and PyTorch differ in remainder(finite, infinity of the other sign)
        finite = np.isfinite(b)
        got, expected = got[finite], expected[finite]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "low", "high", "bound"),
    [
        ("erf", -6, 6, 2),
        ("erfc", -3, 27, 4),
        ("lgamma", 0.01, 40, 5),
        ("lgamma", -20, -0.01, 200),  # reflection: absolute accuracy near the zeros
    ],
)
def test_double_special_functions(name, low, high, bound):
    x = np.random.default_rng(0).uniform(low, high, 400)
    exact = {"lgamma": lambda v: mp.log(abs(mp.gamma(v)))}.get(name) or getattr(mp, name)
    got = getattr(flambeau, name)(flambeau.from_numpy(x)).tolist()
    with mp.workdps(40):
        errors = [
            float(abs(value - exact(mpf(v)))) / np.spacing(abs(value))
            for value, v in zip(got, x.tolist(), strict=True)
        ]
    assert max(errors) <= bound


def test_double_pow():
    rng = np.random.default_rng(0)
    base, exponent = 10 ** rng.uniform(-30, 30, 400), rng.uniform(-10, 10, 400)
    got = flambeau.pow(flambeau.from_numpy(base), flambeau.from_numpy(exponent)).tolist()
    with mp.workdps(40):
        errors = [
            float(abs(value - mpf(a) ** mpf(b))) / np.spacing(value)
            for value, a, b in zip(got, base.tolist(), exponent.tolist(), strict=True)
        ]
    assert max(errors) <= 2
    special = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 3.0, 5e-324, 1e308, np.inf, -np.inf, np.nan]
    a, b = (np.ravel(v) for v in np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        expected = np.power(a, b)
    got = flambeau.pow(flambeau.from_numpy(a), flambeau.from_numpy(b)).numpy()
    np.testing.assert_allclose(got, expected, rtol=5e-16)
