"""state_dict and load_state_dict."""

import re

import pytest

import flambeau
from flambeau import nn


def make():
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))


def test_keys_and_metadata():
    state = make().state_dict()
    assert list(state) == [
        "0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var", "1.num_batches_tracked",
    ]  # fmt: skip
    assert dict(state._metadata) == {"": {"version": 1}, "0": {"version": 1}, "1": {"version": 2}}
    assert not state["0.weight"].requires_grad
    assert next(iter(make().state_dict(prefix="a."))) == "a.0.weight"


def test_values_share_memory_and_keep_vars_keeps_parameters():
    net = make()
    assert net.state_dict()["0.weight"].data_ptr() == net[0].weight.data_ptr()
    assert net.state_dict(keep_vars=True)["0.weight"] is net[0].weight


def test_round_trip():
    first, second = make(), make()
    result = second.load_state_dict(first.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    assert second[0].weight.tolist() == first[0].weight.tolist()


def test_messages_are_pytorchs():
    net = make()
    state = net.state_dict()
    del state["0.bias"]
    state["0.weight"] = flambeau.ones(2, 2)
    state["zz"] = flambeau.ones(1)
    state["1.more"] = 3
    expected = (
        "Error(s) in loading state_dict for Sequential:\n"
        '\tMissing key(s) in state_dict: "0.bias". \n'
        '\tUnexpected key(s) in state_dict: "zz", "1.more". \n'
        "\tsize mismatch for 0.weight: copying a param with shape torch.Size([2, 2]) from checkpoint, "
        "the shape in current model is torch.Size([3, 2])."
    )
    with pytest.raises(RuntimeError, match=re.escape(expected)):
        net.load_state_dict(state)
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'int'>"):
        net.load_state_dict(3)


def test_not_strict_reports_keys():
    net = make()
    result = net.load_state_dict(
        {"0.weight": flambeau.ones(3, 2), "x": flambeau.ones(1)}, strict=False
    )
    assert "0.bias" in result.missing_keys
    assert result.unexpected_keys == ["x"]
    assert net[0].weight.tolist() == [[1, 1]] * 3


def test_assign_takes_the_tensors_themselves():
    net = nn.Linear(2, 3, device="meta")
    values = {"weight": flambeau.ones(3, 2), "bias": flambeau.zeros(3)}
    net.load_state_dict(values, assign=True)
    assert isinstance(net.weight, nn.Parameter)
    assert net.weight.data_ptr() == values["weight"].data_ptr()


def test_old_batch_norm_checkpoint_without_counter_loads():
    net = nn.BatchNorm1d(2)
    state = {k: v for k, v in net.state_dict().items() if k != "num_batches_tracked"}
    net.load_state_dict(state)


def test_extra_state():
    class Counted(nn.Module):
        count = 0

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    saved, loaded = Counted(), Counted()
    saved.count = 5
    assert list(saved.state_dict()) == ["_extra_state"]
    loaded.load_state_dict(saved.state_dict())
    assert loaded.count == 5
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "_extra_state"'):
        loaded.load_state_dict({})


def test_hooks():
    net, seen = make(), []
    net.register_state_dict_pre_hook(lambda m, prefix, keep_vars: seen.append("save"))
    net.register_state_dict_post_hook(
        lambda m, state, prefix, metadata: state.__delitem__("0.bias")
    )
    net.register_load_state_dict_pre_hook(
        lambda m, state, *rest: state.update({"0.bias": flambeau.zeros(3)})
    )
    net.register_load_state_dict_post_hook(lambda m, keys: seen.append(keys.missing_keys))
    net.load_state_dict(net.state_dict())
    assert seen == ["save", []]
    assert net[0].bias.tolist() == [0, 0, 0]


def test_failed_load_names_the_parameter():
    net = nn.Linear(2, 3)
    state = net.state_dict()
    state["weight"] = 3
    with pytest.raises(
        RuntimeError, match=r'While copying the parameter named "weight", expected torch\.Tensor'
    ):
        net.load_state_dict(state)
