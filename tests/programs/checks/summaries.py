"""torchinfo, torchsummary and opt_einsum: tables of a model's layers, contraction paths"""

import contextlib
import io

import opt_einsum
import torch
import torchinfo
import torchsummary

PACKAGES = ("torchinfo", "torchsummary", "opt_einsum")


def model():
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.LazyLinear(10),
    )  # fmt: skip


def tables():
    info = torchinfo.summary(
        model(),
        (2, 3, 12, 12),
        verbose=0,
        col_names=("input_size", "output_size", "num_params", "mult_adds"),
    )
    lstm = torchinfo.summary(torch.nn.LSTM(4, 8, 2, bidirectional=True), (5, 2, 4), verbose=0)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        ready = model()
        ready(torch.zeros(1, 3, 12, 12))
        torchsummary.summary(ready, (3, 12, 12), device="cpu")
    return [str(info), str(lstm), info.total_params, info.total_mult_adds, out.getvalue()]


def contractions():
    a, b, c = torch.randn(4, 6), torch.randn(6, 5, 3), torch.randn(3, 4)
    a.requires_grad_()
    result = opt_einsum.contract("ij,jkl,li->k", a, b, c)
    result.sum().backward()
    path = opt_einsum.contract_path("ij,jkl,li->k", a, b, c)[0]
    shared = opt_einsum.contract_expression("ij,jk->ik", (4, 6), (6, 2))(
        a.detach(), torch.ones(6, 2)
    )
    return [result, a.grad, [list(step) for step in path], shared]


CASES = {"tables": tables, "contractions": contractions}
