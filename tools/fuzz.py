"""Call every op, method and index with odd arguments; report crashes, hangs, internal errors and broken results.

    python tools/fuzz.py --seconds 60 --jobs 2            # search
    python tools/fuzz.py --only 'conv|pool' --seconds 60  # some ops
    python tools/fuzz.py --replay "t.add(T('float32', (2, 3), 'plain'), None)"

Calls are expressions over `t` (the package) and T(), which makes a tensor, so that a finding can be run again. Workers
write each call to a file before they run it: what stands there after a crash is what crashed. Run it against a
sanitizer build too (docs in the functions below): there, every error of memory is a crash.
"""

from __future__ import annotations

import argparse
import collections
import inspect
import math
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from typing import Any

EXPECTED = (
    RuntimeError,
    TypeError,
    ValueError,
    IndexError,
    NotImplementedError,
    OverflowError,
    MemoryError,
    BufferError,
    ZeroDivisionError,
)
# Of those, these words mean that a check is missing further up.
SUSPICIOUS = re.compile(
    r"internal error|vector::|basic_string|bad_alloc|map::at|std::|bad_function|bad optional", re.I
)
# A wrong argument in a Python function, a read-only attribute; multi-head attention asserts, as PyTorch's does.
HARMLESS = re.compile(
    r"object .*has no attribute|not writable|no setter|no deleter|expecting|should be|expected|to be None|shape|"
    r"must be|not compiled with CUDA",
    re.I,
)
MEMORY_LIMIT = 2 << 30
CALL_SECONDS = 20

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
LAYOUTS = (
    "plain plain plain plain t step expand overlap meta grad conj neg nan huge negative zeros "
    "coo csr quantized complex32"
).split()
# Further kinds, now and then.
OTHER_KINDS = "hybrid csc bsr channels".split()
INTS = "0 1 -1 2 3 -2 -3 4 5 -5 7 63 64 -64 255 2**31 -2**31 2**31-1 2**32 2**62 2**63-1 -2**63 2**64".split()
FLOATS = "0.0 1.0 -1.0 0.5 2.0 1e-5 -0.0 1e30 1e300 -1e300 nan inf -inf".split()
WRONG = [
    "None",
    "'x'",
    "1.5",
    "True",
    "nan",
    "[]",
    "()",
    "{}",
    "object()",
    "b'x'",
    "[1, 'x']",
    "[None]",
    "2**64",
    "1j",
    "t.float32",
    "t.device('cpu')",
    "lambda: 1",
    "np.ones(3)",
    "np.float32(2)",
    "[[1], [2, 3]]",
    "T('float32', (2,), 'plain')",
    "slice(None)",
    "Ellipsis",
    "t.Size([2])",
    "float",
    "range(3)",
    "-1",
    "10**30",
    "''",
]
STRINGS = """mean sum none max min linear bilinear nearest trunc floor constant reflect replicate circular left right
both fro nuc prod amax amin tanh ij xy""".split()


def make_tensor(t: Any, dtype: str, shape: tuple[int, ...], layout: str) -> Any:
    """The tensor that T(dtype, shape, layout) stands for; its values depend on these only."""
    kind = getattr(t, dtype)
    count = math.prod(shape)
    values = [((i * 7 + 3) % 11 - 4) / 2 for i in range(count)]
    special = {"nan": math.nan, "huge": 1e30, "negative": -3.0, "zeros": 0.0}
    if layout in special:
        values = [
            special[layout] if i % 2 == 0 or layout == "zeros" else v for i, v in enumerate(values)
        ]
    if layout == "meta":
        return t.empty(shape, dtype=kind, device="meta")
    whole = not kind.is_floating_point and not kind.is_complex
    if whole:
        bound = {"huge": 2**62, "nan": -(2**62)}.get(layout)
        values = [
            bound if bound is not None and i % 2 == 0 else int(abs(v) if kind is t.uint8 else v)
            for i, v in enumerate(values)
        ]
    made = (
        t.tensor(values, dtype=t.int64 if whole else t.complex64 if kind.is_complex else t.float32)
        .to(kind)
        .reshape(shape)
    )
    if layout in OTHER_KINDS:
        return make_other_kind(t, made, layout)
    if layout == "t" and made.dim() >= 2:
        return made.transpose(0, -1).contiguous().transpose(0, -1)
    if layout == "step" and made.dim() >= 1:
        return t.stack([made, made], -1).flatten(-2)[..., ::2]
    if layout == "expand" and made.dim() >= 1 and shape[0] > 0:
        return made[:1].expand(shape)
    if layout == "overlap" and made.dim() >= 1 and count > 0:
        return made.flatten().as_strided(shape, [0 if n > 1 else 1 for n in shape])
    if layout == "grad" and not whole:
        return made.requires_grad_()
    if layout == "conj" and kind.is_complex:
        return made.conj()
    if layout == "neg" and kind.is_complex:
        return made.conj().imag
    return make_extended(t, made, layout)


