"""Parametrizations: mechanics, errors, and the ready-made ones."""

import copy
import io
import pickle

import pytest

import flambeau
from flambeau import nn
from flambeau.nn.utils import parametrizations, parametrize


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, a):
        return a.triu()


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x


def test_symmetric_example():
    layer = nn.Linear(3, 3, bias=False)
    original = layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert type(layer).__name__ == "ParametrizedLinear"
    assert isinstance(layer, nn.Linear)
    assert layer.parametrizations.weight.original is original
    layer.weight = flambeau.arange(9.0).reshape(3, 3)
    assert layer.weight.tolist() == [[0, 1, 2], [1, 4, 5], [2, 5, 8]]
    optimizer = flambeau.optim.SGD([original], lr=0.1)
    layer(flambeau.ones(1, 3)).sum().backward()
    optimizer.step()
    assert flambeau.equal(layer.weight, layer.weight.mT)


def test_chain_and_assignment():
    layer = nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert len(layer.parametrizations.weight) == 2
    with pytest.raises(RuntimeError, match="does not implement right_inverse"):
        layer.weight = flambeau.ones(2, 2)


def test_errors():
    layer = nn.Linear(2, 2)

    class Wider(nn.Module):
        def forward(self, x):
            return flambeau.cat([x, x])

    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(layer, "weight", Wider())
    assert type(layer) is nn.Linear
    with pytest.raises(ValueError, match="does not have a parameter, a buffer"):
        parametrize.register_parametrization(layer, "nothing", Doubled())
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(layer, "weight")


def test_buffers_stay_buffers():
    norm = nn.BatchNorm1d(2)
    parametrize.register_parametrization(norm, "running_var", Doubled())
    assert "parametrizations.running_var.original" in dict(norm.named_buffers())
    assert norm.running_var.tolist() == [2, 2]


@pytest.mark.parametrize("leave", [True, False])
def test_removal(leave):
    layer = nn.Linear(2, 2)
    before, weight = layer.weight.tolist(), layer.weight
    parametrize.register_parametrization(layer, "weight", Doubled())
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=leave)
    assert type(layer) is nn.Linear
    assert layer.weight is weight
    factor = 2 if leave else 1
    assert layer.weight.tolist() == [[factor * v for v in row] for row in before]


def test_cached():
    layer = nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Doubled())
    with parametrize.cached():
        first = layer.weight
        with flambeau.no_grad():
            layer.parametrizations.weight.original.zero_()
        assert layer.weight is first
    assert layer.weight.abs().sum().item() == 0


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_and_pickles(duplicate):
    layer = parametrizations.weight_norm(nn.Linear(3, 2))
    other = duplicate(layer)
    assert flambeau.allclose(other.weight, layer.weight)
    with flambeau.no_grad():
        other.parametrizations.weight.original0.zero_()
    assert layer.weight.abs().sum().item() > 0


def test_weight_norm_keys_and_old_checkpoints():
    layer = parametrizations.weight_norm(nn.Linear(3, 2))
    state = layer.state_dict()
    assert {k: tuple(v.shape) for k, v in state.items()} == {
        "bias": (2,),
        "parametrizations.weight.original0": (2, 1),
        "parametrizations.weight.original1": (2, 3),
    }
    old = {"bias": state["bias"], "weight_g": flambeau.ones(2, 1), "weight_v": flambeau.ones(2, 3)}
    layer.load_state_dict(old)
    assert layer.weight.norm(dim=1).tolist() == pytest.approx([1, 1])


def test_weight_norm_of_a_zero_row_is_zero():
    layer = nn.Linear(3, 2)
    with flambeau.no_grad():
        layer.weight[0] = 0
    parametrizations.weight_norm(layer)
    assert layer.weight[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("mapping", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3)])
def test_orthogonal_stays_orthogonal(mapping, shape):
    layer = parametrizations.orthogonal(nn.Linear(*shape, bias=False), orthogonal_map=mapping)
    optimizer = flambeau.optim.SGD(layer.parameters(), lr=0.1)
    (layer(flambeau.randn(8, shape[0])) ** 3).mean().backward()
    optimizer.step()
    w = layer.weight
    gram = w @ w.mT if w.shape[0] <= w.shape[1] else w.mT @ w
    assert flambeau.allclose(gram, flambeau.eye(gram.shape[0]), atol=1e-5)


