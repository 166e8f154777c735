"""DataPipes: what they yield, one iterator at a time, copies and snapshots."""

import pickle
from collections.abc import Iterator

import pytest

import flambeau
from flambeau.utils import data
from flambeau.utils.data.datapipes import iter as pipes
from flambeau.utils.data.datapipes import map as map_pipes
from flambeau.utils.data.datapipes.iter.sharding import SHARDING_PRIORITIES
from flambeau.utils.data.datapipes.utils.snapshot import _simple_graph_snapshot_restoration


def wrap(items):
    return pipes.IterableWrapper(items)


def negative(x):
    return -x


def odd(x):
    return x % 2


def is_even(x):
    return x % 2 == 0


def third(x):
    return x % 3


def add(x, y):
    return x + y


@pytest.mark.parametrize(
    ("pipe", "expected"),
    [
        (lambda: wrap(range(3)).map(negative), [0, -1, -2]),
        (lambda: wrap([(1, 2)]).map(negative, input_col=1), [(1, -2)]),
        (lambda: wrap([(1, 2)]).map(negative, input_col=1, output_col=-1), [(1, 2, -2)]),
        (lambda: wrap([[1, 2]]).map(add, input_col=[0, 1]), [[3]]),
        (lambda: wrap([[1, 2]]).map(add, input_col=[0, 1], output_col=1), [[1, 3]]),
        (lambda: wrap([{"a": 1}]).map(negative, "a", "b"), [{"a": 1, "b": -1}]),
        (lambda: wrap(range(5)).filter(is_even), [0, 2, 4]),
        (lambda: wrap([(1, 2), (3, 3)]).filter(is_even, input_col=1), [(1, 2)]),
        (lambda: wrap(range(5)).batch(2), [[0, 1], [2, 3], [4]]),
        (lambda: wrap(range(5)).batch(2, drop_last=True), [[0, 1], [2, 3]]),
        (lambda: wrap([[[0, 1], [2]], [[3]]]).unbatch(), [[0, 1], [2], [3]]),
        (lambda: wrap([[[0, 1], [2]], [[3]]]).unbatch(unbatch_level=-1), [0, 1, 2, 3]),
        (lambda: wrap(range(6)).groupby(odd), [[0, 2, 4], [1, 3, 5]]),
        (lambda: wrap(range(4)).groupby(odd, keep_key=True), [(0, [0, 2]), (1, [1, 3])]),
        (
            lambda: wrap(range(10)).groupby(third, group_size=2, buffer_size=5),
            [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]],
        ),
        (lambda: wrap(range(2)).concat(wrap(range(2))), [0, 1, 0, 1]),
        (lambda: wrap(range(3)).mux(wrap([10, 11])), [0, 10, 1, 11]),
        (lambda: wrap(range(3)).zip(wrap("ab")), [(0, "a"), (1, "b")]),
        (lambda: pipes.Sampler(wrap(range(3))), [0, 1, 2]),
        (lambda: wrap(range(20)).shuffle(buffer_size=5).set_shuffle(False), list(range(20))),
        (lambda: map_pipes.SequenceWrapper(range(5)).batch(2), [[0, 1], [2, 3], [4]]),
        (lambda: map_pipes.SequenceWrapper([1, 2]).map(str), ["1", "2"]),
        (lambda: map_pipes.SequenceWrapper([1]).concat(map_pipes.SequenceWrapper([2])), [1, 2]),
        (lambda: map_pipes.SequenceWrapper([1]).zip(map_pipes.SequenceWrapper([2])), [(1, 2)]),
    ],
)
def test_values(pipe, expected):
    made = pipe()
    assert list(made) == expected
    assert list(made) == expected  # and again


