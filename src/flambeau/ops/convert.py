"""Copies and conversions: clone, contiguous, to and its shorthands, fill_, copy_, *_copy forms, promotion."""

import builtins

from .. import _C
from .registry import composite, native, overload

clone = native(
    "clone(Tensor input, *, memory_format? memory_format=None) -> Tensor",
    methods=("clone",),
    handles_lazy_bits=True,
    doc="A copy with its own memory, part of the graph.",
)


@clone.vjp
def clone_vjp(grad):
    return grad


contiguous = native(
    "contiguous(Tensor(a) input, *, memory_format memory_format=contiguous) -> Tensor(a)",
    methods=("contiguous",),
    handles_lazy_bits=True,
    doc="Input itself if its memory is in the given order, else a copy that is.",
)


@contiguous.vjp
def contiguous_vjp(grad):
    return grad


to_dtype = native(
    "to_dtype(Tensor(a) input, dtype dtype, bool non_blocking=False, bool copy=False, *, "
    "memory_format? memory_format=None) -> Tensor(a)",
    handles_lazy_bits=True,
    doc="Convert to a dtype; input itself if nothing changes and copy is False.",
)
to_device = native(
    "to(Tensor(a) input, device? device=None, dtype? dtype=None, bool non_blocking=False, bool copy=False, *, "
    "memory_format? memory_format=None) -> Tensor(a)",
    handles_lazy_bits=True,
    doc="Convert to a device and dtype; input itself if nothing changes and copy is False.",
)
to_other = native(
    "to_other(Tensor(a) input, Tensor other, bool non_blocking=False, bool copy=False, *, "
    "memory_format? memory_format=None) -> Tensor(a)",
    handles_lazy_bits=True,
    doc="Convert to the device and dtype of another tensor.",
)


@to_dtype.vjp
@to_device.vjp
def to_vjp(grad):
    return grad


@to_other.vjp("input")
def to_other_vjp(grad):
    return grad


@to_other.vjp("other")
def to_other_vjp_other(grad):
    return None


to = overload("to", to_dtype, to_other, to_device, methods=("to",))


def _shorthand(name):
    op = native(
        f"{name}(Tensor(a) input, *, memory_format? memory_format=None) -> Tensor(a)",
        methods=(name,),
        handles_lazy_bits=True,
        doc=f"Convert to the dtype that {name}() stands for; input itself if it has it.",
    )
    op.vjp(to_vjp)
    return op


for _name in (
    "bool", "byte", "char", "short", "int", "long", "half", "bfloat16", "float", "double", "cfloat", "cdouble",
):  # fmt: skip
    _shorthand(_name)


@composite(methods=("chalf",))
def _chalf(input, *, memory_format=None):
    """Convert to complex32."""
    return to_dtype(input, _C.complex32)


@composite(methods=("type_as",))
def type_as(input, other):
    """Convert to the dtype of other."""
    return to_dtype(input, other.dtype)


@composite(methods=("cpu",))
def _cpu(input, memory_format=None):
    """Input itself: CPU tensors are already there."""
    return to_device(input, "cpu", memory_format=memory_format)


_TYPE_NAMES = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
    "float16": "Half",
    "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "complex32": "ComplexHalf",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}  # fmt: skip


def _dtype_by_type_name(name):
    for dtype, short in _TYPE_NAMES.items():
        if name in (f"torch.{short}Tensor", f"flambeau.{short}Tensor"):
            return getattr(_C, dtype)
    if name in ("torch.Tensor", "flambeau.Tensor"):
        return _C.get_default_dtype()
    raise ValueError(f"invalid type: {name!r}")


@composite(methods=("type",))
def _type(input, dtype=None, non_blocking=False):
    """The type's name ("torch.FloatTensor"), or input converted to the given dtype or type name."""
    if dtype is None and input.is_quantized:
        names = {
            "quint8": "QUInt8",
            "qint8": "QInt8",
            "qint32": "QInt32",
            "quint4x2": "QUInt4x2",
            "quint2x4": "QUInt2x4",
        }
        return f"torch.quantized.{names[str(input.dtype).removeprefix('torch.')]}Tensor"
    if dtype is None:
        package = "torch.sparse" if input.is_sparse else "torch"
        return f"{package}.{_TYPE_NAMES[str(input.dtype).removeprefix('torch.')]}Tensor"
    if isinstance(dtype, str):
        dtype = _dtype_by_type_name(dtype)
    elif not isinstance(dtype, _C.dtype):
        name = getattr(dtype, "__name__", "")
        dtype = _dtype_by_type_name(name if "." in name else f"torch.{name}")
    return to_dtype(input, dtype, non_blocking)


fill_number = native(
    "fill(Tensor input, Scalar value) -> Tensor",
    inplace=True,
    doc="Every element set to value (a number or a 0-d tensor).",
)


