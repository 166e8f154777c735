"""Run a script that sets no seed with one: seeded.py SEED SCRIPT ARGUMENTS."""

import random
import runpy
import sys

import numpy as np
import torch

if __name__ == "__main__":
    seed, path = int(sys.argv[1]), sys.argv[2]
    sys.argv[:] = sys.argv[2:]
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    sys.path[0] = path.rpartition("/")[0]
    runpy.run_path(path, run_name="__main__")
