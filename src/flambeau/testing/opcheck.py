"""The checks behind tests/ops/: one function per property of an op, driven by an OpSpec (opspec.py)."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

import flambeau

from .opspec import COMPLEX, HALVES, WIDE, Case, Draw, Kept, OpSpec, Sample, kind_of

EPS = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
}
REAL_OF = {"complex64": "float32", "complex128": "float64"}


# ---- conversions ----


def resolve(name: str) -> Callable[..., Any]:
    """The public function (or `Tensor.` method) of that dotted name."""
    return reduce(getattr, name.split("."), flambeau)  # type: ignore[arg-type,return-value]


def function_of(spec: OpSpec) -> Callable[..., Any]:
    """The callable that a spec tests."""
    return spec.function if spec.function is not None else resolve(spec.name)


def dtype_name(tensor: Any) -> str:
    """`float32` for a tensor of that dtype."""
    return str(tensor.dtype).split(".")[-1]


def to_tensor(array: np.ndarray, dtype: str | None = None) -> Any:
    """A fresh tensor of an array; kept arrays, and dtype None, keep their own dtype."""
    plain = np.array(array, copy=True, subok=False)
    tensor = flambeau.from_numpy(plain)
    if dtype is None or isinstance(array, Kept):
        return tensor
    return tensor.to(getattr(flambeau, dtype))


def to_wide(value: Any) -> Any:
    """A tensor as an array of its kind's wide dtype; containers item by item."""
    if isinstance(value, flambeau.Tensor):
        name = dtype_name(value)
        plain = value.detach()
        if name in HALVES:
            plain = plain.to(flambeau.float64)
        return np.array(plain.resolve_conj().resolve_neg().numpy()).astype(WIDE[kind_of(name)])
    if isinstance(value, list | tuple):
        return (
            type(value)(map(to_wide, value))
            if type(value) in (list, tuple)
            else tuple(map(to_wide, value))
        )
    return value


def map_tensors(value: Any, convert: Callable[[Any], Any], kind: type | tuple[type, ...]) -> Any:
    """A nested argument with every leaf of that kind converted."""
    if isinstance(value, kind):
        return convert(value)
    if isinstance(value, list | tuple):
        return type(value)(map_tensors(item, convert, kind) for item in value)
    if isinstance(value, dict):
        return {name: map_tensors(item, convert, kind) for name, item in value.items()}
    return value


def bind(sample: Sample | Case, dtype: str | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The sample's arguments with tensors in place of arrays."""
    convert = lambda array: to_tensor(array, dtype)
    return map_tensors(sample.args, convert, np.ndarray), map_tensors(
        sample.kwargs, convert, np.ndarray
    )


def leaves(args: Any, kwargs: Any) -> list[Any]:
    """All tensors among the arguments, in order."""
    found: list[Any] = []
    map_tensors((args, kwargs), lambda tensor: found.append(tensor), flambeau.Tensor)
    return found


# ---- comparison ----


def as_list(value: Any) -> list[Any]:
    """Results as a flat list."""
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in as_list(item)]
    return [value]


def expected_dtype(spec: OpSpec, dtype: str, reference: np.ndarray) -> str | None:
    """Dtype that the result must have; None where the default rule does not say."""
    if spec.result_dtype is not None:
        return spec.result_dtype(dtype)
    kind, own = reference.dtype.kind, kind_of(dtype)
    if kind == "b":
        return "bool"
    if kind in "iu":
        return None if own in "ib" else "int64"
    if kind == "f":
        return REAL_OF.get(dtype, dtype if own == "f" else "float32")
    return dtype if own == "c" else {"float64": "complex128", "float32": "complex64"}.get(dtype)


