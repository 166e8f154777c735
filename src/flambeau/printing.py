"""Text form of tensors, character by character as PyTorch prints them, and its options.

Imported by the first repr(): `import flambeau` does not pay for it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import sys
from collections.abc import Iterator
from typing import Any

import flambeau

from . import _C

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]


@dataclasses.dataclass
class _Options:
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": _Options(),
    "short": _Options(precision=2, edgeitems=2),
    "full": _Options(threshold=math.inf),
}
PRINT_OPTS = _Options()
_GAP = object()  # where a summary leaves elements out


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed.

    Args:
        precision: digits after the point (4).
        threshold: number of elements above which a tensor is summarised (1000).
        edgeitems: elements shown at both ends of each summarised dimension (3).
        linewidth: characters per line (80).
        profile: "default", "short" or "full": sets all of the above first.
        sci_mode: always (True) or never (False) use scientific notation; None decides by the values.
    """
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(
                f"set_printoptions: expected profile in {list(_PROFILES)}, got {profile!r}"
            )
        for field in ("precision", "threshold", "edgeitems", "linewidth"):
            setattr(PRINT_OPTS, field, getattr(_PROFILES[profile], field))
    for field, value in (
        ("precision", precision),
        ("threshold", threshold),
        ("edgeitems", edgeitems),
        ("linewidth", linewidth),
    ):
        if value is not None:
            setattr(PRINT_OPTS, field, value)
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return the current options as a dict."""
    return dataclasses.asdict(PRINT_OPTS)


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Change options within a `with` block."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


class _Formatter:
    """Chooses one notation and one width for all values of a tensor."""

    def __init__(self, values: list[Any], floating: bool) -> None:
        self.floating = floating
        self.int_mode = True
        self.sci_mode = False
        self.width = 1
        if floating:
            self._fit_floats([v for v in values if math.isfinite(v) and v != 0])
        else:
            self.width = max([1, *(len(str(v)) for v in values)])

    def _fit_floats(self, values: list[float]) -> None:
        # Zeros and non-finite values do not count: they are padded, or stick out.
        if not values:
            return
        magnitudes = [abs(v) for v in values]
        low, high = min(magnitudes), max(magnitudes)
        self.int_mode = all(v == math.ceil(v) for v in values)
        self.sci_mode = high / low > 1000.0 or high > 1.0e8 or (not self.int_mode and low < 1.0e-4)
        if PRINT_OPTS.sci_mode is not None:
            self.sci_mode = PRINT_OPTS.sci_mode
        spec = "e" if self.sci_mode else "f"
        if self.int_mode and not self.sci_mode:
            self.width = max(len(f"{v:.0f}") + 1 for v in values)
        else:
            self.width = max(len(f"{v:.{PRINT_OPTS.precision}{spec}}") for v in values)

    def __call__(self, value: Any) -> str:
        if not self.floating:
            text = str(value)
        elif self.sci_mode:
            text = f"{value:{self.width}.{PRINT_OPTS.precision}e}"
        elif self.int_mode:
            text = f"{value:.0f}" + ("." if math.isfinite(value) else "")
        else:
            text = f"{value:.{PRINT_OPTS.precision}f}"
        return text.rjust(self.width)


class _ComplexFormatter:
    """Real and imaginary parts, each with a notation of its own."""

    def __init__(self, values: list[complex]) -> None:
        self.real = _Formatter([v.real for v in values], floating=True)
        self.imag = _Formatter([v.imag for v in values], floating=True)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, value: complex) -> str:
        imag = self.imag(value.imag).lstrip() + "j"
        return self.real(value.real) + (imag if imag[0] in "+-" else "+" + imag)


def _nested(tensor: Any, summarize: bool) -> Any:
    """Values as nested lists, with _GAP where a summary leaves elements out."""
    if tensor.dim() == 0:
        return tensor.item()
    edge = PRINT_OPTS.edgeitems
    if not summarize:
        return tensor.tolist()
    size = tensor.size(0)
    if size <= 2 * edge:
        return [_nested(tensor[i], True) for i in range(size)]
    head = [_nested(tensor[i], True) for i in range(edge)]
    return [*head, _GAP, *(_nested(tensor[i], True) for i in range(size - edge, size))]


def _flatten(nested: Any, into: list[Any]) -> list[Any]:
    if isinstance(nested, list):
        for item in nested:
            _flatten(item, into)
    elif nested is not _GAP:
        into.append(nested)
    return into


def _vector(values: list[Any], indent: int, fmt: Any) -> str:
    per_line = max(1, math.floor((PRINT_OPTS.linewidth - indent) / (fmt.width + 2)))
    texts = [" ..." if v is _GAP else fmt(v) for v in values]
    if texts == [" ..."]:
        texts = ["..."]
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _format(nested: Any, dim: int, indent: int, fmt: Any) -> str:
    if dim == 0:
        return str(fmt(nested))
    if dim == 1:
        return _vector(nested, indent, fmt)
    parts = ["..." if v is _GAP else _format(v, dim - 1, indent + 1, fmt) for v in nested]
    return "[" + ("," + "\n" * (dim - 1) + " " * (indent + 1)).join(parts) + "]"


def _contents(tensor: Any, indent: int) -> str:
    nested = _nested(tensor, summarize=tensor.numel() > PRINT_OPTS.threshold)
    values = _flatten(nested, [])
    fmt: Any
    if tensor.dtype.is_complex:
        fmt = _ComplexFormatter(values)
    else:
        fmt = _Formatter(values, tensor.dtype.is_floating_point)
    return _format(nested, tensor.dim(), indent, fmt)


def _sparse_contents(tensor: Any, indent: int) -> str:
    """The components of a sparse tensor, one per line."""
    if tensor.is_sparse:
        components = {"indices": tensor._indices(), "values": tensor._values()}
    elif tensor.layout in (flambeau.sparse_csr, flambeau.sparse_bsr):
        components = {"crow_indices": tensor.crow_indices(), "col_indices": tensor.col_indices()}
    else:
        components = {"ccol_indices": tensor.ccol_indices(), "row_indices": tensor.row_indices()}
    if not tensor.is_sparse:
        components["values"] = tensor.values()
    texts = []
    for name, part in components.items():
        prefix = f"{name}=tensor("
        if part.numel() == 0:
            texts.append(f"{prefix}[], size={tuple(part.shape)})")
        else:
            texts.append(f"{prefix}{_contents(part.detach(), indent + len(prefix))})")
    return (",\n" + " " * indent).join(texts)


def _with_suffixes(text: str, suffixes: list[str], indent: int, new_line: bool = False) -> str:
    parts = [text]
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if new_line or length + len(suffix) + 2 > PRINT_OPTS.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            length = indent + len(suffix)
            new_line = False
        else:
            parts.append(", " + suffix)
            length += len(suffix) + 2
    return "".join(parts) + ")"


def _grad_suffix(tensor: Any) -> list[str]:
    try:
        grad_fn = tensor.grad_fn
    except RuntimeError:  # a view whose base was changed in place in a forbidden way
        return ["grad_fn=<Invalid>"]
    if grad_fn is not None:
        return [f"grad_fn=<{type(grad_fn).__name__}>"]
    return ["requires_grad=True"] if tensor.requires_grad else []


def _has_default_dtype(dtype: Any) -> bool:
    default = flambeau.get_default_dtype()
    complex_default = flambeau.complex128 if default is flambeau.float64 else flambeau.complex64
    return dtype in (default, complex_default, flambeau.int64, flambeau.bool)


def with_values(prefix: str, values: Any, suffixes: list[str]) -> str:
    """The text `prefix` + the values of a strided tensor + suffixes and a closing parenthesis."""
    text = _contents(values, len(prefix)) if values.numel() else "[]"
    return _with_suffixes(prefix + text, suffixes, len(prefix))


def sparse_repr(tensor: Any, prefix: str) -> str:
    """repr of a sparse tensor."""
    suffixes = [f"size={tuple(tensor.shape)}", f"nnz={tensor._nnz()}"]
    if not _has_default_dtype(tensor.dtype):
        suffixes.append(f"dtype={tensor.dtype}")
    suffixes += [f"layout={tensor.layout}", *_grad_suffix(tensor)]
    text = prefix + _sparse_contents(tensor, len(prefix))
    return _with_suffixes(text, suffixes, len(prefix), new_line=tensor.is_sparse)


def _strided_values(data: Any, indent: int, suffixes: list[str]) -> tuple[str, bool]:
    """Text of the values of a strided tensor, and whether its dtype is shown; adds to the suffixes."""
    default = flambeau.get_default_dtype()
    if data.device.type == "meta":
        suffixes.append(f"size={tuple(data.shape)}")
        return "...", data.dtype is not default
    if data.numel() == 0:
        if data.dim() != 1:
            suffixes.append(f"size={tuple(data.shape)}")
        return "[]", data.dtype is not default
    if data.is_conj():
        data = data.resolve_conj()
    if data.is_neg():
        data = data.resolve_neg()
    if PRINT_OPTS.edgeitems == 0:
        suffixes.append(f"size={tuple(data.shape)}")
    return _contents(data, indent), not _has_default_dtype(data.dtype)


def tensor_repr(tensor: Any, contents: str | None = None) -> str:
    """Return what repr(tensor) shows; `contents` replaces the values."""
    nn = sys.modules.get("flambeau.nn")  # a Parameter can only be printed after its import
    plain = type(tensor) in (flambeau.Tensor, getattr(nn, "Parameter", None))
    prefix = "tensor(" if plain else f"{type(tensor).__name__}("
    indent = len(prefix)
    suffixes: list[str] = []
    # Subclasses may override any op: print the plain tensor inside.
    data = tensor.detach().as_subclass(flambeau.Tensor)
    describe = getattr(_C._extension(data), "describe", None)
    if describe is not None:
        return describe(tensor, prefix)
    if data.device.type != "cpu":
        suffixes.append(f"device='{data.device}'")
    if contents is not None:
        text = contents
        show_dtype = not _has_default_dtype(data.dtype)
    else:
        text, show_dtype = _strided_values(data, indent, suffixes)
    if show_dtype:
        suffixes.append(f"dtype={data.dtype}")
    suffixes += _grad_suffix(tensor)
    if flambeau._C._is_dual_level_active():
        tangent = flambeau._C._unpack_dual(tensor)[1]
        if tangent is not None:
            suffixes.append(f"tangent={tangent}")
    return _with_suffixes(prefix + text, suffixes, indent)
