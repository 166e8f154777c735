"""Types of DataPipes: `IterDataPipe[T]` is checked against __iter__'s annotation, arguments and samples."""

import collections.abc
import types
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

__all__ = ["ANY", "check_argument", "declare", "issubinstance", "issubtype", "matches", "reinforce"]

_UNIONS = (Union, types.UnionType)
_ITERATORS = (collections.abc.Iterator, collections.abc.Iterable, collections.abc.Generator)


class _DataPipeType:
    """A declared type, with PyTorch's printed form."""

    def __init__(self, param):
        self.param = param

    def __repr__(self):
        return (
            getattr(self.param, "__name__", None)
            if isinstance(self.param, type) and not get_args(self.param)
            else repr(self.param)
        )

    def __eq__(self, other):
        return isinstance(other, _DataPipeType) and self.param == other.param

    def __hash__(self):
        return hash(repr(self.param))

    def issubtype(self, other):
        """Whether every value of this type is one of the other."""
        return issubtype(self.param, other.param)

    def issubtype_of_instance(self, other):
        """Whether a value is of this type."""
        return matches(other, self)


ANY = _DataPipeType(Any)


def _plain(hint):
    """None as its type; a type variable as what bounds it."""
    if hint is None:
        return type(None)
    if isinstance(hint, TypeVar):
        if hint.__constraints__:
            return Union[hint.__constraints__]  # noqa: UP007 - of a tuple
        return hint.__bound__ if hint.__bound__ is not None else Any
    return hint


def issubtype(left, right, recursive=True):
    """Whether type hint `left` is a subtype of `right`, as static checkers see it; arguments are compared too."""
    left, right = _plain(left), _plain(right)
    if right is Any or right is object or left == right:
        return True
    if left is Any:
        return False
    if get_origin(left) in _UNIONS:
        return all(issubtype(part, right) for part in get_args(left))
    if get_origin(right) in _UNIONS:
        return any(issubtype(left, part) for part in get_args(right))
    left_class, right_class = get_origin(left) or left, get_origin(right) or right
    if not (isinstance(left_class, type) and isinstance(right_class, type)):
        return False
    if not issubclass(left_class, right_class):
        return False
    if not recursive or not get_args(right):
        return True
    return _arguments_match(left, right, right_class)


def _arguments_match(left, right, cls):
    mine, theirs = get_args(left), get_args(right)
    if cls is tuple:
        if len(theirs) == 2 and theirs[1] is ...:
            return bool(mine) and all(issubtype(a, theirs[0]) for a in mine if a is not ...)
        if not mine or mine[-1] is ... or len(mine) != len(theirs):
            return False
        return all(map(issubtype, mine, theirs))
    if not mine:
        return all(_plain(part) is Any for part in theirs)
    return len(mine) == len(theirs) and all(map(issubtype, mine, theirs))


def matches(value, hint):
    """Whether a value is of a type; elements of lists, sets, dicts and tuples are looked at."""
    hint = _plain(hint.param if isinstance(hint, _DataPipeType) else hint)
    if hint is Any:
        return True
    origin, parts = get_origin(hint), get_args(hint)
    if origin in _UNIONS:
        return any(matches(value, part) for part in parts)
    cls = origin or hint
    if not isinstance(cls, type):
        return True  # nothing that can be checked
    if not isinstance(value, cls):
        return False
    if not parts:
        return True
    if isinstance(value, tuple):
        if len(parts) == 2 and parts[1] is ...:
            return all(matches(item, parts[0]) for item in value)
        return len(parts) == len(value) and all(map(matches, value, parts))
    if isinstance(value, dict):
        return all(matches(k, parts[0]) and matches(v, parts[1]) for k, v in value.items())
    if isinstance(value, (list, set, frozenset)):
        return all(matches(item, parts[0]) for item in value)
    return True


def issubinstance(data, data_type):
    """Whether data is of a type hint."""
    return matches(data, data_type)


def declare(cls, base):
    """Set cls.type from `base[T]` among its bases, and check it against the annotation of __iter__."""
    for generic in getattr(cls, "__orig_bases__", ()):
        origin = get_origin(generic)
        if isinstance(origin, type) and issubclass(origin, base) and get_args(generic):
            declared = _DataPipeType(get_args(generic)[0])
            if isinstance(declared.param, TypeVar):
                break
            if not issubtype(declared.param, origin.type.param):
                raise TypeError(
                    f"'{cls.__name__}' is declared with {declared}, which is no subtype of "
                    f"{origin.type} of '{origin.__name__}'"
                )
            cls.type = declared
            break
    if "__iter__" in vars(cls):
        _check_iter(cls)


def _check_iter(cls):
    try:
        hint = get_type_hints(vars(cls)["__iter__"]).get("return")
    except (NameError, TypeError, AttributeError):
        return  # refers to names that don't exist yet
    if hint is None or cls.type == ANY:
        return
    origin = get_origin(hint) or hint
    if isinstance(origin, type) and issubclass(cls, origin):
        return  # returns itself
    if origin not in _ITERATORS:
        raise TypeError(
            f"Expected 'Iterator' as the return annotation for `__iter__` of {cls.__name__}, but found {_name(hint)}"
        )
    parts = get_args(hint)
    if parts and not isinstance(parts[0], TypeVar) and not issubtype(parts[0], cls.type.param):
        raise TypeError(
            f"Expected return type of '__iter__' as a subtype of {cls.type},"
            f" but found {_name(parts[0])} for {cls.__name__}"
        )


def _name(hint):
    return repr(_DataPipeType(hint))


def check_argument(name, value, hint, base):
    """TypeError unless an argument annotated `base[T]` is a pipe of a subtype of T."""
    origin = get_origin(hint) or hint
    if not (isinstance(origin, type) and issubclass(origin, base)):
        return
    if not isinstance(value, base):
        raise TypeError(f"Expected argument '{name}' as a IterDataPipe, but found {type(value)}")
    parts = get_args(hint)
    if parts and not issubtype(value.type.param, parts[0]):
        raise TypeError(
            f"Expected type of argument '{name}' as a subtype of hint {_name(parts[0])}, but found {value.type}"
        )


def reinforce(datapipe, expected_type):
    """Narrow the type of one pipe."""
    if isinstance(expected_type, tuple):
        expected_type = tuple[expected_type]
    known = isinstance(expected_type, (type, TypeVar)) or get_origin(expected_type) is not None
    if not known and expected_type not in (Any, None):
        raise TypeError(f"'expected_type' must be a type, but got {expected_type!r}")
    if not issubtype(expected_type, datapipe.type.param):
        raise TypeError(
            f"Expected 'expected_type' as subtype of {datapipe.type}, but found {_name(expected_type)}"
        )
    datapipe.type = _DataPipeType(expected_type)
    return datapipe
