"""Records how PyTorch prints sparse tensors and writes them to files: sparse.json and sparse.pt.

Run with PyTorch 2.13: python make_sparse.py
"""

import json
import warnings
from pathlib import Path

import torch
from sparse_cases import cases

warnings.simplefilter("ignore")
here = Path(__file__).parent
made = cases(torch)
(here / "sparse.json").write_text(
    json.dumps({name: repr(x) for name, x in made.items()}, indent=1) + "\n"
)
torch.save({name: x.detach() for name, x in made.items()}, here / "sparse.pt")
