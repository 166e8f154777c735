"""Error classes, and the one sentence frame of Flambeau's messages."""

from ._C import DtypeError, GradError, LinAlgError, ShapeError

__all__ = ["DtypeError", "GradError", "LinAlgError", "ShapeError", "expected"]


def expected(
    op: str, rule: str, got: object, hint: str = "", kind: type[Exception] = RuntimeError
) -> Exception:
    """Build "<op>: expected <rule>, got <got>. <hint>" as an exception with the fields op, expected and got."""
    message = f"{op}: expected {rule}, got {got}." + (f" {hint}" if hint else "")
    error = kind(message)
    for name, value in (("op", op), ("expected", rule), ("got", got)):
        setattr(error, name, value)
    return error
