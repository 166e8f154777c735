"""Dive into Deep Learning's library: recurrent and attention models, BERT, transformers, trained by its Trainer"""

import sys
import types

import torch
import training
from repositories import on_path

PACKAGES = ("matplotlib",)
REPOSITORY = "d2l-ai/d2l-en@23d7a5aecceee57d1292c56e90cce307f183bb0a"


def library():
    stand_ins = {
        name: types.ModuleType(name) for name in ("pandas", "IPython", "matplotlib_inline", "gym")
    }
    stand_ins["IPython"].display = stand_ins["matplotlib_inline"].backend_inline = (
        types.SimpleNamespace(
            set_matplotlib_formats=lambda *a: None,
            display=lambda *a: None,
            clear_output=lambda **k: None,
        )
    )
    added = {name: module for name, module in stand_ins.items() if name not in sys.modules}
    sys.modules.update(added)
    try:
        with on_path("d2l-en"):
            from d2l import torch as d2l

            return d2l
    finally:
        for name in added:
            del sys.modules[name]


def backward(net, output):
    value = output[0] if isinstance(output, tuple) else output
    value.square().mean().backward()
    return [output, training.gradients(net)]


def regression():
    d2l = library()
    data = d2l.SyntheticRegressionData(w=torch.tensor([2, -3.4]), b=4.2, num_train=64, num_val=32)
    model = d2l.LinearRegression(lr=0.03)
    model.board.draw = lambda *a, **k: None
    trainer = d2l.Trainer(max_epochs=2)
    trainer.fit(model, data)
    return [model.get_w_b() if hasattr(model, "get_w_b") else [model.net.weight, model.net.bias]]


def attention():
    d2l = library()
    net = d2l.MultiHeadAttention(16, 4, 0.1)
    x, y = torch.randn(2, 5, 16), torch.randn(2, 7, 16)
    net(x, y, y, torch.tensor([3, 2]))
    return backward(net, net(x, y, y, torch.tensor([3, 2])))


def masks():
    d2l = library()
    scores = torch.randn(2, 2, 4)
    return [
        d2l.masked_softmax(scores.clone(), torch.tensor([2, 3])),
        d2l.masked_softmax(scores.clone(), torch.tensor([[1, 3], [2, 4]])),
    ]


def transformer():
    d2l = library()
    net = d2l.TransformerEncoder(30, 16, 24, 2, 2, 0.1)
    net(torch.randint(0, 30, (2, 6)), torch.tensor([3, 6]))
    return backward(net, net(torch.randint(0, 30, (2, 6)), torch.tensor([3, 6])))


def bert():
    d2l = library()
    net = d2l.BERTModel(40, 16, 24, 2, 2, 0.1)
    tokens, segments = torch.randint(0, 40, (2, 8)), torch.tensor([[0] * 4 + [1] * 4] * 2)
    places = torch.tensor([[1, 5, 2], [6, 1, 5]])
    net(tokens, segments, torch.tensor([8, 6]), places)
    encoded, masked, following = net(tokens, segments, torch.tensor([8, 6]), places)
    loss = (
        torch.nn.functional.cross_entropy(masked.flatten(0, 1), torch.arange(6))
        + following.square().mean()
    )
    loss.backward()
    return [encoded, masked, following, loss, training.gradients(net)]


def residual():
    d2l = library()
    net = torch.nn.Sequential(d2l.Residual(3), d2l.Residual(6, use_1x1conv=True, strides=2))
    x = torch.randn(4, 3, 6, 6)
    net(x)
    return backward(net, net(x))


CASES = {f.__name__: f for f in (regression, attention, masks, transformer, bert, residual)}
