"""Extensions in C++ say that they can't be built."""

import pytest

from flambeau.utils import cpp_extension


@pytest.mark.parametrize(
    "name", ["load", "load_inline", "CppExtension", "CUDAExtension", "BuildExtension"]
)
def test_every_way_is_refused(name):
    with pytest.raises(NotImplementedError, match=f"^{name}: "):
        getattr(cpp_extension, name)("x", ["x.cpp"])
