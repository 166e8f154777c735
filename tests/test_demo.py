"""The demo: trains, saves, reloads in a fresh process, classifies the files that it wrote."""

import re

import pytest

from flambeau import cli, demo

pytest.importorskip("sklearn", reason="the demo needs its extra")


def test_demo_reaches_98_percent_and_classifies_its_files(tmp_path, capfd):
    status = cli.main(["demo", "--epochs", "10", "--out", str(tmp_path)])
    out = capfd.readouterr().out
    assert status == 0, out
    assert float(re.search(r"held-out accuracy ([\d.]+)%", out)[1]) >= 98
    for name in ("digits.pt", "training.png", "confusion.png"):
        assert (tmp_path / name).stat().st_size > 1000
    right = re.findall(r"digit-(\d)\.png\s+label \1  confidence", out)
    assert len(right) >= 9


def test_missing_extra_is_a_message(capsys, monkeypatch):
    monkeypatch.setattr(demo, "importable", lambda module: module != "sklearn")
    assert cli.main(["demo"]) == 2
    assert (
        "missing scikit-learn. Install it with: pip install flambeau[demo]"
        in capsys.readouterr().err
    )


def test_classify_without_checkpoint_is_a_message(capsys, tmp_path):
    assert cli.main(["demo", "--out", str(tmp_path), "--classify", "x.png"]) == 2
    assert "Train first" in capsys.readouterr().err
