"""safetensors: round trips, a file written by hand, refusal of everything malformed."""

import json
import struct

import numpy as np
import pytest

import flambeau
from flambeau.archive import safetensors
from flambeau.archive.safetensors import SafetensorsError


def file_of(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_round_trip(tmp_path):
    tensors = {
        "w": flambeau.arange(6.0).reshape(2, 3).t(),
        "h": flambeau.ones(3, dtype=flambeau.bfloat16),
        "b": flambeau.tensor([True, False, True]),
        "i": flambeau.tensor(7),
        "e": flambeau.empty(0, 4),
        "z": flambeau.tensor([1 + 2j]).conj(),
    }
    path = tmp_path / "x.safetensors"
    safetensors.save_file(tensors, path, {"note": "hi"})
    assert safetensors.metadata(path) == {"note": "hi"}
    assert path.read_bytes() == safetensors.save(tensors, {"note": "hi"})
    for found in (safetensors.load_file(path), safetensors.load(path.read_bytes())):
        assert set(found) == set(tensors)
        for name, tensor in tensors.items():
            assert found[name].dtype is tensor.dtype
            assert found[name].shape == tensor.shape
            assert found[name].tolist() == tensor.tolist()
    safetensors.load_file(path)["w"].fill_(0)
    assert safetensors.load_file(path)["w"].sum().item() == 15


def test_file_written_by_hand():
    data = file_of(
        {"a": entry(), "__metadata__": {"k": "v"}}, np.array([1, 2], np.float32).tobytes()
    )
    assert safetensors.load(data)["a"].tolist() == [1, 2]


BAD = {
    "empty": b"",
    "short": b"\1\2",
    "huge header": struct.pack("<Q", 2**63) + b"{}",
    "header beyond the end": struct.pack("<Q", 100) + b"{}",
    "no json": file_of(b"hello"),
    "deep json": file_of(b"[" * 100000),
    "no object": file_of([1]),
    "twice": file_of(
        b'{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}'
    ),
    "dtype": file_of({"a": entry("F8")}, b"\0" * 8),
    "dtype list": file_of({"a": entry(["F32"])}, b"\0" * 8),
    "size": file_of({"a": entry(shape=(3,))}, b"\0" * 8),
    "negative": file_of({"a": entry(shape=(-2,))}, b"\0" * 8),
    "bool size": file_of({"a": entry(shape=(True,), offsets=(0, 4))}, b"\0" * 4),
    "float size": file_of({"a": entry(shape=(2.0,))}, b"\0" * 8),
    "overflow": file_of({"a": entry(shape=(2**40, 2**40), offsets=(0, 2**61))}, b"\0" * 8),
    "gap": file_of({"a": entry(offsets=(4, 12))}, b"\0" * 12),
    "overlap": file_of({"a": entry(), "b": entry()}, b"\0" * 8),
    "backwards": file_of({"a": entry(offsets=(8, 0))}, b"\0" * 8),
    "cut off": file_of({"a": entry()}, b"\0" * 7),
    "more data": file_of({"a": entry()}, b"\0" * 9),
    "missing field": file_of({"a": {"dtype": "F32"}}),
    "extra field": file_of({"a": {**entry(), "x": 1}}, b"\0" * 8),
    "metadata": file_of({"__metadata__": {"a": 1}}),
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_files_are_errors(name, tmp_path):
    with pytest.raises(SafetensorsError, match="safetensors: expected"):
        safetensors.load(BAD[name])
    path = tmp_path / "bad"
    path.write_bytes(BAD[name])
    with pytest.raises(SafetensorsError, match="safetensors: expected"):
        safetensors.load_file(path)


def test_only_tensors_and_text_are_written():
    with pytest.raises(ValueError, match="expected a tensor as 'a', got int"):
        safetensors.save({"a": 1})
    with pytest.raises(TypeError, match="text to text"):
        safetensors.save({"a": flambeau.ones(1)}, {"k": 1})
    data = safetensors.save({"é": flambeau.ones(1)})
    assert "é".encode() in data  # as the format's own library writes it
    assert list(safetensors.load(data)) == ["é"]
