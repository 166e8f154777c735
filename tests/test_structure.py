"""Rules about the sources themselves: layers, includes, sizes of files, and tests that mirror them."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "flambeau"
CSRC = ROOT / "csrc"
MAX_LINES = 800

# Each layer may import itself and what stands before it. `flambeau` itself counts as the ops layer: its public names.
LAYERS = [
    set(names.split())
    for names in (
        "_C _load errors _extension",
        "ops autograd linalg special fft tensor dtypes device storage random printing overrides version _utils"
        " tensor_types type_info types memory settings legacy _complex32 sparse quantized amp backends cpu cuda"
        " accelerator xpu mps mtia determinism profiler torch_version _foreach _checks __config__ _shared_memory",
        "nn optim utils distributions serialization archive signal masked hub futures multiprocessing func quasirandom"
        " ao",
        "graph fx jit quantization compiler _dynamo _subclasses _jit_internal export library onnx",
        "distributed package mobile",
        "vision audio text rec kernels launch",
        "testing dropin _private demo cli __main__",
    )
]
LAYERS[1].add("")  # the package itself
# Utilities without imports of their own kind, which lower layers may use.
LOW = ("utils.hooks", "utils._pytree", "utils.dlpack")

# Tests of the repository as a whole, and the generic suites over the op specs.
WITHOUT_SOURCE = {
    "test_structure",
    "test_packaging",
    "test_examples",
    "test_docs",
    "models/test_training",
    "programs/test_programs",
    *(
        "ops/test_values",
        "ops/test_layouts",
        "ops/test_meta",
        "ops/test_gradients",
        "ops/test_strides",
    ),
    *("ops/test_calls", "ops/test_cpu_levels", "ops/test_signatures", "ops/test_spec_coverage"),
}

# Tests of one behaviour of a source with another name.
ASPECTS = {
    "ops/test_draws": "src/flambeau/ops/random.py",
    "autograd/test_backward": "csrc/autograd/engine.cpp",
    "autograd/test_inplace": "csrc/autograd/copy_slices.cpp",
    "models/test_training": "src/flambeau/optim",
    "nn/modules/test_repr": "src/flambeau/nn/modules",
    "linalg/test_determinant": "src/flambeau/ops/linalg_det.py",
    "linalg/test_gradients": "src/flambeau/ops/linalg_spectral.py",
    "linalg/test_least_squares": "src/flambeau/ops/linalg_spectral.py",
    "linalg/test_legacy": "src/flambeau/ops/linalg_legacy.py",
    "linalg/test_lobpcg": "src/flambeau/ops/linalg_lobpcg.py",
    "linalg/test_nonfinite": "src/flambeau/linalg",
    "linalg/test_norms": "src/flambeau/ops/linalg_norms.py",
    "linalg/test_out": "src/flambeau/linalg",
    "linalg/test_rebuild": "src/flambeau/ops/linalg_spectral.py",
    "linalg/test_systems": "src/flambeau/ops/linalg_ops.py",
    "linalg/test_values": "src/flambeau/linalg",
    "ops/test_determinism": "csrc/core/determinism.cpp",
    "ops/test_lazy_views": "csrc/core/elementwise.cpp",
    "ops/test_recurrent": "src/flambeau/ops/rnn.py",
    "ops/test_views": "src/flambeau/ops/view.py",
    "tools/test_fuzz": "tools/fuzz.py",
}


def layer_of(module):
    """Number of the layer that a module path below flambeau belongs to; None if the table lacks it."""
    if module.startswith(LOW):
        return 1
    top = module.partition(".")[0]
    return next((number for number, names in enumerate(LAYERS) if top in names), None)


def module_of(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def module_level_imports(tree):
    """Import statements that run at import, without those for type checkers only."""
    pending = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            pending += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pending += [
                child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)
            ]


def imported(node, path):
    """Modules below flambeau that an import statement names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        base = node.module or ""
        if node.level:
            package = ["flambeau", *path.relative_to(PACKAGE).parent.parts]
            prefix = package[: len(package) - node.level + 1]
            base = ".".join([*prefix, base] if base else prefix)
        names = [f"{base}.{alias.name}" for alias in node.names]
    for name in names:
        top, _, rest = name.partition(".")
        if top == "flambeau":
            yield existing(rest)


