"""Tensors without strided memory: what an op does with them.

Such a tensor carries a payload, a Python object that says what its values are. It comes from `make`, and `payload`
gets it back. An op that meets one calls `run` below autograd in place of its kernel; gradient rules are the op's.
Each kind of payload registers its forms of ops:

    @register("sparse", "neg")
    def neg(input): ...

A form takes the op's arguments by position, all of them. An in-place op ("add_") without a form of its own runs the
form of "add" and assigns the result.
"""

import importlib
from collections.abc import Callable
from typing import Any

from . import _C

_MODULES = {
    "sparse": "flambeau.sparse",
    "quantized": "flambeau.quantized",
    "complex32": "flambeau._complex32",
}
_FORMS: dict[str, dict[str, Callable[..., Any]]] = {kind: {} for kind in _MODULES}
_OTHERWISE: dict[str, Callable[..., Any]] = {}
# Ops whose kernel calls for the extended form although no argument is extended.
_KIND_OF_RESULT = {
    "view_as_complex": "complex32",
    "complex": "complex32",
    **dict.fromkeys(
        ("_coo_from_parts", "_compressed_from_parts", "_to_layout", "_sparse_mask"), "sparse"
    ),
}
_NAMES_ONLY = (
    *(_C.uint16, _C.uint32, _C.uint64),
    *(_C.float8_e4m3fn, _C.float8_e4m3fnuz, _C.float8_e5m2, _C.float8_e5m2fnuz, _C.float8_e8m0fnu),
)


class Payload:
    """What an extended tensor consists of. Never changed once made: in-place ops give their tensor a new payload."""

    kind: str
    layout = _C.strided

    def strided(self, reader):
        """The values in a strided tensor, for the Tensor method `reader` ("tolist", "item", "numpy" …)."""
        raise TypeError(
            f"can't convert {self.layout} tensor to numpy. Use Tensor.to_dense() first."
        )

    def reduce(self, tensor):
        """Function and arguments that make an equal tensor: for pickles, files and deepcopy."""
        raise NotImplementedError(f"{self.kind} tensors cannot be pickled. Convert them first.")

    def assign(self, target, result) -> None:
        """Make `target`, whose payload this is, equal to `result` (same kind, after an in-place op)."""
        _C._set_extension(target, payload(result))


def make(content: Payload, size, dtype):
    """A tensor of this size and dtype whose values are what `content` says."""
    return _C._make_extended(content, tuple(size), dtype)


def payload(tensor) -> Any:
    """The payload of an extended tensor, None for a strided one."""
    return _C._extension(tensor)


def register(kind: str, *names: str):
    """Decorator: the form of the ops `names` for arguments of this kind."""

    def decorate(function):
        for name in names:
            _FORMS[kind][name] = function
        return function

    return decorate


def otherwise(kind: str):
    """Decorator: called as f(op, arguments) for ops without a form of this kind."""

    def decorate(function):
        _OTHERWISE[kind] = function
        return function

    return decorate


def _kind_of_dtype(dtype) -> str | None:
    if dtype is _C.complex32:
        return "complex32"
    quantized = (_C.qint8, _C.quint8, _C.qint32, _C.quint4x2, _C.quint2x4)
    if any(dtype is other for other in quantized):
        return "quantized"
    if any(dtype is other for other in _NAMES_ONLY):
        raise NotImplementedError(
            f"expected a dtype that tensors can have, got {dtype}, which can only be named and compared"
        )
    return None


def _kind_of(argument) -> str | None:
    if isinstance(argument, _C.TensorBase):
        content = payload(argument)
        return None if content is None else content.kind
    if isinstance(argument, tuple | list):
        return next((kind for kind in map(_kind_of, argument) if kind is not None), None)
    if isinstance(argument, _C.dtype):
        return _kind_of_dtype(argument)
    return None


# In-place ops that change the size of their tensor and not its values.
_GEOMETRY = frozenset("t_ transpose_ squeeze_ squeeze_dims_ unsqueeze_".split())


def _assign(target, result, name=""):
    content = payload(target)
    if name in _GEOMETRY:
        _C._set_extension(target, payload(result), tuple(result.shape))
        return target
    if content is not None and result.shape != target.shape:
        raise RuntimeError(
            f"{name or 'out='}: output with shape {list(target.shape)} doesn't match the broadcast shape "
            f"{list(result.shape)}"
        )
    if content is not None and content.kind == _kind_of(result):
        content.assign(target, result)
    else:
        target.copy_(result)
    return target


def run(op, arguments, out, layout):
    """The result of a native op some of whose arguments (or its layout=) no kernel can handle."""
    sparse = layout is not None and layout is not _C.strided
    kind = "sparse" if sparse else _kind_of(arguments) or _kind_of(out)
    # Without any such argument: quantization, or float16 beside a complex number.
    kind = kind or _KIND_OF_RESULT.get(op.name, "complex32")
    importlib.import_module(_MODULES[kind])
    from .ops.registry import OPS  # not imported yet when this file is

    if layout is not None and kind == "sparse":
        return _FORMS[kind]["factory"](op, arguments, layout)
    name = op.name
    form = _FORMS[kind].get(name)
    if form is None and name in _GEOMETRY:
        return _assign(arguments[0], OPS[name[:-1]](*arguments), name)
    inplace = form is None and name.endswith("_") and not name.endswith("__")
    if inplace:
        form = _FORMS[kind].get(name[:-1])
    if form is not None:
        result = form(*arguments)
    elif kind in _OTHERWISE:
        result = _OTHERWISE[kind](op, arguments)
        inplace = False
    else:
        raise NotImplementedError(
            f"{name}: no form for {kind} tensors. Convert them first (to_dense(), dequantize() or .to())."
        )
    if inplace:
        return _assign(arguments[0], result, name)
    if out is not None:
        results = result if isinstance(result, tuple | list) else (result,)
        filled = tuple(_assign(target, item) for target, item in zip(out, results, strict=True))
        return filled if isinstance(result, tuple | list) else filled[0]
    return result
