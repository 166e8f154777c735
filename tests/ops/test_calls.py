"""The other ways to call an op: as a method, in place, with out=; and the calls that must fail."""

import pickle

import pytest

import flambeau
from flambeau.testing.opcheck import (
    base_method,
    check_error,
    check_inplace,
    check_method,
    check_out,
    function_of,
)

DTYPES = ("float32", "int32")


def test_method_equals_function(spec, dtype):
    if spec.method is False or not hasattr(flambeau.Tensor, base_method(spec)):
        pytest.skip("no method")
    check_method(spec, dtype)


def test_inplace_equals_function(spec, dtype):
    if spec.inplace is False or not hasattr(flambeau.Tensor, base_method(spec) + "_"):
        pytest.skip("no in-place form")
    check_inplace(spec, dtype)


def test_out_equals_function(spec, dtype):
    accepts = spec.out if spec.out is not None else getattr(function_of(spec), "takes_out", False)
    if not accepts:
        pytest.skip("no out=")
    check_out(spec, dtype)


def test_wrong_call_raises(spec, case):
    check_error(spec, case)


def test_spec_has_an_error_case(spec):
    assert spec.errors, f"{spec.id}: state at least one call that must fail"


@pytest.mark.parametrize(
    "op",
    [
        flambeau.sin,
        flambeau.max,
        flambeau.floor_divide,
        flambeau.nn.functional.gelu,
        flambeau.Tensor.add_,
    ],
    ids=str,
)
def test_ops_pickle_by_name(op):
    assert pickle.loads(pickle.dumps(op)) is op


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.max(0),
        lambda x: x.topk(1),
        flambeau.linalg.slogdet,
        lambda x: flambeau.histogram(x, 2),
    ],
)
def test_named_results_pickle(make):
    results = make(flambeau.eye(2))
    again = pickle.loads(pickle.dumps(results))
    assert type(again) is type(results)
    assert [part.tolist() for part in again] == [part.tolist() for part in results]
