"""Views that read the same bits in another way: complex as pairs of reals, parts, lazy conjugation and negation."""

from .. import _C
from .registry import composite, native

view_as_real = native(
    "view_as_real(Tensor(a) input) -> Tensor(a)",
    handles_lazy_bits=True,
    doc="A complex tensor as reals, with a last dim of size 2: (real, imaginary).",
)


@view_as_real.vjp
def view_as_real_vjp(grad):
    return view_as_complex(grad.contiguous())


view_as_complex = native(
    "view_as_complex(Tensor(a) input) -> Tensor(a)",
    handles_lazy_bits=True,
    doc="Reals with a last dim of size 2 and stride 1 as complex numbers.",
)


@view_as_complex.vjp
def view_as_complex_vjp(grad):
    return view_as_real(grad.resolve_conj())


real = native(
    "real(Tensor(a) input) -> Tensor(a)",
    properties=("real",),
    handles_lazy_bits=True,
    doc="Real part: a view; a real tensor itself.",
)


@real.vjp
def real_vjp(grad):
    return grad


imag = native(
    "imag(Tensor(a) input) -> Tensor(a)",
    properties=("imag",),
    handles_lazy_bits=True,
    doc="Imaginary part of a complex tensor: a view.",
)


@imag.vjp
def imag_vjp(grad):
    return grad * 1j


conj = native(
    "conj(Tensor(a) input) -> Tensor(a)",
    methods=("conj",),
    handles_lazy_bits=True,
    doc="Complex conjugate: a lazy view of a complex tensor, a real tensor itself.",
)


@conj.vjp
def conj_vjp(grad):
    return grad.conj()


neg_view = native(
    "neg_view(Tensor(a) input) -> Tensor(a)",
    methods=("_neg_view",),
    handles_lazy_bits=True,
    doc="Negative as a lazy view.",
)


@neg_view.vjp
def neg_view_vjp(grad):
    return -grad


resolve_conj = native(
    "resolve_conj(Tensor(a) input) -> Tensor(a)",
    methods=("resolve_conj",),
    handles_lazy_bits=True,
    doc="Carry out a lazy conjugation: input itself if there is none.",
)


@resolve_conj.vjp
def resolve_conj_vjp(grad):
    return grad


resolve_neg = native(
    "resolve_neg(Tensor(a) input) -> Tensor(a)",
    methods=("resolve_neg",),
    handles_lazy_bits=True,
    doc="Carry out a lazy negation: input itself if there is none.",
)


@resolve_neg.vjp
def resolve_neg_vjp(grad):
    return grad


def _set_part(name, view):
    """x.real = values: writes through the view."""

    def write(self, value):
        view(self).copy_(value if isinstance(value, _C.TensorBase) else _C.tensor(value))

    setattr(_C.TensorBase, name, property(view, write, doc=view.__doc__))


_set_part("real", real)
_set_part("imag", imag)


@composite
def is_conj(input):
    """Whether values are lazily conjugated."""
    return input.is_conj()


@composite
def is_neg(input):
    """Whether values are lazily negated."""
    return input.is_neg()


__all__ = [
    "conj", "imag", "is_conj", "is_neg", "real", "resolve_conj", "resolve_neg", "view_as_complex", "view_as_real",
]  # fmt: skip
