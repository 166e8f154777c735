"""What a bug report should say: versions, machine, CPU level, threads. `flambeau env` prints it."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import numpy as np

import flambeau

__all__ = ["get_pretty_env_info", "main"]

PACKAGES = ("scipy", "scikit-learn", "matplotlib", "pillow", "torch")


def get_pretty_env_info() -> str:
    """The report as text, one `name: value` per line."""
    rows = {
        "flambeau": f"{flambeau.__version__} in {os.path.dirname(flambeau.__file__)}",
        "python": f"{platform.python_implementation()} {sys.version.split()[0]} at {sys.executable}",
        "numpy": np.__version__,
        "platform": platform.platform(),
        "machine": f"{platform.machine()}, {cpu_model()}",
        "cores": f"{os.cpu_count()}, {flambeau.get_num_threads()} threads used",
        "cpu level": cpu_level(),
        "settings": settings(),
    }
    for package in PACKAGES:
        try:
            rows[package] = version(package)
        except PackageNotFoundError:
            continue
    width = max(map(len, rows))
    return "\n".join(f"{name + ':':{width + 1}} {value}" for name, value in rows.items())


def cpu_model() -> str:
    """Name of the processor, where the system tells."""
    try:
        with open("/proc/cpuinfo") as file:
            names = [
                line.partition(":")[2].strip() for line in file if line.startswith("model name")
            ]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or "unknown processor"


def cpu_level() -> str:
    """Level of the kernels in use: baseline, avx2 or avx512."""
    return str(flambeau._C._cpu_level())


def settings() -> str:
    """Environment variables that change how Flambeau runs."""
    prefixes = ("FLAMBEAU_", "OMP_", "OPENBLAS_", "DNNL_", "ONEDNN_")
    found = [
        f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(prefixes)
    ]
    return " ".join(found) or "none"


def main() -> None:
    """Print the report."""
    print(get_pretty_env_info())  # noqa: T201 - what it is for


if __name__ == "__main__":
    main()
