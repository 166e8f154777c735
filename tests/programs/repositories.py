"""Runs code of repositories that are no packages: imports their modules, runs their scripts as they are.

The repositories lie under the folder that FLAMBEAU_REPOSITORIES names, each at the commit that its check names.
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
STANDINS = HERE / "standins"
NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|nan|inf)(?![\w.])"
)


def folder():
    return Path(os.environ.get("FLAMBEAU_REPOSITORIES", HERE / "repositories"))


def unavailable(repository):
    """Why a repository "owner/name@commit" can't be used here, or None."""
    name, _, commit = repository.partition("@")
    path = folder() / name.partition("/")[2]
    if not path.is_dir():
        return f"{name} is not in {folder()}"
    command = ["git", "-C", str(path), "rev-parse", "HEAD"]
    found = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return None if found == commit else f"recorded with {name} {commit}, found {found or 'none'}"


@contextlib.contextmanager
def on_path(*parts):
    """Put folders of repositories on sys.path; the modules imported inside are forgotten afterwards."""
    paths = [str(folder() / part) for part in parts] + [str(STANDINS)]
    # Another stand-in, of torchvision_names.py, may be there.
    other = {name: sys.modules.pop(name) for name in [*sys.modules] if is_vision(name)}
    before, sys.path[:0] = set(sys.modules), paths
    try:
        yield
    finally:
        for path in paths:
            sys.path.remove(path)
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None) or ""
            if file.startswith(tuple(paths)):
                del sys.modules[name]
        sys.modules.update(other)


def is_vision(name):
    return name.partition(".")[0] == "torchvision"


def is_flambeau():
    import torch

    return "flambeau" in torch.__version__


def script(path, *arguments, files=None, seed=None, drop=None, keep=None, last=None, timeout=100):
    """Run a script of a repository in a process of its own and an empty folder; what it prints, as lines and numbers.

    files: name to content, written to the folder of the run before. seed: for scripts that set none. drop: a pattern
    whose matches are removed from the text (times). keep: only lines that it finds. last: only so many last lines.
    """
    command = [sys.executable]
    if is_flambeau():
        command += ["-m", "flambeau", "run"]
    path = (folder() / path).resolve()
    if seed is not None:
        command += [str(HERE / "seeded.py"), str(seed)]
    source = [str(HERE.parent.parent / "src")] if is_flambeau() else []
    search = [*source, str(STANDINS), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(search),
        "MPLBACKEND": "agg",
        "TQDM_DISABLE": "1",
    }
    with tempfile.TemporaryDirectory() as base:
        run = Path(base) / "run"
        run.mkdir()
        for name, content in (files or {}).items():
            target = run / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                target.write_bytes(content)
            else:
                target.write_text(content)
        result = subprocess.run(
            [*command, str(path), *map(str, arguments)],
            cwd=run,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    if result.returncode:
        raise RuntimeError(f"{path.name} failed: {result.stderr[-1500:]}")
    found = lines(result.stdout, drop, keep)
    return [split(line) for line in (found[-last:] if last else found)]


def lines(text, drop=None, keep=None):
    found = [line.rstrip() for line in text.replace("\r", "\n").splitlines() if line.strip()]
    if keep:
        found = [line for line in found if re.search(keep, line)]
    return [re.sub(drop, "", line) for line in found] if drop else found


def split(line):
    """A line as its text and its numbers with a point, which are compared within the tolerance."""
    return [NUMBER.sub("#", line), [float(number) for number in NUMBER.findall(line)]]


def load(module, *parts):
    """A module of a repository; parts are the folders to be put on the path for it."""
    import importlib

    with on_path(*parts):
        return importlib.import_module(module)
