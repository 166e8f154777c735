"""Parametrises the generic suites over the specs: a test that takes `spec` runs once per op, one that takes `spec` and
`dtype` once per op and dtype that the spec lists, restricted by a module's DTYPES if it has one."""

from pathlib import Path

from flambeau.testing.opspec import load_specs

SPECS = load_specs(Path(__file__).parent / "specs")


def pytest_generate_tests(metafunc):
    if "spec" not in metafunc.fixturenames:
        return
    wanted = getattr(metafunc.module, "wanted", lambda spec: True)
    specs = [spec for spec in SPECS if wanted(spec)]
    if "dtype" in metafunc.fixturenames:
        only = getattr(metafunc.module, "DTYPES", None)
        pairs = [
            (spec, dtype)
            for spec in specs
            for dtype in spec.dtypes
            if only is None or dtype in only
        ]
        metafunc.parametrize(
            "spec, dtype", pairs, ids=[f"{spec.id}-{dtype}" for spec, dtype in pairs]
        )
    elif "case" in metafunc.fixturenames:
        cases = [(spec, case) for spec in specs for case in spec.errors]
        ids = [
            f"{spec.id}-{next(i for i, other in enumerate(spec.errors) if other is case)}"
            for spec, case in cases
        ]
        metafunc.parametrize("spec, case", cases, ids=ids)
    else:
        metafunc.parametrize("spec", specs, ids=[spec.id for spec in specs])