def compare(spec: OpSpec, dtype: str, got: Any, expected: Any, where: str) -> None:
    """Assert that results agree: shape, dtype, and values within k * eps."""
    results, references = as_list(got), as_list(expected)
    assert len(results) == len(references), (
        f"{where}: expected {len(references)} results, got {len(results)}"
    )
    for position, (result, raw) in enumerate(zip(results, references, strict=True)):
        label = f"{where}, result {position}"
        if not isinstance(result, flambeau.Tensor):
            assert result == raw, f"{label}: expected {raw}, got {result}"
            continue
        reference = np.asarray(raw)
        assert tuple(result.shape) == reference.shape, (
            f"{label}: expected shape {reference.shape}, got {result.shape}"
        )
        name = dtype_name(result)
        wanted = expected_dtype(spec, dtype, reference)
        assert wanted in (None, name), f"{label}: expected dtype {wanted}, got {name}"
        compare_values(spec, name, to_wide(result), reference, label)


def compare_values(
    spec: OpSpec, dtype: str, got: np.ndarray, reference: np.ndarray, label: str
) -> None:
    """Assert values within k * eps of the reference, rounded to the dtype."""
    if kind_of(dtype) in "ib":
        narrow = np.bool_ if dtype == "bool" else np.dtype(dtype)
        np.testing.assert_array_equal(got.astype(narrow), reference.astype(narrow), err_msg=label)
        return
    with np.errstate(all="ignore"):
        if dtype == "float16":
            reference = reference.astype(np.float16).astype(np.float64)
        elif dtype == "float32":
            reference = reference.astype(np.float32).astype(np.float64)
        special = ~np.isfinite(reference) | ~np.isfinite(got)
        np.testing.assert_array_equal(
            got[special], reference[special], err_msg=f"{label}: inf and nan"
        )
        bound = spec.k * EPS[dtype] * np.maximum(np.abs(reference), spec.floor)
        error = np.abs(got - reference)
        bad = ~special & ~(error <= bound)
    if bad.any():
        worst = np.unravel_index(
            np.argmax(np.where(bad, error / np.where(bound > 0, bound, 1), 0)), bad.shape
        )
        raise AssertionError(
            f"{label}: {int(bad.sum())} of {bad.size} values off in {dtype}; at {tuple(map(int, worst))} expected "
            f"{reference[worst]}, got {got[worst]} ({error[worst] / EPS[dtype]:.1f} eps, k = {spec.k})"
        )


def reference_of(spec: OpSpec, args: Any, kwargs: Any) -> Any:
    """What NumPy says for these tensors."""
    with np.errstate(all="ignore"):
        wide = lambda tensor: to_wide(tensor)
        return spec.reference(
            *map_tensors(args, wide, flambeau.Tensor), **map_tensors(kwargs, wide, flambeau.Tensor)
        )


def numbered(spec: OpSpec, draw: Draw) -> Iterator[tuple[str, Sample]]:
    """Samples with a label that finds them again."""
    for number, sample in enumerate(spec.samples(draw)):
        shapes = map_tensors(sample.args, lambda array: f"<{array.shape}>", np.ndarray)
        yield f"{spec.id} {draw.dtype} sample {number} {shapes} {list(sample.kwargs)}", sample


# ---- values ----


def check_values(spec: OpSpec, dtype: str) -> None:
    """Values, shapes and dtypes of every sample against the reference."""
    function = function_of(spec)
    for label, sample in numbered(spec, Draw(dtype)):
        args, kwargs = bind(sample, dtype)
        expected = reference_of(spec, args, kwargs)
        compare(spec, dtype, function(*args, **kwargs), expected, label)


def strided(tensor: Any) -> Any:
    """The same values, in every second element of a buffer, starting at the second."""
    if tensor.dim() == 0:
        return tensor
    shape = (*tensor.shape[:-1], 2 * tensor.shape[-1] + 1)
    view = flambeau.zeros(shape, dtype=tensor.dtype)[..., 1::2]
    view.copy_(tensor)
    return view


def transposed(tensor: Any) -> Any:
    """The same values, laid out first dimension fastest."""
    order = tuple(reversed(range(tensor.dim())))
    return tensor.permute(order).contiguous().permute(order)


