"""Idioms of modules: attributes, lists, state dicts and their hooks, tying, freezing, parametrizations, copies"""

import copy
import io
import pickle
from collections import OrderedDict

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

PACKAGES = ()


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("scratch", torch.zeros(2), persistent=False)
        self.register_parameter("missing", None)
        self.child = nn.Linear(size, size)
        self.extra = {"plain": 1}

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(0)
        return self.child(x - self.mean) * self.scale

    def extra_repr(self):
        return "blocks=1"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(3) for _ in range(3)])
        self.heads = nn.ModuleDict({"a": nn.Linear(3, 2), "b": nn.Linear(3, 2, bias=False)})
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(2)) for _ in range(2)])
        self.named = nn.ParameterDict({"gain": nn.Parameter(torch.ones(1))})

    def forward(self, x, head="a"):
        for block in self.blocks:
            x = block(x)
        return self.heads[head](x) * self.weights[0] * self.named["gain"]


def attempt(act):
    try:
        act()
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:90]}"
    return "no error"


def names():
    net = Net()
    net.alias = net.blocks[0]
    return [
        [n for n, _ in net.named_parameters()],
        [n for n, _ in net.named_buffers()],
        [n for n, _ in net.named_modules()],
        [n for n, _ in net.named_children()],
        [n for n, _ in net.named_parameters(prefix="p", recurse=False)],
        [n for n, _ in net.named_parameters(remove_duplicate=False)],
        [n for n, _ in net.blocks.named_parameters(prefix="x")],
        list(net.state_dict()),
        list(net.state_dict(prefix="q.")),
        len(list(net.parameters())),
        repr(net),
        sorted(net.__dict__["_modules"]),
        net.get_submodule("blocks.1.child").in_features,
        net.get_parameter("blocks.0.scale").shape[0],
        "blocks" in dir(net),
        hasattr(net, "nothing"),
        attempt(lambda: net.nothing),
        attempt(lambda: net.get_submodule("z.y")),
    ]


def attributes():
    block = Block(2)
    results = [
        attempt(lambda: setattr(block, "scale", torch.zeros(2))),
        attempt(lambda: setattr(block, "mean", 3)),
        attempt(lambda: setattr(block, "child", "text")),
        attempt(lambda: block.register_buffer("scale", None)),
        attempt(lambda: block.register_module("a.b", nn.ReLU())),
        attempt(lambda: block.add_module("scale", nn.ReLU())),
        attempt(lambda: block.register_parameter("p", torch.zeros(1))),
    ]
    block.scale = nn.Parameter(torch.zeros(5))
    block.child = None
    block.mean = None
    del block.scratch
    block.late = nn.Parameter(torch.ones(1))
    block.register_module("tail", nn.Identity())
    results += [
        list(block._parameters),
        list(block._buffers),
        list(block._modules),
        list(block.state_dict()),
    ]
    results.append(attempt(lambda: block(torch.ones(1, 2))))
    before_init = type(
        "Early", (nn.Module,), {"__init__": lambda self: setattr(self, "x", nn.Linear(1, 1))}
    )
    return [*results, attempt(before_init)]


def containers():
    layers = nn.ModuleList(nn.Linear(i + 1, 1) for i in range(4))
    layers.insert(1, nn.ReLU())
    layers.extend([nn.Tanh()])
    del layers[0]
    layers[-1] = nn.GELU()
    sequence = nn.Sequential(
        OrderedDict(first=nn.Linear(2, 3), act=nn.ReLU(), last=nn.Linear(3, 1))
    )
    sequence.append(nn.Sigmoid())
    part = sequence[:2]
    del sequence[1]
    joined = part + nn.Sequential(nn.Dropout(0.1))
    mapping = nn.ModuleDict([["one", nn.Linear(1, 1)], ["two", nn.ReLU()]])
    mapping.update({"three": nn.Tanh()})
    taken = mapping.pop("one")
    return [
        repr(layers),
        repr(layers[1:3]),
        len(layers),
        repr(sequence),
        repr(part),
        repr(joined),
        list(mapping),
        repr(taken),
        "two" in mapping,
        [type(m).__name__ for m in reversed(layers)],
        sequence[0] is part[0],
        attempt(lambda: layers[9]),
        attempt(lambda: mapping["one"]),
        attempt(lambda: nn.ModuleList([3])),
    ]


def states():
    net, other = Net(), Net()
    with torch.no_grad():
        net(torch.randn(4, 3))
    state = net.state_dict()
    kept = {k: v.clone() for k, v in state.items()}
    kept.pop("heads.a.bias")
    kept["stranger"] = torch.zeros(1)
    found = other.load_state_dict(kept, strict=False)
    errors = [attempt(lambda: other.load_state_dict(kept))]
    kept["blocks.0.scale"] = torch.zeros(7)
    errors.append(attempt(lambda: other.load_state_dict(kept, strict=False)))
    net.register_state_dict_pre_hook(lambda m, prefix, keep: m.named["gain"].data.fill_(3))
    net._register_state_dict_hook(lambda m, s, prefix, meta: (s.pop(prefix + "weights.1"), None)[1])
    shorter = net.state_dict()

    def rename(module, state, prefix, meta, strict, missing, unexpected, messages):
        for key in [k for k in state if k.startswith("old.")]:
            state[key[4:]] = state.pop(key)

    other.register_load_state_dict_pre_hook(rename)
    log = []
    other.register_load_state_dict_post_hook(lambda m, keys: log.append(len(keys.missing_keys)))
    result = other.load_state_dict({"old." + k: v for k, v in shorter.items()}, strict=False)
    assigned = Net()
    assigned.load_state_dict({k: v.double() for k, v in state.items()}, assign=True)
    return [
        found.missing_keys,
        found.unexpected_keys,
        errors,
        sorted(shorter),
        str(result),
        log,
        other(torch.ones(1, 3)),
        str(assigned.blocks[0].scale.dtype),
        str(net.load_state_dict(state)),
        state._metadata["blocks.0"],
    ]


