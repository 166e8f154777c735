"""Every CPU level of this machine gives the reference's values: a process each, the level is fixed at start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from pathlib import Path
from flambeau.testing.opcheck import check_values
from flambeau.testing.opspec import load_specs
failed = []
for spec in load_specs(Path(sys.argv[1])):
    for dtype in ("float32", "float16", "complex64", "int32"):
        if dtype in spec.dtypes:
            try:
                check_values(spec, dtype)
            except Exception as error:
                failed.append(f"{spec.id} {dtype}: {error}")
print("\\n".join(failed))
sys.exit(bool(failed))
"""


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_values_do_not_depend_on_cpu_level(level):
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "FLAMBEAU_CPU_LEVEL": level, "PYTHONPATH": str(root / "src")}
    command = [sys.executable, "-c", SCRIPT, str(root / "tests/ops/specs")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
