"""Runs checks of third-party programs and reduces what they return to a few comparable numbers.

A check is a file of checks/: PACKAGES names what must be installed, REPOSITORY what must be checked out
(repositories.py), CASES maps names to functions that return numbers, texts, tensors, or lists and dicts of them. The
functions say `import torch`: with PyTorch they give the recorded values (tools/record_programs.py), with Flambeau under
its name those that are compared (test_programs.py). SCRIPTS names the cases that run in a process of their own.
"""

import importlib.metadata
import importlib.util
import json
import math
import sys
from pathlib import Path

import numpy as np
import repositories

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "programs"
TOLERANCE = 1e-4
HEAD = 4  # values of a tensor that are kept as they are


def names():
    return sorted(path.stem for path in (HERE / "checks").glob("[!_]*.py"))


def load(name):
    """Import one check. Its packages must be there."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    import torchvision_names  # here: it imports torch, which only now leads to Flambeau

    torchvision_names.uninstall()  # another check may have put stand-ins there, which this one's packages would find
    spec = importlib.util.spec_from_file_location(f"program_{name}", HERE / "checks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recorded(name):
    return json.loads((DATA / f"{name}.json").read_text())


def versions(packages):
    return {package: importlib.metadata.version(package) for package in packages}


def unavailable(record):
    """Why a check can't run here: a package that is missing or of another version than the recorded one. Else None."""
    if record.get("repository"):
        reason = repositories.unavailable(record["repository"])
        if reason:
            return reason
    for package, version in record["packages"].items():
        try:
            found = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return f"{package} is not installed"
        if found != version:
            return f"recorded with {package} {version}, installed is {found}"
    return None


def digest(value):
    """Plain lists, dicts, numbers and texts for a value. A tensor or array becomes shape, projection, norm and head."""
    if isinstance(value, dict):
        return {str(key): digest(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [digest(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return {"number": value}
    if hasattr(value, "detach"):
        value = value.detach()
        if "float16" in str(value.dtype):
            value = value.float()
        value = value.cpu().resolve_conj().numpy()
    array = np.asarray(value)
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], -1)
    flat = np.ascontiguousarray(array).reshape(-1).astype(np.float64)
    flat = np.clip(np.nan_to_num(flat, nan=-1e30), -1e30, 1e30)
    weights = np.cos(1.7 * np.arange(flat.size))
    return {
        "shape": list(array.shape),
        "projection": float(weights @ flat) * math.sqrt(2 / max(flat.size, 1)),
        "norm": float(np.linalg.norm(flat)),
        "head": flat[:HEAD].tolist(),
    }


def differences(expected, got, tolerance, path=""):
    """Where two digests differ. Numbers of a tensor may differ by tolerance times its norm or its mean size."""
    if isinstance(expected, dict) and "projection" in expected:
        if not isinstance(got, dict) or got.get("shape") != expected["shape"]:
            return [f"{path}: expected shape {expected['shape']}, got {got}"]
        norm = max(expected["norm"], 1e-12)
        size = norm / math.sqrt(max(math.prod(expected["shape"]), 1))
        found = []
        for key, scale in (("norm", norm), ("projection", norm), ("head", size)):
            error = np.abs(np.subtract(expected[key], got[key]))
            # A single value may be much larger than the mean, and is then compared with itself.
            allowed = tolerance * np.maximum(scale, np.abs(expected[key]))
            if not np.all(error <= allowed):
                found.append(f"{path}.{key}: expected {expected[key]}, got {got[key]}")
        return found
    if isinstance(expected, dict) and list(expected) == ["number"]:
        a, b = expected["number"], got.get("number") if isinstance(got, dict) else got
        same = b is not None and (
            a == b
            or (math.isnan(a) and math.isnan(b))
            or abs(a - b) <= tolerance * max(abs(a), 1e-6)
        )
        return [] if same else [f"{path}: expected {a}, got {b}"]
    if isinstance(expected, dict):
        if not isinstance(got, dict) or sorted(expected) != sorted(got):
            return [f"{path}: expected {sorted(expected)}, got {got}"]
        pairs = [(f"{path}.{key}".lstrip("."), expected[key], got[key]) for key in expected]
    elif isinstance(expected, list):
        if not isinstance(got, list) or len(expected) != len(got):
            return [f"{path}: expected {len(expected)} values, got {got}"]
        pairs = [(f"{path}[{i}]", a, b) for i, (a, b) in enumerate(zip(expected, got, strict=True))]
    else:
        return [] if expected == got else [f"{path}: expected {expected!r}, got {got!r}"]
    return [text for name, a, b in pairs for text in differences(a, b, tolerance, name)]


def run(check, case):
    """Digest of what a case returns; the generator is seeded before."""
    import torch

    torch.manual_seed(0)
    np.random.seed(0)
    return digest(check.CASES[case]())


def compare(check, case, record):
    """Differences from the recorded values of a case."""
    tolerance = record["tolerances"].get(case, TOLERANCE)
    return differences(record["cases"][case], run(check, case), tolerance)
