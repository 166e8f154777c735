"""Record PyTorch 2.13's distributions: python tests/data/record_distributions.py > tests/data/distributions.json."""

import json
import sys
import warnings
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "distributions"))
import cases


def rounded(value, digits):
    """Significant digits: eight for float64, seven for float32."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, list):
        return [rounded(item, digits) for item in value]
    return value


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    lines = []
    torch.set_default_dtype(torch.float64)
    for expression in cases.DISTRIBUTIONS:
        found = cases.answers(expression, torch, torch.float64)
        found = {
            name: rounded(value, 8)
            for name, value in found.items()
            if value is not None and (expression, name) not in cases.DEVIATIONS
        }
        lines.append(f"{json.dumps(expression)}: {json.dumps(found)}")
    for pair, value in cases.divergences(torch, torch.float64).items():
        if not cases.is_deviation(pair):
            lines.append(f"{json.dumps(pair)}: {json.dumps(rounded(value, 8))}")
    torch.set_default_dtype(torch.float32)
    for expression in cases.DISTRIBUTIONS:
        sample = rounded(cases.draw(expression, torch, torch.float32)[1], 7)
        lines.append(f"{json.dumps('float32 ' + expression)}: {json.dumps(sample)}")
    print("{\n" + ",\n".join(lines) + "\n}")
