"""Data loading, checkpointing, hooks and other tools; submodules load when they are first used."""

import importlib

_SUBMODULES = frozenset(
    "backend_registration benchmark bottleneck checkpoint collect_env data deterministic dlpack hooks mobile_optimizer "
    "cpp_extension model_zoo".split()
)


def __getattr__(name):
    if name in _SUBMODULES:
        try:
            return importlib.import_module(f".{name}", __name__)
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
