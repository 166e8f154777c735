"""A pickle machine that runs no code: it knows the opcodes of plain data and a fixed list of callables.

It never imports a module, never looks up an attribute that a file names, and never sets state on anything but what it
made itself. Callables are looked up by name in a table; whatever is not there is an error that names it.
"""

from __future__ import annotations

import codecs
import pickle
import pickletools
import struct
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

__all__ = ["CallerError", "SafeUnpickler", "UnsafePickleError", "named_globals"]

UnpicklingError = pickle.UnpicklingError


class UnsafePickleError(UnpicklingError):
    """The pickle asks for something outside the allowed list; `name` says what."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the file asks for {name}, which is not on the list of things that a file may ask for"
        )
        self.name = name


class CallerError(Exception):
    """Carries an error that is not about the file: of the caller's own function."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class _Mark:
    """Separates groups of values on the stack."""


_MARK = _Mark()


def _check_key(key: Any, depth: int = 0) -> None:
    # Hashing a nested tuple that refers to itself twice per level takes exponential time.
    if isinstance(key, tuple):
        if depth > 4 or len(key) > 64:
            raise UnpicklingError(
                "expected dict keys and set items that are plain values, got a deep tuple"
            )
        for item in key:
            _check_key(item, depth + 1)
    elif isinstance(key, frozenset | list | dict | set | bytearray):
        raise UnpicklingError(f"expected a hashable plain value as key, got {type(key).__name__}")


class SafeUnpickler:
    """Reads one pickle from `data` at `position`.

    Args:
        data: the bytes.
        find: maps (module, name) to a callable or value, or raises UnsafePickleError.
        persistent_load: maps a persistent id to an object.
        buildable: tells whether BUILD may set the state of an instance of this class.
        position: where the pickle starts.
    """

    def __init__(
        self,
        data: bytes,
        find: Callable[[str, str], Any],
        persistent_load: Callable[[Any], Any],
        buildable: Callable[[type], bool] = lambda cls: False,
        position: int = 0,
        encoding: str = "utf-8",
    ) -> None:
        self.data = data
        self.find = find
        self.persistent_load = persistent_load
        self.buildable = buildable
        self.position = position
        self.encoding = encoding
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.callables: dict[int, Any] = {}  # what find() returned: the only things REDUCE may call

    def load(self) -> Any:
        """Run the machine to its STOP and return the value."""
        handlers = _HANDLERS
        try:
            while True:
                opcode = self.data[self.position]
                self.position += 1
                if opcode == _STOP:
                    if len(self.stack) != 1:
                        raise UnpicklingError(
                            f"expected one value at the end, got {len(self.stack)}"
                        )
                    return self._pop()
                handler = handlers.get(opcode)
                if handler is None:
                    raise UnpicklingError(
                        f"expected an opcode of plain data, got {bytes([opcode])!r}"
                    )
                handler(self)
        except (UnpicklingError, MemoryError, CallerError):
            raise
        except IndexError:
            raise UnpicklingError("expected more data: the pickle is cut off or damaged") from None
        except Exception as error:
            # Damaged files trip any check; callers see one class of error.
            raise UnpicklingError(
                f"the pickle is damaged: {type(error).__name__}: {error}"
            ) from error

    # Input

    def _take(self, count: int) -> bytes:
        end = self.position + count
        if count < 0 or end > len(self.data):
            raise UnpicklingError(f"expected {count} more bytes, the pickle is cut off")
        chunk = self.data[self.position : end]
        self.position = end
        return bytes(chunk)

    def _number(self, fmt: struct.Struct) -> int:
        return fmt.unpack(self._take(fmt.size))[0]

    def _line(self) -> str:
        end = self.data.find(b"\n", self.position)
        if end < 0:
            raise UnpicklingError("expected a line end, the pickle is cut off")
        line = self._take(end - self.position)
        self.position += 1
        return line.decode("utf-8")

    # Stack

    def _pop(self) -> Any:
        value = self.stack.pop()
        if value is _MARK:
            raise UnpicklingError("expected a value on the stack, got a mark")
        return value

    def _top(self, kind: type | tuple[type, ...]) -> Any:
        value = self.stack[-1]
        if not isinstance(value, kind):
            raise UnpicklingError(
                f"expected a container of another kind, got {type(value).__name__}"
            )
        return value

    def _pop_mark(self) -> list[Any]:
        for i in range(len(self.stack) - 1, -1, -1):
            if self.stack[i] is _MARK:
                items = self.stack[i + 1 :]
                del self.stack[i:]
                return items
        raise UnpicklingError("expected a mark on the stack, got none")

    def _put(self, index: int) -> None:
        value = self.stack[-1]
        if value is _MARK:
            raise UnpicklingError("expected a value on the stack, got a mark")
        self.memo[index] = value

    def _get(self, index: int) -> None:
        if index not in self.memo:
            raise UnpicklingError(f"expected a remembered value number {index}, got none")
        self.stack.append(self.memo[index])

    # Containers

    def _set_items(self, items: list[Any]) -> None:
        target = self._top((dict, OrderedDict, defaultdict, Counter))
        if len(items) % 2:
            raise UnpicklingError("expected pairs of keys and values")
        for key, value in zip(items[::2], items[1::2], strict=True):
            _check_key(key)
            target[key] = value

    def _append(self, items: list[Any]) -> None:
        target = self._top(list)
        target.extend(items)

    def _add(self, items: list[Any]) -> None:
        target = self._top(set)
        for item in items:
            _check_key(item)
            target.add(item)

    def _frozenset(self) -> None:
        items = self._pop_mark()
        for item in items:
            _check_key(item)
        self.stack.append(frozenset(items))

    def _dict(self) -> None:
        items = self._pop_mark()
        self.stack.append({})
        self._set_items(items)

    # Calls

    def _global(self, module: str, name: str) -> None:
        found = self.find(module, name)
        self.callables[id(found)] = found
        self.stack.append(found)

    def _stack_global(self) -> None:
        name, module = self._pop(), self._pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise UnpicklingError("expected a global's name as text")
        self._global(module, name)

    def _reduce(self) -> None:
        args, func = self._pop(), self._pop()
        if not isinstance(args, tuple):
            raise UnpicklingError(f"expected a tuple of arguments, got {type(args).__name__}")
        self.stack.append(self._callable(func)(*args))

    def _newobj(self) -> None:
        args, cls = self._pop(), self._pop()
        self._callable(cls)
        if not isinstance(cls, type) or not isinstance(args, tuple):
            raise UnpicklingError("expected a class and its arguments")
        self.stack.append(cls.__new__(cls, *args) if self.buildable(cls) else cls(*args))

    def _callable(self, func: Any) -> Callable[..., Any]:
        if self.callables.get(id(func)) is not func or not callable(func):
            raise UnpicklingError(
                f"expected a call of an allowed function, got a {type(func).__name__}"
            )
        return func

    def _build(self) -> None:
        state = self._pop()
        target = self.stack[-1]
        cls = type(target)
        if cls.__name__ == "OrderedDict" and isinstance(state, dict):
            # What nn.Module.state_dict() hangs on its dicts.
            for key, value in state.items():
                if key != "_metadata":
                    raise UnpicklingError(
                        f"expected only _metadata as an attribute of a dict, got {key!r}"
                    )
                target._metadata = value
        elif self.buildable(cls):
            if hasattr(target, "__setstate__"):
                target.__setstate__(state)
            elif isinstance(state, dict):
                target.__dict__.update(state)
            else:
                raise UnpicklingError(f"expected a dict as the state of {cls.__name__}")
        else:
            raise UnsafePickleError(
                f"state set on an object of class {cls.__module__}.{cls.__qualname__}"
            )

    def _persistent(self) -> None:
        self.stack.append(self.persistent_load(self._pop()))


