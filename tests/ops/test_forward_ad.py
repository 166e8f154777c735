"""Tangents of every op against its gradient: Re <w, J t> = Re <J* w, t>, for the functional and the in-place form; and
tangents of its gradient against the second derivative.
"""

from functools import partial

import numpy as np
import pytest

import flambeau
import flambeau.autograd.forward_ad as fwAD
from flambeau.testing.opcheck import (
    base_method,
    bind,
    call_inplace,
    differentiable,
    dtype_name,
    function_of,
    gradient,
    inner,
    leaves,
    numbered,
    random_like,
    to_wide,
)
from flambeau.testing.opspec import Draw, kind_of

DTYPES = ("float64", "complex128")


def wanted(spec):
    return spec.grad


def floating(spec, args, kwargs):
    inputs = [tensor for tensor in leaves(args, kwargs) if kind_of(dtype_name(tensor)) in "fc"]
    if spec.grad_arguments is not None:
        inputs = [inputs[position] for position in spec.grad_arguments]
    return [tensor for tensor in inputs if tensor.numel()]


def check_adjoint(run, inputs, label):
    """Each input alone, and all at once."""
    rng = np.random.default_rng(3)
    base = [tensor.detach().clone() for tensor in inputs]
    weights = [random_like(item, rng) for item in run(base)]
    leaf = [tensor.clone().requires_grad_() for tensor in base]
    gradients = gradient(run, leaf, weights, create_graph=False)
    directions = [random_like(tensor, rng) for tensor in base]
    choices = [[position] for position in range(len(base))] + [list(range(len(base)))]
    for chosen in choices if len(base) > 1 else choices[:1]:
        with fwAD.dual_level():
            duals = list(base)
            for position in chosen:
                duals[position] = fwAD.make_dual(base[position], directions[position])
            results = run(duals)
            tangents = [fwAD.unpack_dual(item).tangent for item in results]
            for item, tangent in zip(results, tangents, strict=True):
                assert tangent is None or (tangent.shape, tangent.dtype) == (item.shape, item.dtype)
                assert tangent is None or not tangent.requires_grad
        found = [(w, t) for w, t in zip(weights, tangents, strict=True) if t is not None]
        forward = inner([w for w, _ in found], [t for _, t in found])
        reverse = inner([gradients[p] for p in chosen], [directions[p] for p in chosen])
        scale = max(1.0, abs(reverse), *(float(np.abs(to_wide(g)).max()) for g in gradients))
        assert abs(forward - reverse) <= 1e-9 * scale, (
            f"{label}: tangent in {chosen}: expected {reverse:.12g}, got {forward:.12g}"
        )


def test_tangent_is_adjoint_to_gradient(spec, dtype):
    for label, sample in numbered(spec, Draw(dtype, smooth=True)):
        args, kwargs = bind(sample, dtype)
        if inputs := floating(spec, args, kwargs):
            check_adjoint(differentiable(function_of(spec), args, kwargs, inputs), inputs, label)


def check_over_reverse(run, inputs, label):
    """The tangent of the gradient is the product with the second derivative that reverse mode gives."""
    rng = np.random.default_rng(4)
    leaf = [tensor.detach().clone().requires_grad_() for tensor in inputs]
    weights = [random_like(item, rng) for item in run(leaf)]
    directions, cotangents = ([random_like(tensor, rng) for tensor in leaf] for _ in range(2))
    expected = gradient(
        lambda values: gradient(run, values, weights, create_graph=True), leaf, cotangents, False
    )
    with fwAD.dual_level():
        duals = [fwAD.make_dual(x, v) for x, v in zip(leaf, directions, strict=True)]
        gradients = gradient(run, duals, weights, create_graph=False)
        tangents = [fwAD.unpack_dual(item).tangent for item in gradients]
    found = [(c, t) for c, t in zip(cotangents, tangents, strict=True) if t is not None]
    forward = inner([c for c, _ in found], [t for _, t in found])
    reverse = inner(expected, directions)
    scale = max(1.0, abs(reverse), *(float(np.abs(to_wide(g)).max()) for g in expected))
    assert abs(forward - reverse) <= 1e-8 * scale, (
        f"{label}: forward over reverse: expected {reverse:.12g}, got {forward:.12g}"
    )


def test_tangent_of_the_gradient_is_the_second_derivative(spec, dtype):
    if not spec.grad_grad:
        pytest.skip("the spec says: once differentiable")
    for label, sample in numbered(spec, Draw(dtype, smooth=True)):
        args, kwargs = bind(sample, dtype)
        if inputs := floating(spec, args, kwargs):
            check_over_reverse(
                differentiable(function_of(spec), args, kwargs, inputs), inputs, label
            )


def test_inplace_tangent_is_adjoint_to_gradient(spec, dtype):
    name = base_method(spec) + "_"
    if spec.inplace is False or not hasattr(flambeau.Tensor, name):
        pytest.skip("no in-place form")
    for label, sample in numbered(spec, Draw(dtype, smooth=True)):
        args, kwargs = bind(sample, dtype)
        if not args or not isinstance(args[0], flambeau.Tensor):
            continue
        result = function_of(spec)(*args, **kwargs)
        if not isinstance(result, flambeau.Tensor):
            continue
        if (result.shape, result.dtype) != (args[0].shape, args[0].dtype):
            continue
        if inputs := floating(spec, args, kwargs):
            run = differentiable(partial(call_inplace, name), args, kwargs, inputs)
            check_adjoint(run, inputs, f"{label}, in place")


def test_half_complex_numbers_have_no_tangents():
    x = flambeau.ones(2).to(flambeau.complex32)
    with pytest.raises(NotImplementedError, match="complex64"):
        flambeau.func.jvp(lambda a: a * x, (flambeau.tensor(3.0),), (flambeau.tensor(1.0),))
