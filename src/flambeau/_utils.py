"""What pickles of tensors call to rebuild them, under PyTorch's names, and how tensors take themselves apart.

Files name these functions: their arguments are untrusted and are checked here or in the native code.
"""

from __future__ import annotations

import contextlib
import copy
import sys
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import flambeau

from . import _C
from .storage import TypedStorage, UntypedStorage


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Any:
    untyped = storage.untyped()
    if untyped.device.type == "meta":
        return flambeau.empty_strided(size, stride, dtype=storage.dtype, device="meta")
    return _C._tensor_over(untyped, storage.dtype, storage_offset, size, stride)


def _set_metadata(tensor: Any, metadata: Any) -> Any:
    if metadata:
        if metadata.get("conj"):
            tensor = tensor.conj()
        if metadata.get("neg"):
            tensor = tensor._neg_view()
    return tensor


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Any:
    tensor = _set_metadata(_rebuild_tensor(storage, storage_offset, size, stride), metadata)
    if requires_grad:
        tensor.requires_grad_()
    return tensor


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Any:
    if dtype is flambeau.complex32:
        return _rebuild_complex32(storage, storage_offset, size, stride)
    typed = TypedStorage(wrap_storage=storage.untyped(), dtype=dtype)
    return _rebuild_tensor_v2(
        typed, storage_offset, size, stride, requires_grad, backward_hooks, metadata
    )


def _rebuild_complex32(storage: Any, storage_offset: int, size: Any, stride: Any) -> Any:
    from ._complex32 import from_parts

    halves = TypedStorage(wrap_storage=storage.untyped(), dtype=flambeau.float16)
    strides = (*(2 * step for step in stride), 1)
    return from_parts(_rebuild_tensor(halves, 2 * storage_offset, (*size, 2), strides))


def _rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Any:
    return flambeau.empty_strided(
        size, stride, dtype=dtype, device="meta", requires_grad=requires_grad
    )


def _rebuild_qtensor(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    parameters: Any,
    requires_grad: bool,
    backward_hooks: Any,
) -> Any:
    from .quantized.scheme import rebuild_from_storage

    return rebuild_from_storage(storage, storage_offset, size, stride, parameters)


# While a file is read whose storages come after the pickle: what to check when they are there.
_unchecked_sparse: list[Any] | None = None


def _rebuild_sparse_tensor(layout: Any, data: Any) -> Any:
    from .sparse import _storage

    if _unchecked_sparse is None:
        return _storage.rebuilt(layout, data)
    _unchecked_sparse.append((layout, data))
    return _storage.rebuilt_unchecked(layout, data)


@contextlib.contextmanager
def checking_sparse_later() -> Iterator[Any]:
    """Context in which sparse tensors are rebuilt unchecked; gives a function that checks them."""
    global _unchecked_sparse
    before, _unchecked_sparse = _unchecked_sparse, []
    waiting = _unchecked_sparse

    def check() -> None:
        from .sparse import _storage

        for layout, data in waiting:
            _storage.rebuilt(layout, data)

    try:
        yield check
    finally:
        _unchecked_sparse = before


_rebuild_sparse_csr_tensor = _rebuild_sparse_tensor  # what PyTorch 1.9 to 1.12 called


def _rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Any:
    return flambeau.nn.Parameter(data, requires_grad)


def _rebuild_parameter_with_state(
    data: Any, requires_grad: bool, backward_hooks: Any, state: Any
) -> Any:
    return _set_state(flambeau.nn.Parameter(data, requires_grad), state)


def _rebuild_from_type_v2(func: Any, new_type: Any, args: Any, state: Any) -> Any:
    result = func(*args)
    if type(result) is not new_type:
        result = result.as_subclass(new_type)
    if getattr(new_type, "__setstate__", None) is not getattr(
        flambeau.Tensor, "__setstate__", None
    ):
        result.__setstate__(state)
        return result
    return _set_state(result, state)


def _set_state(obj: Any, state: Any) -> Any:
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    for part in (state, slots):
        for name, value in (part or {}).items():
            setattr(obj, name, value)
    return obj


def _get_dtype(name: str) -> Any:
    """Pickles of a dtype call this."""
    dtype = getattr(flambeau, name, None)
    if not isinstance(dtype, flambeau.dtype):
        raise ValueError(f"expected the name of a dtype, got {name!r}")
    return dtype


def _get_singleton(kind: str, name: str) -> Any:
    """Pickles of a layout or memory format call this."""
    found = getattr(flambeau, name, None)
    if type(found).__name__ != kind:
        raise ValueError(f"expected the name of a {kind}, got {name!r}")
    return found


