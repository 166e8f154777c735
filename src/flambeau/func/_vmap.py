"""vmap by taking the batch apart, calling the function once per element, and stacking what it returns.

So every function can be mapped, control flow on values included, and derivatives pass through; but it is no faster than
the loop it stands for.
"""

import functools

from .. import _C
from ..utils._pytree import (
    _broadcast_to_and_flatten,
    tree_flatten,
    tree_map,
    tree_structure,
    tree_unflatten,
)

__all__ = ["vmap"]


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """Make a function that maps `func` over a dimension of its tensor arguments.

    Args:
        func: takes tensors without the mapped dimension, in trees of tuples, lists and dicts, and returns such trees.
        in_dims: which dimension of each positional argument is mapped: an int or None (not mapped) for all, or a tuple
            with one entry per argument, each an int, None, or a tree of them. Keyword arguments are not mapped.
        out_dims: where the mapped dimension goes in the outputs: an int, or a tree of them. None for an output that
            does not depend on the mapped arguments.
        randomness: "error" refuses random functions inside, "different" gives each element its own numbers, "same"
            gives all the same.
        chunk_size: accepted; elements are computed one at a time.
    Returns:
        A function of the same arguments as func.
    Raises:
        ValueError: in_dims or out_dims does not fit, nothing is mapped, or an output is no tensor.
        RuntimeError: a random function was called and randomness is "error".
    Example:
        >>> import flambeau
        >>> x, y = flambeau.tensor([[1.0, 2.0], [3.0, 4.0]]), flambeau.tensor([10.0, 1.0])
        >>> flambeau.vmap(flambeau.dot, in_dims=(0, None))(x, y)
        tensor([12., 34.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args, **kwargs):
        leaves, spec, dims, size = _prepare(func, in_dims, args)
        samples = _run_all(func, leaves, spec, dims, size, kwargs, randomness)
        return _assemble(samples, out_dims, size, _name(func))

    return mapped


def _name(func):
    return getattr(func, "__name__", repr(func))


def _is_dim(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _prepare(func, in_dims, args):
    """(leaves of args, their spec, the mapped dimension of each leaf or None, the batch size)"""
    call = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>)"
    if not _is_dim(in_dims) and not isinstance(in_dims, tuple):
        raise ValueError(
            f"{call}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap "
            "over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{call}: in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree_structure(in_dims)} but inputs has structure {spec}."
        )
    for leaf, dim in zip(leaves, dims, strict=True):
        _check_dim(call, leaf, dim)
    sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, "
            f"got sizes {sizes} for the mapped dimension"
        )
    return leaves, spec, dims, sizes[0]


def _check_dim(call, leaf, dim):
    if dim is None:
        return
    if not _is_dim(dim):
        raise ValueError(
            f"{call}: Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    if not isinstance(leaf, _C.TensorBase):
        raise ValueError(
            f"{call}: Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim"
        )
    if not -leaf.dim() <= dim < leaf.dim():
        raise ValueError(
            f"{call}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.dim()} so "
            f"expected in_dim to satisfy -{leaf.dim()} <= in_dim < {leaf.dim()}."
        )


def _run_all(func, leaves, spec, dims, size, kwargs, randomness):
    """What func returns for each element; for an empty batch, for one of zeros, whose shapes count."""
    from ..random import get_rng_state, set_rng_state

    start = get_rng_state() if randomness != "different" else None

    def element(b):
        if size == 0:
            return [_zeros_without(leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)]
        return [
            leaf if dim is None else leaf.select(dim, b)
            for leaf, dim in zip(leaves, dims, strict=True)
        ]

    samples = []
    for b in range(max(size, 1)):
        if randomness == "same" and b:
            set_rng_state(start)
        samples.append(func(*tree_unflatten(element(b), spec), **kwargs))
        if randomness == "error" and b == 0 and not get_rng_state().equal(start):
            set_rng_state(start)
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
                "'different' randomness flags on vmap or perform the randomness operation out of vmap"
            )
    return samples


def _zeros_without(leaf, dim):
    if dim is None:
        return leaf
    shape = list(leaf.shape)
    del shape[dim]
    return leaf.new_zeros(shape)


def _assemble(samples, out_dims, size, name):
    first, spec = tree_flatten(samples[0])
    columns = list(zip(*(tree_flatten(sample)[0] for sample in samples), strict=True))
    dims = _output_dims(out_dims, first, spec, name)
    outputs = [
        _output(column, dim, size, name)
        for column, dim in zip(columns or ((),) * len(first), dims, strict=True)
    ]
    return tree_unflatten(outputs, spec)


def _output_dims(out_dims, leaves, spec, name):
    def check(dim):
        if dim is not None and not _is_dim(dim):
            raise ValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of "
                "ints representing where in the outputs the vmapped dimension should appear."
            )

    if out_dims is not None:
        tree_map(check, out_dims)
    # A single output may have a tuple around its dimension.
    alone = spec.is_leaf() and isinstance(out_dims, tuple) and len(out_dims) == 1
    dims = _broadcast_to_and_flatten(out_dims[0] if alone else out_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {tree_structure(out_dims)} but outputs has structure {spec}."
        )
    for leaf, dim in zip(leaves, dims, strict=True):
        if dim is not None and not isinstance(leaf, _C.TensorBase):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}. Did you mean to set "
                "out_dims= to None for output?"
            )
    return dims


def _output(column, dim, size, name):
    from .. import stack

    if dim is None:
        first = column[0]
        if isinstance(first, _C.TensorBase) and any(
            other is not first and not other.equal(first) for other in column
        ):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return first
    stacked = stack(column, dim)
    return stacked if size else stacked.narrow(dim, 0, 0)
