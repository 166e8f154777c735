"""Names, order and defaults of arguments are PyTorch's: a recorded table (tools/record_signatures.py) says so."""

import ast
import inspect
import json
import sys
from pathlib import Path

import pytest

from flambeau import ops
from flambeau.ops import registry

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import schema as schemas  # noqa: E402 (needs the path)

TABLE = json.loads((ROOT / "tests/data/torch_signatures.json").read_text())["functions"]
LEFT_OUT = {
    "out",
    "dtype",
    "layout",
    "device",
    "pin_memory",
    "requires_grad",
    "names",
    "generator",
    "memory_format",
}

# Names whose recorded forms differ from ours, and why.
EXCEPTIONS = {
    "as_tensor": "native without a schema",
    "gradient": "spacing=None is not documented",
    "batch_norm": "functional's order of arguments",
    **dict.fromkeys(
        ("det", "slogdet", "lu_solve", "orgqr", "ormqr", "triangular_solve"),
        "recorded under PyTorch's low-level names",
    ),
    "nuclear_norm": "the form without dim takes keepdim by name",
    "hsmm": "an older name of hspmm, with its arguments",
    "isin": "recorded per overload; the documentation says elements, test_elements",
    "searchsorted": "recorded as self; the documentation says input",
    **dict.fromkeys(
        ("binary_cross_entropy_with_logits", "ctc_loss", "kl_div"),
        "reduction by name, as functional's",
    ),
    **dict.fromkeys(
        ("gru", "lstm", "rnn_relu", "rnn_tanh"), "two forms told apart by their arguments"
    ),
    **dict.fromkeys(("std", "var", "std_mean", "var_mean"), "a bool in place of dim is unbiased"),
    "tensor": "native without a schema",
    "linspace": "steps=None is deprecated",
    "logspace": "steps=None is deprecated",
    "numel": "recorded as self; the documentation says input",
    "where": "recorded as self; the documentation says input",
    "repeat_interleave": "the form without input takes repeats in its place",
    "result_type": "overloads by kind of argument, names are positional there",
    "rrelu": "generator is not public, inplace is functional's",
    "rrelu_": "generator is not public",
    "rsub": "alpha is keyword-only, as in the documentation",
    "subtract": "alpha is keyword-only, as in the documentation",
    **dict.fromkeys(
        ("trapezoid", "trapz", "cumulative_trapezoid"), "dx=None stands for 1 when x is not given"
    ),
    **dict.fromkeys(
        ("tensor_split", "hsplit", "vsplit", "dsplit"),
        "one parameter takes sections or indices, as documented",
    ),
}
DEPRECATED = (
    "self, ",
    "beta, self",
    "beta, input",
)  # forms with numbers before tensors, deprecated since 1.5
OTHER_DEVICES = "out_dtype"  # accumulation types of accelerators


def ours(op):
    """Signatures of a public function as lists of (name, default source or None, keyword only)."""
    if isinstance(op, registry.Overload):
        return [form for one in op.ops for form in ours(one)]
    if isinstance(op, registry.Op):
        parsed = schemas.parse(op.schema).parameters
        return [[(p.name, p.default, p.keyword_only) for p in parsed if p.name not in LEFT_OUT]]
    form = []
    for parameter in inspect.signature(op).parameters.values():
        if parameter.name not in LEFT_OUT and parameter.kind is not parameter.VAR_KEYWORD:
            default = None if parameter.default is parameter.empty else repr(parameter.default)
            form.append((parameter.name, default, parameter.kind is parameter.KEYWORD_ONLY))
    return [form]


def recorded(text):
    """The same of a recorded signature."""
    arguments = ast.parse(f"def f({text}): ...").body[0].args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    form = [
        (a.arg, d and ast.unparse(d), False)
        for a, d in zip(positional, defaults, strict=True)
        if a.arg not in LEFT_OUT
    ]
    if arguments.vararg:
        form.append((arguments.vararg.arg, None, False))
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return form + [(a.arg, d and ast.unparse(d), True) for a, d in keywords]


def covers(own, wanted):
    """Whether a call by the recorded form is a call by ours."""
    positional = [name for name, _, keyword in wanted if not keyword]
    if [name for name, _, keyword in own if not keyword][: len(positional)] != positional:
        return False
    named = {name: default for name, default, _ in own}
    for name, default, _ in wanted:
        if name not in named or not same_default(named[name], default):
            return False
    given = {name for name, _, _ in wanted}
    return all(default is not None for name, default in named.items() if name not in given)


def same_default(own, wanted):
    """A recorded default must be ours; what cannot be compared as a literal must just be there."""
    if wanted is None:
        return True
    if (own, wanted) == ("None", "()"):  # stride of the pools: the kernel's size
        return True
    if own in (None, "..."):  # "...": a list, which the schema spells differently
        return own is not None
    try:
        return ast.literal_eval(own) == ast.literal_eval(wanted)
    except ValueError:
        return True


# The _copy functions pass their arguments on.
SHARED = [
    name
    for name in sorted(TABLE)
    if callable(getattr(ops, name, None)) and name not in EXCEPTIONS and not name.endswith("_copy")
]


@pytest.mark.parametrize("name", SHARED)
def test_signature_is_pytorchs(name):
    forms = ours(getattr(ops, name))
    missing = [
        text
        for text in TABLE[name]
        if not text.startswith(DEPRECATED)
        and OTHER_DEVICES not in text
        and not any(covers(own, recorded(text)) for own in forms)
    ]
    assert not missing, f"{name}: ours is {forms}"
