"""nine families of normalizing flows: densities, gradients, draws"""

import torch
import zuko

PACKAGES = ("zuko",)


def flow(name):
    def case():
        small = {"hidden_features": (16, 16)}
        if name != "CNF":
            small["transforms"] = 2
        model = getattr(zuko.flows, name)(3, context=2, **small).double()
        context = torch.randn(4, 2, dtype=torch.float64)
        x = 0.3 * torch.randn(4, 3, dtype=torch.float64)
        log_prob = model(context).log_prob(x)
        log_prob.mean().backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        with torch.no_grad():
            draws = model(context).sample((2,))
        return [log_prob, gradients, draws]

    return case


NAMES = ("NSF", "MAF", "NICE", "GF", "NAF", "BPF", "CNF", "SOSPF", "UNAF")
CASES = {name: flow(name) for name in NAMES}
