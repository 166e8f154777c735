"""Run the checks of third-party programs on Flambeau: python tools/programs.py [--write] [CHECK ...]

Prints each case that differs; --write puts the table into docs/programs.md. To be run with a Python that has the
programs, and no PyTorch.
"""

import argparse
import sys
import time
import traceback
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "programs")]

import flambeau
import flambeau.dropin
import harness

PAGE = ROOT / "docs" / "programs.md"
BEGIN = "<!-- table: begin (tools/programs.py writes this) -->"
END = "<!-- table: end -->"


def run(name, only, verbose):
    """One row of the table: program, versions, what is checked, passed and failed cases, reason."""
    record = harness.recorded(name)
    row = {"name": name, "record": record, "passed": 0, "failed": {}, "what": ""}
    reason = harness.unavailable(record)
    if reason:
        row["failed"]["all"] = reason
        return row
    try:
        check = harness.load(name)
    except Exception as error:
        row["failed"]["import"] = describe(error)
        print(f"{name}: {row['failed']['import']}", flush=True)
        if verbose:
            traceback.print_exc()
        return row
    row["what"] = check.__doc__.partition("\n")[0]
    for case in record["cases"]:
        if only and only not in case:
            continue
        start = time.perf_counter()
        try:
            found = harness.compare(check, case, record)
            problem = "; ".join(found[:2]) + (
                f" and {len(found) - 2} more" if len(found) > 2 else ""
            )
        except Exception as error:
            problem = describe(error)
            if verbose:
                traceback.print_exc()
        seconds = time.perf_counter() - start
        if problem:
            row["failed"][case] = problem
        else:
            row["passed"] += 1
        print(f"{name} {case}: {problem[:600] or 'ok'} ({seconds:.1f} s)", flush=True)
    return row


def describe(error):
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:300]} ({Path(last.filename).name}:{last.lineno})"


def table(rows, before):
    """The rows of a table, with those of `before` whose checks did not run now."""
    lines = {}
    for line in before.splitlines():
        if line.startswith("| ") and not line.startswith("| check |"):
            lines[line.split("|")[1].strip()] = line
    for row in rows:
        programs = [f"{name} {version}" for name, version in row["record"]["packages"].items()]
        repository, _, commit = (row["record"].get("repository") or "").partition("@")
        if repository:
            programs = [f"[{repository}](https://github.com/{repository}) {commit[:10]}", *programs]
        failed = "<br>".join(
            f"{case}: {problem[:160]}".replace("|", "\\|")
            for case, problem in row["failed"].items()
        )
        lines[row["name"]] = (
            f"| {row['name']} | {', '.join(programs)} | {row['what']} | {row['passed']} | {failed} |"
        )
    head = ["| check | programs | what | passed | failed |", "|---|---|---|---|---|"]
    return "\n".join([*head, *(lines[name] for name in sorted(lines) if name in harness.names())])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checks", nargs="*")
    parser.add_argument(
        "--write", action="store_true", help="write their rows into docs/programs.md"
    )
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--verbose", action="store_true", help="show tracebacks")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    flambeau.set_num_threads(2)
    rows = [run(name, options.only, options.verbose) for name in options.checks or harness.names()]
    if options.write:
        head, _, rest = PAGE.read_text().partition(BEGIN)
        before, _, tail = rest.partition(END)
        PAGE.write_text(f"{head}{BEGIN}\n{table(rows, before)}\n{END}{tail}")
    return any(row["failed"] for row in rows)


if __name__ == "__main__":
    sys.exit(main())
