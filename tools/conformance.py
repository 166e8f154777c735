"""Write docs/conformance.md from results of running PyTorch's operator database against Flambeau.

    python tools/conformance.py operators.json names.txt

`operators.json` holds, per entry of the database, the samples passed by dtype (forward), by gradient and by error
input; `names.txt` the public names present per module. Both come from a harness that runs PyTorch beside Flambeau.
"""

import argparse
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Why an entry that does not pass is as it is.
REASONS = {
    "as_strided_scatter": "PyTorch's gradient of `input` is wrong where the written region overlaps; finite differences"
    " agree with ours.",
    "linalg.norm.subgradients_at_zero": "Second derivative at 0: PyTorch gives nan, we give the subgradient 0.",
    "hash_tensor": "Newer than 1.12; needs uint64 tensors, which do not exist here.",
    "nn.functional.linear_cross_entropy.chunked": "PyTorch has no second derivative here; ours is right.",
    "polygamma.polygamma_n_1": "At negative integers ours is inf, the limit, where PyTorch's argument misses the pole.",
    "polygamma.polygamma_n_2": "Next to a negative integer, as for n = 1.",
    "special.airy_ai": "PyTorch's values are less accurate than the tolerance; ours agree with SciPy and mpmath.",
    "special.bessel_j0": "PyTorch's float64 values are less accurate than the tolerance; ours agree with mpmath.",
    "special.bessel_j1": "PyTorch's float64 values are less accurate than the tolerance; ours agree with mpmath.",
    "special.bessel_y1": "PyTorch's float64 values are less accurate than the tolerance; ours agree with mpmath.",
    "fft.hfft2": "One float32 value of 360, within the error of a transform of values of this size.",
}

COLUMNS = ("present", "forward", "grad", "gradgrad", "errors", "method", "inplace")


def ratio(pair):
    """`passed/total`, or a dash without any."""
    passed, total = pair
    return f"{passed}/{total}" if total else "–"


def percent(pair):
    """`passed/total (99.1 %)`."""
    passed, total = pair
    return f"{passed} of {total} ({100 * passed / max(total, 1):.1f} %)"


def failures(entry):
    """What does not pass, as short words: `forward uint8`, `grad`."""
    found = []
    if not entry["present"]:
        return ["missing"]
    for kind in ("forward", "grad"):
        part = entry.get(kind)
        if not part:
            continue
        found += [
            f"{kind} {name}" for name, d in part["dtypes"].items() if d["passed"] < d["total"]
        ]
        second = part.get("gradgrad") or {}
        found += [
            f"second gradient {name}" for name, d in second.items() if d["passed"] < d["total"]
        ]
    errors = entry.get("errors")
    if errors and not errors.get("ok", True):
        found.append("errors")
    return found


def operators_section(data):
    meta, totals = data["meta"], data["totals"]
    lines = [
        "## Operators",
        "",
        f"Samples of the database: up to {meta['samples']} per entry and dtype ({', '.join(meta['dtypes'])}); gradients"
        f" in {' and '.join(meta['grad_dtypes'])}. An entry passes *forward* when every sample of every dtype that"
        " PyTorch supports gives PyTorch's structure, shape, dtype and values; *grad* when first and second derivatives"
        " agree; *errors* when bad input raises the same class of exception.",
        "",
        f"- forward: {percent(totals['forward'])}",
        f"- gradients: {percent(totals['grad'])}",
        f"- errors: {percent(totals['errors'])}",
        "",
        "| category | " + " | ".join(COLUMNS) + " |",
        "| --- |" + " ---: |" * len(COLUMNS),
    ]
    for name, counts in sorted(data["categories"].items()):
        lines.append(f"| {name} | " + " | ".join(ratio(counts[c]) for c in COLUMNS) + " |")
    lines.append("| **total** | " + " | ".join(ratio(totals[c]) for c in COLUMNS) + " |")
    return lines


def differences_section(data):
    lines = ["", "## What differs", "", "| entry | fails | why |", "| --- | --- | --- |"]
    for entry in sorted(data["operators"], key=lambda e: e["op"]):
        found = failures(entry)
        if found:
            lines.append(
                f"| `{entry['op']}` | {', '.join(found)} | {REASONS.get(entry['op'], '')} |"
            )
    return lines


def names_section(text):
    lines = [
        "",
        "## Public names",
        "",
        "Names of `jit`, `fx`, `profiler` and `distributed` that need a captured program, a recorder or a group of",
        "processes raise NotImplementedError when used.",
        "",
    ]
    lines += ["| module | present | missing |", "| --- | ---: | --- |"]
    module, missing = None, []

    def flush():
        if module:
            lines.append(f"| `{module[0]}` | {module[1]} | {' '.join(missing)} |")

    for line in text.splitlines():
        head = re.match(r"(torch[\w.]*)\s+(\d+/\d+)$", line)
        if head:
            flush()
            module, missing = head.groups(), []
        elif line.startswith("    "):
            missing += [f"`{name}`" for name in line.split()]
        elif line.startswith("names:"):
            flush()
            module = None
    return lines


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "operators", type=Path, help="JSON results per entry of the operator database"
    )
    parser.add_argument(
        "names", type=Path, help="text with the names present and missing per module"
    )
    options = parser.parse_args()
    data = json.loads(options.operators.read_text())
    lines = [
        "# Conformance",
        "",
        "How much of PyTorch's behaviour and names is here, measured with PyTorch 2.13 beside Flambeau. Written by",
        "`python tools/conformance.py operators.json names.txt`; do not edit.",
        "",
        *operators_section(data),
        *differences_section(data),
        *names_section(options.names.read_text()),
    ]
    (ROOT / "docs/conformance.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
