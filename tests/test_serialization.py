"""save and load: round trips, PyTorch's files, damaged and hostile files."""

import collections
import copy
import io
import pathlib
import pickle
import zipfile

import numpy as np
import pytest

import flambeau
from flambeau import serialization

DATA = pathlib.Path(__file__).parent / "data"


def round_trip(obj, **options):
    stream = io.BytesIO()
    flambeau.save(obj, stream)
    stream.seek(0)
    return flambeau.load(stream, **options)


def same(a, b):
    return (
        a.detach().float().tolist() == b.detach().float().tolist()
        if not a.dtype.is_complex
        else a.tolist() == b.tolist()
    )


def same_storage(*tensors):
    return len({t.untyped_storage()._cdata for t in tensors}) == 1


@pytest.mark.parametrize("name", ["checkpoint.pt", "checkpoint_legacy.pt"])
def test_files_of_pytorch_load(name):
    found = flambeau.load(DATA / name)
    base = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(found["base"].numpy(), base)
    np.testing.assert_array_equal(found["transposed"].numpy(), base.T)
    assert found["transposed"].stride() == (1, 3)
    assert same_storage(found["base"], found["transposed"], found["row"])
    assert found["int64"].tolist() == [1, -2]
    assert found["bfloat16"].dtype is flambeau.bfloat16
    assert found["float16"].tolist() == [1.5]
    assert found["conj"].tolist() == [1 - 2j]
    assert found["neg"].tolist() == [-2.0]
    assert found["empty"].shape == (0,)
    assert found["bool0d"].item() is True
    assert found["grad"].requires_grad
    assert type(found["parameter"]) is flambeau.nn.Parameter
    expected = [
        1,
        -5,
        2**80,
        2.5,
        "é☃",
        None,
        True,
        b"bytes",
        (1, 2),
        {3: 4},
        {1, 2},
        1 + 2j,
        bytearray(b"abc"),
    ]
    assert found["plain"] == expected
    assert found["dtype"] is flambeau.float16
    assert found["size"] == flambeau.Size([2, 3])
    assert found["default"][7] == []
    assert list(found["state"])[:2] == ["0.weight", "0.bias"]
    assert found["state"]["1.num_batches_tracked"].dtype is flambeau.int64


def test_module_of_pytorch_loads_when_code_is_allowed():
    module = flambeau.load(DATA / "module.pt", weights_only=False)
    assert type(module) is flambeau.nn.Sequential
    assert module(flambeau.ones(1, 2)).shape == (1, 3)
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.nn\.modules\.container\.Sequential"):
        flambeau.load(DATA / "module.pt")


def test_written_files_name_pytorchs_globals_and_are_aligned(tmp_path):
    path = tmp_path / "weights.pt"
    flambeau.save({"w": flambeau.ones(3)}, path)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert names[0] == "weights/data.pkl"
        assert {"weights/byteorder", "weights/data/0", "weights/version"} <= set(names)
        data = archive.read("weights/data.pkl")
        assert b"ctorch._utils\n_rebuild_tensor_v2\n" in data
        assert b"ctorch\nFloatStorage\n" in data
        assert b"flambeau" not in data
        assert archive.read("weights/version") == b"3\n"
        raw = path.read_bytes()
        assert raw.index(np.ones(3, np.float32).tobytes()) % 64 == 0


@pytest.mark.parametrize(
    "dtype",
    [
        "bool",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ],
)
def test_every_dtype_and_view_survives(dtype):
    base = flambeau.arange(12).reshape(3, 4).to(getattr(flambeau, dtype))
    found = round_trip([base, base[1:, ::2], base.t(), base[0, 0]])
    for before, after in zip([base, base[1:, ::2], base.t(), base[0, 0]], found, strict=True):
        assert after.dtype is before.dtype
        assert after.stride() == before.stride()
        assert same(after, before)
    assert same_storage(*found)


def test_legacy_format_is_written_too(tmp_path):
    base = flambeau.arange(6.0)
    path = tmp_path / "old.pt"
    flambeau.save(
        {"a": base, "b": base[2:], "c": flambeau.ones(2, dtype=flambeau.bool)},
        path,
        _use_new_zipfile_serialization=False,
    )
    assert not zipfile.is_zipfile(path)
    found = flambeau.load(path)
    assert found["b"].tolist() == [2, 3, 4, 5]
    assert found["c"].tolist() == [True, True]
    assert same_storage(found["a"], found["b"])


def test_parameters_buffers_and_state_dicts():
    module = flambeau.nn.Sequential(flambeau.nn.Linear(2, 3), flambeau.nn.BatchNorm1d(3))
    state = round_trip(module.state_dict())
    assert type(state) is collections.OrderedDict
    assert state._metadata == module.state_dict()._metadata
    fresh = flambeau.nn.Sequential(flambeau.nn.Linear(2, 3), flambeau.nn.BatchNorm1d(3))
    fresh.load_state_dict(state)
    assert same(fresh[0].weight, module[0].weight)
    whole = round_trip(module, weights_only=False)
    assert same(whole[0].weight, module[0].weight)


