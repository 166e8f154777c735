"""Names in pickles: PyTorch's, for modules, functions and optimizers, and read back from PyTorch's forms."""

import io
import zipfile

import pytest

import flambeau
from flambeau import nn, optim
from flambeau.nn import functional as F
from flambeau.serialization import _FullUnpickler


def saved(value):
    stream = io.BytesIO()
    flambeau.save(value, stream)
    with zipfile.ZipFile(stream) as file:
        return file.read(next(name for name in file.namelist() if name.endswith("data.pkl")))


@pytest.mark.parametrize(
    ("value", "module", "name"),
    [
        (F.relu, "torch.nn.functional", "relu"),
        (F.gelu, "torch.nn.functional", "gelu"),
        (flambeau.tanh, "torch", "tanh"),
        (flambeau.add, "torch", "add"),
        (nn.MultiheadAttention, "torch.nn.modules.activation", "MultiheadAttention"),
        (nn.LinearCrossEntropyLoss, "torch.nn.modules.loss", "LinearCrossEntropyLoss"),
        (optim.RMSprop, "torch.optim.rmsprop", "RMSprop"),
        (optim.Muon, "torch.optim._muon", "Muon"),
    ],
)
def test_names_are_pytorchs(value, module, name):
    assert f"c{module}\n{name}\n".encode() in saved(value)


@pytest.mark.parametrize(
    ("stream", "value"),
    [
        (b"ctorch._C._nn\ngelu\n.", F.gelu),
        (
            b"cbuiltins\ngetattr\n(ctorch._C\n_VariableFunctionsClass\nX\x04\x00\x00\x00tanhtR.",
            flambeau.tanh,
        ),
        (b"ctorch.nn.modules.module\n_WrappedHook\n.", nn.modules.module._WrappedHook),
        (b"ctorch.optim.adamw\nAdamW\n.", optim.AdamW),
    ],
)
def test_pytorchs_own_forms_are_read(stream, value):
    assert _FullUnpickler(io.BytesIO(stream), None).load() is value


def test_modules_carry_the_hook_tables_that_pytorch_expects():
    data = saved(nn.Linear(1, 1))
    assert b"_backward_hooks" in data
    assert b"_forward_hooks" in data


def test_computed_weights_are_plain_tensors_in_files():
    with pytest.warns(FutureWarning):
        layer = nn.utils.weight_norm(nn.Linear(2, 2))
    assert b"_rebuild_from_type" not in saved(layer)
    assert b"_derived" not in saved(layer)


def test_modules_and_optimizers_come_back_whole():
    model = nn.Sequential(nn.LSTM(3, 4), nn.LazyLinear(2))
    layer = nn.TransformerEncoderLayer(4, 2, 8, activation="gelu", batch_first=True)
    optimizer = optim.Adam(layer.parameters())
    stream = io.BytesIO()
    flambeau.save((model, layer, optimizer), stream)
    assert b"_flat_weights" in saved(model)  # PyTorch's LSTM wants it
    stream.seek(0)
    again, layer2, optimizer2 = flambeau.load(stream, weights_only=False)
    x = flambeau.ones(1, 2, 3)
    assert flambeau.equal(again[0](x)[0], model[0](x)[0])
    assert layer2.activation is F.gelu
    assert optimizer2.param_groups[0]["params"][0] is next(layer2.parameters())
