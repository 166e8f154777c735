"""Record PyTorch's losses: python tests/models/record.py > tests/data/model_losses.json (made with PyTorch 2.13).

oneDNN is off: with it PyTorch's own losses of the residual network differ by 1.5e-4 after five steps.
"""

import json

import torch
import zoo

if __name__ == "__main__":
    torch.backends.mkldnn.enabled = False
    print(json.dumps({name: zoo.train(name) for name in zoo.MODELS}, indent=0))
