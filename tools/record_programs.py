"""Record what third-party programs give on PyTorch: python tools/record_programs.py [CHECK | CHECK:CASE ...]

To be run with a Python that has PyTorch and the programs; writes tests/data/programs/. The values are those without
oneDNN. Where PyTorch's own values with oneDNN differ from them by more than the usual tolerance, the difference is
recorded as the case's tolerance (twice as much is allowed).
"""

import json
import sys
import traceback
import warnings
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "programs"))
import harness


def record(name, only):
    check = harness.load(name)
    cases, tolerances = {}, {}
    if only:
        before = harness.recorded(name)
        cases, tolerances = before["cases"], before["tolerances"]
    for case in [only] if only else check.CASES:
        tolerances.pop(case, None)
        try:
            torch.backends.mkldnn.enabled = False
            cases[case] = other = harness.run(check, case)
            torch.backends.mkldnn.enabled = True
            if case not in getattr(check, "SCRIPTS", ()):
                other = harness.run(check, case)
        except Exception:
            print(f"{name} {case}:", file=sys.stderr)
            traceback.print_exc(limit=-2)
            continue
        spread = harness.TOLERANCE
        while harness.differences(cases[case], other, spread) and spread < 1:
            spread *= 2
        if spread > harness.TOLERANCE:
            tolerances[case] = 2 * spread
            print(f"{name} {case}: PyTorch differs from itself by {spread:g}")
    result = {
        "packages": harness.versions(check.PACKAGES),
        "repository": getattr(check, "REPOSITORY", None),
        "torch": torch.__version__,
        "tolerances": tolerances,
        "cases": cases,
    }
    harness.DATA.mkdir(exist_ok=True)
    text = json.dumps(rounded(result), indent=None, separators=(",", ":"))
    # One case a line: readable differences.
    text = text.replace('"cases":{', '"cases":{\n').replace('}},"', '}},\n"')
    (harness.DATA / f"{name}.json").write_text(text + "\n")
    print(f"{name}: {len(cases)} cases")


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.8g}") if isinstance(value, float) else value


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for name in sys.argv[1:] or harness.names():
        check, _, only = name.partition(":")
        record(check, only)