def make_extended(t: Any, made: Any, layout: str) -> Any:
    """The tensor in a layout or dtype without strided memory, where there is such a form of it."""
    if layout == "coo" and made.dim() >= 1:
        return made.to_sparse()
    if layout == "csr" and made.dim() == 2:
        return made.to_sparse_csr()
    if layout == "quantized":
        return t.quantize_per_tensor(made.real.float(), 0.25, 3, t.qint8)
    if layout == "complex32":
        return made.to(t.complex32)
    return made


def make_other_kind(t: Any, made: Any, layout: str) -> Any:
    """A sparse or quantized tensor of those values; the plain one where that form does not exist."""
    if layout == "channels":
        if made.dtype.is_complex or made.dim() == 0:
            return made
        scales, zeros = t.full((made.shape[0],), 0.25), t.zeros(made.shape[0], dtype=t.int64)
        return t.quantize_per_channel(made.float(), scales, zeros, 0, t.qint8)
    if layout == "hybrid":
        return made.to_sparse(1) if made.dim() > 0 else made
    if made.dim() != 2 or made.numel() == 0:
        return made
    return made.to_sparse_bsr((1, 1)) if layout == "bsr" else made.to_sparse_csc()


class Source:
    """Random arguments as source text."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def pick(self, options: Any) -> Any:
        return self.rng.choice(options)

    def shape(self) -> tuple[int, ...]:
        rank = self.pick([0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5])
        return tuple(self.pick([0, 1, 1, 2, 2, 3, 3, 4, 5]) for _ in range(rank))

    def tensor(self, shape: tuple[int, ...] | None = None) -> str:
        if shape is None or self.rng.random() < 0.25:
            shape = self.shape()
        dtype = self.pick(["float32"] * 6 + ["int64"] * 3 + DTYPES)
        layout = self.pick(LAYOUTS if self.rng.random() < 0.93 else OTHER_KINDS)
        return f"T({dtype!r}, {shape}, {layout!r})"

    def small_int(self) -> str:
        return self.pick(INTS[:10]) if self.rng.random() < 0.8 else self.pick(INTS)

    def ints(self, count: int | None = None) -> str:
        count = self.rng.randrange(0, 6) if count is None or self.rng.random() < 0.2 else count
        return "[" + ", ".join(self.small_int() for _ in range(count)) + "]"

    def value(self, kind: str, shape: tuple[int, ...]) -> str:
        """An argument for a schema type; now and then a wrong one."""
        if self.rng.random() < 0.06:
            return self.pick(WRONG)
        if kind.endswith("?"):
            return "None" if self.rng.random() < 0.4 else self.value(kind[:-1], shape)
        sized = re.fullmatch(r"int\[(\d*|\*)\]", kind)
        if sized:
            if self.rng.random() < 0.3:
                return self.small_int()
            return self.ints(int(sized[1]) if sized[1].isdigit() else None)
        if kind.startswith(("Tensor", "OnlyTensor")):
            if kind.endswith("[]"):
                return (
                    "["
                    + ", ".join(
                        self.value(kind[:-2], shape) for _ in range(self.rng.randrange(0, 4))
                    )
                    + "]"
                )
            return self.tensor(shape)
        return self.plain(kind)

    def plain(self, kind: str) -> str:
        """An argument that is not a tensor."""
        choices = {
            "int": self.small_int,
            "float": lambda: self.pick(FLOATS + INTS[:6]),
            "bool": lambda: self.pick(["True", "False"]),
            "Scalar": lambda: self.pick(FLOATS + INTS + ["True", "1j", "2.5-1j"]),
            "str": lambda: repr(self.pick(STRINGS)),
            "dtype": lambda: "t." + self.pick(DTYPES),
            "device": lambda: self.pick(
                ["'cpu'", "'meta'", "t.device('cpu')", "'cuda'", "'cpu:1'", "''"]
            ),
            "memory_format": lambda: (
                "t."
                + self.pick(
                    ["contiguous_format", "preserve_format", "channels_last", "channels_last_3d"]
                )
            ),
            "Generator": lambda: self.pick(["None", "t.Generator()"]),
            "float[]": lambda: (
                "[" + ", ".join(self.pick(FLOATS) for _ in range(self.rng.randrange(0, 4))) + "]"
            ),
            "Scalar[]": lambda: (
                "[" + ", ".join(self.pick(FLOATS) for _ in range(self.rng.randrange(0, 4))) + "]"
            ),
            "bool[]": lambda: (
                "["
                + ", ".join(self.pick(["True", "False"]) for _ in range(self.rng.randrange(0, 4)))
                + "]"
            ),
        }
        return choices[kind]() if kind in choices else self.pick(WRONG)

    def slice(self) -> str:
        stop, step = (
            self.pick(["None", self.small_int()]),
            self.pick(["None", "1", "2", "3", "-1", "0"]),
        )
        return f"slice({self.small_int()}, {stop}, {step})"

    def index(self) -> str:
        one = [
            self.small_int,
            lambda: "slice(None)",
            lambda: "Ellipsis",
            lambda: "None",
            lambda: self.pick(["True", "False"]),
            self.slice,
            self.tensor,
            self.ints,
            lambda: f"T('int64', {self.shape()}, {self.pick(LAYOUTS)!r})",
            lambda: f"T('bool', {self.shape()}, 'plain')",
            lambda: self.pick(WRONG),
            lambda: "[[0, 1], [1, 0]]",
            lambda: "np.array([0, 1])",
        ]
        parts = [self.pick(one)() for _ in range(self.pick([1, 1, 1, 2, 2, 3, 4, 6]))]
        return ", ".join(parts)


def schema_types(schema: str) -> list[tuple[str, str, bool, bool]]:
    """(type, name, keyword-only, has a default) of each parameter."""
    inner = re.sub(
        r"\([a-z]!?\)", "", schema[schema.index("(") + 1 : schema.rindex("->")].strip()[:-1]
    )
    found, keyword = [], False
    for part in filter(None, (p.strip() for p in re.split(r",(?![^\[]*\])", inner))):
        if part == "*":
            keyword = True
            continue
        declaration, has_default = part.split("=")[0], "=" in part
        kind, _, name = declaration.rpartition(" ")
        found.append((kind, name, keyword, has_default))
    return found


NAMESPACES = (
    *("t", "t.nn.functional", "t.linalg", "t.special", "t.fft", "t.sparse", "t.masked"),
    *("t.signal.windows", "t.nn.utils.rnn"),
)
TRANSFORMS = "vmap grad jacrev jacfwd functionalize".split()


class Calls:
    """Everything that is called, and random calls of it."""

    def __init__(self, t: Any, only: str) -> None:
        from flambeau.ops import registry

        pattern = re.compile(only)
        self.t = t
        self.ops = [
            (f"OPS[{name!r}]", op.schema, op.takes_out)
            for name, op in registry.OPS.items()
            if pattern.search(name)
        ]
        self.functions: list[tuple[str, Any]] = []
        for prefix in NAMESPACES:
            module = eval(prefix, {"t": _Lazy(t)})
            names = getattr(module, "__all__", None) or dir(module)
            for name in names if module is not None else []:
                member = found_member(module, name)
                if (
                    callable(member)
                    and not isinstance(member, type)
                    and pattern.search(name)
                    and not name.startswith("_")
                ):
                    self.functions.append((f"{prefix}.{name}", member))
        self.methods = [m for m in dir(t.Tensor) if pattern.search(m) and m not in _NOT_METHODS]
        self.indexing = pattern.search("index") is not None
        self.distributions = [
            name
            for name in getattr(t.distributions, "__all__", [])
            if pattern.search(name) and isinstance(getattr(t.distributions, name), type)
        ]

    def arguments(self, source: Source, schema: str, takes_out: bool) -> str:
        shape = source.shape()
        parts = []
        for kind, name, keyword, has_default in schema_types(schema):
            if has_default and source.rng.random() < 0.5:
                continue
            value = source.value(kind, shape)
            parts.append(f"**{{{name!r}: {value}}}" if keyword or has_default else value)
        if takes_out and source.rng.random() < 0.1:
            parts.append(f"out={source.value('Tensor', shape)}")
        if source.rng.random() < 0.02:
            parts.append("**{'nonsense': 1}")
        positional = [p for p in parts if not p.startswith(("**", "out="))]
        return ", ".join(positional + [p for p in parts if p.startswith(("**", "out="))])

    def loose_arguments(self, source: Source, function: Any) -> str:
        """For Python functions: guesses by parameter name."""
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        shape = source.shape()
        parts = []
        for p in parameters:
            if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) or (
                p.default is not p.empty and source.rng.random() < 0.6
            ):
                continue
            kind = source.pick(["Tensor", "Tensor", "int", "int[2]", "float", "bool"])
            if re.search(
                r"input|other|weight|bias|target|mat|vec|tensor|query|key|value|grad|^[abxy]$|mean|var",
                p.name,
            ):
                kind = "Tensor"
            elif re.search(r"dim|size|num|n$|k$|stride|padding|dilation|groups", p.name):
                kind = source.pick(["int", "int[2]"])
            parts.append(
                f"**{{{p.name!r}: {source.value(kind, shape)}}}"
                if p.kind is p.KEYWORD_ONLY or (parts and p.default is not p.empty)
                else source.value(kind, shape)
            )
        if not parameters:
            parts = [
                source.value(source.pick(["Tensor", "Tensor", "int", "float"]), shape)
                for _ in range(source.rng.randrange(1, 4))
            ]
        return ", ".join(
            [p for p in parts if not p.startswith("**")] + [p for p in parts if p.startswith("**")]
        )

    def draw(self, seed: int) -> str:
        source = Source(seed)
        roll = source.rng.random()
        if self.indexing and roll < 0.12:
            return self.draw_index(source)
        if self.distributions and roll < 0.15:
            return self.draw_distribution(source)
        if self.methods and roll < 0.27:
            return self.draw_method(source)
        if self.ops and 0.55 < roll < 0.6:
            return self.draw_transform(source)
        if self.functions and (roll < 0.55 or not self.ops):
            name, function = source.pick(self.functions)
            ops = getattr(function, "ops", None)
            if ops and all(hasattr(op, "schema") for op in ops):
                return f"{name}({self.arguments(source, source.pick(ops).schema, False)})"
            if hasattr(function, "schema"):
                return f"{name}({self.arguments(source, function.schema, function.takes_out)})"
            return f"{name}({self.loose_arguments(source, function)})"
        if self.ops:
            name, schema, takes_out = source.pick(self.ops)
            return f"{name}({self.arguments(source, schema, takes_out)})"
        return self.draw_index(source)

    def draw_transform(self, source: Source) -> str:
        """An op under vmap or a derivative of flambeau.func."""
        name, schema, _ = source.pick(self.ops)
        transform = source.pick(TRANSFORMS)
        return f"t.func.{transform}({name})({self.arguments(source, schema, False)})"

    def draw_distribution(self, source: Source) -> str:
        """A distribution of odd parameters, and one call of it."""
        name = source.pick(self.distributions)
        made = f"t.distributions.{name}({self.loose_arguments(source, getattr(self.t.distributions, name))})"
        value = source.tensor()
        uses = [
            f".sample({source.ints()})",
            f".rsample({source.ints()})",
            f".log_prob({value})",
            f".cdf({value})",
            f".icdf({value})",
            ".entropy()",
            ".mean",
            f".expand({source.ints()})",
        ]
        return made + source.pick(uses)

    def draw_index(self, source: Source) -> str:
        base, index = source.tensor(), source.index()
        if source.rng.random() < 0.5:
            return f"{base}[{index}]"
        value = source.pick(
            [source.tensor(), source.small_int(), source.pick(FLOATS), source.pick(WRONG)]
        )
        return f"{base}.__setitem__(({index},), {value})"

    def draw_method(self, source: Source) -> str:
        name = source.pick(self.methods)
        shape = source.shape()
        base = source.tensor(shape)
        if source.rng.random() < 0.03:
            return f"setattr({base}, {name!r}, {source.value('Tensor', shape)})"
        count = source.pick([0, 0, 1, 1, 1, 2, 2, 3, 4])
        kinds = ["Tensor", "Tensor", "int", "int", "int[2]", "float", "dtype", "bool"]
        return f"call({base}, {name!r}, {', '.join(source.value(source.pick(kinds), shape) for _ in range(count))})"


# Not called on purpose: they stop the process, need a display, or are not about arguments.
_NOT_METHODS = {
    "__class__",
    "__init_subclass__",
    "__subclasshook__",
    "__new__",
    "__del__",
    "__getattribute__",
    "__dict__",
    "__doc__",
    "__torch_function__",
    "__reduce__",
    "__sizeof__",
    "__dir__",
    "__weakref__",
    "register_hook",
    "register_post_accumulate_grad_hook",
    "map_",
    "map2_",
    "apply_",
}
_SKIPPED_FUNCTIONS = {
    "t.save",
    "t.load",
    "t.set_num_threads",
    "t.manual_seed",
    "t.set_default_dtype",
    "t.set_default_tensor_type",
    "t.set_printoptions",
    "t.set_grad_enabled",
    "t.from_file",
    "t.set_default_device",
    "t.seed",
}


class _Lazy:
    """Modules that don't exist yet are None."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = found_member(self._module, name)
        return _Lazy(found) if inspect.ismodule(found) else found

    def __dir__(self) -> list[str]:
        return dir(self._module)


