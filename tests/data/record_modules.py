"""Record PyTorch's module results: python tests/data/record_modules.py > tests/data/modules.json (PyTorch 2.13)."""

import json
import sys
import warnings
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "nn" / "modules"))
import cases


def rounded(value):
    """Seven significant digits: enough for float32, and small."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return value


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("{")
    lines = []
    for case in cases.all_cases(torch):
        result = {key: rounded(value) for key, value in cases.run(case, torch).items()}
        lines.append(f"{json.dumps(case[0])}: {json.dumps(result, separators=(',', ':'))}")
    print(",\n".join(lines))
    print("}")