def test_random_orders_are_pytorchs():
    # Recorded with PyTorch 2.13.
    order = [1, 4, 6, 5, 2, 7, 3, 10, 0, 12, 13, 11, 9, 14, 8, 19, 18, 16, 17, 15]
    assert list(wrap(range(20)).shuffle(buffer_size=5).set_seed(3)) == order
    order = [7, 8, 1, 5, 3, 4, 2, 0, 9, 6]
    assert list(map_pipes.SequenceWrapper(range(10)).shuffle().set_seed(0)) == order
    flambeau.manual_seed(0)
    shuffled = wrap(range(20)).shuffle(buffer_size=5)
    assert list(shuffled)[:8] == [1, 2, 0, 7, 6, 8, 3, 10]
    assert list(shuffled)[:8] == [1, 5, 3, 2, 7, 8, 9, 0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: wrap([1]).fork(0), ValueError, "larger than 0"),
        (lambda: list(wrap(range(9)).fork(2, buffer_size=5)[0]), BufferError, "buffer size 5"),
        (lambda: list(wrap(range(6)).demux(2, third)[0]), ValueError, "2 is returned"),
        (lambda: list(wrap([0, 1, 1]).demux(2, odd, buffer_size=1)[0]), BufferError, "overflow"),
        (lambda: pipes.Zipper([1]), TypeError, "IterDataPipe"),
        (lambda: pipes.Concater(), ValueError, "at least one"),
        (lambda: wrap([1]).batch(0), AssertionError, "larger than 0"),
        (lambda: list(wrap([[1]]).unbatch(unbatch_level=3)), IndexError, "exceeds the depth"),
        (lambda: list(wrap([1]).filter(negative)), ValueError, "Boolean output is required"),
        (lambda: wrap([1]).map(3), TypeError, "callable"),
        (lambda: wrap([1]).map(add), ValueError, "takes 2 positional parameters, but 1"),
        (lambda: wrap([1]).map(negative, output_col=1), ValueError, "must be None"),
        (lambda: wrap([1]).no_such_step(), AttributeError, "no_such_step"),
        (lambda: len(wrap(iter([1]))), TypeError, "valid length"),
        (lambda: map_pipes.SequenceWrapper([1]).batch(2)[1], IndexError, "out of bound"),
        (
            lambda: list(wrap(range(9)).groupby(third, group_size=3, buffer_size=3)),
            RuntimeError,
            "Failed to group",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_error_inside_names_the_pipe():
    with pytest.raises(ZeroDivisionError, match=r"thrown by __iter__ of MapperIterDataPipe\("):
        list(wrap([0]).map((1).__truediv__))


def test_another_iterator_invalidates_the_first():
    pipe = wrap(range(5))
    first = iter(pipe)
    assert next(first) == 0
    second = iter(pipe)
    assert next(first) == 1  # nothing was taken from the second yet
    assert next(second) == 0
    with pytest.raises(RuntimeError, match="This iterator has been invalidated"):
        next(first)
    assert list(second) == [1, 2, 3, 4]


def test_forks_start_again_together():
    left, right = wrap(range(4)).fork(2)
    assert list(left) == list(right) == list(left) == [0, 1, 2, 3]
    one = iter(left)
    next(one)
    with pytest.warns(UserWarning, match="not exhausted"):
        again = iter(left)
    with pytest.raises(RuntimeError, match="ChildDataPipes"):
        next(one)
    assert list(again) == [0, 1, 2, 3]


def test_fork_copies_when_asked():
    source = [[1]]
    same, other = wrap(source).fork(2)
    assert next(iter(same)) is next(iter(other))
    left, right = wrap(source).fork(2, copy="deep")
    assert next(iter(left)) is not next(iter(right))


def test_unlimited_buffer_warns():
    with pytest.warns(UserWarning, match="Unlimited buffer"):
        left, right = wrap(range(5000)).fork(2, buffer_size=-1)
    assert list(left) == list(right)


def test_local_functions_warn():
    with pytest.warns(UserWarning, match="not supported by pickle"):
        pipe = wrap([1]).map(lambda x: x)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(pipe)


def test_pickled_pipes_start_again():
    pipe = wrap(range(6)).shuffle().map(negative).batch(2)
    next(iter(pipe))
    copied = pickle.loads(pickle.dumps(pipe))
    assert sorted(x for batch in copied for x in batch) == [-5, -4, -3, -2, -1, 0]
    left, right = wrap(range(3)).fork(2)
    next(iter(left))
    left, right = pickle.loads(pickle.dumps((left, right)))
    assert list(left) == list(right) == [0, 1, 2]


def test_snapshot_goes_on_where_it_was():
    pipe = wrap(range(10)).shuffle().map(negative)
    generator = flambeau.Generator()
    generator.manual_seed(1)
    _simple_graph_snapshot_restoration(pipe, 4, generator)
    assert list(pipe) == [-6, -4, 0, -1, -3, -2]  # PyTorch's
    pipe = wrap(range(5))
    iterator = iter(pipe)
    next(iterator), next(iterator)
    other = pickle.loads(pickle.dumps(pipe))
    _simple_graph_snapshot_restoration(other, other._number_of_samples_yielded)
    assert list(other) == [2, 3, 4]
    assert list(other) == [0, 1, 2, 3, 4]
    with pytest.raises(RuntimeError, match="exceeds the number of samples"):
        _simple_graph_snapshot_restoration(wrap([1]), 2)


def test_sharding_groups():
    pipe = wrap(range(20)).sharding_filter()
    pipe.apply_sharding(3, 2, sharding_group=SHARDING_PRIORITIES.DISTRIBUTED)
    pipe.apply_sharding(2, 1, sharding_group=SHARDING_PRIORITIES.MULTIPROCESSING)
    assert list(pipe) == [5, 11, 17]
    assert len(pipe) == 3
    with pytest.raises(RuntimeError, match="cannot mix"):
        pipe.apply_sharding(2, 1)
    with pytest.raises(ValueError, match="should be smaller"):
        wrap([1]).sharding_filter().apply_sharding(2, 2)


class Ints(data.IterDataPipe[int]):
    def __iter__(self) -> Iterator[int]:
        yield from [1, 2]


class Checked(data.IterDataPipe[tuple[int, str]]):
    def __init__(self, source):
        self.source = source

    @data.runtime_validation
    def __iter__(self) -> Iterator[tuple[int, str]]:
        yield from self.source


def test_declared_types_are_checked():
    with pytest.raises(TypeError, match="subtype of int, but found str"):

        class Wrong(data.IterDataPipe[int]):
            def __iter__(self) -> Iterator[str]:
                yield "a"

    @data.argument_validation
    def takes(pipe: data.IterDataPipe[str | int], strings: data.IterDataPipe[str] | None = None):
        return pipe

    takes(Ints())

    @data.argument_validation
    def takes_strings(pipe: data.IterDataPipe[str]):
        return pipe

    with pytest.raises(TypeError, match="Expected type of argument 'pipe'"):
        takes_strings(Ints())
    with pytest.raises(TypeError, match="as a IterDataPipe"):
        takes_strings(["a"])


def test_samples_are_checked():
    assert list(Checked([(1, "a")])) == [(1, "a")]
    with pytest.raises(RuntimeError, match="Expected an instance as subtype"):
        list(Checked([(1, 2)]))
    with data.runtime_validation_disabled():
        assert list(Checked([(1, 2)])) == [(1, 2)]
    with pytest.raises(TypeError, match="Expected 'expected_type' as subtype"):
        Checked([]).reinforce_type(int)


def test_determinism_can_be_required():
    @data.non_deterministic
    class Random(data.IterDataPipe):
        def __iter__(self):
            yield 1

    assert list(Random()) == [1]
    with data.guaranteed_datapipes_determinism(), pytest.raises(TypeError, match="turn off"):
        Random()


def test_functional_form_is_registered_once():
    @data.functional_datapipe("every_other")
    class EveryOther(data.IterDataPipe):
        def __init__(self, source):
            self.source = source

        def __iter__(self):
            for i, item in enumerate(self.source):
                if i % 2 == 0:
                    yield item

    try:
        assert list(wrap(range(5)).every_other()) == [0, 2, 4]
        with pytest.raises(Exception, match="already taken"):
            data.functional_datapipe("every_other")(EveryOther)
    finally:
        del data.IterDataPipe.functions["every_other"]


def test_chunks():
    chunk = data.DataChunk([1, 2])
    assert isinstance(chunk, list)
    assert chunk.as_str("> ") == "> [1, 2]"
    assert list(chunk.raw_iterator()) == [1, 2]
