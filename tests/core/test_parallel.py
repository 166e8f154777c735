"""Threads: results do not depend on their number, and a forked child still computes."""

import os

import numpy as np
import pytest

import flambeau


@pytest.fixture
def threads():
    before = flambeau.get_num_threads()
    yield flambeau.set_num_threads
    flambeau.set_num_threads(before)


CASES = {
    "sum": lambda x, y: x.sum(),
    "sum_dim": lambda x, y: x.view(1000, -1).sum(0),
    "mean": lambda x, y: x.mean(),
    "var": lambda x, y: x.var(),
    "prod_tail": lambda x, y: (1 + x[:5000] * 1e-3).prod(),
    "norm": lambda x, y: x.norm(),
    "cumsum": lambda x, y: x.cumsum(0),
    "softmax": lambda x, y: x.view(500, -1).softmax(-1),
    "logsumexp": lambda x, y: x.view(500, -1).logsumexp(-1),
    "exp_mul": lambda x, y: x.exp() * y,
    "matmul": lambda x, y: x.view(500, -1)[:, :300] @ y.view(-1, 500)[:300],
    "bmm": lambda x, y: x[:90000].view(10, 90, 100) @ y[:90000].view(10, 100, 90),
    "conv2d": lambda x, y: flambeau.nn.functional.conv2d(
        x[:65536].view(4, 16, 32, 32), y[:4608].view(32, 16, 3, 3), padding=1
    ),
    "layer_norm": lambda x, y: flambeau.nn.functional.layer_norm(x.view(500, -1), (1000,)),
    "sort": lambda x, y: x.sort().values,
    "scatter_add": lambda x, y: flambeau.zeros(100).index_add(0, (y.abs() * 1000).long() % 100, x),
}


@pytest.mark.parametrize("name", CASES)
def test_same_bits_with_one_and_two_threads(name, threads):
    generator = np.random.default_rng(0)
    x = flambeau.from_numpy(generator.standard_normal(500_000).astype(np.float32))
    y = flambeau.from_numpy(generator.standard_normal(500_000).astype(np.float32))
    threads(1)
    one = CASES[name](x, y).numpy()
    threads(2)
    two = CASES[name](x, y).numpy()
    assert one.tobytes() == two.tobytes()


def test_gradients_have_the_same_bits_with_one_and_two_threads(threads):
    generator = np.random.default_rng(1)
    data = generator.standard_normal((64, 128)).astype(np.float32)
    results = []
    for count in (1, 2):
        threads(count)
        weight = flambeau.from_numpy(data.copy()).requires_grad_()
        hidden = flambeau.nn.functional.gelu(weight @ weight.T)
        hidden.softmax(-1).pow(2).sum().backward()
        results.append(weight.grad.numpy().tobytes())
    assert results[0] == results[1]


def test_a_forked_child_computes(threads):
    threads(2)
    x = flambeau.ones(1_000_000)
    assert x.sum().item() == 1_000_000  # starts the pool
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, str((x * 2).sum().item()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        assert pipe.read() == "2000000.0"
    os.waitpid(child, 0)


@pytest.mark.parametrize("count", [0, -1])
def test_thread_count_is_checked(count):
    with pytest.raises(RuntimeError, match="positive"):
        flambeau.set_num_threads(count)
