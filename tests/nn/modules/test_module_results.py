"""Outputs, gradients and state of modules equal those recorded from PyTorch (tests/data/modules.json)."""

import importlib.util
import json
from pathlib import Path

import pytest

import flambeau

HERE = Path(__file__).parent
RECORDED = json.loads((HERE.parents[1] / "data" / "modules.json").read_text())
spec = importlib.util.spec_from_file_location("module_cases", HERE / "cases.py")
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
CASES = {case[0]: case for case in cases.all_cases(flambeau)}


def assert_close(got, expected, path):
    if isinstance(expected, float):
        # Sums of up to 600 float32 values, some of which cancel to zero.
        assert got == pytest.approx(expected, rel=2e-5, abs=5e-5), path
    elif isinstance(expected, list):
        assert len(got) == len(expected), path
        for i, (a, b) in enumerate(zip(got, expected, strict=True)):
            assert_close(a, b, f"{path}[{i}]")
    else:
        assert got == expected, path


def test_every_recorded_case_is_run():
    assert CASES.keys() == RECORDED.keys()


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.filterwarnings("ignore")
def test_results_are_recorded_ones(name):
    got = cases.run(CASES[name], flambeau)
    for key, expected in RECORDED[name].items():
        assert_close(got[key], expected, key)
