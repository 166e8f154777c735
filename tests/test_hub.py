"""Models from a folder with hubconf.py, checkpoints from (file) URLs."""

import hashlib
import urllib.error

import pytest

import flambeau
from flambeau import hub


def test_local_folder(tmp_path):
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['json']\n\ndef small(size=2):\n    '''A list.'''\n    return [0] * size\n"
    )
    assert hub.list(tmp_path, source="local") == ["small"]
    assert hub.help(tmp_path, "small", source="local") == "A list."
    assert hub.load(tmp_path, "small", source="local", size=3) == [0, 0, 0]
    with pytest.raises(RuntimeError, match="Cannot find callable"):
        hub.load(tmp_path, "large", source="local")
    with pytest.raises(NotImplementedError, match="source='local'"):
        hub.load("owner/name", "small")


def test_checkpoint_from_url_is_cached_and_checked(tmp_path):
    file = tmp_path / "weights.pth"
    flambeau.save({"w": flambeau.ones(2)}, file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
    source = file.rename(tmp_path / f"weights-{digest}.pth")
    cache = tmp_path / "cache"
    loaded = hub.load_state_dict_from_url(source.as_uri(), str(cache), check_hash=True)
    assert loaded["w"].tolist() == [1.0, 1.0]
    source.unlink()
    assert hub.load_state_dict_from_url(source.as_uri(), str(cache))["w"].numel() == 2
    wrong = file.with_name("weights-0000.pth")
    flambeau.save({}, wrong)
    with pytest.raises(RuntimeError, match="invalid hash"):
        hub.load_state_dict_from_url(wrong.as_uri(), str(cache), check_hash=True)
    assert [path.name for path in cache.iterdir()] == [f"weights-{digest}.pth"]


def test_errors_say_what_to_do(tmp_path):
    with pytest.raises(urllib.error.URLError, match=f"put the file at {tmp_path}"):
        hub.load_state_dict_from_url("http://127.0.0.1:9/x.pth", model_dir=str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="Unknown source"):
        hub.load(str(tmp_path), "model", source="elsewhere")
    with pytest.raises(NotImplementedError, match="Clone the repository"):
        hub.load("owner/name", "model")
