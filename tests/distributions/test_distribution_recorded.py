"""Distributions answer what PyTorch answers (tests/data/distributions.json): draws, moments, densities, divergences."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import flambeau

HERE = Path(__file__).parent
RECORDED = json.loads((HERE.parent / "data" / "distributions.json").read_text())
spec = importlib.util.spec_from_file_location("distribution_cases", HERE / "cases.py")
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)

# PyTorch computes Bessel functions by polynomials that are right to 1e-7, and 1 - I1/I0 cancels.
ROUGH = {("D.VonMises", "log_prob"): 1e-6, ("D.VonMises", "variance"): 1e-4}


@pytest.fixture
def double():
    flambeau.set_default_dtype(flambeau.float64)
    yield
    flambeau.set_default_dtype(flambeau.float32)


def compare(got, expected, name, tolerance=2e-7):
    got, expected = np.array(got, float), np.array(expected, float)
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=1e-9, err_msg=name)


@pytest.mark.filterwarnings("ignore:Wishart")
@pytest.mark.parametrize("expression", cases.DISTRIBUTIONS)
def test_answers(expression, double):
    found = cases.answers(expression, flambeau, flambeau.float64)
    recorded = RECORDED[expression]
    family = expression.partition("(")[0]
    undefined = {name for name, value in found.items() if value is None}
    deviating = {name for where, name in cases.DEVIATIONS if where == expression}
    assert set(found) - undefined == set(recorded) | deviating
    for name, expected in recorded.items():
        if name == "sample":
            for mine, other in zip(found[name], expected, strict=True):
                compare(mine, other, name)
        else:
            compare(found[name], expected, name, ROUGH.get((family, name), 2e-7))


@pytest.mark.parametrize("expression", cases.DISTRIBUTIONS)
def test_single_precision_draws(expression):
    _, drawn = cases.draw(expression, flambeau, flambeau.float32)
    for mine, other in zip(drawn, RECORDED["float32 " + expression], strict=True):
        np.testing.assert_allclose(mine, other, rtol=2e-5, atol=1e-5)


def test_divergences(double):
    found = cases.divergences(flambeau, flambeau.float64)
    expected = {pair: value for pair, value in RECORDED.items() if " || " in pair}
    assert {pair for pair in found if not cases.is_deviation(pair)} == set(expected)
    for pair, value in expected.items():
        if isinstance(value, str) or isinstance(found[pair], str):
            assert found[pair] == value, pair
            continue
        value = np.array(value)
        if np.isinf(value).all():  # PyTorch leaves out q's batch shape here
            value = np.broadcast_to(value, np.array(found[pair]).shape)
        compare(found[pair], value, pair)
