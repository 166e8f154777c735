"""Copies and conversions."""

import numpy as np

from flambeau.testing.opspec import ALL, Case, OpSpec, Shape, case_samples, unary_samples

X = np.zeros((2, 3))

SPECS = [
    OpSpec(
        "clone", reference=np.copy, samples=unary_samples(), dtypes=ALL, inplace=False,
        errors=[Case(args=("x",), raises=TypeError, match="clone")],
    ),
    OpSpec(
        "Tensor.contiguous", reference=np.copy, samples=unary_samples(), dtypes=ALL, inplace=False,
        errors=[Case(args=(X, 1), raises=TypeError, match="contiguous")],
    ),
    OpSpec(
        "Tensor.fill_", reference=lambda x, value: np.full_like(x, value), dtypes=ALL, grad=False,
        samples=case_samples(((2, 3), 1), ((), True), ((0,), 1)),
        errors=[Case(args=(X, np.zeros(2)), match="0-dim"), Case(args=(X, 1j), match="overflow|converted")],
    ),
    OpSpec(
        "Tensor.copy_", reference=lambda x, src: np.broadcast_to(src, x.shape), dtypes=ALL, grad=False,
        samples=case_samples(((2, 3), Shape((2, 3))), ((2, 3), Shape((3,))), ((2, 3), Shape(()))),
        errors=[Case(args=(X, np.zeros(2)), match="expanded size|broadcast")],
        views=False,  # an expanded destination cannot be written
    ),
    OpSpec(
        "Tensor.sum_to_size", reference=lambda x, size: x.reshape(-1, *size).sum(0) if x.size else np.zeros(size),
        samples=case_samples(((4, 2, 3), (2, 3)), ((2, 3), (2, 3))),
        errors=[Case(args=(X, (2,)), match="expandable")],
    ),
]  # fmt: skip


def on_copy(method):
    """An in-place method run on a copy."""
    return lambda first, *args: getattr(first.clone(), method)(*args)


SPECS += [
    OpSpec("fill", lambda x, value: np.full_like(x, value), case_samples(((2, 3), 1), ((), True), ((0,), 1)),
           dtypes=ALL, errors=[Case(args=(X, np.zeros(2)), match="0-dim")]),
    OpSpec("zero_", np.zeros_like, case_samples(((2, 3),), ((),), ((0,),)), dtypes=ALL, function=on_copy("zero_"),
           method=False, out=False, errors=[Case(args=(X, 1), raises=TypeError, match="zero")]),
    OpSpec("resize_as_", lambda x, template: x.reshape(template.shape), case_samples(((2, 3), Shape((3, 2)))),
           grad=False, views=False, meta=False, method=False, function=on_copy("resize_as_"),
           errors=[Case(args=(X, 1), raises=(TypeError, AttributeError), match="Tensor|attribute")]),
]  # fmt: skip