def test_map_location():
    assert round_trip(flambeau.ones(2), map_location="meta").device.type == "meta"
    assert round_trip(flambeau.ones(2), map_location={"cpu": "meta"}).device.type == "meta"
    seen = []
    round_trip(flambeau.ones(2), map_location=lambda storage, location: seen.append(location))
    assert seen == ["cpu"]


def test_mapped_file_is_copied_on_write(tmp_path):
    path = tmp_path / "x.pt"
    flambeau.save(flambeau.zeros(1000), path)
    mapped = flambeau.load(path, mmap=True)
    mapped.fill_(1)
    assert flambeau.load(path).sum().item() == 0
    with pytest.raises(ValueError, match="must be a file path"):
        flambeau.load(io.BytesIO(path.read_bytes()), mmap=True)


def test_shared_dtype_conflict_is_an_error():
    x = flambeau.ones(2)
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        flambeau.save([x, x.view(flambeau.int32)], io.BytesIO())


class Custom:
    def __init__(self):
        self.value = 1


def test_safe_globals_allow_named_classes():
    stream = io.BytesIO()
    flambeau.save(Custom(), stream)
    stream.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="Custom"):
        flambeau.load(stream)
    stream.seek(0)
    with serialization.safe_globals([Custom]):
        assert serialization.get_safe_globals() == [Custom]
        assert flambeau.load(stream).value == 1
    assert serialization.get_safe_globals() == []


# ---- damaged and hostile files -------------------------------------------------------------------


def archive_with(pickled, records=()):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        for name, data in records:
            archive.writestr(f"archive/{name}", data)
    stream.seek(0)
    return stream


class Call:
    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


def hostile():
    import os
    import subprocess

    yield "system", pickle.dumps(Call(os.system, "touch was-here"), 2)
    yield "eval", pickle.dumps(Call(eval, "1 + 1"), 2)
    yield "popen", pickle.dumps(Call(subprocess.Popen, ["true"]), 2)
    yield "getattr", pickle.dumps(Call(getattr, "x", "__class__"), 2)
    yield "import", b"\x80\x02c__builtin__\n__import__\nU\x02os\x85R."
    yield "numpy object", pickle.dumps(np.array([{}], dtype=object), 2)
    # State set on an allowed function, class or tensor
    yield "build on function", b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}U\x0c__defaults__)sb."
    yield "build on class", b"\x80\x02ctorch\nTensor\n}U\x07__add__Nsb."
    yield "attribute of dict", b"\x80\x02ccollections\nOrderedDict\n)R}U\x04keysNsb."
    yield "dotted name", b"\x80\x02ctorch\nTensor.__init__\n."
    yield "dtype called", b"\x80\x02ctorch\nfloat32\n)R."
    yield "inst", b"(ios\nsystem\n."
    yield "extension", b"\x80\x02\x82\x01."
    yield "buffer", b"\x80\x05\x97."
    # Memory and time
    yield "huge bytes", b"\x80\x02\x8e\xff\xff\xff\xff\xff\xff\xff\x7f."
    yield "huge memo", b"\x80\x02Nr\xff\xff\xff\xffj\xff\xff\xff\x7f."
    yield "huge bytearray", b"\x80\x02c__builtin__\nbytearray\nJ\xff\xff\xff\x7f\x85R."
    yield "tuple bomb as key", b"\x80\x02}" + b")" + b"2\x86" * 60 + b"Ns."
    yield "deep", b"\x80\x02" + b"]" * 100000 + b"a" * 99999 + b"."
    yield "stack junk", b"\x80\x02NN."
    yield "mark left", b"\x80\x02(."
    yield "append to none", b"\x80\x02NNa."
    yield "no stop", b"\x80\x02N"
    yield "unknown persistent id", b"\x80\x02NQ."
    yield "empty", b""