def expanded(tensor: Any) -> Any:
    """The first slice repeated over the first dimension without memory for it.

    Not integers: a scatter over repeated indices has no defined result.
    """
    if tensor.dim() == 0 or tensor.shape[0] < 2 or kind_of(dtype_name(tensor)) == "i":
        return tensor
    return tensor[:1].expand(tensor.shape)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "strided": strided,
    "transposed": transposed,
    "expanded": expanded,
}


def check_layouts(spec: OpSpec, dtype: str) -> None:
    """Values when the tensors are strided, transposed, or overlap themselves."""
    function = function_of(spec)
    for label, sample in numbered(spec, Draw(dtype)):
        for layout, change in LAYOUTS.items():
            args, kwargs = bind(sample, dtype)
            args, kwargs = (map_tensors(x, change, flambeau.Tensor) for x in (args, kwargs))
            expected = reference_of(spec, args, kwargs)
            compare(spec, dtype, function(*args, **kwargs), expected, f"{label}, {layout}")


def check_meta(spec: OpSpec, dtype: str) -> None:
    """Meta tensors give the shape, dtype and strides of the real result."""
    function = function_of(spec)
    for label, sample in numbered(spec, Draw(dtype)):
        args, kwargs = bind(sample, dtype)
        real = as_list(function(*args, **kwargs))
        args, kwargs = (map_tensors(x, to_meta, flambeau.Tensor) for x in (args, kwargs))
        for result, shadow in zip(real, as_list(function(*args, **kwargs)), strict=True):
            if not isinstance(result, flambeau.Tensor):
                continue
            assert shadow.device.type == "meta", (
                f"{label}: expected a meta tensor, got one on {shadow.device}"
            )
            layout = (tuple(result.shape), result.dtype, result.stride())
            assert (tuple(shadow.shape), shadow.dtype, shadow.stride()) == layout, (
                f"{label}: meta differs"
            )


def to_meta(tensor: Any) -> Any:
    """A tensor of the same shape, strides and dtype without data."""
    return flambeau.empty_strided(
        tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype, device="meta"
    )


# ---- other ways to call ----


def base_method(spec: OpSpec) -> str:
    """Name that the op has as a Tensor method."""
    return spec.name.rsplit(".", 1)[-1]


def check_method(spec: OpSpec, dtype: str) -> None:
    """The Tensor method does what the function does."""
    function = function_of(spec)
    for label, sample in numbered(spec, Draw(dtype)):
        args, kwargs = bind(sample, dtype)
        if not args or not isinstance(args[0], flambeau.Tensor):
            continue
        expected = map_tensors(function(*args, **kwargs), to_wide, flambeau.Tensor)
        got = getattr(args[0], base_method(spec))(*args[1:], **kwargs)
        compare(spec, dtype, got, expected, f"{label}, as a method")


def check_inplace(spec: OpSpec, dtype: str) -> None:
    """The in-place form returns its tensor, holding the functional result, with a new version."""
    function, name = function_of(spec), base_method(spec) + "_"
    for label, sample in numbered(spec, Draw(dtype)):
        args, kwargs = bind(sample, dtype)
        result = function(*args, **kwargs)
        first = args[0] if args else None
        if not isinstance(first, flambeau.Tensor) or not isinstance(result, flambeau.Tensor):
            continue
        if result.shape != first.shape or result.dtype != first.dtype:
            continue
        target = strided(first) if first.dim() else first.clone()
        version = target._version
        returned = getattr(target, name)(*args[1:], **kwargs)
        assert returned is target, f"{label}: {name} must return its own tensor"
        assert target._version > version, f"{label}: {name} must bump the version"
        compare(spec, dtype, target, to_wide(result), f"{label}, in place")


