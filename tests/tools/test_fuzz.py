"""The fuzzer: its calls are reproducible, it tells crashes and wrong results from errors, and finds neither."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import flambeau

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "fuzz.py"

spec = importlib.util.spec_from_file_location("fuzz", SCRIPT)
fuzz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fuzz)


def run(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_calls_depend_on_the_seed_only():
    calls = fuzz.Calls(flambeau, "add|index")
    assert [calls.draw(seed) for seed in range(20)] == [calls.draw(seed) for seed in range(20)]
    assert len({calls.draw(seed) for seed in range(20)}) > 15


def test_outcomes_are_told_apart():
    namespace = fuzz.namespace_of(flambeau)
    assert fuzz.run_one(flambeau, "t.ones(2) + 1", namespace) is None
    assert fuzz.run_one(flambeau, "t.ones(2) + t.ones(3)", namespace) is None
    assert fuzz.run_one(flambeau, "{}['a']", namespace).startswith("KeyError")
    broken = "(_ for _ in ()).throw(RuntimeError('internal error: x'))"
    assert "internal error" in fuzz.run_one(flambeau, broken, namespace)


@pytest.mark.parametrize("layout", sorted(set(fuzz.LAYOUTS)))
@pytest.mark.parametrize("dtype", ["float32", "int64", "complex64", "bool", "bfloat16"])
def test_every_kind_of_argument_can_be_made(dtype, layout):
    for shape in ((), (0,), (2, 3), (1, 4, 1, 2)):
        assert fuzz.make_tensor(flambeau, dtype, shape, layout).shape == shape


@pytest.mark.slow
def test_nothing_crashes_or_hangs():
    done = run("--seconds", "20", "--jobs", "1", "--seed", "1000000")
    assert done.returncode == 0, done.stdout[-4000:]
