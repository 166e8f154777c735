"""What bench/measure.py times: functions of a PyTorch-like module, each giving a callable to time."""

import contextlib

WORKLOADS = {}


def workload(group, grad=False):
    """Register a workload under group/name; it runs without gradient recording unless grad is set."""

    def register(build):
        WORKLOADS[f"{group}/{build.__name__}"] = (build, grad)
        return build

    return register


def prepare(key, torch):
    """The callable of a workload and the context to run it in."""
    build, grad = WORKLOADS[key]
    torch.manual_seed(0)
    return build(torch), contextlib.nullcontext() if grad else torch.no_grad()


def mlp(torch):
    nn = torch.nn
    return nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)
    )


@workload("overhead")
def add_4(torch):
    a, b = torch.ones(4), torch.ones(4)
    return lambda: a + b


@workload("overhead", grad=True)
def mul_forward_backward_4(torch):
    a = torch.ones(4, requires_grad=True)
    b = torch.ones(4)

    def run():
        (a * b).sum().backward()

    return run


@workload("overhead", grad=True)
def chain_of_100_forward_backward(torch):
    a = torch.ones(16, requires_grad=True)

    def run():
        x = a
        for _ in range(50):
            x = x * 1.01
            x = x + a
        x.sum().backward()

    return run


@workload("overhead")
def index_slices(torch):
    a = torch.ones(8, 8)
    return lambda: a[1:, 2]


@workload("overhead")
def linear_module_4(torch):
    model, x = torch.nn.Linear(4, 4), torch.ones(1, 4)
    return lambda: model(x)


@workload("overhead")
def mlp_infer_batch_1(torch):
    model, x = mlp(torch), torch.ones(1, 64)
    return lambda: model(x)


@workload("overhead", grad=True)
def mlp_adam_step_batch_32(torch):
    model, x = mlp(torch), torch.randn(32, 64)
    target = torch.arange(32) % 10
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def run():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), target).backward()
        optimizer.step()

    return run


@workload("kernels")
def matmul_1024(torch):
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    return lambda: a @ b


@workload("kernels")
def conv2d_3x3_64_56(torch):
    x, w = torch.randn(8, 64, 56, 56), torch.randn(64, 64, 3, 3)
    return lambda: torch.nn.functional.conv2d(x, w, padding=1)


@workload("kernels")
def conv2d_3x3_256_14(torch):
    x, w = torch.randn(8, 256, 14, 14), torch.randn(256, 256, 3, 3)
    return lambda: torch.nn.functional.conv2d(x, w, padding=1)


@workload("kernels")
def exp_1m(torch):
    x = torch.randn(1 << 20)
    return lambda: torch.exp(x)


@workload("kernels")
def sum_rows_1m(torch):
    x = torch.randn(1024, 1024)
    return lambda: x.sum(1)


@workload("kernels")
def softmax_1m(torch):
    x = torch.randn(1024, 1024)
    return lambda: torch.softmax(x, 1)


@workload("models", grad=True)
def small_cnn_step_batch_32(torch):
    nn = torch.nn
    model = nn.Sequential(
        *(nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()),
        *(nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(64 * 16, 128), nn.ReLU(), nn.Linear(128, 10)),
    )
    x, target = torch.randn(32, 1, 8, 8), torch.arange(32) % 10
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def run():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), target).backward()
        optimizer.step()

    return run
