"""normalizing_flows: training steps of MADE, MAF, RealNVP and mixtures, Glow and its inverse, block flows"""

import sys
import types

import torch
from repositories import on_path

PACKAGES = ("matplotlib",)
REPOSITORY = "kamenbliznashki/normalizing_flows@97a73a01bcee3ac8015dfeeb3cffb035ec39a1f2"


def load(name):
    stand_ins = {
        n: types.ModuleType(n) for n in ("data", "tensorboardX", "datasets", "datasets.celeba")
    }
    stand_ins["data"].fetch_dataloaders = None
    stand_ins["tensorboardX"].SummaryWriter = stand_ins["datasets.celeba"].CelebA = None
    saved, arguments = {n: sys.modules.get(n) for n in stand_ins}, sys.argv
    sys.modules.update(stand_ins)
    sys.argv = ["program"]
    try:
        with on_path("normalizing_flows"):
            return __import__(name)
    finally:
        sys.argv = arguments
        for n, module in saved.items():
            sys.modules.pop(n)
            if module is not None:
                sys.modules[n] = module


def density(build, labels=None):
    def run():
        maf = load("maf")
        model = build(maf)
        data = torch.randn(40, 6) @ torch.randn(6, 6) * 0.3 + 1
        y = torch.eye(3)[torch.randint(3, (40,))] if labels else None
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
        losses = []
        for _ in range(5):
            model.train()
            loss = -model.log_prob(data, y).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss)
        model.eval()
        with torch.no_grad():
            u, log_det = model(data[:5], y[:5] if labels else None)
            x, _ = model.inverse(u, y[:5] if labels else None)
        return [losses, u, log_det, x, len(str(model))]

    return run


def glow():
    module = load("glow")
    model = module.Glow(width=8, depth=2, n_levels=2, input_dims=(3, 8, 8), checkpoint_grads=True)
    images = torch.rand(4, 3, 8, 8) - 0.5
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    losses = []
    for _ in range(3):
        loss = -model.log_prob(images, bits_per_pixel=True).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    with torch.no_grad():
        zs, log_det = model(images)
        back, _ = model.inverse(zs)
    return [losses, zs, log_det, back]


def bnaf():
    module = load("bnaf")
    flow = module.BNAF(2, 1, 12) if hasattr(module, "BNAF") else None
    layers = [module.MaskedLinear(2, 12, 2), module.Tanh(), module.MaskedLinear(12, 12, 2), module.Tanh(),
              module.MaskedLinear(12, 2, 2)]  # fmt: skip
    model = flow or module.FlowSequential(*layers)
    points = torch.randn(30, 2)
    z, log_det = model(points)
    loss = -(module.D.Normal(0, 1).log_prob(z).sum(1) + log_det.sum(1)).mean()
    loss.backward()
    return [z, log_det, loss, [p.grad for p in model.parameters()]]


CASES = {
    "made": density(lambda m: m.MADE(6, 16, 2)),
    "made_mixture": density(lambda m: m.MADEMOG(3, 6, 16, 1)),
    "maf_labels": density(lambda m: m.MAF(2, 6, 16, 1, 3), labels=True),
    "realnvp": density(lambda m: m.RealNVP(3, 6, 16, 1)),
    "glow": glow,
    "bnaf": bnaf,
}
