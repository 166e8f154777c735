"""repr of modules equals what PyTorch 2.13 printed (tests/data/module_repr.json)."""

import json
from pathlib import Path

import pytest

from flambeau import nn

RECORDED = json.loads((Path(__file__).parents[2] / "data" / "module_repr.json").read_text())


@pytest.mark.parametrize("expression", RECORDED)
@pytest.mark.filterwarnings("ignore")
def test_repr_is_recorded_text(expression):
    assert repr(eval(expression, dict(vars(nn)))) == RECORDED[expression]