def tying_and_freezing():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(7, 4, padding_idx=0)
            self.body = nn.GRU(4, 4, batch_first=True)
            self.out = nn.Linear(4, 7, bias=False)
            self.out.weight = self.embed.weight

        def forward(self, ids):
            return self.out(self.body(self.embed(ids))[0])

    net = Tied()
    ids = torch.randint(1, 7, (2, 5))
    for name, p in net.named_parameters():
        p.requires_grad_("bias" not in name)
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for n, p in net.named_parameters() if "embed" in n], "weight_decay": 0.1},
            {
                "params": [
                    p for n, p in net.named_parameters() if "embed" not in n and p.requires_grad
                ],
                "lr": 1e-3,
            },
        ],
        lr=1e-2,
    )
    losses = []
    for _ in range(4):
        loss = nn.functional.cross_entropy(
            net(ids).flatten(0, 1), ids.flatten(), label_smoothing=0.1
        )
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    twin = copy.deepcopy(net)
    return [
        losses,
        net.out.weight,
        sum(p.numel() for p in net.parameters()),
        twin.out.weight is twin.embed.weight,
        [p.grad is None for p in net.parameters()],
        len(net.state_dict()),
        len(optimizer.param_groups),
    ]


def parametrized():
    class Symmetric(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).mT

        def right_inverse(self, a):
            return a.triu()

    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    first = layer.weight
    layer.weight = torch.arange(9.0).view(3, 3)
    second = layer.weight
    with parametrize.cached():
        same = layer.weight is layer.weight
    text, keys = repr(layer), list(layer.state_dict())
    layer(torch.ones(1, 3)).sum().backward()
    grad = layer.parametrizations.weight.original.grad
    parametrize.remove_parametrizations(layer, "weight")
    normed = parametrizations.weight_norm(nn.Linear(3, 2))
    bounded = parametrizations.spectral_norm(nn.Linear(4, 3))
    bounded(torch.randn(2, 4))
    square = parametrizations.orthogonal(nn.Linear(3, 3))
    old = nn.utils.weight_norm(nn.Linear(3, 2), dim=None)
    return [
        first,
        second,
        same,
        text,
        keys,
        grad,
        layer.weight,
        normed.weight,
        list(normed.state_dict()),
        bounded.weight,
        square.weight @ square.weight.mT,
        list(old.state_dict()),
        old(torch.ones(1, 3)),
        parametrize.is_parametrized(layer),
    ]


def walks():
    net = Net()
    order = []

    def init(module):
        order.append(type(module).__name__)
        if isinstance(module, nn.Linear):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            if module.bias is not None:
                nn.init.constant_(module.bias, 0.1)

    net.apply(init)
    net.train(False)
    net.blocks[1].train()
    flags = [m.training for m in net.modules()]
    double = copy.deepcopy(net).double()
    half = copy.deepcopy(net).to(torch.bfloat16)
    meta = copy.deepcopy(net).to("meta")
    empty = meta.to_empty(device="cpu")
    vector = nn.utils.parameters_to_vector(net.parameters())
    nn.utils.vector_to_parameters(vector * 2, net.parameters())
    hooked = net.blocks[0].register_forward_hook(lambda m, a, out: out + 1)
    clone = pickle.loads(pickle.dumps(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))))
    hooked.remove()
    return [
        order,
        flags,
        str(double.blocks[0].mean.dtype),
        str(half.heads["a"].weight.dtype),
        meta.named["gain"].is_meta,
        empty.named["gain"].shape[0],
        vector,
        net.weights[0],
        repr(clone),
        [p.requires_grad for p in clone.parameters()],
    ]


def parallel():
    net = nn.DataParallel(nn.Sequential(nn.Linear(3, 2), nn.ReLU()))
    out = net(torch.randn(4, 3))
    out.sum().backward()
    return [out, list(net.state_dict()), net.module[0].weight.grad, net.device_ids]


def files():
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    file = io.BytesIO()
    torch.save(
        {
            "net": net.state_dict(),
            "epoch": 3,
            "best": 0.5,
            "names": ["a"],
            "size": torch.Size([2, 3]),
        },
        file,
    )
    file.seek(0)
    loaded = torch.load(file, map_location="cpu", weights_only=True)
    whole = io.BytesIO()
    torch.save(net, whole)
    whole.seek(0)
    refused = attempt(lambda: torch.load(whole, weights_only=True))
    whole.seek(0)
    again = torch.load(whole, weights_only=False)
    return [
        loaded["net"],
        loaded["epoch"],
        loaded["size"] == torch.Size([2, 3]),
        refused[:40],
        again.state_dict(),
        repr(again),
    ]


CASES = {
    f.__name__: f
    for f in (
        names,
        attributes,
        containers,
        states,
        tying_and_freezing,
        parametrized,
        walks,
        parallel,
        files,
    )
}
