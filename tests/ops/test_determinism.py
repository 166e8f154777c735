"""Every op gives the same bits in every run, with any number of threads, with the switch on and off."""

import subprocess
import sys

import numpy as np
import pytest

import flambeau
from flambeau import nn
from flambeau.nn import functional as F
from flambeau.testing.opcheck import as_list, bind, function_of, leaves, numbered
from flambeau.testing.opspec import Draw

RUNS = 20
THREADS = (1, 2, 5)


@pytest.fixture(autouse=True)
def restored():
    threads = flambeau.get_num_threads()
    yield
    flambeau.set_num_threads(threads)
    flambeau.use_deterministic_algorithms(False)


def bits(value):
    """Bytes of all tensors in a result."""
    return [
        item.detach().resolve_conj().resolve_neg().contiguous().view(-1).numpy().tobytes()
        for item in as_list(value)
        if isinstance(item, flambeau.Tensor) and item.layout == flambeau.strided
    ]


def with_gradients(function, tensors):
    """Results, and the gradients of the tensors."""

    def run():
        inputs = [item.detach().requires_grad_() for item in tensors]
        results = as_list(function(*inputs))
        used = [
            item for item in results if isinstance(item, flambeau.Tensor) and item.requires_grad
        ]
        found = flambeau.autograd.grad(
            used, inputs, [flambeau.ones_like(item) for item in used], allow_unused=True
        )
        return [item for item in (*results, *found) if item is not None]

    return run


def check(run, runs=RUNS):
    expected = None
    for switch in (False, True):
        flambeau.use_deterministic_algorithms(switch)
        for threads in THREADS:
            flambeau.set_num_threads(threads)
            for _ in range(runs):
                got = bits(run())
                if expected is None:
                    expected = got
                assert got == expected, f"{threads} threads, switch {switch}"


def test_ops_of_the_specs(spec):
    dtype = "float32" if "float32" in spec.dtypes else spec.dtypes[-1]
    for _, sample in numbered(spec, Draw(dtype)):
        args, kwargs = bind(sample, dtype)
        if not leaves(args, kwargs):
            continue
        check(lambda args=args, kwargs=kwargs: function_of(spec)(*args, **kwargs), runs=4)


# Big enough to be split among threads; indices with many duplicates.
def data(*shape):
    return flambeau.from_numpy(np.random.default_rng(0).standard_normal(shape, np.float32))


def indices(count, size):
    return flambeau.from_numpy(np.random.default_rng(1).integers(0, size, count))


WORK = {
    "sum": (lambda x: x.sum(), (1000, 1001)),
    "sum of columns": (lambda x: x.sum(0), (3000, 501)),
    "mean and var": (lambda x: [x.mean(1), x.var()], (700, 900)),
    "norm": (lambda x: [x.norm(), flambeau.linalg.vector_norm(x, 3, 0)], (700, 900)),
    "prod and logsumexp": (lambda x: [x.tanh().prod(1), x.logsumexp((0, 1))], (300, 2000)),
    "cumsum": (lambda x: [x.cumsum(1), x.cumsum(0)], (300, 2000)),
    "softmax": (lambda x: x.softmax(-1), (500, 1000)),
    "layer_norm": (lambda x: F.layer_norm(x, (1000,)), (500, 1000)),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), (8, 32, 40, 40)),
    "matmul": (lambda x: x @ x.t(), (300, 500)),
    "bmm": (lambda x: x.bmm(x.mT), (16, 100, 70)),
    "sort": (lambda x: x.sort(1)[0], (200, 3000)),
    "fft": (lambda x: flambeau.fft.fft(x).abs(), (64, 3000)),
    "cdist": (lambda x: flambeau.cdist(x, x[:50]), (2000, 16)),
    "index": (lambda x: x[indices(50_000, 100)], (100, 32)),
    "index_add": (lambda x: x.index_add(0, indices(5000, 100), data(5000, 64)), (100, 64)),
    "index_put": (lambda x: x.index_put((indices(5000, 100),), data(5000, 64)), (100, 64)),
    "accumulate": (lambda x: x.index_put((indices(9000, 100),), data(9000, 64), True), (100, 64)),
    "scatter": (lambda x: x.scatter(0, indices((3000, 200), 50), data(3000, 200)), (50, 200)),
    "scatter_add": (
        lambda x: x.scatter_add(0, indices((3000, 200), 50), data(3000, 200)),
        (50, 200),
    ),
    "scatter_reduce": (
        lambda x: x.scatter_reduce(0, indices((3000, 200), 50), data(3000, 200), "amax"),
        (50, 200),
    ),
    "put": (lambda x: x.put(indices(200_000, 5000), data(200_000)), (5000,)),
    "take": (lambda x: x.take(indices(200_000, 5000)), (5000,)),
    "gather": (lambda x: x.gather(0, indices((3000, 200), 50)), (50, 200)),
    "embedding": (lambda x: F.embedding(indices((300, 100), 50), x), (50, 64)),
    "embedding_bag": (lambda x: F.embedding_bag(indices((3000, 20), 50), x), (50, 64)),
    "conv2d": (lambda x: F.conv2d(x, data(16, 8, 3, 3), padding=1), (8, 8, 40, 40)),
    "grouped conv": (lambda x: F.conv2d(x, data(16, 1, 3, 3), groups=8), (8, 8, 40, 40)),
    "conv_transpose": (lambda x: F.conv_transpose2d(x, data(8, 8, 3, 3)), (8, 8, 40, 40)),
    "max_pool ties": (lambda x: F.max_pool2d(x.round(), 3, 2), (8, 16, 60, 60)),
    "avg_pool": (lambda x: F.avg_pool2d(x, 3, 2, 1), (8, 16, 60, 60)),
    "adaptive_pool": (lambda x: F.adaptive_avg_pool2d(x, 7), (8, 16, 60, 60)),
    "bilinear": (lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"), (4, 8, 60, 60)),
    "bicubic": (lambda x: F.interpolate(x, (45, 91), mode="bicubic"), (4, 8, 60, 60)),
    "grid_sample": (
        lambda x: F.grid_sample(x, data(4, 80, 80, 2).tanh(), align_corners=False),
        (4, 8, 60, 60),
    ),
    "reflection": (lambda x: F.pad(x, (3, 3, 3, 3), mode="reflect"), (4, 8, 60, 60)),
    "attention": (lambda x: F.scaled_dot_product_attention(x, x, x), (4, 4, 128, 32)),
    "cross_entropy": (lambda x: F.cross_entropy(x, indices(3000, 100)), (3000, 100)),
    "repeat_interleave": (lambda x: x.repeat_interleave(7, 0), (3000, 32)),
    "histogram": (lambda x: x.detach().histc(50), (500, 1000)),
    "bincount": (lambda x: indices(200_000, 50).bincount(data(200_000)), (2,)),
}


