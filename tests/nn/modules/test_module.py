"""Module: registration, attributes, traversal, conversion, hooks. State dicts are in test_state.py."""

import copy
import pickle

import pytest

import flambeau
from flambeau import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.second = nn.Sequential(nn.ReLU(), nn.Linear(3, 1))
        self.register_buffer("scale", flambeau.ones(1))
        self.register_buffer("cache", flambeau.zeros(1), persistent=False)

    def forward(self, x, factor=1):
        return self.second(self.first(x)) * self.scale * factor


def raised(call):
    with pytest.raises(Exception) as caught:
        call()
    return type(caught.value), caught.value.args[0]


def test_registration_errors_are_pytorchs():
    m = nn.Module()
    m.x = 3
    one = flambeau.ones(1)
    assert raised(lambda: m.register_buffer("x", one)) == (KeyError, "attribute 'x' already exists")
    assert raised(lambda: m.register_buffer("a.b", None)) == (
        KeyError,
        'buffer name can\'t contain "."',
    )
    assert raised(lambda: m.add_module("a.b", m)) == (
        KeyError,
        'module name can\'t contain ".", got: a.b',
    )
    assert raised(lambda: m.add_module("", m)) == (
        KeyError,
        'module name can\'t be empty string ""',
    )
    assert raised(lambda: m.add_module("a", 3)) == (TypeError, "int is not a Module subclass")
    assert raised(lambda: m.register_parameter("p", one)) == (
        TypeError,
        "cannot assign 'torch.FloatTensor' object to parameter 'p' (torch.nn.Parameter or None required)",
    )
    assert raised(lambda: setattr(nn.Linear(2, 3), "weight", one)) == (
        TypeError,
        "cannot assign 'torch.FloatTensor' as parameter 'weight' (torch.nn.Parameter or None expected)",
    )
    assert raised(lambda: m.zzz) == (AttributeError, "'Module' object has no attribute 'zzz'")
    assert raised(lambda: m(3)) == (
        NotImplementedError,
        'Module [Module] is missing the required "forward" function',
    )
    assert raised(lambda: nn.Module(3)) == (
        TypeError,
        "Module.__init__() takes 1 positional argument but 2 were given",
    )
    assert raised(lambda: nn.Linear(2, 3).cuda()) == (
        AssertionError,
        "Torch not compiled with CUDA enabled",
    )


def test_assignment_before_init_is_an_error():
    class Early(nn.Module):
        def __init__(self, value):
            self.value = value

    with pytest.raises(AttributeError, match=r"cannot assign parameters before Module\.__init__"):
        Early(nn.Parameter(flambeau.ones(1)))
    with pytest.raises(AttributeError, match=r"cannot assign module before Module\.__init__"):
        Early(nn.ReLU())


def test_attributes_of_each_kind():
    m = nn.Module()
    m.w = nn.Parameter(flambeau.ones(2))
    m.child = nn.ReLU()
    m.b = nn.Buffer(flambeau.zeros(2), persistent=False)
    m.plain = flambeau.ones(1)
    assert list(m._parameters) == ["w"]
    assert list(m._modules) == ["child"]
    assert list(m._buffers) == ["b"]
    assert "plain" in m.__dict__
    assert list(m.state_dict()) == ["w"]
    m.w = None
    assert m.w is None
    assert dict(m.named_parameters()) == {}
    m.child = nn.Parameter(flambeau.ones(1))  # changes its kind
    assert list(m._modules) == []
    del m.b
    assert not hasattr(m, "b")
    assert {"w", "child", "plain"} <= set(dir(m))


def test_object_setattr_keeps_a_module_unregistered():
    m = nn.Module()
    object.__setattr__(m, "hidden", nn.ReLU())
    assert list(m.children()) == []
    assert isinstance(m.hidden, nn.ReLU)


def test_overridden_getattr_can_call_super():
    class Wrapper(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 3)

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    assert Wrapper().out_features == 3


def test_properties_of_subclasses_come_first():
    class Fixed(nn.Linear):
        @property
        def weight(self):
            return self.raw * 2

        @weight.setter
        def weight(self, value):
            object.__setattr__(self, "raw", value)

        def reset_parameters(self):
            self.weight = flambeau.ones(1)

    with pytest.raises(KeyError, match="attribute 'weight' already exists"):
        Fixed(1, 1)


def test_traversal():
    net = Net()
    assert [name for name, _ in net.named_modules()] == [
        "",
        "first",
        "second",
        "second.0",
        "second.1",
    ]
    assert [name for name, _ in net.named_parameters()] == [
        "first.weight", "first.bias", "second.1.weight", "second.1.bias",
    ]  # fmt: skip
    assert [name for name, _ in net.named_buffers()] == ["scale", "cache"]
    assert net.get_submodule("second.1") is net.second[1]
    assert net.get_parameter("first.bias") is net.first.bias
    assert net.get_buffer("scale") is net.scale
    assert raised(lambda: net.get_submodule("a.b")) == (AttributeError, "Net has no attribute `a`")
    net.set_submodule("second.1", nn.Identity())
    assert isinstance(net.second[1], nn.Identity)


def test_shared_parameters_are_listed_once():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    assert len(list(net.parameters())) == 3
    assert len(list(net.named_parameters(remove_duplicate=False))) == 4


