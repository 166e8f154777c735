"""Lazily conjugated and negated inputs: values and gradients equal those of resolved copies, bit for bit or nearly."""

import numpy as np
import pytest

import flambeau
from flambeau.testing.opcheck import (
    as_list,
    bind,
    dtype_name,
    function_of,
    leaves,
    map_tensors,
    numbered,
    random_like,
)
from flambeau.testing.opspec import Draw

SLOTS = ("float32", "float64", "complex64", "complex128")


def wanted(spec):
    return bool(set(spec.dtypes) & set(SLOTS)) and spec.views


def conjugated(tensor):
    """The same values behind a conj bit."""
    return tensor.conj().resolve_conj().conj() if tensor.is_complex() else tensor


def negated(tensor):
    """The same values behind a neg bit, as the imaginary part of a conjugate has it."""
    if not tensor.is_floating_point():
        return tensor
    wide = {"float32": "complex64", "float64": "complex128"}.get(dtype_name(tensor))
    if wide is None:
        return tensor
    pair = flambeau.complex(flambeau.zeros_like(tensor), -tensor)
    view = pair.conj().imag
    assert view.is_neg()
    return view


def outcome(function, args, kwargs, gradient, arguments=None):
    """Results, and the gradients of the floating-point tensors under fixed weights."""
    inputs = [
        item for item in leaves(args, kwargs) if item.is_floating_point() or item.is_complex()
    ]
    if arguments is not None:
        inputs = [inputs[position] for position in arguments]
    if gradient:
        with flambeau.no_grad():
            for item in inputs:
                item.requires_grad_()
    results = [
        item for item in as_list(function(*args, **kwargs)) if isinstance(item, flambeau.Tensor)
    ]
    if not gradient:
        return results
    rng = np.random.default_rng(0)
    used = [(item, random_like(item.detach(), rng)) for item in results if item.requires_grad]
    if not used or not inputs:
        return results
    found = flambeau.autograd.grad(
        [item for item, _ in used], inputs, [weight for _, weight in used], allow_unused=True
    )
    return results + [item for item in found if item is not None]


def check(spec, dtype, change):
    function = function_of(spec)
    supported = False
    for label, sample in numbered(spec, Draw(dtype, smooth=True)):
        args, kwargs = bind(sample, dtype)
        try:
            outcome(function, args, kwargs, False)
        except (RuntimeError, TypeError, ValueError):
            continue  # not for this dtype
        supported = True
        plain = [
            map_tensors(x, lambda t: t.detach().clone(), flambeau.Tensor) for x in (args, kwargs)
        ]
        lazy = [
            map_tensors(x, lambda t: change(t.detach()), flambeau.Tensor) for x in (args, kwargs)
        ]
        expected = outcome(function, *plain, spec.grad, spec.grad_arguments)
        got = outcome(function, *lazy, spec.grad, spec.grad_arguments)
        assert len(got) == len(expected), label
        for left, right in zip(got, expected, strict=True):
            assert left.dtype == right.dtype, label
            flambeau.testing.assert_close(
                left.detach().resolve_conj().resolve_neg(),
                right.detach().resolve_conj().resolve_neg(),
                rtol=1e-9,
                atol=1e-9,
                equal_nan=True,
                msg=label,
            )
    return supported


def test_conjugated_views(spec):
    if not check(spec, "complex128", conjugated):
        pytest.skip("no complex numbers")


def test_negated_views(spec):
    if not check(spec, "float64", negated):
        pytest.skip("no floating-point numbers")
