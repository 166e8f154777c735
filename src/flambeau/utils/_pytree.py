"""Trees of tuples, lists, dicts and registered classes, taken apart into leaves and a spec, and put together again.

The functions and their results are those of torch.utils._pytree, which many programs use in spite of its name.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

__all__ = [
    "LeafSpec",
    "PyTree",
    "TreeSpec",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "key_get",
    "keystr",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
]

PyTree = Any
Context = Any
IsLeaf = Callable[[Any], bool] | None


class SequenceKey(NamedTuple):
    """A step into a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """Return the child."""
        return sequence[self.idx]


class MappingKey(NamedTuple):
    """A step into a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """Return the child."""
        return mapping[self.key]


class GetAttrKey(NamedTuple):
    """A step to an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """Return the child."""
        return getattr(obj, self.name)


class NodeDef(NamedTuple):
    """How a class is taken apart and put together."""

    type: type
    flatten_fn: Callable[[Any], tuple[list[Any], Context]]
    unflatten_fn: Callable[[Iterable[Any], Context], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Context]] | None = None


SUPPORTED_NODES: dict[Any, NodeDef] = {}


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Context]],
    unflatten_fn: Callable[[Iterable[Any], Context], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Any = None,
    from_dumpable_context: Any = None,
    flatten_with_keys_fn: Any = None,
) -> None:
    """Make a class a node: its instances are taken apart instead of being leaves.

    Args:
        cls: the class itself; subclasses stay leaves.
        flatten_fn: instance -> (children, context).
        unflatten_fn: (children, context) -> instance.
        flatten_with_keys_fn: instance -> ([(key, child), ...], context), for the functions that give paths.
        serialized_type_name, to_dumpable_context, from_dumpable_context: accepted; specs are not written to files.
    Raises:
        ValueError: the class is registered already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(
            f"{cls} is already registered as pytree node. Overwriting the previous registration is not allowed."
        )
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


def _register_pytree_node(cls: type, flatten_fn: Any, unflatten_fn: Any, **kwargs: Any) -> None:
    """The former name, which may overwrite."""
    SUPPORTED_NODES[cls] = NodeDef(
        cls, flatten_fn, unflatten_fn, kwargs.get("flatten_with_keys_fn")
    )


def _deregister_pytree_node(cls: type) -> None:
    del SUPPORTED_NODES[cls]


def register_dataclass(cls: type, **kwargs: Any) -> None:
    """Make a dataclass a node; its children are its fields."""
    import dataclasses

    names = [field.name for field in dataclasses.fields(cls) if field.init]

    def flatten(value: Any) -> tuple[list[Any], Context]:
        return [getattr(value, name) for name in names], names

    def flatten_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Context]:
        return [(GetAttrKey(name), getattr(value, name)) for name in names], names

    register_pytree_node(
        cls,
        flatten,
        lambda values, context: cls(**dict(zip(context, values, strict=True))),
        flatten_with_keys_fn=flatten_with_keys,
    )


def _keyed(children: list[Any], context: Context) -> tuple[list[tuple[Any, Any]], Context]:
    return [(SequenceKey(i), child) for i, child in enumerate(children)], context


def _tuple_flatten(value: tuple[Any, ...]) -> tuple[list[Any], Context]:
    return list(value), None


def _list_flatten(value: list[Any]) -> tuple[list[Any], Context]:
    return value, None


def _dict_flatten(value: dict[Any, Any]) -> tuple[list[Any], Context]:
    return list(value.values()), list(value.keys())


def _dict_flatten_with_keys(value: dict[Any, Any]) -> tuple[list[tuple[Any, Any]], Context]:
    return [(MappingKey(key), child) for key, child in value.items()], list(value.keys())


def _dict_unflatten(values: Iterable[Any], context: Context) -> dict[Any, Any]:
    return dict(zip(context, values, strict=True))


def _namedtuple_flatten(value: Any) -> tuple[list[Any], Context]:
    return list(value), type(value)


def _namedtuple_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Context]:
    keys = [GetAttrKey(name) for name in value._fields]
    return list(zip(keys, value, strict=True)), type(value)


def _defaultdict_flatten(value: Any) -> tuple[list[Any], Context]:
    return list(value.values()), [value.default_factory, list(value.keys())]


def _defaultdict_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Context]:
    children, _ = _dict_flatten_with_keys(value)
    return children, [value.default_factory, list(value.keys())]


register_pytree_node(
    tuple,
    _tuple_flatten,
    lambda values, context: tuple(values),
    flatten_with_keys_fn=lambda value: _keyed(*_tuple_flatten(value)),
)
register_pytree_node(
    list,
    _list_flatten,
    lambda values, context: list(values),
    flatten_with_keys_fn=lambda value: _keyed(*_list_flatten(value)),
)
register_pytree_node(
    dict, _dict_flatten, _dict_unflatten, flatten_with_keys_fn=_dict_flatten_with_keys
)
register_pytree_node(
    namedtuple,  # type: ignore[arg-type]  # stands for every named tuple class
    _namedtuple_flatten,
    lambda values, context: context(*values),
    flatten_with_keys_fn=_namedtuple_with_keys,
)
register_pytree_node(
    OrderedDict,
    _dict_flatten,
    lambda values, context: OrderedDict(zip(context, values, strict=True)),
    flatten_with_keys_fn=_dict_flatten_with_keys,
)
register_pytree_node(
    defaultdict,
    _defaultdict_flatten,
    lambda values, context: defaultdict(context[0], zip(context[1], values, strict=True)),
    flatten_with_keys_fn=_defaultdict_with_keys,
)
register_pytree_node(
    deque,
    lambda value: (list(value), value.maxlen),
    lambda values, context: deque(values, maxlen=context),
    flatten_with_keys_fn=lambda value: _keyed(list(value), value.maxlen),
)


def is_namedtuple_class(cls: Any) -> bool:
    """Return whether cls was made by namedtuple, or inherits from such a class."""
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and isinstance(getattr(cls, "_fields", None), tuple)
        and all(type(field) is str for field in cls._fields)
    )


def is_namedtuple_instance(obj: Any) -> bool:
    """Return whether the class of obj is a named tuple class."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: Any) -> bool:
    """Return whether obj is a named tuple or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def _get_node_type(tree: Any) -> Any:
    cls = type(tree)
    if cls not in SUPPORTED_NODES and is_namedtuple_class(cls):
        return namedtuple
    return cls


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Return whether the tree is one leaf."""
    return (is_leaf is not None and is_leaf(tree)) or _get_node_type(tree) not in SUPPORTED_NODES


