"""Record PyTorch 2.13's strides: python tests/data/make_strides.py, with PyTorch installed. Writes strides.json."""

import json
import pathlib

import strides_cases
import torch

if __name__ == "__main__":
    layouts = strides_cases.LAYOUTS
    strides = {
        f"{rank} {case}": [
            strides_cases.geometry(strides_cases.evaluate(torch, case, rank, layout))
            for layout in layouts
        ]
        for case, rank in strides_cases.cases()
    }
    masks = {
        case: [strides_cases.drawn(torch, case, layout) for layout in ("plain", "last", "channels")]
        for case in strides_cases.expressions(strides_cases.MASKS)
    }
    recorded = {
        "version": torch.__version__,
        "layouts": layouts,
        "strides": strides,
        "masks": masks,
    }
    path = pathlib.Path(__file__).with_name("strides.json")
    path.write_text(json.dumps(recorded, indent=0) + "\n")
