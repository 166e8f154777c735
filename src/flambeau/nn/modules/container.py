"""Containers: Sequential, lists and dicts of modules and of parameters."""

import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import chain, islice

from flambeau import Tensor
from flambeau.nn.parameter import Parameter

from .module import Module, _addindent

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class Container(Module):
    """Deprecated: a module with the given children."""

    def __init__(self, **kwargs):
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class Sequential(Module):
    """Runs its children one after the other; takes modules, or one OrderedDict of them."""

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def _name_at(self, index):
        index = operator.index(index)
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of range")
        return next(islice(self._modules, index % size, None))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def __setitem__(self, index, module):
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index):
        if isinstance(index, slice):
            for name in list(self._modules)[index]:
                delattr(self, name)
        else:
            delattr(self, self._name_at(index))
        self._renumber()

    def _renumber(self):
        self._modules = {str(i): module for i, module in enumerate(self._modules.values())}

    def __len__(self):
        return len(self._modules)

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        result = Sequential()
        for module in chain(self, other):
            result.append(module)
        return result

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return self.extend(other)

    def __mul__(self, other):
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        result = Sequential()
        for module in chain.from_iterable([self] * other):
            result.append(module)
        return result

    __rmul__ = __mul__

    def __imul__(self, other):
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        for module in list(self) * (other - 1):
            self.append(module)
        return self

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def __iter__(self):
        return iter(self._modules.values())

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def append(self, module):
        """Add a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        """Remove the module at an index and return it."""
        module = self[key]
        del self[key]
        return module

    def insert(self, index, module):
        """Add a module before an index; returns self."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self._modules.values())
        modules.insert(index + size if index < 0 else index, module)
        self._modules = {str(i): m for i, m in enumerate(modules)}
        return self

    def extend(self, sequential):
        """Add the modules of an iterable at the end; returns self."""
        for module in sequential:
            self.append(module)
        return self


class ModuleList(Module):
    """A list of modules that registers them."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self += modules

    def _name_at(self, index):
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return str(index + len(self) if index < 0 else index)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._name_at(index)]

    def __setitem__(self, index, module):
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index):
        if isinstance(index, slice):
            for i in range(len(self))[index]:
                delattr(self, str(i))
        else:
            delattr(self, self._name_at(index))
        self._modules = {str(i): module for i, module in enumerate(self._modules.values())}

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        combined = ModuleList()
        for i, module in enumerate(chain(self, other)):
            combined.add_module(str(i), module)
        return combined

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def __repr__(self):
        """Runs of equal entries are printed once, as (2-5): 4 x Linear(...)."""
        texts = [repr(module) for module in self]
        if not texts:
            return self._get_name() + "()"
        runs = [[0, 0]]
        blocks = [texts[0]]
        for i, text in enumerate(texts[1:], 1):
            if text == blocks[-1]:
                runs[-1][1] += 1
            else:
                runs.append([i, i])
                blocks.append(text)
        lines = []
        for (start, end), block in zip(runs, blocks, strict=False):
            line = (
                f"({start}): {block}"
                if start == end
                else f"({start}-{end}): {end - start + 1} x {block}"
            )
            lines.append(_addindent(line, 2))
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"

    def insert(self, index, module):
        """Add a module before an index."""
        for i in range(len(self), index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]
        self._modules[str(index)] = module

    def append(self, module):
        """Add a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        """Remove the module at an index and return it."""
        module = self[key]
        del self[key]
        return module

    def extend(self, modules):
        """Add the modules of an iterable at the end; returns self."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        offset = len(self)
        for i, module in enumerate(modules):
            self.add_module(str(offset + i), module)
        return self


def _items_to_add(container, kind, values):
    """(key, value) pairs of a mapping or of an iterable of pairs, with PyTorch's messages."""
    if not isinstance(values, Iterable):
        raise TypeError(
            f"{kind}.update should be called with an iterable of key/value pairs, but got {type(values).__name__}"
        )
    if isinstance(values, (Mapping, type(container))):
        items = list(values.items())
        return (
            items
            if isinstance(values, (OrderedDict, type(container))) or kind == "ModuleDict"
            else sorted(items)
        )
    pairs = []
    for i, pair in enumerate(values):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{kind} update sequence element #{i} should be Iterable; is{type(pair).__name__}"
            )
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(
                f"{kind} update sequence element #{i} has length {len(pair)}; 2 is required"
            )
        pairs.append(pair)
    return pairs


