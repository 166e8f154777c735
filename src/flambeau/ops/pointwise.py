"""Shorthands for declaring elementwise ops of one and two tensors, and helpers of their gradient rules."""

from flambeau import _C

from .registry import native


def unary(name, doc, *, methods=None, inplace=True, out=True, non_differentiable=""):
    """Declare `name(Tensor input) -> Tensor`; the method has the op's name unless `methods` says otherwise."""
    return native(
        f"{name}(Tensor input) -> Tensor",
        methods=(name,) if methods is None else methods,
        inplace=inplace,
        out=out,
        non_differentiable=non_differentiable,
        doc=doc,
    )


def special(name, doc, **options):
    """Declare `special_name(Tensor input) -> Tensor`: a function of torch.special without method or in-place form."""
    return unary(f"special_{name}", doc, methods=(), inplace=False, **options)


def binary(
    name,
    doc,
    *,
    methods=None,
    inplace=True,
    out=True,
    non_differentiable="",
    other="other",
    numbers=True,
):
    """Declare `name(Tensor input, Tensor other) -> Tensor`; with numbers=False, other has to be a tensor."""
    return native(
        f"{name}(Tensor input, {'Tensor' if numbers else 'OnlyTensor'} {other}) -> Tensor",
        methods=(name,) if methods is None else methods,
        inplace=inplace,
        out=out,
        non_differentiable=non_differentiable,
        doc=doc,
    )


STEP = "piecewise constant"
BOOLEAN = "the result is bool"
INTEGRAL = "integers only"


def zeros_like(tensor):
    """Zeros of the same shape; imported late because creation ops come after these in the import order."""
    from .create import zeros_like as create

    return create(tensor)


def as_tensor(number):
    """A 0-d tensor of a Python number."""
    from .create import tensor

    return tensor(number)


def number_first(name, *, rule=None, other="other", non_differentiable=""):
    """The form of a binary op whose first argument is a number; `rule(grad, self, other)` is its gradient."""
    form = native(
        f"{name}_number(Scalar self, Tensor {other}) -> Tensor",
        out=True,
        non_differentiable=non_differentiable,
        doc=f"{name} of a number and a tensor.",
    )
    if rule is not None:
        form.vjp(rule)
    return form


def ones_like(tensor, **options):
    """Ones of the same shape; late for the same reason."""
    from .create import ones_like as create

    return create(tensor, **options)


def require_tensors(name, *values):
    """TypeError unless all values are tensors: for composites, which have no schema."""
    for value in values:
        if not isinstance(value, _C.TensorBase):
            raise TypeError(f"{name}(): expected Tensor arguments, got {type(value).__name__}")
