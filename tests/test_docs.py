"""Every Python block of the documentation runs, and the miniature of the core learns."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_python_blocks_run(page, tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for block in blocks:
        command = [sys.executable, "-W", "error", "-c", block]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{block}\n{done.stderr}"


def test_links_lead_somewhere():
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken


def test_named_source_files_exist():
    missing = []
    for page in (ROOT / "docs").rglob("*.md"):
        for name in re.findall(r"`((?:csrc|src|tests|tools|docs)/[\w/.*]+)`", page.read_text()):
            if not list(ROOT.glob(name.rstrip("/"))):
                missing.append(f"{page.relative_to(ROOT)}: {name}")
    assert not missing


def test_mini_learns_xor():
    spec = importlib.util.spec_from_file_location("mini", ROOT / "docs/internals/mini.py")
    mini = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mini)
    losses = mini.train()
    assert losses[-1] < 0.01 < losses[0]


def test_every_public_op_has_a_docstring():
    from flambeau import ops

    public = {
        name: op for name, op in vars(ops).items() if not name.startswith("_") and callable(op)
    }
    assert not [name for name, op in public.items() if not (op.__doc__ or "").strip()]


def test_every_public_op_is_on_the_reference_page():
    from flambeau import ops

    page = (ROOT / "docs/reference/ops.md").read_text()
    public = [name for name, op in vars(ops).items() if not name.startswith("_") and callable(op)]
    missing = [
        name for name in public if f"`{name}(" not in page and name not in ("verify", "annotations")
    ]
    assert not missing, "run: make generate"