@pytest.mark.parametrize("name", WORK)
def test_large_work(name):
    function, shape = WORK[name]
    x = data(*shape)
    if name in ("histogram", "bincount"):
        return check(lambda: function(x), runs=4)
    return check(with_gradients(function, [x]), runs=4)


def test_put_and_unpooling_need_no_refusal():
    flambeau.use_deterministic_algorithms(True)
    at = flambeau.tensor([0, 0, 1])
    assert flambeau.zeros(3).put_(at, flambeau.tensor([1.0, 2, 3])).tolist() == [2, 3, 0]
    for dims in (1, 2, 3):
        x = data(2, 3, *[6] * dims)
        pooled, where = getattr(F, f"max_pool{dims}d")(x, 2, return_indices=True)
        unpool = getattr(F, f"max_unpool{dims}d")
        check(lambda unpool=unpool, pooled=pooled, where=where: unpool(pooled, where, 2), runs=3)
    duplicates = flambeau.tensor([[[0, 0, 1]]])
    values = flambeau.tensor([[[1.0, 2, 3]]])
    assert F.max_unpool1d(values, duplicates, 2).tolist() == [[[2, 3, 0, 0, 0, 0]]]


TRAINING = """
import flambeau, hashlib
from flambeau import nn
flambeau.manual_seed(3)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.2), nn.Flatten(),
                      nn.Linear(144, 5))
optimizer = flambeau.optim.Adam(model.parameters(), 1e-2)
for _ in range(5):
    x, y = flambeau.randn(16, 1, 8, 8), flambeau.randint(5, (16,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
digest = hashlib.sha256()
for p in model.parameters():
    digest.update(p.detach().numpy().tobytes())
print(digest.hexdigest())
"""


def test_seeded_training_repeats_in_fresh_processes():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", TRAINING], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert outputs[0] == outputs[1] and len(outputs[0]) > 60


def test_seeds():
    flambeau.manual_seed(-1)
    assert flambeau.initial_seed() == 2**64 - 1
    with pytest.raises((RuntimeError, ValueError, OverflowError)):
        flambeau.manual_seed(2**64)
    flambeau.manual_seed(0)


def test_a_module_trains_alike_with_any_number_of_threads():
    def run():
        flambeau.manual_seed(0)
        model = nn.Sequential(nn.Linear(300, 400), nn.GELU(), nn.Linear(400, 10))
        optimizer = flambeau.optim.SGD(model.parameters(), 0.1, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            F.cross_entropy(
                model(flambeau.randn(256, 300)), flambeau.randint(10, (256,))
            ).backward()
            optimizer.step()
        return list(model.parameters())

    check(run, runs=4)
