"""Write small checkpoints with PyTorch 2.13: python tests/data/make_checkpoints.py, with PyTorch installed.

checkpoint.pt (zip) and checkpoint_legacy.pt hold the same object; module.pt a whole module.
"""

import collections
import pathlib
import warnings

import torch


def contents() -> object:
    base = torch.arange(6.0).reshape(2, 3)
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    with torch.no_grad():
        for i, parameter in enumerate(module.parameters()):
            parameter.copy_(torch.arange(float(parameter.numel())).view_as(parameter) + i)
    return collections.OrderedDict(
        base=base,
        transposed=base.t(),
        row=base[1:],
        int64=torch.tensor([1, -2]),
        bfloat16=torch.ones(3, dtype=torch.bfloat16),
        float16=torch.tensor([1.5], dtype=torch.float16),
        complex64=torch.tensor([1 + 2j]),
        conj=torch.tensor([1 + 2j]).conj(),
        neg=torch.tensor([1 + 2j]).conj().imag,
        empty=torch.empty(0),
        bool0d=torch.tensor(True),
        grad=torch.ones(2, requires_grad=True),
        parameter=torch.nn.Parameter(torch.ones(2)),
        plain=[
            1,
            -5,
            2**80,
            2.5,
            "é☃",
            None,
            True,
            b"bytes",
            (1, 2),
            {3: 4},
            {1, 2},
            1 + 2j,
            bytearray(b"abc"),
        ],
        dtype=torch.float16,
        device=torch.device("cpu"),
        size=base.shape,
        default=collections.defaultdict(list, {1: [2]}),
        state=module.state_dict(),
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    folder = pathlib.Path(__file__).parent
    torch.save(contents(), folder / "checkpoint.pt")
    torch.save(contents(), folder / "checkpoint_legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()), folder / "module.pt")
