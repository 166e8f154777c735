"""What ops do with quantized tensors, by family: move integers, compare real values, or compute and round."""

import builtins

from .. import _C, ops
from .._extension import _FORMS, otherwise, payload, register
from .create import quantized_payload
from .scheme import RANGES, Quantized

# Elements are moved: the op runs on the integers.
MOVES = frozenset(
    """alias as_strided chunk clone contiguous detach diagonal expand flatten flip gather index index_select
    masked_select matrix_transpose movedim narrow narrow_tensor numpy_T permute repeat reshape roll select slice split
    split_with_sizes squeeze squeeze_dims t take transpose unbind unflatten unfold unsqueeze view""".split()
)
# The result is a strided tensor computed from the real values.
READS = frozenset("eq ne lt le gt ge equal isclose allclose".split())
# Float results are quantized with the parameters of the first argument.
ROUNDS = frozenset(
    """adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d amax amin avg_pool1d avg_pool2d avg_pool3d clamp
    clamp_max clamp_max_tensor clamp_min clamp_min_tensor clamp_tensor constant_pad_nd fill fill_tensor hardtanh
    index_put interpolate_to leaky_relu masked_fill masked_fill_tensor max_all max_dim max_pool1d
    max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices mean median_all
    median_dim min_all min_dim pad_mode relu relu6 sort std_correction threshold topk""".split()
)
CASTS = frozenset(
    "to to_dtype to_other float double half bfloat16 bool byte char short int long cfloat cdouble".split()
)


def _named(op, arguments, convert):
    return {
        name: convert(value)
        for name, value in zip(op.parameters, arguments, strict=True)
        if value is not None
    }


def _is_quantized(value) -> bool:
    return isinstance(value, _C.TensorBase) and payload(value) is not None


def _real(value):
    return quantized_payload(value, "op").real_values() if _is_quantized(value) else value


def _map(function, result):
    if isinstance(result, tuple | list):
        return tuple(_map(function, item) for item in result)
    return function(result)


def _moved_axis(op, arguments, content):
    """The axis of a per-channel tensor after op: where a tensor that counts along the axis still counts."""
    count = content.integers.shape[content.axis]
    numbers = ops.arange(count)
    shape = [1] * content.integers.dim()
    shape[content.axis] = count
    probe = numbers.view(shape).expand(content.integers.shape)
    moved = op(**_named(op, arguments, lambda value: probe if _is_quantized(value) else value))
    if isinstance(moved, _C.TensorBase):
        for axis in range(moved.dim()):
            lined_up = [1] * moved.dim()
            lined_up[axis] = count
            if moved.shape[axis] == count and ops.equal(
                moved, numbers.view(lined_up).expand(moved.shape)
            ):
                return axis
    raise RuntimeError(
        f"{op.name}: channels of a per-channel quantized tensor have to stay whole, along one dim. Dequantize first."
    )


def _move(op, arguments):
    content = quantized_payload(arguments[0], op.name)
    axis = None if content.axis is None else _moved_axis(op, arguments, content)
    result = op(
        **_named(
            op, arguments, lambda value: payload(value).integers if _is_quantized(value) else value
        )
    )
    return _map(lambda item: content.like(item, axis), result)


def _round(op, arguments):
    content = quantized_payload(arguments[0], op.name)
    if content.axis is not None:
        raise NotImplementedError(
            f"{op.name}: not supported on per-channel quantized tensors. Dequantize first."
        )
    result = op(**_named(op, arguments, _real))
    return _map(lambda item: content.requantize(item) if item.is_floating_point() else item, result)


def _cast(op, arguments):
    content = quantized_payload(arguments[0], op.name)
    wanted = [value for value in arguments if isinstance(value, _C.dtype)]
    if wanted and all(dtype is content.dtype for dtype in wanted):
        return arguments[0]
    if not wanted and op.name == "to":
        return arguments[0]
    raise RuntimeError(
        f"{op.name}: Creation of quantized tensor requires quantized dtype like torch.quint8. Use dequantize() for "
        "real values or int_repr() for the integers."
    )


@otherwise("quantized")
def by_family(op, arguments):
    """Run an op without a form of its own."""
    name = op.name
    functional = name[:-1] if name.endswith("_") and not name.endswith("__") else None
    if not _is_quantized(arguments[0]):
        if any(isinstance(value, _C.dtype) for value in arguments):
            raise RuntimeError(
                f"{name}: Creation of quantized tensor requires quantized dtype like torch.quint8 and its parameters. "
                "Use torch.quantize_per_tensor() or torch._empty_affine_quantized()."
            )
    elif name in MOVES:
        return _move(op, arguments)
    elif name in READS:
        return op(**_named(op, arguments, _real))
    elif name in ROUNDS:
        return _round(op, arguments)
    elif name in CASTS:
        return _cast(op, arguments)
    elif functional in ROUNDS:
        content = payload(arguments[0])
        target = content.real_values()
        values = [target, *arguments[1:]]
        op(**_named(op, values, _real))
        content.assign(arguments[0], content.requantize(target))
        return arguments[0]
    raise NotImplementedError(
        f"{name}: not supported for quantized tensors. Compute on dequantize()d values, then quantize the result again."
    )


