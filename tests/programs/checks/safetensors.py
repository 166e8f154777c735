"""save and load both ways, with every dtype, and in a model"""

import tempfile
from pathlib import Path

import safetensors.torch as st
import torch
from safetensors import safe_open

PACKAGES = ("safetensors",)
DTYPES = (
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16,
    torch.int32, torch.int64, torch.bool,
)  # fmt: skip


def round_trip():
    tensors = {str(dtype)[6:]: (torch.randn(3, 5) * 50).to(dtype) for dtype in DTYPES}
    tensors["empty"] = torch.zeros(0, 4)
    tensors["scalar"] = torch.tensor(3.5)
    data = st.save(tensors, metadata={"format": "pt"})
    back = st.load(data)
    same = {name: torch.equal(back[name], value) for name, value in tensors.items()}
    import zlib

    return [same, zlib.crc32(data), {name: value.double() for name, value in back.items()}]


def files():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        st.save_model(model, str(path))
        other = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
        missing, unexpected = st.load_model(other, str(path))
        with safe_open(str(path), framework="pt", device="cpu") as file:
            keys = sorted(file.keys())
            part = file.get_slice("0.weight")[1:3, :2]
            whole = file.get_tensor("0.bias")
        loaded = st.load_file(str(path))
    return [
        keys,
        part,
        whole,
        loaded,
        sorted(missing),
        unexpected,
        torch.equal(model[0].weight, other[0].weight),
    ]


CASES = {"round_trip": round_trip, "files": files}
