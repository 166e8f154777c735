"""Optimizer: groups, errors, hooks."""

import re

import pytest

import flambeau
from flambeau import nn, optim


def make_params(count=2):
    return [nn.Parameter(flambeau.ones(2)) for _ in range(count)]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda p: optim.SGD(p, lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda p: optim.SGD([], lr=1), ValueError, "optimizer got an empty parameter list"),
        (
            lambda p: optim.SGD(p[0], lr=1),
            TypeError,
            "params argument given to the optimizer should be an iterable of Tensors or dicts, "
            "but got torch.FloatTensor",
        ),
        (
            lambda p: optim.SGD([3], lr=1),
            TypeError,
            "optimizer can only optimize Tensors, but one of the params is int",
        ),
        (lambda p: optim.SGD([p[0] * 2], lr=1), ValueError, "can't optimize a non-leaf Tensor"),
        (
            lambda p: optim.SGD([{"params": p}, {"params": p}], lr=1),
            ValueError,
            "some parameters appear in more than one parameter group",
        ),
        (lambda p: optim.Adam(p, betas=(2, 1)), ValueError, "Invalid beta parameter at index 0: 2"),
        (
            lambda p: optim.SGD(p, nesterov=True),
            ValueError,
            "Nesterov momentum requires a momentum and zero dampening",
        ),
        (lambda p: optim.SGD([{"params": set(p)}]), TypeError, "ordered collections"),
    ],
)
def test_bad_arguments(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make(make_params())


def test_duplicate_parameters_warn():
    params = make_params()
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD(params + params, lr=0.1)


def test_groups_override_defaults():
    first, second = make_params()
    optimizer = optim.SGD(
        [{"params": [first], "lr": 0.5}, {"params": second}], lr=0.1, momentum=0.9
    )
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.1]
    extra = nn.Parameter(flambeau.ones(1))
    optimizer.add_param_group({"params": extra})
    assert optimizer.param_groups[2]["momentum"] == 0.9


def test_named_parameters_keep_their_names():
    model = nn.Linear(2, 3)
    optimizer = optim.Adam(model.named_parameters())
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]


def test_state_of_other_shape_is_refused():
    saved = optim.SGD(make_params(3), lr=0.1).state_dict()
    optimizer = optim.SGD(make_params(2), lr=0.1)
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        optimizer.load_state_dict(saved)
    saved["param_groups"].append(saved["param_groups"][0])
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optimizer.load_state_dict(saved)


def test_zero_grad():
    (param,) = make_params(1)
    param.grad = flambeau.ones(2)
    optimizer = optim.SGD([param], lr=0.1)
    optimizer.zero_grad(set_to_none=False)
    assert param.grad.tolist() == [0, 0]
    optimizer.zero_grad()
    assert param.grad is None


def test_step_hooks_run_around_the_step():
    (param,) = make_params(1)
    param.grad = flambeau.ones(2)
    optimizer = optim.SGD([param], lr=0.5)
    seen = []
    handles = [
        optimizer.register_step_pre_hook(
            lambda o, args, kwargs: seen.append(("pre", param.tolist()))
        ),
        optimizer.register_step_post_hook(
            lambda o, args, kwargs: seen.append(("post", param.tolist()))
        ),
        optim.optimizer.register_optimizer_step_pre_hook(lambda *_: seen.append("global")),
    ]
    optimizer.step()
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert seen == ["global", ("pre", [1, 1]), ("post", [0.5, 0.5])]


def test_state_dict_hooks_can_replace():
    optimizer = optim.SGD(make_params(1), lr=0.1)
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "extra": 1})
    assert optimizer.state_dict()["extra"] == 1


def test_sparse_adam_refuses_dense_gradients():
    params = make_params(1)
    params[0].grad = flambeau.ones(2)
    with pytest.raises(RuntimeError, match="does not support dense gradients"):
        optim.SparseAdam(params).step()


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam, optim.AdamW, optim.Adagrad])
def test_fused_excludes_other_forms(kind):
    param = [nn.Parameter(flambeau.ones(1))]
    with pytest.raises(RuntimeError, match="`fused` and `foreach`"):
        kind(param, fused=True, foreach=True)
    with pytest.raises(RuntimeError, match="`differentiable`"):
        kind(param, fused=True, differentiable=True)


@pytest.mark.parametrize(
    "kind",
    [
        optim.SGD,
        optim.Adam,
        optim.AdamW,
        optim.Adamax,
        optim.NAdam,
        optim.RAdam,
        optim.Adagrad,
        optim.Adadelta,
        optim.RMSprop,
        optim.Rprop,
        optim.ASGD,
    ],
)
def test_differentiable_steps_can_be_differentiated(kind):
    start = flambeau.tensor([0.5, -1.0], requires_grad=True)
    param = start.clone()
    optimizer = kind([param], lr=0.1, differentiable=True)
    param.grad = start**2
    for _ in range(2):
        optimizer.step()
    (gradient,) = flambeau.autograd.grad(param.sum(), start)
    assert gradient.isfinite().all()
    assert gradient.abs().sum() > 0


def test_repr_has_a_blank_line_between_groups():
    groups = [{"params": [flambeau.nn.Parameter(flambeau.ones(1))]} for _ in range(2)]
    text = repr(flambeau.optim.SGD(groups, lr=0.1))
    assert text.startswith("SGD (\nParameter Group 0\n    dampening: 0\n")
    assert "    weight_decay: 0\n\nParameter Group 1\n" in text and text.endswith(
        "    weight_decay: 0\n)"
    )
