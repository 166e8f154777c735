"""Break one rule at a time and see the test suite fail: `python tools/mutate.py`, after `make test`.

Each mutation changes one line of a source, rebuilds if it is C++, runs the tests that should notice, and restores the
line. Exits with 1 if a mutation survives.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Mutation:
    """One wrong line."""

    what: str
    file: str
    right: str
    wrong: str
    tests: tuple[str, ...]


MUTATIONS = [
    Mutation(
        "gradient of mul forgets the conjugate",
        "src/flambeau/ops/arithmetic.py",
        "    return _mul_conj(grad, other)\n",
        "    return grad * other\n",
        ("tests/ops", "-k", "mul-complex128"),
    ),
    Mutation(
        "second derivative of tanh has the wrong sign",
        "src/flambeau/ops/trig.py",
        "    return -2 * grad * grad_output * output\n",
        "    return 2 * grad * grad_output * output\n",
        ("tests/ops", "-k", "tanh-float64"),
    ),
    Mutation(
        "gradient of cumsum runs forwards",
        "src/flambeau/ops/scan.py",
        "    return grad if input_meta.dim() == 0 else _reversed_cumsum(grad, dim)\n",
        "    return grad if input_meta.dim() == 0 else grad.cumsum(dim)\n",
        ("tests/ops", "-k", "cumsum-float64"),
    ),
    Mutation(
        "float16 and bfloat16 promote to bfloat16",
        "csrc/core/promotion.cpp",
        "    if (a == DType::Float16 && b == DType::BFloat16) return DType::Float32;\n",
        "    if (a == DType::Float16 && b == DType::BFloat16) return DType::BFloat16;\n",
        ("tests/core/test_promotion.py",),
    ),
    Mutation(
        "a 0-d tensor outranks a dimensioned one of its category",
        "csrc/core/promotion.cpp",
        "  if (category(lower) > category(higher)) return promote_types(higher, lower);\n",
        "  if (category(lower) >= category(higher)) return promote_types(higher, lower);\n",
        ("tests/core/test_promotion.py",),
    ),
    Mutation(
        "transpose keeps the strides",
        "csrc/kernels/view.cpp",
        "    std::swap(strides[a], strides[b]);\n",
        "",
        ("tests/ops", "-k", "transpose"),
    ),
]


def rebuild() -> None:
    """Build the extension in place, by the command that make uses unless BUILD_COMMAND says otherwise."""
    command = os.environ.get("BUILD_COMMAND", "make build")
    subprocess.run(command, shell=True, cwd=ROOT, check=True, capture_output=True)


def survives(mutation: Mutation) -> bool:
    """Whether the tests pass with the wrong line in place."""
    path = ROOT / mutation.file
    text = path.read_text()
    assert text.count(mutation.right) >= 1, f"{mutation.file} has no line {mutation.right!r}"
    native = path.suffix == ".cpp"
    try:
        path.write_text(text.replace(mutation.right, mutation.wrong, 1))
        if native:
            rebuild()
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            *mutation.tests,
        ]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
    finally:
        path.write_text(text)
        if native:
            rebuild()
    assert done.returncode in (0, 1), done.stdout + done.stderr
    last = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    print(
        f"{'SURVIVED' if done.returncode == 0 else 'caught'}: {mutation.what}  {last[0][:110] if last else ''}"
    )
    return done.returncode == 0


if __name__ == "__main__":
    survivors = [mutation.what for mutation in MUTATIONS if survives(mutation)]
    sys.exit(bool(survivors))