def found_member(module: Any, name: str) -> Any:
    """The member, or None where its module is still missing."""
    try:
        return getattr(module, name, None)
    except ImportError:
        return None


def call_member(base: Any, name: str, *args: Any) -> Any:
    """base.name(*args), or the attribute itself when it is not callable."""
    member = getattr(base, name)
    return member(*args) if callable(member) else member


def check_result(t: Any, result: Any, depth: int = 0) -> None:
    """Results must lie within their storage and be readable."""
    if isinstance(result, t.Tensor):
        if t._C._extension(result) is not None:
            repr(result)  # no strides to check
        elif result.numel() and result.device.type == "cpu":
            last = result.storage_offset() + sum(
                (n - 1) * s for n, s in zip(result.shape, result.stride(), strict=True)
            )
            first = result.storage_offset() + sum(
                min(0, (n - 1) * s) for n, s in zip(result.shape, result.stride(), strict=True)
            )
            if first < 0 or (last + 1) * result.element_size() > result.untyped_storage().nbytes():
                raise AssertionError("a result reaches beyond its storage")
            if result.numel() < 100_000:
                result.detach().resolve_conj().resolve_neg().cpu().tolist()
    elif isinstance(result, list | tuple) and depth < 3:
        for item in list(result)[:100]:
            check_result(t, item, depth + 1)


