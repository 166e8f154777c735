"""Random numbers against PyTorch's, recorded by tests/data/make_random.py; the generator's state; edge cases."""

import base64
import copy
import json
import pathlib
import pickle
import re
import sys
import warnings

import numpy as np
import pytest

import flambeau

DATA = pathlib.Path(__file__).parents[1] / "data"
sys.path.insert(0, str(DATA))
import random_cases  # noqa: E402 - found through the path set above

RECORDED = json.loads((DATA / "random.json").read_text())
# Relative to the largest of 1 and the value: normals pass through other vector math than PyTorch's.
TOLERANCE = {
    "float16": 1.5e-3,
    "bfloat16": 1.2e-2,
    "float32": 2e-6,
    "float64": 1e-14,
    "complex64": 2e-6,
    "complex128": 1e-14,
}


def decode(entry):
    raw = np.frombuffer(base64.b64decode(entry["data"]), dtype=np.uint8)
    if entry["dtype"] == "bfloat16":
        wide = raw.view(np.uint16).astype(np.uint32) << 16
        return wide.view(np.float32).reshape(entry["shape"])
    return raw.view(entry["dtype"]).reshape(entry["shape"])


def draw(case):
    flambeau.manual_seed(RECORDED["seed"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = eval(case, {"t": flambeau})
    after = flambeau.rand(1).item()
    values = result.float() if result.dtype is flambeau.bfloat16 else result
    return result, values.numpy(), after


def check_meta(result, entry, after):
    assert str(result.dtype) == f"torch.{entry['dtype']}"
    assert list(result.shape) == entry["shape"]
    if result.numel():
        assert list(result.stride()) == entry["stride"]
    assert after == entry["after"], "another number of random bits was used"


@pytest.mark.parametrize("case", random_cases.exact())
def test_draws_equal_pytorch_bit_by_bit(case):
    entry = RECORDED["cases"][case]
    result, values, after = draw(case)
    np.testing.assert_array_equal(values, decode(entry))
    check_meta(result, entry, after)


@pytest.mark.parametrize("case", random_cases.close())
def test_transformed_draws_equal_pytorch_closely(case):
    entry = RECORDED["cases"][case]
    result, values, after = draw(case)
    tolerance = TOLERANCE[entry["dtype"]]
    np.testing.assert_allclose(values, decode(entry), rtol=tolerance, atol=tolerance)
    check_meta(result, entry, after)


# ---- generators ----------------------------------------------------------------------------------


def test_state_has_pytorchs_layout():
    generator = flambeau.Generator().manual_seed(5)
    state = generator.get_state().numpy()
    assert state.shape == (5056,)
    assert state[:8].view(np.uint64)[0] == 5
    assert state[8:16].view(np.int32).tolist() == [1, 1]
    flambeau.randn(1, generator=generator)
    state = generator.get_state().numpy()
    assert state[8:16].view(np.int32).tolist() == [621, 1]
    assert state[16:24].view(np.uint64)[0] == 4
    assert state[5040:5044].view(np.int32)[0] == 1
    assert state[5024:5032].view(np.float64)[0] == pytest.approx(-0.60382159)


@pytest.mark.parametrize("used", [0, 1, 3, 623, 624, 625, 2000])
def test_state_round_trip_continues_the_stream(used):
    first, second = flambeau.Generator().manual_seed(1), flambeau.Generator()
    flambeau.rand(used, generator=first)
    flambeau.randn(1, generator=first)
    second.set_state(first.get_state())
    assert second.initial_seed() == 1
    for _ in range(3):
        assert (
            flambeau.randn(3, generator=first).tolist()
            == flambeau.randn(3, generator=second).tolist()
        )


def test_clone_pickle_and_copy_continue_on_their_own():
    generator = flambeau.Generator().manual_seed(9)
    flambeau.randn(3, generator=generator)
    others = [
        generator.clone_state(),
        pickle.loads(pickle.dumps(generator)),
        copy.deepcopy(generator),
    ]
    expected = flambeau.randn(5, generator=generator).tolist()
    assert [flambeau.randn(5, generator=other).tolist() for other in others] == [expected] * 3


def test_seeds_are_64_bits_and_wrap():
    generator = flambeau.Generator()
    assert generator.initial_seed() == 67280421310721
    assert generator.manual_seed(-1).initial_seed() == 2**64 - 1
    assert generator.manual_seed(2**64 - 1).initial_seed() == 2**64 - 1
    for bad, error in (
        (2**64, ValueError),
        (-(2**63) - 1, ValueError),
        ("a", RuntimeError),
        (1.5, RuntimeError),
    ):
        with pytest.raises(error):
            generator.manual_seed(bad)
    assert flambeau.manual_seed(3) is flambeau.default_generator
    assert flambeau.initial_seed() == 3
    assert flambeau.seed() == flambeau.initial_seed()


@pytest.mark.parametrize(
    "state", [np.zeros(5056, np.uint8), np.zeros(7, np.uint8), np.full(5056, 255, np.uint8)]
)
def test_bad_states_are_errors(state):
    with pytest.raises(RuntimeError):
        flambeau.Generator().set_state(flambeau.from_numpy(state))
    with pytest.raises(TypeError):
        flambeau.Generator().set_state(flambeau.zeros(5056))
    with pytest.raises(TypeError):
        flambeau.Generator().set_state(3)


def test_fork_rng_restores_the_state():
    flambeau.manual_seed(1)
    with flambeau.random.fork_rng():
        flambeau.rand(10)
    first = flambeau.rand(3).tolist()
    flambeau.manual_seed(1)
    assert flambeau.rand(3).tolist() == first


def test_result_does_not_depend_on_threads():
    flambeau.manual_seed(0)
    expected = flambeau.randn(100003).tolist()
    threads = flambeau.get_num_threads()
    flambeau.set_num_threads(1)
    try:
        flambeau.manual_seed(0)
        assert flambeau.randn(100003).tolist() == expected
    finally:
        flambeau.set_num_threads(threads)


def test_large_permutation_holds_every_number():
    assert sorted(flambeau.randperm(100000).tolist()) == list(range(100000))


ERRORS = [
    (
        "t.randint(5, 5, (2,))",
        RuntimeError,
        "random_ expects 'from' to be less than 'to', but got from=5 >= to=5",
    ),
    (
        "t.randint(0, 300, (2,), dtype=t.uint8)",
        RuntimeError,
        "to - 1 is out of bounds for unsigned char",
    ),
    (
        "t.empty(3, dtype=t.float16).random_(0, 70000)",
        RuntimeError,
        "to - 1 is out of bounds for c10::Half",
    ),
    (
        "t.empty(3, dtype=t.int8).random_(-200, 3)",
        RuntimeError,
        "from is out of bounds for signed char",
    ),
    (
        "t.empty(3).uniform_(2, 1)",
        RuntimeError,
        "uniform_ expects to return a [from, to) range, but found from=2 > to=1",
    ),
    ("t.empty(3).uniform_(float('nan'))", RuntimeError, "from is out of bounds for float"),
    ("t.empty(3).uniform_(-3e38, 3e38)", RuntimeError, "result in to-from to exceed the limit"),
    ("t.empty(3).normal_(0, -1)", RuntimeError, "normal expects std >= 0.0, but found std -1"),
    (
        "t.empty(3).exponential_(-1)",
        RuntimeError,
        "exponential_ expects lambda > 0.0, but found lambda=-1",
    ),
    ("t.empty(3).geometric_(0)", RuntimeError, "geometric_ expects p to be in (0, 1), but got p=0"),
    ("t.empty(3).cauchy_(0, 0)", RuntimeError, "cauchy_ expects sigma > 0.0, but found sigma=0"),
    (
        "t.empty(3).log_normal_(0, 0)",
        RuntimeError,
        "log_normal_ expects std > 0.0, but found std=0",
    ),
    ("t.empty(3).bernoulli_(2)", RuntimeError, "bernoulli_ expects p to be in [0, 1], but got p=2"),
    ("t.bernoulli(t.tensor([2.0]))", RuntimeError, "Expected p_in >= 0 && p_in <= 1 to be true"),
    ("t.bernoulli(t.tensor([1]))", NotImplementedError, "not implemented for 'Long'"),
    ("t.randperm(-1)", RuntimeError, "negative dimension -1"),
    ("t.randperm(300, dtype=t.uint8)", RuntimeError, "without overflow"),
    (
        "t.multinomial(t.tensor([1.0, -1]), 1)",
        RuntimeError,
        "probability tensor contains either `inf`, `nan` or element < 0",
    ),
    ("t.multinomial(t.tensor([0.0, 0]), 1)", RuntimeError, "sum of probabilities <= 0"),
    (
        "t.multinomial(t.ones(2), 3)",
        RuntimeError,
        "cannot sample n_sample > prob_dist.size(-1) samples",
    ),
    ("t.multinomial(t.ones(2), 0)", RuntimeError, "cannot sample n_sample <= 0 samples"),
    ("t.multinomial(t.ones(2, 2, 2), 1)", RuntimeError, "prob_dist must be 1 or 2 dim"),
    (
        "t.multinomial(t.tensor([1, 1]), 1)",
        RuntimeError,
        "only supports floating-point dtypes for input, got: Long",
    ),
    ("t.poisson(t.tensor([-1.0]))", RuntimeError, "invalid Poisson rate"),
    (
        "t.normal(t.zeros(3), t.tensor([-1.0]))",
        RuntimeError,
        "normal expects all elements of std >= 0.0",
    ),
    ("t.rand(3, dtype=t.int64)", NotImplementedError, "not implemented for 'Long'"),
    ("t.rand(-1)", RuntimeError, "negative sizes"),
    (
        "t.dropout(t.ones(2), 1.5, True)",
        RuntimeError,
        "dropout probability has to be between 0 and 1, but got 1.5",
    ),
    ("t.feature_dropout(t.ones(2), 0.5, True)", RuntimeError, "at least 2 dimensions"),
    ("t.ones(1).expand(3).uniform_()", RuntimeError, "single memory location"),
    ("t.rand(2, generator=3)", TypeError, "generator"),
    (
        "t.rand(3, dtype=t.float32, out=t.empty(0, dtype=t.float64))",
        RuntimeError,
        "dtype of out parameter",
    ),
    ("t.randperm(3, requires_grad=True)", RuntimeError, "can require gradients"),
    ("t.ones(2, requires_grad=True).uniform_()", RuntimeError, "leaf"),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=re.escape(text)):
        eval(call, {"t": flambeau})


def test_meta_results_draw_nothing():
    flambeau.manual_seed(0)
    before = flambeau.get_rng_state().tolist()
    assert flambeau.randn(2, 3, device="meta").shape == (2, 3)
    assert flambeau.randperm(4, device="meta").shape == (4,)
    assert flambeau.empty(2, device="meta").uniform_().shape == (2,)
    assert flambeau.get_rng_state().tolist() == before


def test_dropout_gradient_is_the_mask():
    flambeau.manual_seed(0)
    x = flambeau.ones(100, requires_grad=True)
    y = flambeau.dropout(x, 0.25, True)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    assert flambeau.dropout(x, 0.25, False) is x
    assert flambeau.dropout(x, 1.0, True).tolist() == [0] * 100


def test_global_state_is_restored():
    flambeau.manual_seed(3)
    state = flambeau.get_rng_state()
    first = flambeau.rand(5)
    flambeau.set_rng_state(state)
    assert flambeau.equal(flambeau.rand(5), first)