_U1, _U2, _U4, _U8 = (struct.Struct(f) for f in ("<B", "<H", "<I", "<Q"))
_I4, _F8 = struct.Struct("<i"), struct.Struct(">d")
_STOP = pickle.STOP[0]


def _decimal(m: SafeUnpickler) -> Any:
    line = m._line()
    if line in ("00", "01"):
        return line == "01"
    if len(line) > 4096:
        raise UnpicklingError("expected a number of at most 4096 digits")
    return int(line.rstrip("L"))


def _quoted(m: SafeUnpickler) -> str:
    line = m._line()
    if len(line) < 2 or line[0] != line[-1] or line[0] not in "'\"":
        raise UnpicklingError("expected a quoted string")
    return codecs.escape_decode(line[1:-1].encode("latin-1"))[0].decode(m.encoding)  # type: ignore[attr-defined]


def _push(make: Callable[[SafeUnpickler], Any]) -> Callable[[SafeUnpickler], None]:
    def handler(machine: SafeUnpickler) -> None:
        machine.stack.append(make(machine))

    return handler


def _text(size: struct.Struct) -> Callable[[SafeUnpickler], None]:
    return _push(lambda m: m._take(m._number(size)).decode("utf-8", "surrogatepass"))


def _bytes(size: struct.Struct) -> Callable[[SafeUnpickler], None]:
    return _push(lambda m: m._take(m._number(size)))


def _old_string(size: struct.Struct) -> Callable[[SafeUnpickler], None]:
    return _push(lambda m: m._take(m._number(size)).decode(m.encoding))


def _tuple(count: int) -> Callable[[SafeUnpickler], None]:
    def handler(machine: SafeUnpickler) -> None:
        items = [machine._pop() for _ in range(count)]
        machine.stack.append(tuple(reversed(items)))

    return handler


def _pair(machine: SafeUnpickler) -> list[Any]:
    value, key = machine._pop(), machine._pop()
    return [key, value]