_is_leaf = tree_is_leaf


class TreeSpec:
    """The shape of a tree: class and context of a node, and the specs of its children."""

    __slots__ = ("_children", "context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type: Any, context: Context, children_specs: list[TreeSpec]) -> None:
        self.type = type
        self.context = context
        self._children = children_specs
        self.num_children = len(children_specs)
        self.num_leaves = sum(child.num_leaves for child in children_specs) if type else 1
        self.num_nodes = 1 + sum(child.num_nodes for child in children_specs)

    @property
    def children_specs(self) -> list[TreeSpec]:
        """Specs of the children."""
        return self._children

    def children(self) -> list[TreeSpec]:
        """Return the specs of the children."""
        return list(self._children)

    def child(self, index: int) -> TreeSpec:
        """Return the spec of one child."""
        return self._children[index]

    def is_leaf(self) -> bool:
        """Return whether the tree is one leaf."""
        return self.type is None

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """Return the tree with these leaves."""
        leaves = leaves if isinstance(leaves, list | tuple) else list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree "
                f"that holds {self.num_leaves} items ({self})."
            )
        return self._build(iter(leaves))

    def _build(self, leaves: Iterator[Any]) -> Any:
        if self.type is None:
            return next(leaves)
        children = [child._build(leaves) for child in self._children]
        return SUPPORTED_NODES[self.type].unflatten_fn(children, self.context)

    def flatten_up_to(self, tree: PyTree) -> list[Any]:
        """Return the subtrees where this spec has leaves."""
        if self.type is None:
            return [tree]
        node = _get_node_type(tree)
        if node is not self.type:
            raise ValueError(f"Type mismatch; expected {self.type!r}, but got {node!r}.")
        children, context = SUPPORTED_NODES[node].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got {len(children)}."
            )
        if node in (dict, OrderedDict) and context != self.context:
            if set(context) != set(self.context):
                raise ValueError(f"Node keys mismatch; expected {self.context!r}, got {context!r}.")
            children = [tree[key] for key in self.context]
        found: list[Any] = []
        for child, spec in zip(children, self._children, strict=True):
            found += spec.flatten_up_to(child)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (
            self.type is other.type
            and self.context == other.context
            and self._children == other._children
        )

    def __hash__(self) -> int:
        context = tuple(self.context) if self.type in (dict, OrderedDict) else None
        return hash((self.type, context, tuple(self._children)))

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        children = ", ".join(map(repr, self._children))
        return f"TreeSpec({self.type.__name__}, {self.context!r}, [{children}])"


