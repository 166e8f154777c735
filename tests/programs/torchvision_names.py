"""Stand-ins for the names that timm and segmentation_models_pytorch import from torchvision, where that is missing.

FrozenBatchNorm2d is only used in isinstance there; transforms and data sets, which load images, raise when used.
"""

import enum
import importlib.util
import sys
import types

from torch import nn

DATASETS = (
    "CIFAR10 CIFAR100 FashionMNIST ImageFolder ImageNet INaturalist KMNIST MNIST Places365 QMNIST"
)


class FrozenBatchNorm2d(nn.Module):
    """The class of torchvision.ops.misc; the checks' models have none."""


class InterpolationMode(enum.Enum):
    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


class _Refuses(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": _refuse})


def _refuse(self, *args, **kwargs):
    raise NotImplementedError(f"{type(self).__name__} needs torchvision")


def install():
    if "torchvision" in sys.modules or importlib.util.find_spec("torchvision") is not None:
        return
    modules = {
        name: _Refuses(f"torchvision{name}")
        for name in (
            "", ".ops", ".ops.misc", ".transforms", ".transforms.functional", ".datasets", ".utils",
        )
    }  # fmt: skip
    for name, module in modules.items():
        module.__path__ = []
        sys.modules[f"torchvision{name}"] = module
        if name:
            parent, _, last = name.rpartition(".")
            setattr(modules[parent], last, module)
    modules[".ops.misc"].FrozenBatchNorm2d = FrozenBatchNorm2d
    modules[".transforms.functional"].InterpolationMode = InterpolationMode
    modules[".transforms"].InterpolationMode = InterpolationMode
    modules[".datasets"].__all__ = DATASETS.split()


def uninstall():
    """Take the stand-ins out of sys.modules; modules that imported names from them keep those."""
    for name in [name for name, module in sys.modules.items() if isinstance(module, _Refuses)]:
        del sys.modules[name]