@fill_number.vjp
def fill_number_vjp(grad):
    return grad.new_zeros(grad.shape)


fill_tensor = native(
    "fill_tensor(Tensor input, Tensor value) -> Tensor",
    inplace=True,
    doc="Every element set to the value of a 0-d tensor.",
)


@fill_tensor.vjp("input")
def fill_tensor_vjp(grad):
    return grad.new_zeros(grad.shape)


@fill_tensor.vjp("value")
def fill_tensor_vjp_value(grad):
    return grad.sum()


# Tensors first: a 0-d tensor would pass for a number and lose its gradient.
fill = overload("fill", fill_tensor, fill_number, methods=("fill",))
fill_ = overload("fill_", fill_tensor.inplace, fill_number.inplace, methods=("fill_",))

zero = native(
    "zero(Tensor input) -> Tensor", methods=("zero",), inplace=True, doc="Every element set to 0."
)
zero_ = zero.inplace


@zero.vjp
def zero_vjp(grad):
    return grad.new_zeros(grad.shape)


copy = native(
    "copy(Tensor input, Tensor src, bool non_blocking=False) -> Tensor",
    methods=("copy",),
    inplace=True,
    handles_lazy_bits=True,
    doc="The values of src, broadcast and converted to input's size and dtype. copy_ writes them into input.",
)


@copy.vjp("input")
def copy_vjp_input(grad):
    return grad.new_zeros(grad.shape)


@copy.vjp("src")
def copy_vjp_src(grad):
    return grad


def _copying(name, view):
    def copies(*args, **kwargs):
        result = view(*args, **kwargs)
        if isinstance(result, tuple):
            return tuple(piece.clone(memory_format=_C.contiguous_format) for piece in result)
        return result.clone(memory_format=_C.contiguous_format)

    copies.__name__ = copies.__qualname__ = name
    copies.__doc__ = f"Like {name.removesuffix('_copy')}, but the result has its own memory."
    return composite(copies, out=True)


def _make_copies():
    from . import split, view, view_dtype

    def resolved_pairs(input):
        return view_dtype.view_as_real(input.resolve_conj())

    views = {
        "alias": view.alias, "as_strided": view.as_strided, "diagonal": view.diagonal, "expand": view.expand,
        "permute": view.permute, "select": view.select, "slice": view.slice_view, "squeeze": view.squeeze, "t": view.t,
        "transpose": view.transpose, "unfold": view.unfold, "unsqueeze": view.unsqueeze, "view": view.view,
        "detach": view.detach, "unbind": split.unbind, "split": split.split_int,
        "split_with_sizes": split.split_with_sizes, "view_as_real": resolved_pairs,
        "view_as_complex": view_dtype.view_as_complex,
    }  # fmt: skip
    return {f"{name}_copy": _copying(f"{name}_copy", view_op) for name, view_op in views.items()}


@composite(methods=("narrow_copy",), out=True)
def narrow_copy(input, dim, start, length):
    """Like narrow, but the result has its own memory."""
    from .view import narrow

    if input.ndim and dim >= input.ndim:
        raise RuntimeError(f"narrow_copy: expected dim below {input.ndim}, got {dim}.")
    return narrow(input, dim, start, length).clone(memory_format=_C.contiguous_format)


_COPIES = _make_copies()
globals().update(_COPIES)

resize = native(
    "resize(Tensor input, int[*] size, *, memory_format memory_format=contiguous) -> Tensor",
    inplace=True,
    non_differentiable="it changes the storage itself",
    doc="Change the size in place; new elements are uninitialised.",
)


@composite(methods=("resize_",))
def resize_(input, *size, memory_format=None):
    """Change the size in place, growing the storage if needed; new elements are uninitialised.

    Raises:
        RuntimeError: input requires grad, or a size is negative.
    """
    if input.requires_grad:
        raise RuntimeError("resize_: cannot resize variables that require grad")
    if len(size) == 1 and isinstance(size[0], tuple | list):
        size = tuple(size[0])
    if memory_format is None and tuple(size) == tuple(input.shape):
        return input  # strides and all
    return resize.inplace(input, size, memory_format=memory_format or _C.contiguous_format)


@composite(methods=("resize_as_",))
def resize_as_(input, the_template, *, memory_format=None):
    """Change the size in place to that of the_template."""
    return resize_(input, the_template.shape, memory_format=memory_format)


set_source = native(
    "set_source(Tensor input, Tensor source, int storage_offset=0, int[]? size=None, int[]? stride=None) -> Tensor",
    inplace=True,
    non_differentiable="it changes the storage itself",
    doc="Make input an alias of source's storage.",
)


@composite(methods=("set_",))
def set_(input, source=None, storage_offset=0, size=None, stride=None):
    """Make input an alias of source's storage, with source's or the given geometry; empty without a source."""
    if source is None:
        return resize_(input, 0)
    return set_source.inplace(input, source, storage_offset, size, stride)


