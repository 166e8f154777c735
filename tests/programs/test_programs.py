"""Third-party programs give on Flambeau what they gave on PyTorch (tests/data/programs, tools/record_programs.py).

Each is skipped where its package is not installed, or is another version than the recorded one. docs/programs.md says
how to install them.
"""

import sys
from pathlib import Path

import pytest

import flambeau.dropin  # noqa: F401 - the programs import torch

sys.path.insert(0, str(Path(__file__).parent))
import harness

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

RECORDS = {name: harness.recorded(name) for name in harness.names()}
CHECKS = {}


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, record in RECORDS.items() for case in record["cases"]]
)
def test_program_gives_recorded_values(name, case):
    reason = harness.unavailable(RECORDS[name])
    if reason:
        pytest.skip(reason)
    if name not in CHECKS:
        CHECKS[name] = harness.load(name)
    assert not harness.compare(CHECKS[name], case, RECORDS[name])