def existing(name):
    """The longest prefix that is a module: `nn.Linear` gives `nn`, a public function gives ``."""
    parts = name.split(".")
    while parts:
        stem = PACKAGE.joinpath(*parts)
        if stem.is_dir() or stem.with_suffix(".py").exists() or parts[0] == "_C":
            return ".".join(parts)
        parts.pop()
    return ""


def test_imports_point_down():
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        own = module_of(path)
        if own == "":
            continue  # the package itself re-exports everything
        level = layer_of(own)
        assert level is not None, f"{own}: add it to a layer"
        for node in module_level_imports(ast.parse(path.read_text())):
            for other in imported(node, path):
                other_level = layer_of(other)
                if other_level is None or other_level > level:
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} imports flambeau.{other}")
    assert not wrong, "\n".join(wrong)


def includes(folder, pattern):
    """Lines of C++ sources outside `folder` (below csrc) that include a matching header."""
    found = []
    for path in sorted(CSRC.rglob("*.[hc]*")):
        if path.is_relative_to(CSRC / folder):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.match(rf"\s*#\s*include\s*[<\"]({pattern})", line):
                found.append(f"{path.relative_to(ROOT)}:{number} {line.strip()}")
    return found


def test_only_bindings_include_python():
    assert not includes("bindings", r"Python\.h|nanobind/|numpy/|bindings/")


def test_only_onednn_folder_includes_onednn():
    assert not includes("onednn", r"dnnl|oneapi/")


def test_only_simd_folder_uses_intrinsics():
    assert not includes("simd", r"\w*intrin\.h|arm_neon\.h")


def test_no_file_is_too_long():
    paths = [*PACKAGE.rglob("*.py"), *CSRC.rglob("*.[hc]*"), *(ROOT / "tests").rglob("*.py")]
    lengths = {path.relative_to(ROOT): len(path.read_text().splitlines()) for path in paths}
    assert not {path: lines for path, lines in lengths.items() if lines > MAX_LINES}


def sources():
    """Paths that a test may mirror, without suffix: `nn/modules/linear`, `core/tensor`; and plain stems."""
    found = {path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")}
    found |= {path.relative_to(CSRC) for path in CSRC.rglob("*.[hc]*")}
    found |= {
        folder.relative_to(root)
        for root in (PACKAGE, CSRC)
        for folder in root.rglob("*")
        if folder.is_dir()
    }
    paths = {str(path.parent / path.stem.lstrip("_")).removeprefix("./") for path in found}
    return paths | {path.stem.lstrip("_") for path in found}


def test_every_test_mirrors_a_source():
    known = sources()
    orphans = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        relative = path.relative_to(ROOT / "tests").with_suffix("")
        if str(relative) in WITHOUT_SOURCE or (ROOT / ASPECTS.get(str(relative), "none")).exists():
            continue
        # test_linear_init.py may test one aspect of linear.py: every prefix up to an underscore counts.
        words = relative.name.removeprefix("test_").split("_")
        stems = {"_".join(words[:count]) for count in range(1, len(words) + 1)}
        if not known & (stems | {str(relative.parent / stem) for stem in stems}):
            orphans.append(str(relative))
    assert not orphans, f"tests without a source of that name: {orphans}"


def test_every_spec_file_mirrors_an_op_family():
    families = {path.stem for path in (PACKAGE / "ops").glob("*.py")}
    families |= {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    specs = {path.stem for path in (ROOT / "tests/ops/specs").glob("[!_]*.py")}
    assert specs <= families