@pytest.mark.parametrize(("name", "data"), list(hostile()), ids=[name for name, _ in hostile()])
def test_hostile_pickles_are_errors(name, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the shell command would leave its mark
    if name == "deep" or name == "huge memo":
        # Harmless: plain nesting, or a memo that is a dict. It must only not crash.
        try:
            flambeau.load(archive_with(data))
        except pickle.UnpicklingError:
            pass
        return
    with pytest.raises(pickle.UnpicklingError):
        flambeau.load(archive_with(data))
    assert not list(tmp_path.iterdir())


def tensor_pickle(numel=3, offset=0, size=(3,), stride=(1,), kind=b"FloatStorage"):
    def ints(values):
        return (
            b"("
            + b"".join(b"\x8a\x08" + v.to_bytes(8, "little", signed=True) for v in values)
            + b"t"
        )

    storage = b"(U\x07storagectorch\n" + kind + b"\nU\x010U\x03cpu" + ints([numel])[1:-1] + b"tQ"
    arguments = (
        b"("
        + storage
        + ints([offset])[1:-1]
        + ints(size)
        + ints(stride)
        + b"\x89ccollections\nOrderedDict\n)Rt"
    )
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"R."


def test_tensor_pickle_helper_is_valid():
    found = flambeau.load(
        archive_with(tensor_pickle(), [("data/0", np.ones(3, np.float32).tobytes())])
    )
    assert found.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "change",
    [
        {"numel": 4},
        {"numel": -1},
        {"numel": 2**62},
        {"offset": 1},
        {"offset": -1},
        {"offset": 2**62},
        {"size": (4,)},
        {"size": (-1,)},
        {"size": (2**62, 2**62), "stride": (1, 1)},
        {"size": (2, 2), "stride": (2**62, 2**62)},
        {"stride": (-1,)},
        {"stride": (1, 1)},
        {"stride": (2,)},
        {"kind": b"NoStorage"},
    ],
)
def test_tensors_outside_their_storage_are_errors(change):
    stream = archive_with(tensor_pickle(**change), [("data/0", np.ones(3, np.float32).tobytes())])
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        flambeau.load(stream)


