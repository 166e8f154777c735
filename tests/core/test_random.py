"""Random numbers against PyTorch's, recorded by tests/data/make_random.py; the generator's state; edge cases."""

import base64
import json
import pathlib
import sys
import warnings

import numpy as np
import pytest

import flambeau

DATA = pathlib.Path(__file__).parents[1] / "data"
sys.path.insert(0, str(DATA))
import random_cases  # noqa: E402 - found through the path set above

RECORDED = json.loads((DATA / "random.json").read_text())
# Relative to the largest of 1 and the value: normals pass through other vector math than PyTorch's.
TOLERANCE = {
    "float16": 1.5e-3,
    "bfloat16": 1.2e-2,
    "float32": 2e-6,
    "float64": 1e-14,
    "complex64": 2e-6,
    "complex128": 1e-14,
}


def decode(entry):
    raw = np.frombuffer(base64.b64decode(entry["data"]), dtype=np.uint8)
    if entry["dtype"] == "bfloat16":
        wide = raw.view(np.uint16).astype(np.uint32) << 16
        return wide.view(np.float32).reshape(entry["shape"])
    return raw.view(entry["dtype"]).reshape(entry["shape"])


def draw(case):
    flambeau.manual_seed(RECORDED["seed"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = eval(case, {"t": flambeau})
    after = flambeau.rand(1).item()
    values = result.float() if result.dtype is flambeau.bfloat16 else result
    return result, values.numpy(), after


def check_meta(result, entry, after):
    assert str(result.dtype) == f"torch.{entry['dtype']}"
    assert list(result.shape) == entry["shape"]
    if result.numel():
        assert list(result.stride()) == entry["stride"]
    assert after == entry["after"], "another number of random bits was used"


@pytest.mark.parametrize("case", random_cases.exact())
def test_draws_equal_pytorch_bit_by_bit(case):
    entry = RECORDED["cases"][case]
    result, values, after = draw(case)
    np.testing.assert_array_equal(values, decode(entry))
    check_meta(result, entry, after)


@pytest.mark.parametrize("case", random_cases.close())
def test_transformed_draws_equal_pytorch_closely(case):
    entry = RECORDED["cases"][case]
    result, values, after = draw(case)
    tolerance = TOLERANCE[entry["dtype"]]
    np.testing.assert_allclose(values, decode(entry), rtol=tolerance, atol=tolerance)
    check_meta(result, entry, after)
