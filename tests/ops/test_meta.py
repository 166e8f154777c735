"""The shape rule: a meta tensor goes through the same op and must come out as the real result does."""

from flambeau.testing.opcheck import check_meta

DTYPES = ("float32", "int64")


def wanted(spec):
    return spec.meta


def test_meta_result_is_laid_out_like_the_real_one(spec, dtype):
    check_meta(spec, dtype)