@register("quantized", "copy_")
def copy_(input, src, non_blocking=False):
    if not _is_quantized(input):
        raise RuntimeError(
            "copy_: cannot copy a quantized tensor into a strided one. Use src.dequantize() first."
        )
    content = quantized_payload(input, "copy_")
    if not _is_quantized(src):
        content.integers.copy_(
            payload(content.requantize(src.to(_C.float32).expand(input.shape))).integers
        )
    elif payload(src).dtype is content.dtype:
        # The parameters come along, as PyTorch does it.
        other = payload(src)
        content.integers.copy_(other.integers)
        parameters = (other.scale, other.zero_point, other.axis, other.scheme)
        _C._set_extension(input, Quantized(content.integers, content.dtype, *parameters))
    else:
        raise RuntimeError(
            f"copy_: expected src of dtype {content.dtype}, got {payload(src).dtype}"
        )
    return input


@register("quantized", "empty_like")
def empty_like(input, dtype=None, *_):
    content = _content_of_dtype(input, dtype, "empty_like")
    return content.like(ops.empty_like(content.integers))


def _content_of_dtype(input, dtype, op):
    content = quantized_payload(input, op)
    if dtype is not None and dtype is not content.dtype:
        raise RuntimeError(
            f"{op}: a quantized tensor of another dtype needs parameters of its own, got {dtype}"
        )
    return content


@register("quantized", "ones_like")
def ones_like(input, dtype=None, *_):
    return _content_of_dtype(input, dtype, "ones_like").requantize(ops.ones(input.shape))


def _joined(op):
    def form(tensors, dim=0):
        first = quantized_payload(tensors[0], op)
        if first.axis is not None:
            raise NotImplementedError(
                f"{op}: not supported on per-channel quantized tensors. Dequantize first."
            )
        parts = []
        for tensor in tensors:
            content = quantized_payload(tensor, op)
            if content.dtype is not first.dtype:
                raise RuntimeError(
                    f"{op}: expected tensors of one dtype, got {first.dtype} and {content.dtype}"
                )
            same = content.scale == first.scale and content.zero_point == first.zero_point
            parts.append(
                content.integers
                if same
                else payload(first.requantize(content.real_values())).integers
            )
        return first.like(getattr(ops, op)(parts, dim))

    return form


for _name in ("cat", "stack"):
    _FORMS["quantized"][_name] = _joined(_name)


def _squash(function, scale, unsigned_zero):
    """sigmoid and tanh: their range is known, so the result has the finest parameters for it."""

    def form(input):
        content = quantized_payload(input, function.name)
        low = RANGES[content.dtype].low
        if content.dtype is _C.qint32:
            target = Quantized(None, content.dtype, content.scale, content.zero_point)
        else:
            target = Quantized(None, content.dtype, scale, unsigned_zero + low)
        return target.requantize(function(content.real_values()))

    return form


_FORMS["quantized"]["sigmoid"] = _squash(ops.sigmoid, 1 / 256, 0)
_FORMS["quantized"]["tanh"] = _squash(ops.tanh, 2 / 256, 128)


@register("quantized", "resize")
def resize(input, *size):
    raise RuntimeError("resize_: not supported for quantized tensors. Make a new one.")


def int_repr(tensor):
    """The stored integers: uint8, int8 or int32; packed bytes for dtypes below a byte."""
    return quantized_payload(tensor, "int_repr").packed()


def q_scale(tensor):
    """The scale of a per-tensor quantized tensor, a float."""
    return _per_tensor(tensor, "q_scale").scale


def q_zero_point(tensor):
    """The zero point of a per-tensor quantized tensor, an int."""
    return _per_tensor(tensor, "q_zero_point").zero_point


def _per_tensor(tensor, function):
    content = quantized_payload(tensor, function)
    if content.axis is not None:
        raise RuntimeError(
            f"{function}: expected quantizer->qscheme() == kPerTensorAffine, got {content.scheme}"
        )
    return content


def _per_channel(tensor, function):
    content = quantized_payload(tensor, function)
    if content.axis is None:
        raise RuntimeError(
            f"{function}: expected a per-channel quantized tensor, got {content.scheme}"
        )
    return content


def q_per_channel_scales(tensor):
    """Scales of a per-channel quantized tensor, float64 of shape (size at the axis,)."""
    return _per_channel(tensor, "q_per_channel_scales").scale


def q_per_channel_zero_points(tensor):
    """Zero points of a per-channel quantized tensor, of shape (size at the axis,)."""
    return _per_channel(tensor, "q_per_channel_zero_points").zero_point


def q_per_channel_axis(tensor):
    """The axis along which a per-channel quantized tensor has its scales."""
    return _per_channel(tensor, "q_per_channel_axis").axis


def scheme_of(tensor):
    """The qscheme of a quantized tensor."""
    return quantized_payload(tensor, "qscheme").scheme


def is_quantized(tensor) -> builtins.bool:
    """Whether the tensor's elements are quantized."""
    content = payload(tensor)
    return content is not None and content.kind == "quantized"
