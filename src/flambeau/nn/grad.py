"""Gradients of convolutions as functions of their own: with respect to the input and to the weight."""

import flambeau
from flambeau.nn import functional as F

__all__ = [
    "conv1d_input",
    "conv1d_weight",
    "conv2d_input",
    "conv2d_weight",
    "conv3d_input",
    "conv3d_weight",
]


def _gradient(conv, values, wanted, grad_output, settings):
    """The cotangent of one of (input, weight); the convolution is linear in each, so zeros do for it."""
    recorded = flambeau.is_grad_enabled() and (
        grad_output.requires_grad or values[1 - wanted].requires_grad
    )
    values[wanted].requires_grad_()
    with flambeau.enable_grad():
        output = conv(*values, None, *settings)
    return flambeau.autograd.grad(output, values[wanted], grad_output, create_graph=recorded)[0]


def conv1d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of conv1d with respect to an input of the given size."""
    values = [weight.new_zeros(tuple(input_size)), weight]
    return _gradient(F.conv1d, values, 0, grad_output, (stride, padding, dilation, groups))


def conv1d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of conv1d with respect to a weight of the given size."""
    values = [input, input.new_zeros(tuple(weight_size))]
    return _gradient(F.conv1d, values, 1, grad_output, (stride, padding, dilation, groups))


def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of conv2d with respect to an input of the given size."""
    values = [weight.new_zeros(tuple(input_size)), weight]
    return _gradient(F.conv2d, values, 0, grad_output, (stride, padding, dilation, groups))


def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of conv2d with respect to a weight of the given size."""
    values = [input, input.new_zeros(tuple(weight_size))]
    return _gradient(F.conv2d, values, 1, grad_output, (stride, padding, dilation, groups))


def conv3d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of conv3d with respect to an input of the given size."""
    values = [weight.new_zeros(tuple(input_size)), weight]
    return _gradient(F.conv3d, values, 0, grad_output, (stride, padding, dilation, groups))


def conv3d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of conv3d with respect to a weight of the given size."""
    values = [input, input.new_zeros(tuple(weight_size))]
    return _gradient(F.conv3d, values, 1, grad_output, (stride, padding, dilation, groups))
