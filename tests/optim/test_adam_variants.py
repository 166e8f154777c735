"""Optimizers on sparse gradients: SparseAdam, SGD and Adagrad step on the rows in use, the others refuse."""

import pytest

import flambeau
from flambeau import nn, optim, tensor


def trained(make, sparse, batches, **settings):
    flambeau.manual_seed(0)
    layer = nn.Embedding(8, 3, sparse=sparse, dtype=flambeau.float64)
    optimizer = make(layer.parameters(), **settings)
    for batch in batches:
        optimizer.zero_grad()
        (layer(tensor(batch)) ** 2).sum().backward()
        optimizer.step()
    return layer.weight.detach(), optimizer


SOME = [[1, 3, 3], [0, 1, 1], [7, 7, 1]]
ALL = [[0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0, 3, 3]]


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (optim.SGD, {"lr": 0.1}),
        (optim.SGD, {"lr": 0.1, "maximize": True}),
        (optim.SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.1}),
        (optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
        (optim.SGD, {"lr": 0.1, "weight_decay": 0.1}),
        (optim.Adagrad, {"lr": 0.1}),
        (optim.Adagrad, {"lr": 0.1, "lr_decay": 0.1, "maximize": True}),
    ],
)
def test_same_steps_as_with_dense_gradients(make, settings):
    dense, _ = trained(make, False, SOME, **settings)
    sparse, optimizer = trained(make, True, SOME, **settings)
    assert flambeau.allclose(sparse, dense)
    if "momentum" in settings:
        assert next(iter(optimizer.state.values()))["momentum_buffer"].is_sparse


@pytest.mark.parametrize("maximize", [False, True])
def test_sparse_adam_is_adam_where_every_row_has_a_gradient(maximize):
    dense, _ = trained(optim.Adam, False, ALL, lr=0.1, maximize=maximize)
    sparse, optimizer = trained(optim.SparseAdam, True, ALL, lr=0.1, maximize=maximize)
    assert flambeau.allclose(sparse, dense)
    state = optimizer.state_dict()["state"][0]
    assert state["step"] == 2 and state["exp_avg"].layout is flambeau.strided


def test_sparse_adam_leaves_other_rows_alone():
    flambeau.manual_seed(0)
    before = nn.Embedding(8, 3, dtype=flambeau.float64).weight.detach()
    after, optimizer = trained(optim.SparseAdam, True, SOME, lr=0.1)
    changed = (after != before).any(1)
    assert changed.tolist() == [True, True, False, True, False, False, False, True]
    assert optimizer.state_dict()["state"][0]["exp_avg"][2].abs().sum().item() == 0
    fresh = optim.SparseAdam([nn.Parameter(after)])
    fresh.load_state_dict(optimizer.state_dict())
    assert fresh.state_dict()["state"][0]["step"] == 3


def test_sparse_adam_refuses_other_tensors():
    with pytest.raises(ValueError, match="dense parameter tensors"):
        optim.SparseAdam([flambeau.eye(2).to_sparse().requires_grad_()])
    with pytest.raises(ValueError, match="complex"):
        optim.SparseAdam([flambeau.ones(2, dtype=flambeau.complex64, requires_grad=True)])
    with pytest.raises(RuntimeError, match="does not support dense gradients"):
        trained(optim.SparseAdam, False, SOME)


@pytest.mark.parametrize(
    "name", "Adam AdamW Adamax NAdam RAdam ASGD RMSprop Rprop Adadelta".split()
)
def test_others_refuse_sparse_gradients(name):
    with pytest.raises(RuntimeError, match="does not support sparse gradients"):
        trained(getattr(optim, name), True, SOME)


def test_clipping_and_zeroing():
    layer = nn.Embedding(8, 3, sparse=True)
    layer(tensor([1, 1, 2])).sum().backward()
    norm = nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    assert abs(norm.item() - 15**0.5) < 1e-5
    assert (
        abs(layer.weight.grad.to_dense().norm().item() - 1) < 1e-4 and layer.weight.grad.is_sparse
    )
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad.to_dense().abs().sum().item() == 0


def test_loss_scaling():
    layer = nn.Embedding(8, 3, sparse=True)
    before = layer.weight.detach().clone()
    scaler = flambeau.amp.GradScaler("cpu", init_scale=4.0)
    optimizer = optim.SGD(layer.parameters(), lr=0.5)
    scaler.scale(layer(tensor([1, 1])).sum()).backward()
    scaler.step(optimizer)
    assert flambeau.allclose(
        before - layer.weight, tensor([0.0, 1, 0, 0, 0, 0, 0, 0]).unsqueeze(1).expand(8, 3)
    )