def run_one(t: Any, call: str, namespace: dict[str, Any]) -> str | None:
    """Run a call; returns what is wrong with how it ended, or None."""
    try:
        result = eval(call, namespace)
        check_result(t, result)
        if (
            isinstance(result, t.Tensor)
            and result.requires_grad
            and result.numel() < 1000
            and result.device.type == "cpu"
        ):
            result.sum().backward()
    except EXPECTED as error:
        return f"{type(error).__name__}: {error}" if SUSPICIOUS.search(str(error)) else None
    except RecursionError:
        return "RecursionError"
    except Exception as error:
        if isinstance(error, AttributeError | AssertionError) and HARMLESS.search(str(error)):
            return None
        return f"{type(error).__name__}: {error}"
    return None


def namespace_of(t: Any) -> dict[str, Any]:
    import numpy as np

    from flambeau.ops import registry

    return {
        "t": t,
        "np": np,
        "nan": math.nan,
        "inf": math.inf,
        "OPS": registry.OPS,
        "call": call_member,
        "T": lambda dtype, shape, layout: make_tensor(t, dtype, shape, layout),
    }


def worker(only: str, first: int, step: int, journal: str) -> None:
    """Run calls first, first + step, ... for ever. The journal holds the one that runs."""
    import flambeau as t

    warnings.simplefilter("ignore")
    if "asan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    sys.setrecursionlimit(2000)
    calls, namespace = Calls(t, only), namespace_of(t)
    calls.functions = [f for f in calls.functions if f[0] not in _SKIPPED_FUNCTIONS]
    with open(journal, "w", buffering=1) as log:
        seed = first
        while True:
            call = calls.draw(seed)
            log.seek(0)
            log.truncate()
            log.write(f"{seed}\t{call}\n")
            t.manual_seed(0)
            wrong = run_one(t, call, namespace)
            if wrong is not None:
                print(
                    f"{seed}\t{wrong.splitlines()[0][:200] if wrong else wrong}\t{call}", flush=True
                )
            seed += step


