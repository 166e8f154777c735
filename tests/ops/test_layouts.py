"""Strided, transposed and overlapping (expanded) inputs."""

import pytest

import flambeau
from flambeau.testing.opcheck import check_layouts

DTYPES = ("float32", "float16", "complex64", "int32")


def wanted(spec):
    return spec.views


def test_value_does_not_depend_on_layout(spec, dtype):
    check_layouts(spec, dtype)


@pytest.mark.parametrize(("stride", "size"), [(1, 8), (2, 16), (1, 1)])
def test_wide_convolutions_of_plain_tensors_match_float64(stride, size):
    # Enough arithmetic per value for the channels-last detour of plain tensors.
    flambeau.manual_seed(0)
    shapes = (2, 256, size, size), (256, 256, 3, 3), (256,)
    double = [flambeau.randn(s, dtype=flambeau.float64, requires_grad=True) for s in shapes]
    single = [t.detach().float().requires_grad_() for t in double]
    results = []
    for x, weight, bias in (double, single):
        y = flambeau.nn.functional.conv2d(x, weight, bias, stride, 1)
        assert y.is_contiguous()
        results.append((y, *flambeau.autograd.grad(y.square().sum(), (x, weight, bias))))
        assert all(g.is_contiguous() for g in results[-1])
    for got, wanted in zip(results[1], results[0], strict=True):
        scale = wanted.abs().max().item()
        assert (got.double() - wanted).abs().max().item() <= 1e-5 * scale
