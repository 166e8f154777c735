"""Models written for PyTorch train on Flambeau, with PyTorch's losses (tests/data/model_losses.json)."""

import json
import sys
from pathlib import Path

import pytest

import flambeau.dropin  # noqa: F401 - zoo.py imports torch

sys.path.insert(0, str(Path(__file__).parent))
import zoo

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "model_losses.json").read_text())


@pytest.mark.parametrize("name", RECORDED)
def test_losses_equal_recorded_ones(name):
    assert zoo.train(name) == pytest.approx(RECORDED[name], rel=1e-4)
