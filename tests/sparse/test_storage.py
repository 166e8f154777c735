"""Printing, files, copies, dtypes and changes of size."""

import copy
import io
import json
import pickle
import sys
from pathlib import Path

import pytest

import flambeau

DATA = Path(__file__).parent.parent / "data"
sys.path.insert(0, str(DATA))
from sparse_cases import cases  # noqa: E402  (found through the path above)

CASES = cases(flambeau)


@pytest.mark.parametrize("name", CASES)
def test_printed_as_pytorch_does(name):
    assert repr(CASES[name]) == json.loads((DATA / "sparse.json").read_text())[name]


@pytest.mark.parametrize("weights_only", [True, False])
def test_files_of_pytorch(weights_only):
    loaded = flambeau.load(DATA / "sparse.pt", weights_only=weights_only)
    for name, tensor in CASES.items():
        assert repr(loaded[name]) == repr(tensor.detach())


def test_saving_pickling_and_deep_copies():
    file = io.BytesIO()
    flambeau.save(CASES, file)
    loaded = flambeau.load(io.BytesIO(file.getvalue()))
    for name, tensor in CASES.items():
        assert repr(loaded[name]) == repr(tensor.detach())
        assert repr(pickle.loads(pickle.dumps(tensor))) == repr(tensor.detach())
        copied = copy.deepcopy(tensor)
        assert repr(copied) == repr(tensor)
        assert (
            copied.values().data_ptr() != tensor.detach().coalesce().values().data_ptr()
            if name == "coo"
            else True
        )


def test_broken_files_are_errors():
    from flambeau import _utils

    indices, values = flambeau.tensor([[7]]), flambeau.tensor([1.0])
    with pytest.raises(RuntimeError, match="size is inconsistent"):
        _utils._rebuild_sparse_tensor(flambeau.sparse_coo, (indices, values, (2,), True))
    with pytest.raises(RuntimeError, match="crow_indices"):
        parts = (flambeau.tensor([0, 9]), flambeau.tensor([0]), values, (1, 1))
        _utils._rebuild_sparse_tensor(flambeau.sparse_csr, parts)


def test_dtypes_and_copies():
    x = CASES["coo"]
    assert (
        x.double().dtype is flambeau.float64
        and x.to(flambeau.int32).values().dtype is flambeau.int32
    )
    assert CASES["csr"].half().layout is flambeau.sparse_csr
    y = flambeau.zeros_like(x)
    y.copy_(x)
    y.mul_(2)
    assert flambeau.equal(y, x * 2) and flambeau.equal(y.to_dense(), x.to_dense() * 2)
    y.zero_()
    assert y._nnz() == 0
    with pytest.raises(RuntimeError, match="between dense and sparse"):
        y.copy_(flambeau.ones(2, 4))


def test_resizing():
    x = CASES["hybrid"].clone()
    x.sparse_resize_((3, 6), 1, 1)
    assert x.shape == (3, 6) and x.to_dense().sum().item() == 0.5
    with pytest.raises(RuntimeError, match="shrinking"):
        x.sparse_resize_((1, 6), 1, 1)
    x.sparse_resize_and_clear_((2, 2), 2, 0)
    assert x._nnz() == 0 and x.sparse_dim() == 2
    x.resize_as_sparse_(CASES["hybrid"])
    assert x.shape == (2, 4) and x.dense_dim() == 1


def test_there_is_no_strided_memory():
    x = CASES["coo"]
    with pytest.raises(TypeError, match=r"to_dense\(\)"):
        x.numpy()
    for name in ("tolist", "data_ptr", "item"):
        with pytest.raises(RuntimeError):
            getattr(x, name)()
    with pytest.raises(NotImplementedError):
        x.untyped_storage()
    assert not x.is_contiguous() and CASES["scalar"].item() == 3


def test_other_ops_say_what_to_do():
    with pytest.raises(NotImplementedError, match=r"exp: .*to_dense\(\)"):
        CASES["coo"].exp()
    with pytest.raises(NotImplementedError, match=r"cumsum: .*SparseCsr"):
        CASES["csr"].cumsum(0)
