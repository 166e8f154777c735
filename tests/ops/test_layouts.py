"""Strided, transposed and overlapping (expanded) inputs."""

from flambeau.testing.opcheck import check_layouts

DTYPES = ("float32", "float16", "complex64", "int32")


def wanted(spec):
    return spec.views


def test_value_does_not_depend_on_layout(spec, dtype):
    check_layouts(spec, dtype)