def test_orthogonal_takes_assignments():
    layer = parametrizations.orthogonal(nn.Linear(3, 3))
    turned = flambeau.tensor([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    layer.weight = turned
    assert flambeau.allclose(layer.weight, turned, atol=1e-6)
    free = parametrizations.orthogonal(nn.Linear(3, 3), use_trivialization=False)
    with pytest.raises(NotImplementedError, match="It is not possible to assign"):
        free.weight = turned


def test_spectral_norm_is_one_from_the_start():
    layer = parametrizations.spectral_norm(nn.Linear(6, 4)).eval()
    assert flambeau.linalg.svdvals(layer.weight)[0].item() == pytest.approx(1, abs=1e-3)
    with pytest.raises(ValueError, match="Expected n_power_iterations to be positive"):
        parametrizations.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)


def test_spectral_norm_two_forwards_before_backward():
    layer = parametrizations.spectral_norm(nn.Linear(3, 3))
    x = flambeau.randn(2, 3)
    (layer(x) + layer(x)).sum().backward()
    assert layer.parametrizations.weight.original.grad is not None


class ToDouble(nn.Module):
    def forward(self, x):
        return x.double()


class TwoParts(nn.Module):
    def forward(self, sign, magnitude):
        return sign * magnitude

    def right_inverse(self, x):
        return x.sign(), x.abs()


def parametrized(module=None, parametrization=None, name="weight", **options):
    module = nn.Linear(3, 3) if module is None else module
    parametrization = Symmetric() if parametrization is None else parametrization
    return parametrize.register_parametrization(module, name, parametrization, **options)


def test_dtype_is_checked_unless_unsafe():
    with pytest.raises(ValueError, match="may not change the dtype"):
        parametrized(parametrization=ToDouble())
    assert parametrized(parametrization=ToDouble(), unsafe=True).weight.dtype == flambeau.float64


def test_deleting_a_parametrized_tensor_is_refused():
    with pytest.raises(AttributeError):
        del parametrized().weight


def test_several_originals():
    layer = nn.Linear(3, 3)
    before = layer.weight.detach().clone()
    parametrized(layer, TwoParts())
    assert [n for n, _ in layer.named_parameters()] == [
        "bias",
        "parametrizations.weight.original0",
        "parametrizations.weight.original1",
    ]
    assert not layer.parametrizations.weight.is_tensor
    assert flambeau.equal(layer.weight, before)
    with pytest.raises(ValueError, match="leave_parametrized=False"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear
    assert isinstance(layer.weight, nn.Parameter)
    assert flambeau.equal(layer.weight, before)


def test_tied_weights_and_requires_grad_are_kept():
    layer, other = nn.Linear(3, 3), nn.Linear(3, 3)
    other.weight = layer.weight
    layer.weight.requires_grad_(False)
    parametrized(layer)
    assert layer.parametrizations.weight.original is other.weight
    assert not layer.parametrizations.weight.original.requires_grad


def test_state_dict_names_parameters_and_buffers_of_parametrizations():
    layer = parametrizations.spectral_norm(nn.Linear(3, 2))
    assert list(layer.state_dict()) == [
        "bias",
        "parametrizations.weight.original",
        "parametrizations.weight.0._u",
        "parametrizations.weight.0._v",
    ]
    whole = parametrizations.weight_norm(nn.Linear(3, 2), dim=None)
    assert whole.state_dict()["parametrizations.weight.original0"].shape == ()


def through_save(module):
    stream = io.BytesIO()
    flambeau.save(module, stream)
    stream.seek(0)
    return flambeau.load(stream, weights_only=False)


def through_state_dict(module):
    other = parametrized()
    other.load_state_dict(module.state_dict())
    return other


@pytest.mark.parametrize(
    "duplicate",
    [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), through_save, through_state_dict],
)
def test_duplicates_keep_the_constraint(duplicate):
    layer = parametrized()
    other = duplicate(layer)
    assert flambeau.equal(other.weight, layer.weight)
    assert parametrize.is_parametrized(other, "weight")
    other(flambeau.randn(4, 3)).square().sum().backward()
    flambeau.optim.SGD(other.parameters(), lr=0.1).step()
    assert flambeau.equal(other.weight, other.weight.mT)
    assert not flambeau.equal(other.weight, layer.weight)
    other.weight = flambeau.eye(3)
    assert flambeau.equal(other.weight, flambeau.eye(3))
    parametrize.remove_parametrizations(other, "weight")
    assert type(other) is nn.Linear


def test_functional_call_goes_through_the_parametrization():
    layer = parametrized(nn.Linear(3, 3, bias=False))
    values = {"parametrizations.weight.original": flambeau.arange(9.0).reshape(3, 3)}
    result = nn.utils.stateless._functional_call(layer, values, flambeau.ones(1, 3))
    assert result.tolist() == [[3, 10, 15]]


def test_transfer():
    source, target = parametrized(), nn.Linear(3, 3)
    parametrize.transfer_parametrizations_and_params(source, target)
    assert flambeau.equal(source.weight, target.weight)
    assert parametrize.type_before_parametrizations(target) is nn.Linear


def test_spectral_norm_iterates_once_per_read_in_training_only():
    layer = nn.Linear(6, 4)
    with flambeau.no_grad():  # a clear gap between the singular values: the iteration has converged
        layer.weight.copy_(flambeau.diag(flambeau.tensor([5.0, 1, 0.5, 0.1])) @ flambeau.eye(4, 6))
    parametrizations.spectral_norm(layer).eval()
    assert flambeau.linalg.matrix_norm(layer.weight, 2).item() == pytest.approx(1, abs=1e-5)
    u = layer.parametrizations.weight[0]._u

    def changed():
        before = u.clone()
        _ = layer.weight
        return not flambeau.equal(before, u)

    with flambeau.no_grad():
        u.copy_(flambeau.nn.functional.normalize(flambeau.ones(4), dim=0))
    assert not changed()
    layer.train()
    assert changed()
    with parametrize.cached():
        assert changed()
        assert not changed()


def test_spectral_norm_of_vectors_and_transposed_convolutions():
    norm = parametrizations.spectral_norm(nn.LayerNorm(4))
    assert norm.weight.norm().item() == pytest.approx(1)
    assert list(norm.state_dict()) == ["bias", "parametrizations.weight.original"]
    conv = parametrizations.spectral_norm(nn.ConvTranspose2d(2, 3, 3))
    assert conv.parametrizations.weight[0].dim == 1
    with pytest.raises(ValueError, match="nothing"):
        parametrizations.spectral_norm(nn.Linear(2, 2), "nothing")


@pytest.mark.parametrize("mapping", ["matrix_exp", "cayley"])
def test_unitary(mapping):
    layer = nn.Linear(3, 3, dtype=flambeau.complex64)
    parametrizations.orthogonal(layer, orthogonal_map=mapping)
    assert flambeau.allclose(
        layer.weight @ layer.weight.mH, flambeau.eye(3, dtype=flambeau.complex64), atol=1e-5
    )


def test_orthogonal_errors():
    with pytest.raises(ValueError, match="does not support complex"):
        parametrizations.orthogonal(
            nn.Linear(3, 3, dtype=flambeau.complex64), orthogonal_map="householder"
        )
    with pytest.raises(ValueError, match="Expected a matrix"):
        parametrizations.orthogonal(nn.LayerNorm(3))
    with pytest.raises(ValueError, match="orthogonal_map has to be one of"):
        parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="rotation")


@pytest.mark.parametrize("mapping", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (5, 3)])
def test_orthogonal_reads_back_what_was_assigned(mapping, shape):
    rows, columns = shape
    layer = parametrizations.orthogonal(nn.Linear(columns, rows), orthogonal_map=mapping)
    q = flambeau.linalg.qr(flambeau.randn(max(shape), min(shape)))[0]
    q = q if rows >= columns else q.mT
    layer.weight = q
    assert flambeau.allclose(layer.weight, q, atol=1e-5)


def test_orthogonal_acts_on_each_kernel_of_a_convolution():
    weight = parametrizations.orthogonal(nn.Conv2d(3, 4, 3)).weight  # (4, 3, 3, 3)
    assert flambeau.allclose(weight @ weight.mT, flambeau.eye(3).expand(4, 3, 3, 3), atol=1e-5)
