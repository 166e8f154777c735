"""Run programs written for PyTorch: after `import flambeau.dropin`, `import torch` gives flambeau.

An import finder maps torch, torchvision, torchaudio and the other names of NAMES, with all their submodules, to the
same module objects that Flambeau's own names lead to. Nothing else in Flambeau does this.
"""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import flambeau

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
TORCH_VERSION = "1.12.1+flambeau"

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
            raise ModuleNotFoundError(
                f"dropin: expected a module that Flambeau has, got {fullname}. There is no {real}.",
                name=fullname,
            )
        return ModuleSpec(fullname, _AliasLoader(real))


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
        flambeau.__version__ = TORCH_VERSION


def uninstall() -> None:
    """Undo install(): remove the finder and the aliases. Modules that were imported stay as they are."""
    if _finder not in sys.meta_path:
        return
    sys.meta_path.remove(_finder)
    for name in [name for name in sys.modules if name.partition(".")[0] in NAMES]:
        if _is_ours(name):
            del sys.modules[name]
    flambeau.__version__ = _own_version


def _is_ours(name: str) -> bool:
    return sys.modules[name].__name__.partition(".")[0] == "flambeau"


_own_version = flambeau.__version__
install()
