"""Values, dtypes and shapes against NumPy and SciPy in float64."""

from flambeau.testing.opcheck import check_values


def test_value_equals_reference(spec, dtype):
    check_values(spec, dtype)
