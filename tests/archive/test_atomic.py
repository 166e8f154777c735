"""A file is the old one or the new one, never part of one."""

import os
import pickle
import signal
import stat
import subprocess
import sys
import time

import pytest

import flambeau
from flambeau.archive.atomic import atomic_write


def names(folder):
    return sorted(os.listdir(folder))


def test_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.pt"
    flambeau.save(flambeau.ones(2), path)
    with pytest.raises(ZeroDivisionError), atomic_write(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
        flambeau.save([flambeau.ones(3), lambda: 0], path)
    assert flambeau.load(path).tolist() == [1.0, 1.0]
    assert names(tmp_path) == ["x.pt"]


@pytest.mark.parametrize("zipped", [True, False])
def test_permissions_and_links_stay(tmp_path, zipped):
    real, link = tmp_path / "real.pt", tmp_path / "link.pt"
    flambeau.save(flambeau.ones(1), real)
    real.chmod(0o640)
    link.symlink_to("real.pt")
    flambeau.save(flambeau.ones(2), link, _use_new_zipfile_serialization=zipped)
    assert link.is_symlink()
    assert len(flambeau.load(real)) == 2
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert names(tmp_path) == ["link.pt", "real.pt"]


def test_new_files_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        flambeau.save(flambeau.ones(1), tmp_path / "x.pt")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x.pt").stat().st_mode) == 0o640


def test_what_is_no_plain_file_is_written_directly():
    flambeau.save(flambeau.ones(1), os.devnull)
    assert not os.path.isfile(os.devnull)


def test_without_files_that_have_no_name(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    flambeau.save(flambeau.ones(1), tmp_path / "x.pt")
    assert names(tmp_path) == ["x.pt"]


def test_missing_folder(tmp_path):
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
        flambeau.save(1, tmp_path / "none" / "x.pt")


def test_killed_saves_leave_a_whole_file(tmp_path):
    path = tmp_path / "x.pt"
    flambeau.save(flambeau.full((1 << 20,), -1.0), path)
    script = (
        "import sys, flambeau\n"
        "i = 0\n"
        "while True:\n"
        "    flambeau.save(flambeau.full((1 << 20,), float(i)), sys.argv[1])\n"
        "    print(i, flush=True)\n"
        "    i += 1\n"
    )
    for attempt in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
        )
        process.stdout.readline()  # it writes by now
        time.sleep(0.004 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        saved = flambeau.load(path)
        assert saved.numel() == 1 << 20
        assert (saved == saved[0]).all()
    # Killed between getting its name and taking the other's, the new file stays beside the old one.
    assert [name for name in names(tmp_path) if not name.endswith(".tmp")] == ["x.pt"]
