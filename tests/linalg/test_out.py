"""out=: sizes, strides, dtypes, several results, and gradients."""

import pytest

import flambeau
from flambeau import linalg

EYE = flambeau.eye(2)
SINGLE = {
    "inv": (), "det": (), "cholesky": (), "pinv": (), "svdvals": (), "eigvalsh": (), "vector_norm": (),
    "matrix_norm": (), "norm": (), "cond": (), "matrix_rank": (), "solve": (EYE,), "lu_solve": None,
    "matrix_power": (2,), "eigvals": (), "cross": None, "tensorinv": None,
}  # fmt: skip
SEVERAL = {
    "eigh": 2, "eig": 2, "svd": 3, "qr": 2, "slogdet": 2, "lu": 3, "lu_factor": 2, "lu_factor_ex": 3,
    "inv_ex": 2, "cholesky_ex": 2, "ldl_factor": 2, "ldl_factor_ex": 3,
}  # fmt: skip
SINGLE = {name: arguments for name, arguments in SINGLE.items() if arguments is not None}


@pytest.mark.parametrize("name", SINGLE)
def test_one_result(name):
    function = getattr(linalg, name)
    a = EYE * 2
    expected = function(a, *SINGLE[name])
    out = flambeau.empty(0, dtype=expected.dtype)
    assert function(a, *SINGLE[name], out=out) is out  # an empty tensor grows silently
    assert flambeau.equal(out, expected)
    wrong = flambeau.empty(3, 1, 3, dtype=expected.dtype)
    with pytest.warns(UserWarning, match="resized"):
        function(a, *SINGLE[name], out=wrong)
    assert flambeau.equal(wrong, expected)
    wide = expected.dtype if expected.dtype.is_complex else flambeau.float64
    if name != "matrix_rank":
        out = flambeau.empty(0, dtype=wide)
        assert function(a, *SINGLE[name], out=out).dtype is wide
        with pytest.raises(RuntimeError):
            function(a, *SINGLE[name], out=flambeau.empty(0, dtype=flambeau.int32))
        with pytest.raises(RuntimeError, match="out="):
            function(
                a.clone().requires_grad_(),
                *SINGLE[name],
                out=flambeau.empty(0, dtype=expected.dtype),
            )


def test_complex_result_does_not_fit_real_out():
    for function in (linalg.eigvals, lambda a, out: linalg.inv(a.cfloat(), out=out)):
        with pytest.raises(RuntimeError):
            function(EYE, out=flambeau.empty(0))


def test_strided_out_keeps_its_strides():
    out = flambeau.empty(2, 4)[:, ::2]
    assert linalg.inv(EYE * 2, out=out) is out
    assert out.stride() == (4, 2)
    assert out.tolist() == [[0.5, 0], [0, 0.5]]


@pytest.mark.parametrize("name", SEVERAL)
def test_several_results(name):
    function = getattr(linalg, name)
    expected = function(EYE * 2)
    outs = tuple(flambeau.empty(0, dtype=r.dtype) for r in expected)
    result = function(EYE * 2, out=outs)
    for out, got, value in zip(outs, result, expected, strict=True):
        assert got is out
        assert flambeau.equal(out, value)
    assert type(result).__name__ == type(expected).__name__
    one = flambeau.empty(0, dtype=expected[0].dtype)
    with pytest.raises(RuntimeError, match="different tensors"):
        function(EYE, out=(one,) * SEVERAL[name])
    with pytest.raises(RuntimeError, match="out="):
        function(EYE.clone().requires_grad_(), out=outs)
