"""Record what PyTorch 2.13 prints: python tests/data/make_printing.py, with PyTorch installed. Writes printing.json."""

import json
import pathlib

import printing_cases
import torch

if __name__ == "__main__":
    recorded = {}
    for key, options, case in printing_cases.pairs():
        torch.set_printoptions(profile="default")
        torch.set_printoptions(**options)
        recorded[key] = repr(eval(case, {"t": torch, **printing_cases.NAMES}))
    path = pathlib.Path(__file__).with_name("printing.json")
    path.write_text(json.dumps({"version": torch.__version__, "texts": recorded}, indent=0) + "\n")
