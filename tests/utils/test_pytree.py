"""Trees of containers: leaves, specs, paths, registered classes."""

from collections import OrderedDict, deque, namedtuple

import pytest

from flambeau.utils import _pytree as pytree

Point = namedtuple("Point", "x y")
TREE = {"a": [1, (2, None)], "p": Point(3, OrderedDict(k=4)), "d": deque([5], 3), "e": []}


def test_flatten_and_unflatten_are_inverse():
    leaves, spec = pytree.tree_flatten(TREE)
    assert leaves == [1, 2, None, 3, 4, 5]
    assert spec.num_leaves == 6
    back = spec.unflatten(leaves)
    assert back == TREE and type(back["p"]) is Point and back["d"].maxlen == 3
    assert pytree.tree_structure(TREE) == spec and hash(pytree.tree_structure([1])) is not None
    with pytest.raises(ValueError, match="has length 1"):
        pytree.tree_unflatten([1], spec)


def test_map_over_several_trees():
    assert pytree.tree_map(lambda a, b: a + b, [1, {"x": 2}], [10, {"x": 20}]) == [11, {"x": 22}]
    assert pytree.tree_map_only(str, str.upper, ["a", 1]) == ["A", 1]
    with pytest.raises(ValueError, match="arity"):
        pytree.tree_map(lambda a, b: a, [1, 2], [1])


def test_paths():
    paths = [pytree.keystr(path) for path, _ in pytree.tree_leaves_with_path(TREE)]
    assert paths[:4] == ["['a'][0]", "['a'][1][0]", "['a'][1][1]", "['p'].x"]
    path, leaf = pytree.tree_leaves_with_path(TREE)[4]
    assert pytree.key_get(TREE, path) == leaf == 4


def test_registered_class_is_a_node():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    assert pytree.tree_leaves(pair := Pair(1, 2)) == [pair]
    pytree.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda v, _: Pair(*v))
    assert pytree.tree_leaves([Pair(1, 2)]) == [1, 2]
    assert pytree.tree_map(lambda x: -x, Pair(1, 2)).b == -2
    with pytest.raises(ValueError, match="already registered"):
        pytree.register_pytree_node(Pair, None, None)
