"""The native base of Module on its own."""

import pytest

from flambeau import _C, nn


class Plain(_C.ModuleBase):
    def forward(self, x, *, times=1):
        return x * times


def test_call_goes_to_forward():
    assert Plain()(3, times=2) == 6
    with pytest.raises(TypeError):
        Plain()(1, 2, 3, 4, 5, 6, 7, 8, 9)
    with pytest.raises(AttributeError, match="forward"):
        _C.ModuleBase()(1)


def test_many_arguments():
    class Many(nn.Module):
        def forward(self, *args, **kwargs):
            return len(args), len(kwargs)

    assert Many()(*range(20), a=1) == (20, 1)


def test_class_set_and_deleted_attributes():
    module = nn.Linear(1, 1)
    module.extra = 1
    del module.extra
    with pytest.raises(AttributeError):
        del module.extra
    del module.weight
    assert "weight" not in module._parameters


def test_configuration_is_checked():
    with pytest.raises(TypeError, match="expected two classes and two functions"):
        _C.configure_modules(1, int, 1, 1, [{}])
    with pytest.raises(TypeError, match="expected a class"):
        _C.adopt_module_class(3)
