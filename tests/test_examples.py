"""The examples run, and give what PyTorch gives."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent

pytest.importorskip("sklearn", reason="the examples need the demo extra")


def run(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "flambeau", "run", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_lenet_losses_equal_pytorch_over_100_steps():
    recorded = json.loads((ROOT / "tests/data/lenet_digits_losses.json").read_text())["losses"]
    done = run(ROOT / "examples/lenet_digits.py")
    assert done.returncode == 0, done.stderr
    losses = [
        float(line.split()[3]) for line in done.stdout.splitlines() if line.startswith("step")
    ]
    np.testing.assert_allclose(losses, recorded, rtol=1e-4)


def losses_of(script, *arguments):
    done = run(ROOT / "examples" / script, *arguments)
    assert done.returncode == 0, done.stderr
    steps = [line for line in done.stdout.splitlines() if line.startswith("step")]
    return [float(line.split()[3]) for line in steps]


@pytest.mark.slow
def test_char_gpt_losses_equal_pytorch_over_200_steps():
    recorded = json.loads((ROOT / "tests/data/char_gpt_losses.json").read_text())["losses"]
    np.testing.assert_allclose(losses_of("char_gpt.py"), recorded, rtol=1e-3)


@pytest.mark.slow
def test_resnet18_losses_equal_pytorch_over_50_steps():
    # In float64: with batch norms, float32's rounding decides the losses after ten steps, in PyTorch as well.
    recorded = json.loads((ROOT / "tests/data/resnet18_losses.json").read_text())["losses"]
    np.testing.assert_allclose(losses_of("resnet18.py", "--double"), recorded, rtol=1e-3)
