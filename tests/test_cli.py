"""The flambeau command."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def flambeau(*arguments, cwd=None, **environment):
    full = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment}
    command = [sys.executable, "-m", "flambeau", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=full, capture_output=True, text=True, check=False)


def test_help_names_the_commands():
    done = flambeau("--help")
    assert done.returncode == 0
    for command in ("demo", "run", "env"):
        assert command in done.stdout


def test_run_passes_arguments_and_is_main(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, torch, helper\n"
        "if __name__ == '__main__':\n"
        "    print(sys.argv[1:], helper.x, torch.ones(2).sum().item(), __file__ == sys.argv[0])\n"
    )
    (tmp_path / "helper.py").write_text("x = 7\n")
    done = flambeau("run", script, "--flag", "3")
    assert done.stdout == "['--flag', '3'] 7 2.0 True\n", done.stderr


def test_run_shows_only_the_users_lines(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\n\ndef f(x):\n    return torch.nn.Linear(3, 2)(x)\n\nf(torch.ones(1, 4))\n"
    )
    done = flambeau("run", script)
    assert done.returncode == 1
    assert "return torch.nn.Linear(3, 2)(x)" in done.stderr
    assert "src/flambeau" not in done.stderr
    assert "src/flambeau" in flambeau("run", script, FLAMBEAU_FULL_TRACEBACK="1").stderr


def test_run_gives_the_scripts_exit_status(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("raise SystemExit(3)\n")
    assert flambeau("run", script).returncode == 3


def test_run_of_a_missing_file_says_so():
    done = flambeau("run", "no_such_file.py")
    assert done.returncode == 2
    assert "no_such_file.py, which does not exist" in done.stderr


def test_run_module(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        "import sys, torch\nprint(torch.zeros(1).item(), sys.argv[1:])\n"
    )
    done = flambeau("run", "-m", "package", "a", cwd=tmp_path)
    assert done.stdout == "0.0 ['a']\n", done.stderr


def test_env_names_the_versions():
    done = flambeau("env")
    assert done.returncode == 0, done.stderr
    assert "numpy" in done.stdout.lower() and "flambeau" in done.stdout.lower()
