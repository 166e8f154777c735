"""What a test of an op needs to know, as data: OpSpec, Case and generators of samples.

The suites that run them are in tests/ops/, the checks in opcheck.py. Samples are NumPy arrays in the wide dtype of
their kind (float64, int64, bool, complex128); a suite converts them to the dtype under test and back before it asks
the reference, so the reference always sees the values that the op saw.
"""

import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

FLOATING = ("float32", "float64")
HALVES = ("float16", "bfloat16")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
COMPLEX = ("complex64", "complex128")
ALL = ("bool", *INTEGERS, *HALVES, *FLOATING, *COMPLEX)

WIDE = {"f": np.float64, "i": np.int64, "b": np.bool_, "c": np.complex128}


def kind_of(dtype: str) -> str:
    """`f`, `c`, `i` or `b`: floating point, complex, integer, bool."""
    if dtype == "bool":
        return "b"
    return "c" if dtype in COMPLEX else "i" if dtype in INTEGERS else "f"


class Kept(np.ndarray):
    """An array that keeps its own dtype in every run: indices, masks, lengths."""


def keep(array: Any) -> np.ndarray:
    """Mark an array as an index or mask: it is passed in its own dtype whatever dtype is under test."""
    return np.asarray(array).view(Kept)


@dataclass(frozen=True)
class Sample:
    """One call: arrays become tensors, lists of arrays lists of tensors, the rest is passed as it is."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A call that must fail. Arrays become tensors of exactly their dtype."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    raises: type[Exception] | tuple[type[Exception], ...] = RuntimeError
    match: str = ""


class Draw:
    """Source of random arrays for one dtype; `smooth` asks for samples where the op is differentiable."""

    def __init__(self, dtype: str, seed: int = 0, smooth: bool = False) -> None:
        self.dtype = dtype
        self.kind = kind_of(dtype)
        self.smooth = smooth
        self.rng = np.random.default_rng(seed)

    def array(self, shape: Sequence[int], low: float = -3, high: float = 3) -> np.ndarray:
        """Uniform in [low, high); integers likewise, unsigned ones from 0; bool at random."""
        if self.kind == "b":
            return np.asarray(self.rng.integers(0, 2, shape)).astype(bool)
        if self.kind == "i":
            low, high = np.ceil(low), max(np.ceil(high), np.ceil(low) + 1)
            if self.dtype == "uint8":
                low, high = max(low, 0), max(high, 2)
            return np.asarray(self.rng.integers(int(low), int(high), shape, dtype=np.int64))
        values = self.rng.uniform(low, high, shape)
        if self.kind == "c":
            values = values + 1j * self.rng.uniform(low, high, shape)
        return np.asarray(values)

    def spread(self, shape: Sequence[int], low: float = -3, high: float = 3) -> np.ndarray:
        """Like array(), but no two values are close: for max, sort and other ops with kinks at ties."""
        count = int(np.prod(shape))
        if self.kind not in "f" or count == 0:
            return self.array(shape, low, high)
        grid = low + (high - low) * (np.arange(count) + 0.5) / count
        return self.rng.permutation(grid).reshape(shape)

    def index(self, shape: Sequence[int], size: int, low: int = 0) -> np.ndarray:
        """Indices in [low, size), kept as int64."""
        return keep(self.rng.integers(low, size, shape, dtype=np.int64))

    def mask(self, shape: Sequence[int]) -> np.ndarray:
        """A bool array, kept as bool."""
        return keep(np.asarray(self.rng.integers(0, 2, shape)).astype(bool))


Samples = Callable[[Draw], Iterable[Sample]]


@dataclass(frozen=True)
class OpSpec:
    """Everything the generic suites need to test one op.

    Args:
        name: path below flambeau (`exp`, `nn.functional.gelu`, `linalg.det`), or `Tensor.<method>`.
        reference: the same function over NumPy arrays, called with the sample's arguments; arrays have wide dtypes.
        samples: yields Sample for a Draw; see unary_samples and its neighbours.
        dtypes: dtypes for which values are checked. Gradients are checked in float64 (and complex128 if listed).
        k: tolerance in units of the dtype's machine epsilon. More than the default needs a comment.
        floor: results smaller than this are compared by k * eps * floor: 0 demands full relative precision.
        grad, grad_grad: check first and second derivatives against central differences.
        grad_arguments: positions, among the floating-point tensors of a call, of those that have a gradient; None: all.
        inplace, out, method: None means: test it if it exists. False switches the suite off.
        meta: the shape of the result does not depend on values, so a meta tensor must give it too.
        views: also run on strided and expanded inputs.
        errors: calls that must fail; every op has at least one.
        variant: tells several specs of one op apart.
        function: the callable itself, where no name leads to it.
        result_dtype: name of the result's dtype from the name of the input's; default: NumPy's kind, the input's width.
    """

    name: str
    reference: Callable[..., Any]
    samples: Samples
    dtypes: tuple[str, ...] = FLOATING
    k: float = 4
    floor: float = 1.0
    grad: bool = True
    grad_grad: bool = True
    grad_arguments: Sequence[int] | None = None
    inplace: bool | None = None
    out: bool | None = None
    method: bool | None = None
    meta: bool = True
    views: bool = True
    errors: Sequence[Case] = ()
    variant: str = ""
    function: Callable[..., Any] | None = None
    result_dtype: Callable[[str], str] | None = None

    @property
    def id(self) -> str:
        """Name in test reports."""
        return f"{self.name}-{self.variant}" if self.variant else self.name


# ---- generators of samples ----

SHAPES = ((), (0,), (1,), (5,), (3, 0, 2), (2, 3), (4, 1, 3), (33, 65))
SMOOTH_SHAPES = ((), (5,), (2, 3))
# Includes a broadcast on either side, a 0-d operand, and empty results.
SHAPE_PAIRS = (
    ((), ()),
    ((5,), (5,)),
    ((2, 3), (3,)),
    ((3,), (4, 1)),
    ((2, 1, 3), (4, 1)),
    ((2, 3), ()),
    ((0,), (1,)),
    ((33, 65), (33, 65)),
)
SPECIALS = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan)


def unary_samples(
    low: float = -3,
    high: float = 3,
    *,
    args: Sequence[tuple[Any, ...]] = ((),),
    kwargs: Sequence[dict[str, Any]] = ({},),
    specials: bool = False,
    avoid: Sequence[float] = (),
) -> Samples:
    """One tensor of many shapes with every combination of `args` and `kwargs`.

    specials adds signed zeros, infinities and NaN to floating-point runs; avoid keeps smooth samples 0.05 away from
    kinks.
    """

    def generate(draw: Draw) -> Iterator[Sample]:
        shapes: Sequence[tuple[int, ...]] = SMOOTH_SHAPES if draw.smooth else SHAPES
        for extra in args:
            for keywords in kwargs:
                for shape in shapes:
                    values = draw.array(shape, low, high)
                    if draw.smooth and draw.kind == "f":
                        values = move_away(values, avoid)
                    yield Sample((values, *extra), keywords)
                if specials and draw.kind == "f" and not draw.smooth:
                    yield Sample((np.array(SPECIALS), *extra), keywords)

    return generate


def move_away(values: np.ndarray, points: Sequence[float], gap: float = 0.05) -> np.ndarray:
    """Values pushed to at least `gap` from each of the points."""
    for point in points:
        close = np.abs(values - point) < gap
        values = np.where(close, point + np.where(values < point, -gap, gap), values)
    return np.asarray(values)


def binary_samples(
    low: float = -3,
    high: float = 3,
    *,
    other_low: float | None = None,
    other_high: float | None = None,
    numbers: Sequence[float] = (),
    kwargs: Sequence[dict[str, Any]] = ({},),
    specials: bool = False,
) -> Samples:
    """Two tensors over broadcasting shape pairs; `numbers` adds Python numbers as the second operand."""
    second = (low if other_low is None else other_low, high if other_high is None else other_high)

    def generate(draw: Draw) -> Iterator[Sample]:
        for keywords in kwargs:
            for shape, other_shape in SHAPE_PAIRS:
                if draw.smooth and (0 in shape or np.prod(shape, initial=1) > 100):
                    continue
                yield Sample(
                    (draw.array(shape, low, high), draw.array(other_shape, *second)), keywords
                )
            for number in numbers:
                if draw.kind in "fc" or isinstance(number, int):
                    yield Sample((draw.array((2, 3), low, high), number), keywords)
            if specials and draw.kind == "f" and not draw.smooth:
                column = np.array(SPECIALS)[:, None]
                yield Sample((column, np.array(SPECIALS)), keywords)

    return generate


def reduction_samples(
    low: float = -3,
    high: float = 3,
    *,
    whole: bool = True,
    several: bool = True,
    empty: bool = True,
    spread: bool = False,
    kwargs: Sequence[dict[str, Any]] = ({},),
) -> Samples:
    """One tensor; no dim (whole), one dim, several dims, keepdim; `empty` allows reducing over nothing."""

    def generate(draw: Draw) -> Iterator[Sample]:
        make = draw.spread if spread else draw.array
        for keywords in kwargs:
            if whole:
                for whole_shape in ((), (5,), (2, 3)):
                    yield Sample((make(whole_shape, low, high),), keywords)
            dims: list[tuple[tuple[int, ...], Any]] = [
                ((5,), 0),
                ((2, 3), 0),
                ((2, 3), -1),
                ((2, 3, 4), 1),
                ((), 0),
            ]
            if several:
                dims += [((2, 3, 4), (0, 2)), ((2, 3, 4), (-1,))]
            if not draw.smooth:
                dims += [((40, 70), 0), ((40, 70), 1), ((3, 0), 0)] + (
                    [((3, 0), 1)] if empty else []
                )
            for shape, dim in dims:
                for keepdim in (False, True):
                    yield Sample(
                        (make(shape, low, high),), {**keywords, "dim": dim, "keepdim": keepdim}
                    )

    return generate


def case_samples(
    *cases: tuple[Any, ...], low: float = -3, high: float = 3, spread: bool = False
) -> Samples:
    """Explicit calls: `(shape, *args)` or `(shape, *args, {keywords})`.

    A tuple inside Shape(...) becomes a further tensor, Indices(shape, size) an index tensor; a list of Shapes a list of
    tensors; everything else is passed as it is.
    """

    def generate(draw: Draw) -> Iterator[Sample]:
        make = draw.spread if spread else draw.array

        def build(value: Any) -> Any:
            if isinstance(value, Shape):
                return make(
                    value.dims,
                    low if value.low is None else value.low,
                    high if value.high is None else value.high,
                )
            if isinstance(value, Indices):
                return draw.index(value.dims, value.size)
            if isinstance(value, list) and value and isinstance(value[0], Shape | Indices):
                return [build(item) for item in value]
            return value

        for shape, *rest in cases:
            keywords = rest.pop() if rest and isinstance(rest[-1], dict) else {}
            if draw.smooth and isinstance(shape, tuple) and np.prod(shape, initial=1) == 0:
                continue
            first = make(shape, low, high) if isinstance(shape, tuple) else build(shape)
            yield Sample(
                (first, *map(build, rest)), {name: build(value) for name, value in keywords.items()}
            )

    return generate


@dataclass(frozen=True)
class Shape:
    """A further tensor argument in case_samples."""

    dims: tuple[int, ...]
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Indices:
    """An int64 index argument in case_samples, values in [0, size)."""

    dims: tuple[int, ...]
    size: int


def join_samples(*generators: Samples) -> Samples:
    """The samples of several generators, one after another."""

    def generate(draw: Draw) -> Iterator[Sample]:
        for generator in generators:
            yield from generator(draw)

    return generate


def in_place_form(spec: OpSpec, name: str) -> OpSpec:
    """The spec of `name`, a function that writes into its first argument, from the spec of the functional form.

    The function runs on a copy, so that samples stay as they are and leaves may be given.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        from .opcheck import resolve

        first = [args[0].clone()] if args and hasattr(args[0], "clone") else list(args[:1])
        return resolve(name)(*first, *args[1:], **kwargs)

    return replace(spec, name=name, function=call, inplace=False, method=False, out=False)


def load_specs(folder: Path) -> list[OpSpec]:
    """The SPECS lists of all files in a folder, in order of file name."""
    found: list[OpSpec] = []
    for path in sorted(folder.glob("[!_]*.py")):
        name = f"flambeau_specs_{path.stem}"
        module_spec = importlib.util.spec_from_file_location(name, path)
        assert module_spec is not None and module_spec.loader is not None
        module = importlib.util.module_from_spec(module_spec)
        sys.modules[name] = module
        module_spec.loader.exec_module(module)
        found += module.SPECS
    return found
