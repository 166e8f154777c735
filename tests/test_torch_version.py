"""Versions compare as versions, with text, tuples and version objects."""

from flambeau.torch_version import TorchVersion


def test_order():
    version = TorchVersion("2.13.0+flambeau")
    assert version >= (2, 4) and version > "2.9" and version < (3,) and version >= "2.13"
    assert version != "2.13.0" and version == "2.13.0+flambeau"
    assert TorchVersion("1.10.0a1") < "1.10.0" < TorchVersion("1.10.0.post1")
    assert TorchVersion("1.10") == "1.10.0" and TorchVersion("1.10") == (1, 10)
    assert isinstance(version, str) and version.split("+")[0] == "2.13.0"


def test_text_that_is_no_version_compares_as_text():
    assert TorchVersion("1.10") != "parrot" and hash(TorchVersion("1.10")) == hash("1.10")
