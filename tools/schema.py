"""Op schemas as Python signatures, for the stubs and the reference page."""

import keyword
import re
from dataclasses import dataclass

TYPES = {
    "Tensor": "Tensor",
    "OnlyTensor": "Tensor",  # no Python number
    "int": "int",
    "float": "float",
    "bool": "bool",
    "Scalar": "complex",
    "str": "str",
    "dtype": "dtype",
    "device": "device | str | int",
    "memory_format": "memory_format",
    "Generator": "Generator",
    "layout": "layout",
}
FACTORY = "requires_grad: bool = False, layout: layout | None = None, pin_memory: bool = False"


@dataclass
class Parameter:
    """One parameter: name, annotation, default (text or None), and how it may be passed."""

    name: str
    annotation: str
    default: str | None = None
    keyword_only: bool = False
    varargs: bool = False

    def __str__(self) -> str:
        if self.varargs:
            return f"*{self.name}: {self.annotation}"
        return f"{self.name}: {self.annotation}" + (
            f" = {self.default}" if self.default is not None else ""
        )


@dataclass
class Signature:
    """A parsed schema."""

    name: str
    parameters: list[Parameter]
    returns: list[tuple[str, str]]  # (annotation, name or "")
    named: str = ""  # class of the named tuple that holds several results

    def text(self, method: bool = False, out: bool = False) -> str:
        """`(input: Tensor, ...) -> Tensor`, with `self` in the first parameter's place for a method."""
        parts = ["self"] if method else []
        starred = False
        for position, parameter in enumerate(self.parameters):
            if method and position == 0:
                continue
            if parameter.keyword_only and not starred:
                parts.append("*")
                starred = True
            starred = starred or parameter.varargs
            parts.append(str(parameter))
        if out:
            if not starred:
                parts.append("*")
            starred = True
            wanted = "Tensor" if len(self.returns) == 1 else "tuple[Tensor, ...]"
            parts.append(f"out: {wanted} | None = None")
        if any(parameter.name == "device" for parameter in self.parameters):
            parts += [] if starred else ["*"]
            parts.append(FACTORY)
        return f"({', '.join(parts)}) -> {self.result}"

    @property
    def result(self) -> str:
        """Annotation of the result."""
        if not self.returns:
            return "None"
        if len(self.returns) == 1:
            return self.returns[0][0]
        if self.named:
            return self.named
        return f"tuple[{', '.join(kind for kind, _ in self.returns)}]"


def split(text: str) -> list[str]:
    """Split at the commas that are not inside brackets or quotes."""
    parts, depth, quoted, start = [], 0, "", 0
    for position, char in enumerate(text):
        if quoted:
            quoted = "" if char == quoted else quoted
        elif char in "'\"":
            quoted = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def annotation(kind: str, first: bool = False) -> tuple[str, bool]:
    """Python annotation of a schema type, and whether it takes the remaining positional arguments."""
    kind = re.sub(r"\([a-z]!?\)", "", kind)
    optional = kind.endswith("?")
    kind = kind.removesuffix("?")
    listed = re.fullmatch(r"(\w+)(\??)\[(\d*|\*)\]", kind)
    if listed is None:
        base = TYPES[kind]
        if kind == "Tensor" and not first:
            base = "Tensor | complex"
        return base + (" | None" if optional else ""), False
    item = TYPES[listed[1]] + (" | None" if listed[2] else "")
    text = f"Sequence[{item}]"
    if listed[3] == "*":
        return f"{item} | {text}", True
    if listed[3]:
        text = f"{item} | {text}"
    return text + (" | None" if optional else ""), False


def default_text(text: str) -> str:
    """A schema default as a Python default; what is not a literal becomes `...`."""
    text = text.strip()
    if re.fullmatch(r"None|True|False|-?[\d.]+(e-?\d+)?|'.*'|\".*\"", text):
        return text
    return "..."


def parse(schema: str) -> Signature:
    """Parse `name(Tensor input, *, int dim=0) -> Tensor`."""
    matched = re.fullmatch(r"\s*([\w.]+)\((.*)\)\s*->\s*(.*?)\s*", schema, re.S)
    assert matched is not None, schema
    name, arguments, results = matched.groups()
    parameters: list[Parameter] = []
    keyword_only = False
    for part in split(arguments):
        if part == "*":
            keyword_only = True
            continue
        declared, _, default = part.partition("=")
        kind, parameter = declared.rsplit(None, 1)
        if keyword.iskeyword(
            parameter
        ):  # uniform_(from=...): can only be passed by position in a stub
            parameter = f"{parameter}_"
        text, varargs = annotation(kind, first=not parameters)
        parameters.append(
            Parameter(
                parameter, text, default_text(default) if default else None, keyword_only, varargs
            )
        )
    if any(p.default is not None for p in parameters):
        require_defaults(parameters)
    inner = results[1:-1] if results.startswith("(") else results
    returns = []
    for part in split(inner):
        kind, _, result_name = part.partition(" ")
        returns.append((annotation(kind, first=True)[0].replace("Sequence", "list"), result_name))
    return Signature(name, parameters, returns)


def require_defaults(parameters: list[Parameter]) -> None:
    """Python wants defaults on all positional parameters after the first that has one."""
    seen = False
    for parameter in parameters:
        if parameter.keyword_only or parameter.varargs:
            continue
        seen = seen or parameter.default is not None
        if seen and parameter.default is None:
            parameter.default = "..."
