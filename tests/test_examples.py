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
