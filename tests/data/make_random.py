"""Record what PyTorch 2.13 (CPU) draws: python tests/data/make_random.py, with PyTorch installed. Writes random.json.

Each entry: the values as base64 of their bytes, the shape, the strides, the dtype, and the next torch.rand(1): it tells
whether as many random bits were used.
"""

import base64
import json
import pathlib
import warnings

import random_cases
import torch

SEED = 20


def record(case: str) -> dict[str, object]:
    torch.manual_seed(SEED)
    result = eval(case, {"t": torch})
    after = torch.rand(1).item()
    data = (
        result.contiguous().view(-1).view(torch.uint8)
        if result.numel()
        else torch.empty(0, dtype=torch.uint8)
    )
    return {
        "data": base64.b64encode(bytes(data.tolist())).decode(),
        "shape": list(result.shape),
        "stride": list(result.stride()),
        "dtype": str(result.dtype).removeprefix("torch."),
        "after": after,
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    cases = random_cases.exact() + random_cases.close()
    recorded = {
        "version": torch.__version__,
        "seed": SEED,
        "cases": {case: record(case) for case in cases},
    }
    path = pathlib.Path(__file__).with_name("random.json")
    path.write_text(json.dumps(recorded, separators=(",", ":")) + "\n")
