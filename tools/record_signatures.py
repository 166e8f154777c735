"""Record the signatures of PyTorch's functions from its own stub, for tests/ops/test_signatures.py.

PYTHON_WITH_PYTORCH tools/record_signatures.py tests/data/torch_signatures.json
"""

import ast
import json
import sys
from pathlib import Path

# Keywords that every factory takes, and out=: they are tested elsewhere.
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


def signature(function: ast.FunctionDef) -> str:
    """Parameters in order, `*` before keyword-only ones, defaults as they are written."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    parts = [text(a, d) for a, d in zip(positional, defaults, strict=True)]
    if arguments.vararg:
        parts.append(f"*{arguments.vararg.arg}")
    keywords = [
        text(a, d)
        for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if a.arg not in LEFT_OUT
    ]
    if keywords and not arguments.vararg:
        parts.append("*")
    return ", ".join(parts + keywords)


def text(argument: ast.arg, default: ast.expr | None) -> str:
    """`name` or `name=default`."""
    return argument.arg if default is None else f"{argument.arg}={ast.unparse(default)}"


def main(target: str) -> None:
    import torch

    stub = Path(torch.__file__).parent / "_C" / "_VariableFunctions.pyi"
    table: dict[str, list[str]] = {}
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            found = table.setdefault(node.name, [])
            one = signature(node)
            if one not in found:
                found.append(one)
    table = {name: found for name, found in sorted(table.items()) if useful(name)}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(found)}" for name, found in table.items())
    Path(target).write_text(f'{{"torch": "{torch.__version__}", "functions": {{\n{lines}\n}}}}\n')


def useful(name: str) -> bool:
    """Leave out what belongs to other devices and internals."""
    return not name.startswith(
        ("cudnn_", "miopen_", "mkldnn_", "fbgemm_", "quantized_", "fused_", "q_")
    )


if __name__ == "__main__":
    main(sys.argv[1])