class ModuleDict(Module):
    """A dict of modules that registers them; keeps insertion order."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key):
        """Remove the module of a key and return it."""
        module = self[key]
        del self[key]
        return module

    def keys(self):
        """Keys in insertion order."""
        return self._modules.keys()

    def items(self):
        """(key, module) pairs in insertion order."""
        return self._modules.items()

    def values(self):
        """Modules in insertion order."""
        return self._modules.values()

    def update(self, modules):
        """Add the entries of a mapping or of an iterable of pairs."""
        for key, module in _items_to_add(self, "ModuleDict", modules):
            self[key] = module


def _describe(value, type_text):
    """One entry of the repr of ParameterList and ParameterDict."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(str(size) for size in value.size())
    device = "" if value.device.type == "cpu" else f" ({value.device})"
    return f"{kind} containing: [{type_text(value)} of size {size}{device}]"


class ParameterList(Module):
    """A list whose tensors are registered as parameters; other values are kept as they are."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _name_at(self, index):
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return str(index + len(self) if index < 0 else index)

    def __getitem__(self, index):
        if isinstance(index, slice):
            result = type(self)()
            for i in range(len(self))[index]:
                result.append(self[i])
            return result
        return getattr(self, self._name_at(index))

    def __setitem__(self, index, value):
        name = self._name_at(index)
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, name, value)

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self[i] for i in range(len(self)))

    def __iadd__(self, values):
        return self.extend(values)

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value):
        """Add a value at the end; a tensor becomes a parameter. Returns self."""
        self._size += 1
        self[len(self) - 1] = value
        return self

    def extend(self, values):
        """Add the values of an iterable at the end; returns self."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}"
            )
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        return "\n".join(f"  ({i}): {_describe(v, lambda t: t.dtype)}" for i, v in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict whose tensors are registered as parameters; other values are kept as they are."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key):
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}'). "
                "Open an issue on github if you need non-string keys."
            )
        return key

    def __getitem__(self, key):
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        name = self._key_to_attr(key)
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, name, value)

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def __or__(self, other):
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other):
        result = ParameterDict(OrderedDict(other))
        result.update(self)
        return result

    def __ior__(self, other):
        self.update(other)
        return self

    def copy(self):
        """A new ParameterDict with the same parameters."""
        return ParameterDict(OrderedDict((key, self[key]) for key in self._keys))

    def setdefault(self, key, default=None):
        """The value of a key; sets it to default first if it is missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        """Remove all entries."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        """Remove a key and return its value."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Remove the last key and return (key, value)."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        return key, self.pop(key)

    def get(self, key, default=None):
        """The value of a key, or default."""
        return self[key] if key in self else default

    def fromkeys(self, keys, default=None):
        """A new ParameterDict with the given keys, all of one value."""
        return ParameterDict((key, default) for key in keys)

    def keys(self):
        """Keys in insertion order."""
        return self._keys.keys()

    def items(self):
        """(key, value) pairs in insertion order."""
        return ((key, self[key]) for key in self._keys)

    def values(self):
        """Values in insertion order."""
        return (self[key] for key in self._keys)

    def update(self, parameters):
        """Add the entries of a mapping or of an iterable of pairs."""
        for key, value in _items_to_add(self, "ParameterDict", parameters):
            self[key] = value

    def extra_repr(self):
        return "\n".join(
            f"  ({key}): {_describe(v, lambda t: t.data.type())}" for key, v in self.items()
        )

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")