class Search:
    """Workers, restarted after what ended them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.findings: dict[str, list[str]] = collections.defaultdict(list)
        self.done = 0
        self.folder = tempfile.TemporaryDirectory(prefix="flambeau-fuzz-")

    def start(self, job: int, first: int) -> dict[str, Any]:
        journal = os.path.join(self.folder.name, str(job))
        output = open(journal + ".out", "a+")
        command = [
            sys.executable,
            "-X",
            "faulthandler",
            __file__,
            "--worker",
            str(first),
            "--step",
            str(self.options.jobs),
            "--only",
            self.options.only,
            "--journal",
            journal,
        ]
        process = subprocess.Popen(command, stdout=output, stderr=open(journal + ".err", "w"))
        return {
            "process": process,
            "journal": journal,
            "output": output,
            "seen": "",
            "since": time.time(),
            "job": job,
        }

    def journal(self, state: dict[str, Any]) -> str:
        try:
            with open(state["journal"]) as file:
                return file.read().strip()
        except FileNotFoundError:
            return ""

    def record(self, kind: str, call: str) -> None:
        name = re.match(r"(?:call\(.*?\), ')?([\w.\[\]']+)", call.split("\t# ")[0].split("\t")[-1])
        key = f"{kind} | {name[1] if name else ''}"
        self.findings[key].append(call)
        if len(self.findings[key]) <= self.options.show:
            print(f"{kind}\t{call}", flush=True)

    def run(self) -> int:
        states = [self.start(job, self.options.seed + job) for job in range(self.options.jobs)]
        end = time.time() + self.options.seconds
        while time.time() < end:
            time.sleep(0.2)
            for i, state in enumerate(states):
                now = self.journal(state)
                if now != state["seen"]:
                    state["seen"], state["since"] = now, time.time()
                code = state["process"].poll()
                hung = time.time() - state["since"] > CALL_SECONDS and now
                if code is None and not hung:
                    continue
                states[i] = self.restart(state, now, code)
        for state in states:
            state["process"].kill()
            self.collect(state)
            self.done += self.seed_of(self.journal(state)) // self.options.jobs
        return self.report()

    def seed_of(self, entry: str) -> int:
        return int(entry.split("\t")[0]) - self.options.seed if entry else 0

    def restart(self, state: dict[str, Any], entry: str, code: int | None) -> dict[str, Any]:
        if code is None:
            state["process"].kill()
            state["process"].wait()
            self.record("HANG", entry)
        else:
            with open(state["journal"] + ".err") as file:
                text = file.read()
            kind = f"CRASH {signal.Signals(-code).name}" if code < 0 else f"EXIT {code}"
            summary = re.search(r"SUMMARY: (.*)|runtime error: (.*)|(Error: .*)", text)
            self.record(kind, entry + ("\t# " + summary[0][:200] if summary else ""))
        self.collect(state)
        seed = (
            int(entry.split("\t")[0]) + self.options.jobs
            if entry
            else self.options.seed + state["job"]
        )
        return self.start(state["job"], seed)

    def collect(self, state: dict[str, Any]) -> None:
        state["output"].seek(0)
        for line in state["output"].read().splitlines():
            fields = line.split("\t", 2)
            if len(fields) == 3:  # anything else was printed by what was called
                self.record(fields[1], fields[2])
        state["output"].seek(0)
        state["output"].truncate()

    def report(self) -> int:
        print(f"\n{self.done} calls, {len(self.findings)} kinds of findings")
        for key, calls in sorted(self.findings.items(), key=lambda item: -len(item[1])):
            print(f"{len(calls):6} {key}")
        return 1 if any(key.startswith(("CRASH", "HANG", "EXIT")) for key in self.findings) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="regular expression for names")
    parser.add_argument("--show", type=int, default=1, help="calls shown per kind of finding")
    parser.add_argument("--replay", help="run one call and show its result")
    parser.add_argument("--worker", type=int)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--journal", default="")
    options = parser.parse_args()
    if options.worker is not None:
        worker(options.only, options.worker, options.step, options.journal)
    if options.replay:
        import flambeau as t

        print(eval(options.replay, namespace_of(t)))
        return 0
    return Search(options).run()


if __name__ == "__main__":
    sys.exit(main())