def test_modes_and_gradients():
    net = Net()
    assert net.eval() is net
    assert not net.second[0].training
    net.train()
    net(flambeau.ones(1, 2)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.first.weight.grad.abs().sum().item() == 0
    net.zero_grad()
    assert net.first.weight.grad is None
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())


def test_conversion_keeps_parameter_objects():
    net = Net()
    weight = net.first.weight
    net.double()
    assert net.first.weight is weight
    assert (weight.dtype, net.scale.dtype) == (flambeau.float64, flambeau.float64)
    net.to(flambeau.float16)
    assert net.scale.dtype == flambeau.float16
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        net.to(flambeau.int64)
    net.to("meta")
    assert net.first.weight.is_meta
    assert net.to_empty(device="cpu").first.weight.shape == (3, 2)


def test_copies_are_independent():
    net = Net()
    hook = net.register_forward_hook(lambda m, args, out: out + 1)
    copied = copy.deepcopy(net)
    with flambeau.no_grad():
        copied.first.weight.fill_(0)
    assert net.first.weight.abs().sum().item() > 0
    assert len(copied._forward_hooks) == 1
    hook.remove()


def test_pickle_round_trip():
    net = pickle.loads(pickle.dumps(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))))
    assert net(flambeau.ones(2, 2)).shape == (2, 3)


def test_forward_set_on_the_instance_is_called():
    layer = nn.ReLU()
    layer.forward = lambda x: x - 1
    assert layer(flambeau.ones(1)).item() == 0


def test_forward_hooks():
    net, seen = Net(), []
    handles = [
        net.register_forward_pre_hook(lambda m, args: seen.append("pre")),
        net.register_forward_pre_hook(
            lambda m, args, kwargs: (args, {**kwargs, "factor": 0}), with_kwargs=True, prepend=True
        ),
        net.register_forward_hook(
            lambda m, args, kwargs, out: seen.append(kwargs) or out + 5, with_kwargs=True
        ),
    ]
    assert net(flambeau.ones(1, 2)).item() == 5
    assert seen == ["pre", {"factor": 0}]
    for handle in handles:
        handle.remove()
    net(flambeau.ones(1, 2))
    assert len(seen) == 2


def test_always_called_hook_runs_after_an_error():
    class Broken(nn.Module):
        def forward(self):
            raise ValueError("no")

    broken, seen = Broken(), []
    broken.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    broken.register_forward_hook(lambda m, args, out: seen.append("never"))
    with pytest.raises(ValueError, match="no"):
        broken()
    assert seen == [None]


def test_full_backward_hooks_see_and_replace_gradients():
    layer, seen = nn.Linear(2, 1, bias=False), []
    layer.register_full_backward_pre_hook(lambda m, grad_out: (grad_out[0] * 2,))
    layer.register_full_backward_hook(
        lambda m, grad_in, grad_out: seen.append(grad_out[0].item()) or (grad_in[0] * 0,)
    )
    x = flambeau.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert seen == [2]
    assert x.grad.tolist() == [[0, 0]]
    assert layer.weight.grad.tolist() == [[2, 2]]


def test_full_backward_hook_without_input_gradient():
    layer, seen = nn.Linear(2, 1), []
    layer.register_full_backward_hook(
        lambda m, grad_in, grad_out: seen.append((grad_in, grad_out[0].item()))
    )
    layer(flambeau.ones(1, 2)).sum().backward()
    assert seen == [((None,), 1)]


def test_kinds_of_backward_hooks_do_not_mix():
    layer = nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda *_: None)
    with pytest.raises(
        RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"
    ):
        layer.register_backward_hook(lambda *_: None)


def test_global_hooks():
    from flambeau.nn.modules.module import Module

    seen = []
    handles = [
        nn.modules.register_module_forward_pre_hook(lambda m, args: seen.append(type(m).__name__)),
        nn.modules.register_module_module_registration_hook(
            lambda m, name, child: seen.append(name)
        ),
    ]
    net = nn.Sequential(nn.ReLU())
    net(flambeau.ones(1))
    for handle in handles:
        handle.remove()
    net(flambeau.ones(1))
    assert seen == ["0", "Sequential", "ReLU"]
    assert isinstance(net, Module)


def test_call_of_the_class_can_be_replaced():
    original = nn.Module.__call__
    try:
        nn.Module.__call__ = lambda self, *args: "patched"
        assert nn.ReLU()(1) == "patched"
    finally:
        nn.Module.__call__ = original
    assert nn.ReLU()(flambeau.ones(1)).item() == 1


def test_other_base_classes():
    class Table(dict, nn.Module):
        def __init__(self):
            nn.Module.__init__(self)
            self.w = nn.Parameter(flambeau.ones(1))

        def forward(self):
            return self["a"] * self.w

    table = Table()
    table["a"] = 3
    assert table().item() == 3


def test_shared_memory_is_seen_by_forked_processes():
    import os

    layer = nn.Linear(2, 3)
    layer.share_memory()
    assert layer.weight.is_shared()
    child = os.fork()
    if child == 0:
        with flambeau.no_grad():
            layer.weight.fill_(7)
        os._exit(0)
    os.waitpid(child, 0)
    assert layer.weight.tolist() == [[7, 7]] * 3
