"""Measure Flambeau beside PyTorch: import time, installed size, and the workloads of workloads.py.

    .venv/bin/python bench/measure.py --reference PYTHON_WITH_PYTORCH

writes bench/results.json, from which tools/generate.py makes the table of the README. The two libraries run in
processes of their own that take turns, one running while the other waits; the best of the turns counts, on both sides.
"""

import argparse
import datetime
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from workloads import WORKLOADS, prepare

HERE = Path(__file__).resolve().parent
BLOCK_SECONDS = 0.1
IMPORT_ROUNDS = 5


def worker(module, source):
    """Serve timing requests from stdin: a workload's key in, seconds per call out."""
    if source:
        sys.path.insert(0, source)
    torch = __import__(module)
    __import__(module + ".nn.functional")
    __import__(module + ".optim")
    torch.set_num_threads(2)
    ready = {}
    for line in sys.stdin:
        key = line.strip()
        try:
            if key not in ready:
                ready[key] = prepare(key, torch)
                block(*ready[key])  # warm-up
            answer = block(*ready[key])
        except (
            Exception
        ) as error:  # a workload that one side lacks is a gap in the table, not the end of the run
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)


def block(run, context):
    """Seconds per call: median over loops of about a millisecond."""
    with context:
        start = time.perf_counter()
        run()
        repeats = max(1, int(1e-3 / max(time.perf_counter() - start, 1e-7)))
        samples = []
        end = time.perf_counter() + BLOCK_SECONDS
        while time.perf_counter() < end or len(samples) < 3:
            start = time.perf_counter()
            for _ in range(repeats):
                run()
            samples.append((time.perf_counter() - start) / repeats)
    return statistics.median(samples)


class Side:
    """A worker process for one library."""

    def __init__(self, python, module, source=""):
        # No spinning threads: they make both sides erratic when anything else runs on the machine.
        environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
        command = [python, str(HERE / "measure.py"), "--worker", module, "--source", source]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def time(self, key):
        """Seconds per call, or a message."""
        print(key, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def compare(reference, source, rounds):
    """Time of each workload on both sides, and the ratio reference / ours."""
    rows = {}
    ours, theirs = Side(sys.executable, "flambeau", source), Side(reference, "torch")
    for key in WORKLOADS:
        pairs = [(ours.time(key), theirs.time(key)) for _ in range(rounds)]
        good = [pair for pair in pairs if not any(isinstance(side, str) for side in pair)]
        if not good:
            rows[key] = {"error": str(pairs[0])}
            print(f"{key:40} {pairs[0]}")
            continue
        row = {
            "flambeau": min(a for a, _ in good),
            "torch": min(b for _, b in good),
        }
        row["ratio"] = row["torch"] / row["flambeau"]
        rows[key] = row
        print(
            f"{key:40} {row['flambeau'] * 1e6:10.2f} us {row['torch'] * 1e6:10.2f} us  {row['ratio']:.2f}"
        )
    for side in (ours, theirs):
        side.process.stdin.close()
        side.process.wait()
    return rows


def import_seconds(python, statement, source=""):
    """Median time of a fresh process that runs one statement."""
    environment = {**os.environ, "PYTHONPATH": source}
    times = []
    for _ in range(IMPORT_ROUNDS + 1):
        start = time.perf_counter()
        subprocess.run([python, "-c", statement], check=True, env=environment)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


SIZE = """
import importlib.metadata as m, os, re, sys
def closure(name, seen):
    if name in seen: return
    try: d = m.distribution(name)
    except m.PackageNotFoundError: return
    seen[name] = sum(os.lstat(f.locate()).st_size for f in d.files or () if os.path.lexists(f.locate()))
    for r in d.requires or ():
        if 'extra ==' not in r: closure(re.match(r'[A-Za-z0-9._-]+', r)[0].lower().replace('_', '-'), seen)
seen = {}
closure(sys.argv[1], seen)
print(sum(seen.values()))
"""


def installed_bytes(python, package):
    """Bytes of a package with its dependencies in that environment; None if it is not installed there."""
    done = subprocess.run([python, "-c", SIZE, package], check=True, capture_output=True, text=True)
    return int(done.stdout) or None


def geometric_means(rows):
    """Per group, over the rows that both sides ran."""
    means = {}
    for key, row in rows.items():
        if "ratio" in row:
            means.setdefault(key.partition("/")[0], []).append(math.log(row["ratio"]))
    return {group: math.exp(statistics.fmean(logs)) for group, logs in means.items()}


def cpu():
    """Name of the processor."""
    names = re.findall(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return names[0] if names else platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", default=sys.executable, help="interpreter that has PyTorch")
    parser.add_argument(
        "--installed", help="interpreter into which the wheel was installed, for the size"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, default=HERE / "results.json")
    parser.add_argument(
        "--source",
        default=str(HERE.parent / "src"),
        help="folder that holds flambeau; '' if installed",
    )
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.source)
        return

    numpy = import_seconds(sys.executable, "import numpy")
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{cpu()}, {os.cpu_count()} cores",
        "torch": subprocess.run(
            [options.reference, "-c", "import torch; print(torch.__version__)"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip(),
        "import": {
            "numpy": numpy,
            "flambeau": import_seconds(sys.executable, "import flambeau", options.source),
            "torch": import_seconds(options.reference, "import torch"),
        },
        "installed_bytes": {
            "flambeau": installed_bytes(options.installed, "flambeau")
            if options.installed
            else None,
            "torch": installed_bytes(options.reference, "torch"),
        },
        "workloads": compare(options.reference, options.source, options.rounds),
    }
    result["geometric_means"] = geometric_means(result["workloads"])
    options.json.write_text(json.dumps(result, indent=1) + "\n")
    print(
        json.dumps(
            {name: result[name] for name in ("import", "installed_bytes", "geometric_means")},
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