def check_out(spec: OpSpec, dtype: str) -> None:
    """out= writes into the given tensors, resizing empty ones and keeping the strides of fitting ones."""
    function = function_of(spec)
    for label, sample in numbered(spec, Draw(dtype)):
        args, kwargs = bind(sample, dtype)
        result = function(*args, **kwargs)
        if not all(isinstance(item, flambeau.Tensor) for item in as_list(result)):
            continue
        several = isinstance(result, list | tuple)
        expected = to_wide(result)
        fresh = [flambeau.empty(0, dtype=item.dtype) for item in as_list(result)]
        fitting = [transposed(flambeau.zeros_like(item)) for item in as_list(result)]
        for kind, given in (("empty", fresh), ("fitting", fitting)):
            strides = [item.stride() for item in given]
            returned = function(*args, **kwargs, out=tuple(given) if several else given[0])
            compare(
                spec,
                dtype,
                tuple(given) if several else given[0],
                expected,
                f"{label}, {kind} out=",
            )
            assert all(a is b for a, b in zip(as_list(returned), given, strict=True)), (
                f"{label}: out= not returned"
            )
            if kind == "fitting":
                assert [item.stride() for item in given] == strides, (
                    f"{label}: out= changed strides"
                )


# ---- gradients ----


def check_gradient(spec: OpSpec, dtype: str, order: int) -> None:
    """First (or second) derivative against central differences along random directions."""
    function = function_of(spec)
    for label, sample in numbered(spec, Draw(dtype, smooth=True)):
        args, kwargs = bind(sample, dtype)
        inputs = [tensor for tensor in leaves(args, kwargs) if kind_of(dtype_name(tensor)) in "fc"]
        if spec.grad_arguments is not None:
            inputs = [inputs[position] for position in spec.grad_arguments]
        if not inputs or builtin_size(inputs) == 0:
            continue
        run = differentiable(function, args, kwargs, inputs)
        check_directions(run, inputs, order, label)


def builtin_size(tensors: Sequence[Any]) -> int:
    """Number of elements in all."""
    return sum(tensor.numel() for tensor in tensors)


def differentiable(
    function: Callable[..., Any], args: Any, kwargs: Any, inputs: Sequence[Any]
) -> Callable[..., Any]:
    """The call as a function of its floating-point tensors that gives a list of differentiable results."""
    identities = [id(tensor) for tensor in inputs]

    def run(values: Sequence[Any]) -> list[Any]:
        swap = lambda tensor: (
            values[identities.index(id(tensor))] if id(tensor) in identities else tensor
        )
        new_args, new_kwargs = (map_tensors(x, swap, flambeau.Tensor) for x in (args, kwargs))
        results = as_list(function(*new_args, **new_kwargs))
        return [
            item
            for item in results
            if isinstance(item, flambeau.Tensor) and kind_of(dtype_name(item)) in "fc"
        ]

    return run


def random_like(tensor: Any, rng: np.random.Generator) -> Any:
    """Normal values of the tensor's shape and dtype."""
    values = rng.standard_normal(tuple(tensor.shape))
    if dtype_name(tensor) in COMPLEX:
        values = values + 1j * rng.standard_normal(tuple(tensor.shape))
    return to_tensor(np.asarray(values)).to(tensor.dtype)


def inner(weights: Sequence[Any], values: Sequence[Any]) -> float:
    """Real part of sum conj(w) v: the inner product in which gradients are defined."""
    return float(
        sum(
            np.sum(np.conj(to_wide(w)) * to_wide(v)).real
            for w, v in zip(weights, values, strict=True)
        )
    )


def gradient(
    run: Callable[..., Any], inputs: Sequence[Any], weights: Sequence[Any], create_graph: bool
) -> list[Any]:
    """Gradients of <weights, run(inputs)>; zeros where an input is not used."""
    results = run(inputs)
    used = [
        (item, weight) for item, weight in zip(results, weights, strict=True) if item.requires_grad
    ]
    if not used:
        return [flambeau.zeros_like(item) for item in inputs]
    found = flambeau.autograd.grad(
        [item for item, _ in used],
        list(inputs),
        [weight for _, weight in used],
        create_graph=create_graph,
        allow_unused=True,
    )
    return [flambeau.zeros_like(x) if g is None else g for x, g in zip(inputs, found, strict=True)]


