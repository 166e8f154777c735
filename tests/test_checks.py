"""_check and its kin raise what they promise."""

import pytest

import flambeau


def test_checks():
    flambeau._check(True)
    flambeau._assert_async(flambeau.tensor(True))
    flambeau._check_tensor_all(flambeau.tensor([True, True]))
    for check, error in (
        (flambeau._check, RuntimeError),
        (flambeau._check_value, ValueError),
        (flambeau._check_index, IndexError),
        (flambeau._check_type, TypeError),
        (flambeau._check_not_implemented, NotImplementedError),
    ):
        with pytest.raises(error, match="the reason"):
            check(False, lambda: "the reason")
    with pytest.raises(RuntimeError, match="note"):
        flambeau._assert_async(flambeau.tensor(0), "note")
    with pytest.raises(RuntimeError):
        flambeau._check_is_size(-1)