def _is_parameter(tensor: Any) -> bool:
    nn = sys.modules.get("flambeau.nn")  # there is no Parameter before its import
    return nn is not None and type(tensor) is getattr(nn, "Parameter", None)


def _reduce_data(tensor: Any) -> tuple[Any, tuple[Any, ...]]:
    """Function and arguments that rebuild the plain tensor."""
    if (content := _C._extension(tensor)) is not None:
        return content.reduce(tensor)
    if tensor.device.type == "meta":
        return _rebuild_meta_tensor_no_storage, (
            tensor.dtype,
            tuple(tensor.size()),
            tensor.stride(),
            tensor.requires_grad,
        )
    if tensor.requires_grad and not tensor.is_leaf:
        tensor = tensor.detach().requires_grad_()
    metadata = {name: True for name in ("conj", "neg") if getattr(tensor, f"is_{name}")()}
    args = (
        tensor.storage(),
        tensor.storage_offset(),
        tuple(tensor.size()),
        tensor.stride(),
        tensor.requires_grad,
        OrderedDict(),
    )
    return _rebuild_tensor_v2, (*args, metadata) if metadata else args


def reduce_tensor(tensor: Any, protocol: Any) -> Any:
    """Tensor.__reduce_ex__: keeps strides, the shared storage, requires_grad, the class and attributes."""
    # How to copy a tensor (nn/utils/_derived.py) is about its history, which a pickle does not have.
    state = {k: v for k, v in vars(tensor).items() if k != "__deepcopy__"} or None
    if _is_parameter(tensor):
        args = (tensor.detach().as_subclass(flambeau.Tensor), tensor.requires_grad, OrderedDict())
        if state:
            return _rebuild_parameter_with_state, (*args, dict(state))
        return _rebuild_parameter, args
    func, args = _reduce_data(tensor)
    if type(tensor) is flambeau.Tensor and not state:
        return func, args
    return _rebuild_from_type_v2, (func, type(tensor), args, dict(state or {}))


def deepcopy_tensor(tensor: Any, memo: dict[int, Any]) -> Any:
    """Tensor.__deepcopy__: storages shared within one deepcopy stay shared."""
    if id(tensor) in memo:
        return memo[id(tensor)]
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
            "at the moment. Copy tensor.detach() instead, or tensor.clone() to stay in the graph."
        )
    with flambeau.no_grad():
        if (content := _C._extension(tensor)) is not None:
            rebuild, parts = content.reduce(tensor.detach())
            result = rebuild(*copy.deepcopy(parts, memo))
        elif tensor.device.type == "meta":
            result = flambeau.empty_strided(
                tuple(tensor.size()), tensor.stride(), dtype=tensor.dtype, device="meta"
            )
        else:
            storage = copy.deepcopy(tensor.untyped_storage(), memo)
            result = _C._tensor_over(
                storage,
                tensor.dtype,
                tensor.storage_offset(),
                tuple(tensor.size()),
                tensor.stride(),
            )
            result = _set_metadata(result, {"conj": tensor.is_conj(), "neg": tensor.is_neg()})
    if _is_parameter(tensor):
        result = flambeau.nn.Parameter(result, tensor.requires_grad)
    else:
        if type(tensor) is not flambeau.Tensor:
            result = result.as_subclass(type(tensor))
        if tensor.requires_grad:
            result.requires_grad_()
    memo[id(tensor)] = result
    if tensor.grad is not None:
        result.grad = copy.deepcopy(tensor.grad, memo)
    if getattr(tensor, "__dict__", None):
        result.__dict__.update(copy.deepcopy(tensor.__dict__, memo))
    return result


def untyped_storage(tensor: Any) -> UntypedStorage:
    """Tensor.untyped_storage()."""
    if tensor.layout is not flambeau.strided:
        raise NotImplementedError(
            f"Cannot access storage of a tensor of layout {tensor.layout}: it has none of its own."
        )
    return _C._storage_of(tensor, UntypedStorage)


def typed_storage(tensor: Any) -> TypedStorage:
    """Tensor.storage()."""
    if tensor.is_quantized:
        return _reduce_data(tensor)[1][0]
    return TypedStorage(wrap_storage=untyped_storage(tensor), dtype=tensor.dtype)


def _flatten_dense_tensors(tensors: Any) -> Any:
    """One vector with the values of all tensors, one after the other."""
    return flambeau.cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Any) -> tuple[Any, ...]:
    """Views of parts of a vector, with the shapes of the tensors."""
    parts = flat.split([tensor.numel() for tensor in tensors])
    return tuple(part.view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True))
