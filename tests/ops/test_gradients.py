"""First and second derivatives against central differences, and the in-place form's gradient."""

import pytest

import flambeau
from flambeau.testing.opcheck import base_method, check_gradient, check_inplace_gradient

DTYPES = ("float64", "complex128")


def wanted(spec):
    return spec.grad


def test_gradient_equals_central_difference(spec, dtype):
    check_gradient(spec, dtype, order=1)


def test_second_derivative_equals_central_difference(spec, dtype):
    if not spec.grad_grad:
        pytest.skip("the spec says: once differentiable")
    check_gradient(spec, dtype, order=2)


def test_inplace_gradient_equals_functional(spec, dtype):
    if spec.inplace is False or not hasattr(flambeau.Tensor, base_method(spec) + "_"):
        pytest.skip("no in-place form")
    check_inplace_gradient(spec, dtype)