class LeafSpec(TreeSpec):
    """The spec of one leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])


_LEAF = LeafSpec()


def _flatten(tree: PyTree, leaves: list[Any], is_leaf: IsLeaf) -> TreeSpec:
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return _LEAF
    node = _get_node_type(tree)
    children, context = SUPPORTED_NODES[node].flatten_fn(tree)
    return TreeSpec(node, context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves, from left to right, and the spec of the tree."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """Return the tree of this spec with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "tree_unflatten(leaves, treespec): Expected `treespec` to be instance of PyTreeSpec but got item "
            f"of type {type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """Yield the leaves."""
    if tree_is_leaf(tree, is_leaf):
        yield tree
        return
    children, _ = SUPPORTED_NODES[_get_node_type(tree)].flatten_fn(tree)
    for child in children:
        yield from tree_iter(child, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """Return the leaves, from left to right."""
    return list(tree_iter(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """Return the spec of the tree."""
    return _flatten(tree, [], is_leaf)


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Return the tree with func applied to each leaf, and to what the other trees have in its place."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten([func(*items) for items in zip(leaves, *others, strict=True)])


def tree_map_(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Apply func to each leaf for its effect; returns the tree."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _chosen(type_or_types_or_pred: Any) -> Callable[[Any], bool]:
    if isinstance(type_or_types_or_pred, type | tuple) or hasattr(
        type_or_types_or_pred, "__args__"
    ):
        return lambda value: isinstance(value, type_or_types_or_pred)
    if callable(type_or_types_or_pred):
        return type_or_types_or_pred  # type: ignore[no-any-return]
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable[[Any], Any]], Any]:
    """Return a decorator: the function then leaves values of other types as they are."""
    chosen = _chosen(type_or_types_or_pred)
    return lambda func: lambda value: func(value) if chosen(value) else value


def tree_map_only(
    type_or_types_or_pred: Any, /, func: Any, tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Return the tree with func applied to the leaves of a type, or for which a predicate holds."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, /, func: Any, tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """The same for its effect; returns the tree."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Return whether pred holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Return whether pred holds for a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Return whether pred holds for all leaves of a type."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def tree_any_only(
    type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Return whether pred holds for a leaf of a type."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """Return the leaves of the arguments of a call."""
    return tree_leaves((args, kwargs))


def _broadcast_to_and_flatten(
    tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None
) -> list[Any] | None:
    """Leaves of a tree whose leaves stand for whole subtrees of the spec; None if it does not fit."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or _get_node_type(tree) is not treespec.type:
        return None
    children, context = SUPPORTED_NODES[treespec.type].flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    found: list[Any] = []
    for child, spec in zip(children, treespec.children_specs, strict=True):
        part = _broadcast_to_and_flatten(child, spec, is_leaf)
        if part is None:
            return None
        found += part
    return found


def _paths(path: tuple[Any, ...], tree: PyTree, is_leaf: IsLeaf) -> Iterator[tuple[Any, Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    node = SUPPORTED_NODES[_get_node_type(tree)]
    if node.flatten_with_keys_fn is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {node.type}. Please pass a flatten_with_keys_fn "
            "argument to register_pytree_node."
        )
    for key, child in node.flatten_with_keys_fn(tree)[0]:
        yield from _paths((*path, key), child, is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[Any, Any]]:
    """Return (path, leaf) for each leaf."""
    return list(_paths((), tree, is_leaf))


def tree_flatten_with_path(
    tree: PyTree, is_leaf: IsLeaf = None
) -> tuple[list[tuple[Any, Any]], TreeSpec]:
    """Return (path, leaf) for each leaf, and the spec."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """The same as tree_map, where func also gets the path, first."""
    keyed, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    items = zip(keyed, *others, strict=True)
    return spec.unflatten([func(path, leaf, *more) for (path, leaf), *more in items])


def keystr(kp: Iterable[Any]) -> str:
    """Return a path as text, e.g. [0]['weight']."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: Iterable[Any]) -> Any:
    """Return what the path leads to."""
    for key in kp:
        obj = key.get(obj)
    return obj
