"""Normalisation modules: what recorded results do not cover."""

import pytest

import flambeau
from flambeau import nn


def test_synchronised_batch_norm_is_batch_norm_in_one_process():
    plain = nn.BatchNorm2d(3)
    model = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(plain))
    assert type(model[0]) is nn.SyncBatchNorm
    x = flambeau.randn(4, 3, 2, 2)
    reference = nn.BatchNorm2d(3)
    assert flambeau.equal(model(x), reference(x))
    assert flambeau.equal(model[0].running_var, reference.running_var)
    assert flambeau.equal(model.eval()(x), reference.eval()(x))


def test_old_response_norm_keeps_channel_0():
    x = flambeau.ones(1, 5, 1, 1)
    # PyTorch 2.13: windows of 2, 3, 3 and 2 channels, and one square too many from channel 2 on.
    scale = flambeau.tensor([2.0, 3, 4, 4, 3]).reshape(1, 5, 1, 1)
    expected = (1 + 0.3 / 3 * scale) ** -0.75
    assert flambeau.allclose(nn.CrossMapLRN2d(3, 0.3)(x), expected)
    with pytest.raises(ValueError, match="Expected input to be 4D"):
        nn.CrossMapLRN2d(3)(x[0])
