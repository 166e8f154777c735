"""`import torch` gives Flambeau's modules after install(), and only then."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def python(code, *arguments):
    """Run code in a fresh process, since the finder and the imports are the process's."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_of_flambeau_never_touches_torch():
    out = python(
        "import sys, flambeau, flambeau.nn, flambeau.optim, flambeau.utils.data\n"
        "print([name for name in sys.modules if name.partition('.')[0] == 'torch'])"
    )
    assert out.strip() == "[]"


def test_submodules_are_the_same_objects():
    python(
        "import flambeau.dropin, flambeau\n"
        "import torch, torch.nn.functional as F\n"
        "from torch.utils.data import DataLoader\n"
        "assert torch is flambeau and F is flambeau.nn.functional\n"
        "assert DataLoader is flambeau.utils.data.DataLoader\n"
        "assert flambeau.nn.functional.__spec__.name == 'flambeau.nn.functional'\n"
        "assert flambeau.__spec__.name == 'flambeau'\n"
    )


def test_version_is_one_that_programs_can_compare():
    out = python("import flambeau.dropin, torch; print(torch.__version__)")
    assert tuple(map(int, out.split("+")[0].split("."))) >= (1, 9)


def test_pickle_with_torch_globals_loads(tmp_path):
    by_torch_name = b"ctorch.nn.modules.linear\nLinear\n."
    file = tmp_path / "global.pkl"
    file.write_bytes(by_torch_name)
    python(
        "import sys, pickle, flambeau.dropin, flambeau\n"
        "assert pickle.load(open(sys.argv[1], 'rb')) is flambeau.nn.Linear",
        file,
    )
    out = python(
        "import sys, pickle, flambeau\n"
        "try:\n    pickle.load(open(sys.argv[1], 'rb'))\n"
        "except ModuleNotFoundError as error:\n    print(error)",
        file,
    )
    assert "torch" in out


def test_missing_module_is_named():
    out = python(
        "import flambeau.dropin\n"
        "try:\n    import torch.no_such_module\n"
        "except ModuleNotFoundError as error:\n    print(error)"
    )
    assert "torch.no_such_module" in out and "flambeau.no_such_module" in out


def test_submodules_of_other_packages_are_theirs(tmp_path):
    package = tmp_path / "torchtext"
    package.mkdir()
    (package / "__init__.py").write_text("from . import vocab\n")
    (package / "vocab.py").write_text("from torch import nn\n")
    out = python(
        "import sys, flambeau.dropin\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "import torchtext.vocab\n"
        "print(torchtext.vocab.nn.__name__)",
        tmp_path,
    )
    assert out.strip() == "flambeau.nn"


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_fresh_processes_import_torch_too(tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing, torch\n"
        "def work(x):\n    print(torch.equal(x, torch.arange(3)))\n"
        "if __name__ == '__main__':\n"
        f"    multiprocessing.set_start_method({method!r})\n"
        "    process = multiprocessing.Process(target=work, args=(torch.arange(3),))\n"
        "    process.start()\n    process.join()\n    print(process.exitcode)\n"
    )
    out = python("import sys; from flambeau.cli import main; main(['run', sys.argv[1]])", script)
    assert out.split() == ["True", "0"]


def test_install_refuses_when_real_torch_is_loaded():
    out = python(
        "import sys, types\n"
        "sys.modules['torch'] = types.ModuleType('torch')\n"
        "try:\n    import flambeau.dropin\n"
        "except RuntimeError as error:\n    print(error)"
    )
    assert "expected that no real PyTorch package is imported" in out


def test_uninstall_restores():
    python(
        "import sys, flambeau\n"
        "own = flambeau.__version__\n"
        "from flambeau import dropin\n"
        "import torch.nn\n"
        "dropin.uninstall()\n"
        "assert 'torch' not in sys.modules and 'torch.nn' not in sys.modules\n"
        "assert flambeau.__version__ == own\n"
    )


def test_libraries_find_an_installed_torch():
    python(
        "import importlib.metadata, importlib.util, flambeau.dropin\n"
        "assert importlib.metadata.version('torch') == '2.13.0+flambeau'\n"
        "import torch\n"
        "assert torch.__version__ >= (2, 4) and torch.__version__ < '3'\n"
        "assert importlib.util.find_spec('torch.nn') and not importlib.util.find_spec('torch.missing')\n"
        "assert torch._C._log_api_usage_once('x') is None\n"
        "assert torch._C._nn._parse_to('cpu', torch.float64)[:2] == (torch.device('cpu'), torch.float64)\n"
    )
