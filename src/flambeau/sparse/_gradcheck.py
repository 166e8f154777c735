"""as_sparse_gradcheck: gradcheck for functions of sparse tensors, done on their values."""

import functools

from .. import _C, ops
from ..ops import sparse_parts as native
from ._payload import blocksize_of, is_sparse, parts


def _everywhere(tensor):
    """tensor with every element specified, zeros included."""
    mask = ops.ones(tensor.shape, dtype=_C.bool)
    pattern = native.to_sparse(
        mask,
        tensor.sparse_dim() if tensor.is_sparse else None,
        layout=tensor.layout,
        blocksize=blocksize_of(tensor),
        dense_dim=None if tensor.is_sparse else tensor.dense_dim(),
    )
    return tensor.detach().to_dense().sparse_mask(pattern)


def _rebuild(content, values):
    if content.layout is _C.sparse_coo:
        return native._coo_from_parts(content.indices, values, content.size, content.coalesced)
    return native._compressed_from_parts(
        content.compressed, content.plain, values, content.size, str(content.layout)
    )


def as_sparse_gradcheck(gradcheck):
    """A gradcheck that accepts functions of and to sparse tensors.

    The given gradcheck itself sees strided tensors only: the values of sparse inputs, and dense outputs. With
    masked=False, the default, unspecified elements of inputs count as zeros that may change.
    """

    @functools.wraps(getattr(gradcheck, "func", gradcheck))
    def sparse_gradcheck(func, inputs, **kwargs):
        masked = kwargs.pop("masked", False)
        inputs = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
        plan, strided = [], []
        for item in inputs:
            if is_sparse(item) and item.requires_grad:
                content = parts(item.detach() if masked else _everywhere(item))
                plan.append(content)
                strided.append(content.values.detach().clone().requires_grad_())
            else:
                plan.append(None)
                strided.append(item)

        def on_values(*args, **options):
            restored = [
                arg if content is None else _rebuild(content, arg)
                for content, arg in zip(plan, args, strict=True)
            ]
            outputs = func(*restored, **options)
            several = isinstance(outputs, tuple | list)
            dense = tuple(
                out.to_dense(masked_grad=masked) if is_sparse(out) else out
                for out in (outputs if several else (outputs,))
            )
            return dense if several else dense[0]

        return gradcheck(on_values, tuple(strided), **kwargs)

    return sparse_gradcheck
