"""Record PyTorch 2.13's optimizers and schedules: python tests/data/record_optim.py > tests/data/optim.json."""

import json
import sys
import warnings
from pathlib import Path

import torch
import torch.optim.swa_utils

sys.path.insert(0, str(Path(__file__).parents[1] / "optim"))
import cases


def rounded(value):
    """Ten significant digits; the parameters are float64."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return value


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    lines = []
    for name in cases.optimizers(torch):
        for complex_valued in (False, True):
            if complex_valued and name in cases.REAL_ONLY:
                continue
            key = f"{name}_complex" if complex_valued else name
            lines.append(
                f"{json.dumps(key)}: {json.dumps(rounded(cases.trajectory(name, torch, complex_valued)))}"
            )
    for name in cases.optimizers(torch):
        for dtype in ("float32", "float64", "complex64"):
            if name.startswith(("lbfgs", "sgd_maximize")) or (
                name in cases.REAL_ONLY and dtype == "complex64"
            ):
                continue
            key = json.dumps(f"long_{name}_{dtype}")
            lines.append(f"{key}: {json.dumps(rounded(cases.long_run(name, torch, dtype)))}")
    for name in cases.schedules(torch):
        lines.append(
            f"{json.dumps('schedule_' + name)}: {json.dumps(rounded(cases.rates(name, torch)))}"
        )
    print("{\n" + ",\n".join(lines) + "\n}")
