"""all functions and layers, with gradients"""

import torch
from einops import asnumpy, einsum, pack, parse_shape, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce

PACKAGES = ("einops",)


def functions():
    x = torch.randn(2, 3, 4, 6, requires_grad=True)
    y = rearrange(x, "b c (h h2) (w w2) -> b (c h2 w2) h w", h2=2, w2=3)
    z = reduce(x, "b c (h h2) (w w2) -> b c h w", "max", h2=2, w2=2)
    mean = reduce(x, "b c h w -> b () h w", "mean")
    repeated = repeat(x, "b c h w -> b c (h r) (w s)", r=2, s=3)
    total = (y.sin().sum() + z.sum() + mean.exp().sum() + (repeated**2).sum()) / 100
    total.backward()
    return [y, z, mean, repeated, x.grad, asnumpy(reduce(x, "b ... -> b", "prod"))]


def packing():
    parts = [torch.randn(2, 3, 5), torch.randn(2, 5), torch.randn(2, 4, 2, 5)]
    packed, shapes = pack(parts, "b * c")
    back = unpack(packed, shapes, "b * c")
    a, b = torch.randn(2, 5, 7), torch.randn(7, 5, 3)
    shape = parse_shape(a, "x y _")
    return [
        packed,
        [list(s) for s in shapes],
        list(back),
        einsum(a, b, "i j k, k j l -> i l"),
        shape,
    ]


def layers():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 6, 3),
        Reduce("b c (h h2) (w w2) -> b c h w", "max", h2=2, w2=2),
        Rearrange("b c h w -> b (c h w)"),
        EinMix("b (c s) -> b (o s)", weight_shape="c o", bias_shape="o", c=6, o=4, s=9),
        torch.nn.Linear(36, 2),
    )
    x = torch.randn(4, 3, 8, 8)
    loss = model(x).square().mean()
    loss.backward()
    return [loss, [p.grad for p in model.parameters()], repr(model)]


CASES = {"functions": functions, "packing": packing, "layers": layers}
