"""Choices between GPU implementations are kept, as programs ask for them, and change nothing."""

import pytest

import flambeau
from flambeau.backends import cuda


@pytest.mark.parametrize("name", ["flash", "math", "mem_efficient", "cudnn"])
def test_choice_is_kept(name):
    assert getattr(cuda, f"{name}_sdp_enabled")() is True
    getattr(cuda, f"enable_{name}_sdp")(False)
    assert getattr(cuda, f"{name}_sdp_enabled")() is False
    getattr(cuda, f"enable_{name}_sdp")(True)


def test_choices_within_a_block():
    q = flambeau.randn(1, 2, 3, 4)
    expected = flambeau.nn.functional.scaled_dot_product_attention(q, q, q)
    with cuda.sdp_kernel(enable_flash=False):
        assert not cuda.flash_sdp_enabled()
        got = flambeau.nn.functional.scaled_dot_product_attention(q, q, q)
    assert cuda.flash_sdp_enabled() and flambeau.equal(got, expected)


def test_library_of_linear_algebra():
    assert cuda.preferred_linalg_library("cusolver") == "default"
    with pytest.raises(RuntimeError, match="cusolver"):
        cuda.preferred_linalg_library("other")
    assert not cuda.is_built() and not cuda.is_flash_attention_available()
