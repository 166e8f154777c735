"""Transformer layers: masks, padding in evaluation, warnings."""

import warnings

import pytest

import flambeau
from flambeau import nn

EVEN = {"d_model": 8, "nhead": 2, "dim_feedforward": 16, "dropout": 0.0}


def encoder(norm=None, **options):
    layer = nn.TransformerEncoderLayer(**{**EVEN, "batch_first": True, **options})
    return nn.TransformerEncoder(layer, 2, norm)


def padding():
    mask = flambeau.zeros(2, 4, dtype=flambeau.bool)
    mask[1, 2:] = True
    return mask


def test_padding_rows_are_zero_in_evaluation_without_gradients():
    model = encoder().eval()
    x = flambeau.randn(2, 4, 8)
    full = model(x, src_key_padding_mask=padding())
    with flambeau.no_grad():
        fast = model(x, src_key_padding_mask=padding())
    assert fast[1, 2:].abs().sum() == 0
    assert flambeau.equal(fast[0], full[0])
    assert flambeau.equal(fast[1, :2], full[1, :2])
    assert full[1, 2:].abs().sum() > 0


def test_the_final_norm_sees_the_zero_rows():
    model = encoder(nn.LayerNorm(8)).eval()
    with flambeau.no_grad():
        model.norm.bias.fill_(3.0)
        output = model(flambeau.randn(2, 4, 8), src_key_padding_mask=padding())
    assert output[1, 2:].unique().tolist() == [3]


def test_padding_on_the_left_stays():
    model = encoder().eval()
    with flambeau.no_grad():
        output = model(flambeau.randn(2, 4, 8), src_key_padding_mask=padding().flip(1))
    assert output[1, :2].abs().sum() > 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"batch_first": False}, "batch_first"),
        ({"norm_first": True}, "norm_first"),
        ({"bias": False}, "bias=False"),
        ({"activation": flambeau.tanh}, "activation_relu_or_gelu"),
        ({"nhead": 1}, "num_heads is odd"),
    ],
)
def test_what_rules_out_skipping_padding_is_said(options, reason):
    with pytest.warns(UserWarning, match=reason):
        model = encoder(**options)
    assert not model.use_nested_tensor
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.TransformerEncoder(model.layers[0], 1, enable_nested_tensor=False)


def test_merged_masks():
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    x = flambeau.zeros(2, 4, 8)
    causal = flambeau.full((4, 4), float("-inf")).triu(1)
    assert attention.merge_masks(None, None, x) == (None, None)
    mask, kind = attention.merge_masks(None, padding(), x)
    assert kind == 1
    mask, kind = attention.merge_masks(causal, padding().float(), x)
    assert kind == 2
    assert mask.shape == (2, 2, 4, 4)
