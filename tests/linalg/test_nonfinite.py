"""NaN and inf neither crash nor vanish: each call runs in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = str(Path(__file__).resolve().parents[2] / "src")

CHECK = """
import sys, warnings
sys.path.insert(0, {source!r})
import flambeau
from flambeau import linalg
nan, inf = float("nan"), float("inf")

def spoilt(value, n, batch):
    a = flambeau.eye(n, dtype={dtype}) * 2 + 0.1
    a[n // 2, 0] = a[0, n // 2] = value
    return flambeau.stack([flambeau.eye(n, dtype={dtype}), a]) if batch else a

def outcome(function, a):
    try:
        result = function(a)
    except Exception as error:
        return type(error).__name__
    results = result if isinstance(result, tuple) else (result,)
    last = [r[-1] if a.dim() == 3 else r for r in results if r.is_floating_point() or r.is_complex()]
    if all(bool(r.isnan().all()) for r in last):
        return "all nan"
    return "some nan" if any(bool((~r.isfinite()).any()) for r in last) else "finite"

for value in (nan, inf, -inf):
    for n in (1, 2, 5, 40, 150):
        for batch in (False, True):
            a = spoilt(value, n, batch)
            got = outcome({function}, a)
            assert got in {allowed}, (value, n, batch, got)
print("done")
"""

RAISES = {"LinAlgError"}
EXPECTED = {
    "linalg.cholesky": RAISES,
    "lambda a: linalg.cholesky(a, upper=True)": RAISES,
    "linalg.svd": RAISES,
    "linalg.svdvals": RAISES,
    "linalg.matrix_rank": RAISES,
    "linalg.pinv": RAISES,
    "linalg.cond": RAISES,
    "lambda a: linalg.norm(a, 'nuc', dim=(-2, -1))": RAISES,
    "linalg.eig": {"RuntimeError"},
    "linalg.eigvals": {"RuntimeError"},
    "linalg.eigh": {"all nan"},
    "linalg.eigvalsh": {"all nan"},
    "lambda a: linalg.eigvalsh(a, 'U')": {"all nan"},
    "lambda a: linalg.matrix_rank(a, hermitian=True)": None,
    "linalg.lu": {"some nan", "all nan"},
    "linalg.lu_factor": {"some nan", "all nan", "RuntimeError"},
    "linalg.qr": {"some nan", "all nan"},
    "linalg.ldl_factor": {"some nan", "all nan", "LinAlgError"},
    "linalg.matrix_exp": {"some nan", "all nan"},
    "lambda a: linalg.matrix_power(a, 3)": {"some nan", "all nan"},
    **{
        f"lambda a: linalg.lstsq(a, a[..., :1], driver={driver!r})": RAISES
        for driver in ("gels", "gelsy", "gelsd", "gelss")
    },
}


def run(function, dtype, allowed):
    everything = {"all nan", "some nan", "finite", "LinAlgError", "RuntimeError"}
    script = CHECK.format(
        source=SOURCE, dtype=f"flambeau.{dtype}", function=function, allowed=allowed or everything
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100
    )
    assert result.returncode == 0, (result.returncode, result.stderr[-2000:])
    assert result.stdout == "done\n"
    assert result.stderr == ""  # LAPACK prints what it dislikes


@pytest.mark.parametrize("function", EXPECTED)
def test_matrix_with_one_bad_value(function):
    for dtype in ("float32", "complex128"):
        run(function, dtype, EXPECTED[function])


NAN_ONLY = {
    "linalg.inv": {"all nan"},
    "linalg.det": {"all nan"},
    "linalg.slogdet": {"all nan"},
    "lambda a: linalg.solve(a, flambeau.ones(a.shape[-1], 1, dtype=a.dtype))": {"all nan"},
    "lambda a: linalg.solve_triangular(a, a * 0 + 1, upper=False)": {"some nan", "all nan"},
}


@pytest.mark.parametrize("function", NAN_ONLY)
def test_matrix_with_one_nan(function):
    # The inverse of a matrix with an infinite entry may well be finite.
    script = CHECK.replace("(nan, inf, -inf)", "(nan,)")
    for dtype in ("float64", "complex64"):
        result = subprocess.run(
            [
                sys.executable,
                "-c",
                script.format(
                    source=SOURCE,
                    dtype=f"flambeau.{dtype}",
                    function=function,
                    allowed=NAN_ONLY[function],
                ),
            ],
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert (result.returncode, result.stdout, result.stderr[-2000:]) == (0, "done\n", "")


def test_bad_right_hand_side_spoils_its_own_column_only():
    import flambeau
    from flambeau import linalg

    a = flambeau.eye(3)[:, :2] + 1
    b = flambeau.ones(3, 2)
    b[1, 0] = float("nan")
    for driver in ("gels", "gelsy", "gelsd", "gelss"):
        solution = linalg.lstsq(a, b, driver=driver).solution
        assert solution[:, 0].isnan().all()
        assert solution[:, 1].isfinite().all()