promote_types = native(
    "promote_types(dtype type1, dtype type2) -> dtype",
    doc="The smallest dtype that holds values of both, by the promotion rules.",
)
can_cast = native(
    "can_cast(dtype from_, dtype to) -> bool",
    doc="Whether a result of dtype from_ may be stored as dtype to.",
)
result_type = overload(
    "result_type",
    native(
        "result_type(Tensor tensor1, Tensor tensor2) -> dtype",
        doc="The dtype of a result computed from both; numbers and 0-d tensors only decide the category.",
    ),
    native(
        "result_type_number(Scalar scalar, Tensor tensor) -> dtype",
        doc="result_type of a number and a tensor.",
    ),
    native(
        "result_type_numbers(Scalar scalar1, Scalar scalar2) -> dtype",
        doc="result_type of two numbers.",
    ),
)


def result_type_of(tensors):
    """The dtype that tensors promote to together, by category rules pairwise."""
    from functools import reduce

    return reduce(promote_types, (x.dtype for x in tensors))


@composite
def numel(input):
    """Number of elements."""
    return input.numel()


@composite
def is_tensor(obj):
    """Whether obj is a Tensor."""
    return isinstance(obj, _C.TensorBase)


@composite
def is_floating_point(input):
    """Whether the dtype is real floating point."""
    return input.is_floating_point()


@composite
def is_complex(input):
    """Whether the dtype is complex."""
    return input.is_complex()


@composite(methods=("sum_to_size",))
def sum_to_size(input, *size):
    """Sum over leading and expanded dims down to `size`, which must broadcast to the size of input."""
    if len(size) == 1 and isinstance(size[0], tuple | list):
        size = tuple(size[0])
    if not size:
        return input.sum()  # also of a 0-d tensor, whose integers become int64
    lead = input.ndim - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, input.shape[lead:], strict=True)):
        raise RuntimeError(
            f"sum_to_size: size {{{list(size)}}} is not expandable to size {{{list(input.shape)}}}."
        )
    dims = [
        d for d in range(input.ndim) if d < lead or (size[d - lead] == 1 and input.shape[d] != 1)
    ]
    return (input.sum(dims, keepdim=True) if dims else input).reshape(size)


@composite(methods=("fill_diagonal_",))
def fill_diagonal_(input, fill_value, wrap=False):
    """Set the main diagonal in place: elements with equal indices; `wrap` starts again below a tall matrix."""
    if input.ndim < 2:
        raise RuntimeError("fill_diagonal_: dimensions must larger than 1")
    if input.ndim > 2 and len(set(input.shape)) != 1:
        raise RuntimeError("fill_diagonal_: all dimensions of input must be of equal length")
    step = builtins.sum(input.stride())
    input.as_strided((builtins.min(input.shape),), (step,)).fill_(fill_value)
    if wrap and input.ndim == 2 and input.shape[0] > input.shape[1] + 1:
        rows, columns = input.shape
        left = input.narrow(0, columns + 1, rows - columns - 1)
        fill_diagonal_(left, fill_value, wrap=True)
    return input


@composite(methods=("apply_",))
def apply_(input, callable):
    """Replace each element by callable(element), in place; slow."""
    values = [callable(value) for value in input.reshape(-1).tolist()]
    return input.copy_(_C.tensor(values, dtype=input.dtype).reshape(input.shape))


@composite(methods=("map_",))
def map_(input, tensor, callable):
    """Replace each element by callable(element, element of tensor), in place; slow."""
    pairs = zip(
        input.reshape(-1).tolist(), tensor.expand(input.shape).reshape(-1).tolist(), strict=True
    )
    values = [callable(a, b) for a, b in pairs]
    return input.copy_(_C.tensor(values, dtype=input.dtype).reshape(input.shape))


@composite(methods=("get_device",))
def get_device(input):
    """-1: CPU tensors have no device number."""
    return -1


@composite(methods=("is_pinned",))
def is_pinned(input, device=None):
    """False: there is no pinned memory without an accelerator."""
    return False


@composite
def is_inference(input):
    """Whether the tensor was made in inference mode."""
    return input.is_inference()


@composite
def is_nonzero(input):
    """Whether the only element differs from zero.

    Raises:
        RuntimeError: there is not exactly one element.
    """
    if input.numel() != 1:
        what = "no values" if input.numel() == 0 else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
    return bool(input.item())


_C.TensorBase.is_nonzero = is_nonzero

__all__ = [
    "can_cast", "clone", "fill", "fill_", "get_device", "is_complex", "is_floating_point", "is_inference",
    "is_nonzero", "is_tensor", "narrow_copy", "numel", "promote_types", "resize_as_", "result_type", "zero_",
    *_COPIES,
]  # fmt: skip
