"""Run programs written for PyTorch: after `import flambeau.dropin`, `import torch` gives flambeau.

An import finder maps torch, torchvision, torchaudio and the other names of NAMES, with all their submodules, to the
same module objects that Flambeau's own names lead to. Nothing else in Flambeau does this.
"""

import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

import flambeau
from flambeau import _private
from flambeau.torch_version import TorchVersion

NAMES = {
    "torch": "flambeau",
    "torchvision": "flambeau.vision",
    "torchaudio": "flambeau.audio",
    "torchtext": "flambeau.text",
    "torchrec": "flambeau.rec",
    "torchx": "flambeau.launch",
    "fbgemm_gpu": "flambeau.kernels",
}

# The PyTorch release whose API programs may expect. They compare torch.__version__ with it.
TORCH_VERSION = "2.13.0+flambeau"

__all__ = ["NAMES", "TORCH_VERSION", "install", "uninstall"]


class _AliasLoader(Loader):
    """Gives an existing module under a second name."""

    def __init__(self, real: str) -> None:
        self.real = real

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.real)
        self.own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has just overwritten __spec__ with the alias's.
        module.__spec__ = self.own_spec


class _AliasFinder(MetaPathFinder):
    """Finds torch.x.y as flambeau.x.y."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top, dot, rest = fullname.partition(".")
        if top not in NAMES:
            return None
        real = NAMES[top] + dot + rest
        try:
            found = real in sys.modules or importlib.util.find_spec(real) is not None
        except ModuleNotFoundError:
            found = False
        if not found:
            # A package that Flambeau lacks, e.g. torchvision: it may be installed, which is the next finder's question.
            if dot and _is_ours(top) and not _is_probe():
                raise ModuleNotFoundError(
                    f"dropin: expected a module that Flambeau has, got {fullname}. There is no {real}.",
                    name=fullname,
                )
            return None
        return ModuleSpec(fullname, _AliasLoader(real))

    def find_distributions(
        self, context: importlib.metadata.DistributionFinder.Context
    ) -> Iterator[importlib.metadata.Distribution]:
        """The installed package `torch`, whose version programs compare before they use it."""
        if context.name in (None, "torch"):
            yield _TorchDistribution()


def _is_probe() -> bool:
    """Whether importlib.util.find_spec asks, whose callers expect None for what is not there, not an error."""
    frame = sys._getframe(2)  # 0 is this function, 1 our find_spec, 2 the import system's
    while frame is not None and frame.f_globals.get("__name__") == "importlib._bootstrap":
        if frame.f_code.co_name == "_find_and_load":
            return False
        frame = frame.f_back  # type: ignore[assignment]
    return True


class _TorchDistribution(importlib.metadata.Distribution):
    """What importlib.metadata says of `torch`: a name and a version."""

    def read_text(self, filename: str) -> str | None:
        if filename == "METADATA":
            return f"Metadata-Version: 2.1\nName: torch\nVersion: {TORCH_VERSION}\n"
        return "torch\n" if filename == "top_level.txt" else None

    def locate_file(self, path: "str | PathLike[str]") -> Path:
        return Path(__file__).parent / path


_finder = _AliasFinder()


def install() -> None:
    """Make `torch` and its sister packages importable as Flambeau's modules, for this process.

    Raises:
        RuntimeError: the real package was imported before.
    """
    foreign = [name for name in NAMES if name in sys.modules and not _is_ours(name)]
    if foreign:
        raise RuntimeError(
            f"dropin: expected that no real PyTorch package is imported yet, got {', '.join(foreign)}. "
            "Import flambeau.dropin first, or start the program with: flambeau run script.py"
        )
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
        flambeau.__version__ = TorchVersion(TORCH_VERSION)
        flambeau.__name__ = "torch"  # which programs compare with
        flambeau.Tensor.__module__ = "torch"  # by which they pick a library for an array
        setattr(flambeau, "torch", flambeau)  # noqa: B010 - torch.torch is torch
        for name, value in _private.NAMES.items():
            if not hasattr(flambeau._C, name):
                setattr(flambeau._C, name, value)
        _prepare_spawned_processes()


class _InstallHere:
    """Calls install() in the process that unpickles it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return install, ()


def _prepare_spawned_processes() -> None:
    """Let processes that multiprocessing starts afresh import torch as well.

    They run the main module again, with the data that get_preparation_data() gives; our entry of it is unpickled first.
    """
    from multiprocessing import spawn

    global _preparation_data
    if _preparation_data is None:
        _preparation_data = spawn.get_preparation_data

        def get_preparation_data(name: str) -> dict[str, Any]:
            data: dict[str, Any] = _preparation_data(name)  # type: ignore[misc]
            if _finder in sys.meta_path:
                data["flambeau"] = _InstallHere()
            return data

        spawn.get_preparation_data = get_preparation_data


_preparation_data: "Callable[[str], dict[str, Any]] | None" = None


def uninstall() -> None:
    """Undo install(): remove the finder and the aliases. Modules that were imported stay as they are."""
    if _finder not in sys.meta_path:
        return
    sys.meta_path.remove(_finder)
    for name in [name for name in sys.modules if name.partition(".")[0] in NAMES]:
        if _is_ours(name):
            del sys.modules[name]
    flambeau.__version__ = _own_version
    flambeau.__name__ = "flambeau"
    flambeau.Tensor.__module__ = _own_module


def _is_ours(name: str) -> bool:
    module = sys.modules[name]
    return module is flambeau or module.__name__.partition(".")[0] == "flambeau"


_own_version = flambeau.__version__
_own_module = flambeau.Tensor.__module__
install()
