"""What the package declares and carries."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import flambeau

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def name_of(requirement):
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")


def closure(requirements):
    """Names of all packages that these requirements bring, as far as they are installed."""
    pending, found = [name_of(item) for item in requirements], set()
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found.add(name)
        try:
            pending += [name_of(item) for item in requires(name) or () if "extra ==" not in item]
        except PackageNotFoundError:
            continue
    return found


def test_numpy_is_the_only_dependency():
    assert [name_of(item) for item in PROJECT["dependencies"]] == ["numpy"]


def test_no_extra_brings_torch():
    for extra, requirements in PROJECT["optional-dependencies"].items():
        assert not {"torch", "torchvision", "torchaudio"} & closure(requirements), extra


def test_build_requirements_are_bounded():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert all(re.search(r">=|==", item) for item in build)


def test_one_copy_of_each_library_is_loaded():
    flambeau.ones(2, 2) @ flambeau.ones(2, 2)
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return
    files = {line.split()[-1] for line in maps.read_text().splitlines() if "/" in line}
    for library in ("libdnnl", "libscipy_openblas.so"):
        assert len([file for file in files if Path(file).name.startswith(library)]) <= 1


def test_stubs_are_in_the_package():
    package = Path(flambeau.__file__).parent
    for name in ("py.typed", "_C.pyi", "ops/__init__.pyi"):
        assert (package / name).exists()