_HANDLERS: dict[int, Callable[[SafeUnpickler], Any]] = {
    opcode[0]: handler
    for opcode, handler in {
        pickle.PROTO: lambda m: m._take(1),
        pickle.FRAME: lambda m: m._take(8),
        pickle.MARK: lambda m: m.stack.append(_MARK),
        pickle.POP: lambda m: m.stack.pop(),
        pickle.POP_MARK: lambda m: m._pop_mark(),
        pickle.DUP: lambda m: m.stack.append(m.stack[-1]),
        pickle.NONE: _push(lambda m: None),
        pickle.NEWTRUE: _push(lambda m: True),
        pickle.NEWFALSE: _push(lambda m: False),
        pickle.INT: _push(_decimal),
        pickle.LONG: _push(_decimal),
        pickle.BININT: _push(lambda m: m._number(_I4)),
        pickle.BININT1: _push(lambda m: m._number(_U1)),
        pickle.BININT2: _push(lambda m: m._number(_U2)),
        pickle.LONG1: _push(
            lambda m: int.from_bytes(m._take(m._number(_U1)), "little", signed=True)
        ),
        pickle.LONG4: _push(
            lambda m: int.from_bytes(m._take(m._number(_I4)), "little", signed=True)
        ),
        pickle.BINFLOAT: _push(lambda m: m._number(_F8)),
        pickle.FLOAT: _push(lambda m: float(m._line())),
        pickle.BINUNICODE: _text(_U4),
        pickle.SHORT_BINUNICODE: _text(_U1),
        pickle.BINUNICODE8: _text(_U8),
        pickle.UNICODE: _push(lambda m: m._line().encode().decode("raw-unicode-escape")),
        pickle.BINSTRING: _old_string(_I4),
        pickle.SHORT_BINSTRING: _old_string(_U1),
        pickle.STRING: _push(_quoted),
        pickle.BINBYTES: _bytes(_U4),
        pickle.SHORT_BINBYTES: _bytes(_U1),
        pickle.BINBYTES8: _bytes(_U8),
        pickle.BYTEARRAY8: _push(lambda m: bytearray(m._take(m._number(_U8)))),
        pickle.EMPTY_TUPLE: _push(lambda m: ()),
        pickle.TUPLE1: _tuple(1),
        pickle.TUPLE2: _tuple(2),
        pickle.TUPLE3: _tuple(3),
        pickle.TUPLE: _push(lambda m: tuple(m._pop_mark())),
        pickle.EMPTY_LIST: _push(lambda m: []),
        pickle.LIST: _push(lambda m: m._pop_mark()),
        pickle.APPEND: lambda m: m._append([m._pop()]),
        pickle.APPENDS: lambda m: m._append(m._pop_mark()),
        pickle.EMPTY_DICT: _push(lambda m: {}),
        pickle.DICT: lambda m: m._dict(),
        pickle.SETITEM: lambda m: m._set_items(_pair(m)),
        pickle.SETITEMS: lambda m: m._set_items(m._pop_mark()),
        pickle.EMPTY_SET: _push(lambda m: set()),
        pickle.ADDITEMS: lambda m: m._add(m._pop_mark()),
        pickle.FROZENSET: lambda m: m._frozenset(),
        pickle.PUT: lambda m: m._put(_decimal(m)),
        pickle.BINPUT: lambda m: m._put(m._number(_U1)),
        pickle.LONG_BINPUT: lambda m: m._put(m._number(_U4)),
        pickle.MEMOIZE: lambda m: m._put(len(m.memo)),
        pickle.GET: lambda m: m._get(_decimal(m)),
        pickle.BINGET: lambda m: m._get(m._number(_U1)),
        pickle.LONG_BINGET: lambda m: m._get(m._number(_U4)),
        pickle.GLOBAL: lambda m: m._global(m._line(), m._line()),
        pickle.STACK_GLOBAL: lambda m: m._stack_global(),
        pickle.REDUCE: lambda m: m._reduce(),
        pickle.NEWOBJ: lambda m: m._newobj(),
        pickle.BUILD: lambda m: m._build(),
        pickle.BINPERSID: lambda m: m._persistent(),
    }.items()
}


def named_globals(data: bytes) -> list[tuple[str, str]]:
    """Modules and names of the globals that a pickle asks for; it is only read, not run."""
    found: list[tuple[str, str]] = []
    memo: dict[Any, Any] = {}
    recent: list[Any] = []  # what was pushed last; only text matters
    try:
        for opcode, value, _ in pickletools.genops(data):
            if opcode.name in ("GLOBAL", "INST"):
                module, _, name = str(value).partition(" ")
                found.append((module, name))
                recent.append(None)
            elif opcode.name == "STACK_GLOBAL":
                texts = recent[-2:]
                if len(texts) < 2 or not all(isinstance(text, str) for text in texts):
                    raise UnpicklingError("expected a global's name as text")
                found.append((texts[0], texts[1]))
                recent.append(None)
            elif opcode.name == "MEMOIZE":
                memo[len(memo)] = recent[-1] if recent else None
            elif opcode.name in ("PUT", "BINPUT", "LONG_BINPUT"):
                memo[value] = recent[-1] if recent else None
            elif opcode.name in ("GET", "BINGET", "LONG_BINGET"):
                recent.append(memo.get(value))
            elif opcode.stack_after:
                recent.append(value if isinstance(value, str) else None)
    except ValueError as error:
        raise UnpicklingError(f"the pickle is cut off or damaged: {error}") from None
    return found
