"""The text of tensors against PyTorch's, recorded by tests/data/make_printing.py."""

import json
import pathlib
import subprocess
import sys

import pytest

import flambeau
from flambeau import printing

DATA = pathlib.Path(__file__).parent / "data"
sys.path.insert(0, str(DATA))
import printing_cases  # noqa: E402 - found through the path set above

RECORDED = json.loads((DATA / "printing.json").read_text())["texts"]


@pytest.fixture(autouse=True)
def default_options():
    yield
    flambeau.set_printoptions(profile="default")


@pytest.mark.parametrize(("key", "options", "case"), list(printing_cases.pairs()))
def test_repr_equals_pytorch(key, options, case):
    flambeau.set_printoptions(**options)
    assert repr(eval(case, {"t": flambeau, **printing_cases.NAMES})) == RECORDED[key]


def test_options_are_restored_after_the_block():
    with printing.printoptions(precision=1):
        assert repr(flambeau.tensor(0.25)) == "tensor(0.2)"
    assert repr(flambeau.tensor(0.25)) == "tensor(0.2500)"


def test_unknown_profile_is_an_error():
    with pytest.raises(ValueError, match="expected profile"):
        flambeau.set_printoptions(profile="huge")


def test_format_of_a_number_takes_a_spec():
    assert f"{flambeau.tensor(3.14159):.2f}" == "3.14"
    assert f"{flambeau.tensor(3)}" == "3"
    with pytest.raises(TypeError, match="unsupported format string"):
        format(flambeau.ones(3), ".2f")


def test_subclass_prints_under_its_name():
    class Marked(flambeau.Tensor):
        pass

    assert repr(flambeau.ones(2).as_subclass(Marked)) == "Marked([1., 1.])"


def test_import_does_not_load_printing():
    code = "import sys, flambeau; sys.exit('flambeau.printing' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_options_can_be_read():
    options = flambeau.get_printoptions()
    assert options["precision"] == 4 and set(options) >= {
        "threshold",
        "edgeitems",
        "linewidth",
        "sci_mode",
    }