def test_damaged_data_is_found_by_its_checksum():
    stream = io.BytesIO()
    flambeau.save(flambeau.arange(1000.0), stream)
    data = bytearray(stream.getvalue())
    data[len(data) // 2] ^= 1
    with pytest.raises((RuntimeError, pickle.UnpicklingError), match=r"damaged|checksum"):
        flambeau.load(io.BytesIO(bytes(data)))


EXPECTED = (RuntimeError, pickle.UnpicklingError, EOFError, MemoryError)


@pytest.mark.parametrize("name", ["checkpoint.pt", "checkpoint_legacy.pt"])
def test_mutated_files_never_crash(name):
    original = (DATA / name).read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(400):
        data = bytearray(original)
        kind = rng.integers(4)
        if kind == 0:
            data = data[: rng.integers(len(data))]
        elif kind == 1:
            start = rng.integers(len(data))
            del data[start : start + rng.integers(1, 64)]
        else:
            for _ in range(rng.integers(1, 6)):
                data[rng.integers(len(data))] = rng.integers(256)
        try:
            flambeau.load(io.BytesIO(bytes(data)))
        except EXPECTED:
            pass


def test_wrong_files_say_what_is_wrong(tmp_path):
    with pytest.raises(FileNotFoundError):
        flambeau.load(tmp_path / "missing.pt")
    with pytest.raises(EOFError, match="empty file"):
        flambeau.load(io.BytesIO(b""))
    with pytest.raises(pickle.UnpicklingError, match="magic number"):
        flambeau.load(io.BytesIO(b"not a checkpoint"))
    with pytest.raises(AttributeError, match="file object"):
        flambeau.load(3)
    with pytest.raises(AttributeError, match="file object"):
        flambeau.save(1, 3)
    with pytest.raises(TypeError, match="map_location"):
        flambeau.load(DATA / "checkpoint.pt", map_location=3)
    with pytest.raises(RuntimeError, match="pickle_module"):
        flambeau.load(DATA / "checkpoint.pt", pickle_module=pickle, weights_only=True)


# ---- pickle and copy -----------------------------------------------------------------------------


class Marked(flambeau.Tensor):
    pass


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_keep_values_strides_and_attributes(protocol):
    x = flambeau.arange(6.0).reshape(2, 3).t().requires_grad_()
    found = pickle.loads(pickle.dumps(x, protocol))
    assert found.stride() == (1, 3)
    assert found.requires_grad
    assert same(found, x)
    marked = flambeau.ones(2).as_subclass(Marked)
    marked.note = "kept"
    found = pickle.loads(pickle.dumps(marked, protocol))
    assert type(found) is Marked
    assert found.note == "kept"
    parameter = flambeau.nn.Parameter(flambeau.ones(2), requires_grad=False)
    found = pickle.loads(pickle.dumps(parameter, protocol))
    assert type(found) is flambeau.nn.Parameter
    assert not found.requires_grad


def test_deepcopy_keeps_sharing_and_identity():
    base = flambeau.arange(6.0)
    view = base[2:]
    first, second, again = copy.deepcopy([base, view, base])
    assert first is again
    assert same_storage(first, second)
    first.fill_(7)
    assert second.tolist() == [7] * 4
    assert base.sum().item() == 15


def test_deepcopy_keeps_grad_class_and_attributes():
    marked = flambeau.ones(2).as_subclass(Marked)
    marked.note = ["kept"]
    found = copy.deepcopy(marked)
    assert type(found) is Marked
    assert found.note == ["kept"]
    assert found.note is not marked.note
    leaf = flambeau.ones(2, requires_grad=True)
    (leaf * 2).sum().backward()
    found = copy.deepcopy(leaf)
    assert found.grad.tolist() == [2, 2]
    assert found.grad is not leaf.grad
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(leaf * 2)
    assert type(copy.deepcopy(flambeau.nn.Parameter(flambeau.ones(1)))) is flambeau.nn.Parameter


def test_copy_shares_memory():
    x = flambeau.ones(2)
    assert copy.copy(x).data_ptr() == x.data_ptr()


@pytest.mark.parametrize("zipped", [True, False])
def test_other_kinds_of_tensors_survive(zipped):
    parameter = flambeau.nn.Parameter(flambeau.ones(2))
    parameter.note = 3
    value = {
        "coo": flambeau.eye(3).to_sparse(),
        "csr": flambeau.eye(3).to_sparse_csr(),
        "bsc": flambeau.eye(4).to_sparse_bsc((2, 2)),
        "half": flambeau.ones(2, 3, dtype=flambeau.complex64).to(flambeau.complex32),
        "parameter": parameter,
        "set": frozenset({1, 2}),
    }
    if not zipped:
        del value["half"]  # the older format has no bytes without a dtype
    stream = io.BytesIO()
    flambeau.save(value, stream, _use_new_zipfile_serialization=zipped)
    stream.seek(0)
    found = flambeau.load(stream)
    for name in ("coo", "csr", "bsc"):
        assert found[name].layout == value[name].layout
        assert flambeau.equal(found[name].to_dense(), value[name].to_dense())
    if zipped:
        assert found["half"].dtype == flambeau.complex32
        assert found["half"].tolist() == value["half"].tolist()
    assert found["parameter"].note == 3
    assert found["set"] == {1, 2}


def test_half_complex_numbers_are_saved_as_pytorch_does():
    stream = io.BytesIO()
    flambeau.save(flambeau.ones(3, dtype=flambeau.complex64).to(flambeau.complex32), stream)
    with zipfile.ZipFile(stream) as archive:
        pickled = archive.read("archive/data.pkl")
    assert b"torch._utils\n_rebuild_tensor_v3" in pickled
    assert b"_complex32" not in pickled


def test_bad_indices_in_the_older_format_are_errors():
    stream = io.BytesIO()
    tensor = flambeau.sparse_coo_tensor(flambeau.tensor([[0, 2]]), flambeau.ones(2), (3,))
    flambeau.save(tensor, stream, _use_new_zipfile_serialization=False)
    data = stream.getvalue()
    good = (2).to_bytes(8, "little")
    assert data.count(good + (2).to_bytes(8, "little")) <= 1
    place = data.rindex((0).to_bytes(8, "little") + good) + 8
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        flambeau.load(io.BytesIO(data[:place] + (9).to_bytes(8, "little") + data[place + 8 :]))


@pytest.mark.parametrize("protocol", [2, 4])
def test_what_a_file_asks_for_can_be_listed(protocol, tmp_path):
    flambeau.save({"w": flambeau.ones(2)}, tmp_path / "plain.pt", pickle_protocol=protocol)
    assert flambeau.serialization.get_unsafe_globals_in_checkpoint(tmp_path / "plain.pt") == []
    module = flambeau.nn.Sequential(flambeau.nn.Linear(2, 2))
    flambeau.save(module, tmp_path / "module.pt", pickle_protocol=protocol)
    found = flambeau.serialization.get_unsafe_globals_in_checkpoint(tmp_path / "module.pt")
    assert "torch.nn.modules.linear.Linear" in found
    with pytest.raises(ValueError, match="zip format"):
        flambeau.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(b"abc"))


def test_errors_of_map_location_are_the_callers():
    stream = io.BytesIO()
    flambeau.save(flambeau.ones(2), stream)

    def fail(storage, location):
        raise KeyError("mine")

    for where, error, message in (
        (fail, KeyError, "mine"),
        ("cuda", RuntimeError, "Attempting to deserialize object on a CUDA device"),
        ("elsewhere", RuntimeError, "don't know how to restore data location"),
    ):
        stream.seek(0)
        with pytest.raises(error, match=message):
            flambeau.load(stream, map_location=where)


def test_files_of_the_older_format_can_follow_each_other():
    stream = io.BytesIO()
    for i in range(2):
        flambeau.save(flambeau.full((2,), float(i)), stream, _use_new_zipfile_serialization=False)
    stream.seek(0)
    assert [flambeau.load(stream).tolist() for _ in range(2)] == [[0.0, 0.0], [1.0, 1.0]]