def check_directions(
    run: Callable[..., Any], inputs: Sequence[Any], order: int, label: str
) -> None:
    """Compare directional derivatives: each input alone, so that an error names its argument."""
    rng = np.random.default_rng(1)
    base = [tensor.detach().clone() for tensor in inputs]
    weights = [random_like(item, rng) for item in run(base)]

    def value(points: Sequence[Any]) -> list[Any]:
        if order == 1:
            with flambeau.no_grad():
                return run(points)
        return gradient(
            run, [p.detach().requires_grad_() for p in points], weights, create_graph=False
        )

    outer = weights if order == 1 else [random_like(item, rng) for item in base]
    target = run if order == 1 else lambda points: gradient(run, points, weights, create_graph=True)
    active = [tensor.clone().requires_grad_() for tensor in base]
    analytic = gradient(target, active, outer, create_graph=False)
    for position, tensor in enumerate(base):
        if tensor.numel() == 0:
            continue
        direction = random_like(tensor, rng)
        exact = inner([analytic[position]], [direction])
        numeric = central_difference(value, base, position, direction, outer)
        scale = max(1.0, abs(numeric), float(np.abs(to_wide(analytic[position])).max(initial=0)))
        assert abs(exact - numeric) <= 2e-6 * scale, (
            f"{label}: derivative {order} in tensor argument {position}: expected {numeric:.9g}, got {exact:.9g}"
        )


def central_difference(
    value: Callable[..., Any],
    base: Sequence[Any],
    position: int,
    direction: Any,
    weights: Sequence[Any],
) -> float:
    """d/dt <weights, value(base + t * direction)> at 0, by Richardson's extrapolation of two steps (error h^4)."""

    def slope(step: float) -> float:
        sides = []
        for sign in (1, -1):
            points = list(base)
            points[position] = base[position] + direction * (sign * step)
            sides.append(inner(weights, value(points)))
        return (sides[0] - sides[1]) / (2 * step)

    step = 1e-4
    return (4 * slope(step / 2) - slope(step)) / 3


def swap_first(
    args: Any, kwargs: Any, function: Callable[..., Any], inputs: Sequence[Any]
) -> list[Any]:
    """The call with its first argument replaced."""
    return [function(inputs[0], *args, **kwargs)]


def call_inplace(name: str, tensor: Any, *args: Any, **kwargs: Any) -> Any:
    """The in-place method on a copy, so that a leaf may be given."""
    return getattr(tensor.clone(), name)(*args, **kwargs)


def check_inplace_gradient(spec: OpSpec, dtype: str) -> None:
    """The in-place form on a non-leaf has the functional form's gradient."""
    function, name = function_of(spec), base_method(spec) + "_"
    for label, sample in numbered(spec, Draw(dtype, smooth=True)):
        args, kwargs = bind(sample, dtype)
        if not args or not isinstance(args[0], flambeau.Tensor):
            continue
        result = function(*args, **kwargs)
        if not isinstance(result, flambeau.Tensor) or (result.shape, result.dtype) != (
            args[0].shape,
            args[0].dtype,
        ):
            continue
        weight = random_like(result, np.random.default_rng(2))
        leaf = args[0].clone().requires_grad_()
        rest = partial(swap_first, args[1:], kwargs)
        expected = gradient(partial(rest, function), [leaf], [weight], False)
        got = gradient(partial(rest, partial(call_inplace, name)), [leaf], [weight], False)
        np.testing.assert_allclose(
            to_wide(got[0]), to_wide(expected[0]), rtol=1e-12, atol=1e-12, err_msg=label
        )


# ---- errors ----


def check_error(spec: OpSpec, case: Case) -> None:
    """The call raises the stated class with a matching message."""
    import re

    args, kwargs = bind(case, None)
    try:
        result = function_of(spec)(*args, **kwargs)
    except case.raises as error:
        message = str(error)
        assert re.search(case.match, message), (
            f"{spec.id}: expected a message matching {case.match!r}, got {message!r}"
        )
        return
    raise AssertionError(f"{spec.id}: expected {case.raises}, got a result {result!r:.200}")
