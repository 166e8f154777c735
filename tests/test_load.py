"""Importing leaves the environment alone, whatever it held."""

import os
import subprocess
import sys

import pytest

SHOW = "import os, flambeau; print(os.environ.get('GOMP_SPINCOUNT'), flambeau.ones(100_000).sum().item())"


@pytest.mark.parametrize("given", [None, "77"])
def test_environment_is_as_it_was(given):
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    }
    if given:
        env["GOMP_SPINCOUNT"] = given
    done = subprocess.run(
        [sys.executable, "-c", SHOW], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(given), "100000.0"]
