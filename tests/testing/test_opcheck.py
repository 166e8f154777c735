"""The op checks find what they are for: each is run on a function that is wrong in exactly one way."""

import numpy as np
import pytest

import flambeau
from flambeau.testing import opcheck
from flambeau.testing.opspec import Case, OpSpec, binary_samples, unary_samples


def spec(function, reference=np.exp, **options):
    samples = options.pop("samples", unary_samples())
    return OpSpec("wrong", reference, samples, function=function, **options)


def test_right_function_passes_every_check():
    right = spec(flambeau.exp)
    opcheck.check_values(right, "float32")
    opcheck.check_layouts(right, "float32")
    opcheck.check_meta(right, "float32")
    opcheck.check_gradient(right, "float64", order=1)
    opcheck.check_gradient(right, "float64", order=2)


def test_small_error_in_values_is_found():
    with pytest.raises(AssertionError, match="values off in float32"):
        opcheck.check_values(spec(lambda x: flambeau.exp(x) * (1 + 1e-5)), "float32")


def test_wrong_dtype_is_found():
    with pytest.raises(AssertionError, match="expected dtype float32, got float64"):
        opcheck.check_values(spec(lambda x: flambeau.exp(x).double()), "float32")


def test_wrong_shape_is_found():
    with pytest.raises(AssertionError, match="expected shape"):
        opcheck.check_values(spec(lambda x: flambeau.exp(x).unsqueeze(0)), "float32")


def test_stride_blindness_is_found():
    def from_memory(x):
        return flambeau.exp(flambeau.as_strided(x, x.shape, flambeau.empty(x.shape).stride()))

    with pytest.raises((AssertionError, RuntimeError)):
        opcheck.check_layouts(spec(from_memory), "float32")


def test_half_gradient_is_found():
    product = spec(lambda x: x.detach() * x, reference=np.square)
    with pytest.raises(AssertionError, match="derivative 1 in tensor argument 0"):
        opcheck.check_gradient(product, "float64", order=1)


def test_gradient_of_the_second_argument_is_checked():
    wrong = spec(lambda a, b: a * b.detach(), reference=np.multiply, samples=binary_samples())
    with pytest.raises(AssertionError, match="derivative 1 in tensor argument 1"):
        opcheck.check_gradient(wrong, "float64", order=1)


def test_wrong_second_derivative_is_found():
    class Cube(flambeau.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 3 * x.detach() * x * grad

    wrong = spec(Cube.apply, reference=lambda x: x**3)
    opcheck.check_gradient(wrong, "float64", order=1)
    with pytest.raises(AssertionError, match="derivative 2"):
        opcheck.check_gradient(wrong, "float64", order=2)


def test_missing_error_is_found():
    with pytest.raises(AssertionError, match="got a result"):
        opcheck.check_error(spec(flambeau.exp), Case(args=(np.zeros(2),)))


def test_unhelpful_message_is_found():
    case = Case(args=("text",), raises=TypeError, match="no such words")
    with pytest.raises(AssertionError, match="expected a message matching"):
        opcheck.check_error(spec(flambeau.exp), case)
