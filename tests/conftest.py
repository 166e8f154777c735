"""Fixed seeds, hypothesis profiles, and the --slow option."""

import os
import random
import sys
from pathlib import Path

import hypothesis
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

hypothesis.settings.register_profile("dev", deadline=None, max_examples=30)
hypothesis.settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True)
hypothesis.settings.load_profile(os.environ.get("FLAMBEAU_HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    skip = pytest.mark.skip(reason="slow: run with --slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def fixed_seeds():
    import flambeau

    random.seed(0)
    np.random.seed(0)
    getattr(flambeau, "manual_seed", lambda seed: None)(0)
