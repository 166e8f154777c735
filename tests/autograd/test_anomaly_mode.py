"""Anomaly mode: the user's line in the warning, NaN in gradients as an error."""

import warnings

import pytest

import flambeau
from flambeau import autograd


class Fails(autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value * 1.0

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("broken backward")


def quietly(check_nan=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return autograd.detect_anomaly(check_nan)


def test_entering_warns():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        autograd.detect_anomaly()


def test_error_names_the_forward_line():
    x = flambeau.ones(1, requires_grad=True)
    with quietly():
        y = Fails.apply(x)  # the line to be named
        with pytest.warns(
            UserWarning, match=r"Error detected in FailsBackward.*\n(.*\n)*.*the line to be named"
        ):
            with pytest.raises(ValueError, match="broken backward"):
                y.backward()


def test_without_forward_information():
    x = flambeau.ones(1, requires_grad=True)
    y = Fails.apply(x)
    with quietly():
        with pytest.warns(UserWarning, match="No forward pass information"):
            with pytest.raises(ValueError, match="broken backward"):
                y.backward()


def test_nan_in_a_gradient_is_an_error():
    x = flambeau.zeros(1, requires_grad=True)
    with quietly():
        y = x.sqrt() * 0.0  # 0 * inf
        with pytest.warns(UserWarning, match="SqrtBackward0"):
            with pytest.raises(
                RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"
            ):
                y.backward()


def test_nan_check_can_be_left_out():
    x = flambeau.zeros(1, requires_grad=True)
    with quietly(check_nan=False):
        (x.sqrt() * 0.0).backward()
    assert x.grad.isnan().all()


def test_error_in_double_backward_names_both():
    class Inner(Fails):
        pass

    class Outer(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            ctx.save_for_backward(value)
            return value * 1.0

        @staticmethod
        def backward(ctx, grad):
            (value,) = ctx.saved_tensors
            return Inner.apply(grad * value)

    x = flambeau.ones(1, requires_grad=True)
    with quietly():
        (first,) = autograd.grad(Outer.apply(x), x, create_graph=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises(ValueError, match="broken backward"):
                first.backward()
    text = "".join(str(warning.message) for warning in caught)
    assert "InnerBackward" in text and "induced by OuterBackward" in text


def test_switches():
    assert not flambeau.is_anomaly_enabled()
    with autograd.set_detect_anomaly(True):
        assert flambeau.is_anomaly_enabled() and flambeau.is_anomaly_check_nan_enabled()
        with autograd.set_detect_anomaly(True, check_nan=False):
            assert not flambeau.is_anomaly_check_nan_enabled()
    assert not flambeau.is_anomaly_enabled()
