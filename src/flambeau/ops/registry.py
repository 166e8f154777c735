"""How ops are declared: native(), overload() and composite(), and the table of all of them.

A native op is declared by its schema; the kernel of that name is found in the native core. Gradient rules are attached
with `@op.vjp`. See docs/internals/add_an_op.md.
"""

import copyreg
import functools
import sys

from .. import _C
from .._C import Op, Overload

# One row per native op, by name (in-place forms included).
OPS: dict[str, Op] = {}
# Tensor methods and properties set by ops: name -> what was set.
METHODS: dict[str, object] = {}
PROPERTIES: dict[str, object] = {}


def native(
    schema,
    *,
    methods=(),
    properties=(),
    inplace=False,
    out=False,
    return_type="",
    non_differentiable="",
    handles_lazy_bits=False,
    doc=None,
):
    """Declare a native op.

    Args:
        schema: "name(Tensor input, *, Scalar alpha=1) -> Tensor", PyTorch's names and defaults.
        methods: names under which Tensor gets it as a method; operator names ("__add__") return NotImplemented for
            arguments that do not fit.
        properties: names under which Tensor gets it as a read-only attribute.
        inplace: also declare `name_`, which writes its result into its first argument. True makes a method of every
            plain name in `methods` with a trailing underscore; it is op.inplace.
        out: accept out=.
        return_type: name of the named tuple returned by ops with several results.
        non_differentiable: the reason why there is no gradient rule.
        handles_lazy_bits: the kernel understands conj and neg bits.
        doc: documentation, by the style guide.
    Raises:
        RuntimeError: there is no kernel of that name, or its signature differs.
    """
    op = _C._make_op(schema, bool(out), return_type, non_differentiable, bool(handles_lazy_bits))
    op.__doc__ = doc
    op.__module__ = _declaring_module()
    op.inplace = None
    OPS[op.name] = op
    if op.return_type is not None:
        copyreg.pickle(op.return_type, functools.partial(_reduce_results, op.name))
    if inplace:
        op.inplace = op._make_inplace()
        op.inplace.__doc__ = f"In-place form of {op.name}."
        op.inplace.__module__ = op.__module__
        op.inplace.inplace = None
        OPS[op.inplace.name] = op.inplace
        _set_methods(op.inplace, [f"{name}_" for name in methods if not name.startswith("__")])
        inplace_dunders = [f"__i{name[2:]}" for name in methods if name in _WITH_INPLACE]
        _set_methods(op.inplace, inplace_dunders)
    _set_methods(op, methods)
    _set_properties(op, properties)
    return op


_WITH_INPLACE = frozenset(
    f"__{name}__"
    for name in (
        "add",
        "sub",
        "mul",
        "pow",
        "truediv",
        "floordiv",
        "mod",
        "and",
        "or",
        "xor",
        "lshift",
        "rshift",
    )
)


def _declaring_module():
    """The family file that declares an op, whatever helpers are between: pickle finds ops there by name."""
    frame = sys._getframe(2)
    while frame.f_globals["__name__"] in _HELPERS:
        frame = frame.f_back
    return frame.f_globals["__name__"]


_HELPERS = (__name__, f"{__package__}.pointwise")


def op_named(name):
    """The op that a pickle names."""
    return OPS[name]


def _reduce_results(name, results):
    """Pickle a named tuple of results by the op that returns it."""
    return _results_of, (name, tuple(results))


def _results_of(name, values):
    return OPS[name].return_type(values)


def overload(name, *ops, methods=(), properties=(), doc=None):
    """Several native ops under one name: a call runs the first whose schema accepts its arguments.

    The last entry may be a Python function: it gets the calls that no schema accepts.
    """
    chosen = _C._make_overload(name, tuple(ops))
    chosen.__doc__ = doc or next((op.__doc__ for op in ops if op.__doc__), None)
    chosen.__module__ = _declaring_module()
    _set_methods(chosen, methods)
    _set_properties(chosen, properties)
    return chosen


def composite(function=None, *, methods=(), properties=(), out=False):
    """Register a plain Python function over other ops; it differentiates through its body.

    With `out=True` the function also accepts `out=`: the result is copied there.
    """
    if function is None:
        return functools.partial(composite, methods=methods, properties=properties, out=out)
    registered = _accepting_out(function) if out else function
    _set_methods(registered, methods)
    _set_properties(registered, properties)
    return registered


# NumPy's names of parameters, which native ops accept too.
_ALIASES = {"axis": "dim", "keepdims": "keepdim"}


def _accepting_out(function):
    aliases = {a: name for a, name in _ALIASES.items() if a not in function.__code__.co_varnames}

    @functools.wraps(function)
    def with_out(*args, out=None, **kwargs):
        for alias in aliases.keys() & kwargs.keys():
            kwargs[aliases[alias]] = kwargs.pop(alias)
        result = function(*args, **kwargs)
        if out is None:
            return result
        if isinstance(result, tuple):
            if len({id(target) for target in out}) != len(out):
                raise RuntimeError(
                    f"{function.__name__}(): expected different tensors in out=, got one tensor for several results."
                )
            for target, value in zip(out, result, strict=True):
                write_out(target, value, function.__name__)
            return type(result)(out) if hasattr(result, "n_fields") else out
        return write_out(out, result, function.__name__)

    return with_out


def write_out(target, value, name):
    """Copy the result of a composite op into its out= tensor, under the rules of native ops."""
    if not isinstance(target, _C.TensorBase):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(target).__name__}")
    return OPS["_write_out"](value, out=target)


def _set_methods(op, names):
    for name in names:
        METHODS[name] = (
            op._as_dunder() if name.startswith("__") and hasattr(op, "_as_dunder") else op
        )
        setattr(_C.TensorBase, name, METHODS[name])


def _set_properties(op, names):
    for name in names:
        PROPERTIES[name] = op
        setattr(_C.TensorBase, name, property(op, doc=op.__doc__))


def _vjp(self, target=None):
    """Attach a gradient rule: `@op.vjp` for all differentiable arguments, `@op.vjp("input")` for one.

    The names of the rule's parameters say what is saved for it: arguments, `result`, `<argument>_meta`; and `grad`,
    `grad_<result>` and `needs`. In-place forms share the rule.
    """
    if callable(target):
        return _add_rule(self, None, target)
    return functools.partial(_add_rule, self, target)


def _add_rule(op, target, rule):
    code = rule.__code__
    names = code.co_varnames[: code.co_argcount]
    op._add_rule(rule, target, names)
    if op.inplace is not None:
        op.inplace._add_rule(rule, target, names)
    return rule


Op.vjp = _vjp


native(
    "_write_out(Tensor input) -> Tensor",
    out=True,
    non_differentiable="results written to out= have no history",
)


def verify():
    """Check that every op that could be differentiated says how, or why not. Runs once, at import."""
    missing = [
        op.name for op in OPS.values() if not (op.has_rules or op.non_differentiable or _inert(op))
    ]
    if missing:
        raise RuntimeError(
            f"ops without a gradient rule or a stated reason: {', '.join(sorted(missing))}"
        )


def _inert(op):
    """No tensor goes in, or none comes out."""
    arguments, _, results = op.schema.rpartition("->")
    return "Tensor" not in arguments or "Tensor" not in results


__all__ = [
    "METHODS",
    "OPS",
    "PROPERTIES",
    "Op",
    "Overload",
    "composite",
    "native",
    "overload",
    "verify",
]
