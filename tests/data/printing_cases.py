"""Expressions over `t`, the package, whose repr is compared with PyTorch's; with the print options of each."""

from math import inf, nan

NAMES = {"nan": nan, "inf": inf}

CASES = """
t.tensor([1., 2, 3])
t.tensor([1.5, 2, 1e5])
t.tensor([1e-5, 1])
t.tensor([1e8, 1])
t.tensor([1e8 + 8])
t.tensor(3.14159265)
t.tensor(3)
t.tensor([nan, inf, -1.])
t.tensor([nan, inf])
t.tensor([])
t.empty(2, 0, 3)
t.empty(0, dtype=t.int32)
t.empty(0, dtype=t.int64)
t.tensor([True, False])
t.tensor([1 + 2j, 3.5 - 4e-7j])
t.tensor(1 + 2j)
t.arange(2000)
t.arange(30)
t.arange(10000).reshape(100, 100)
t.arange(60.).reshape(3, 4, 5)
t.arange(4, dtype=t.float64).reshape(2, 2) / 7
t.arange(2, dtype=t.float16) / 3
t.arange(2, dtype=t.bfloat16) / 3
t.ones(2, requires_grad=True)
t.ones(2, requires_grad=True) * 2
t.tensor(2., requires_grad=True).exp()
t.ones(2, device='meta')
t.ones(2, 3, device='meta', dtype=t.int64)
t.ones(2, device='meta', requires_grad=True)
t.tensor([-1, 20, 300], dtype=t.int16)
t.tensor([0.1, 1000.5, -3])
t.tensor([0.00001])
t.tensor([123456789.])
t.tensor([1e-10, 1e10])
t.tensor([0., 0.])
t.tensor([1., -0.])
t.zeros(1001)
t.zeros(1000)
t.arange(1001.) / 7
t.arange(5000.).reshape(2, 2, 50, 25)
t.tensor([[1, 2], [30, 4]])
t.tensor([1e38, 1.])
t.tensor([1e-45])
t.tensor([1.0, 2.5]).to(t.complex64)
t.tensor([1e-5 + 1j])
t.tensor([[nan, 1], [2, 3.]])
t.tensor(nan)
t.tensor(inf)
t.tensor(-inf, dtype=t.float64)
t.tensor(1e20)
t.tensor([99999., 1.])
t.tensor([100000., 1.5])
t.tensor([0.1, 0.2, 0.3])[None].expand(2, 3)
t.ones(10).bool()
t.arange(20, dtype=t.uint8)
t.tensor([2**62, 1])
t.tensor([[[[0.123]]]])
t.tensor([0.1 + 0.2j, 1e3 - 1e-3j, 5 + 7j], dtype=t.complex128)
t.zeros(2000, dtype=t.complex64)
t.tensor([1., 2.], dtype=t.float64).requires_grad_()
t.arange(30.) / 7 - 2
t.tensor([complex(1, nan), complex(inf, -inf)])
t.ones(2, requires_grad=True)[0]
t.ones(2, 2, requires_grad=True).t()
t.tensor([1.5, 2.5], dtype=t.float16)
t.full((3,), 1e-8)
t.tensor(0.)
t.tensor(True)
t.ones(7, 7, 7, 7)
t.ones(0, 3, dtype=t.bool)
t.tensor([0.1, 0.2]).conj()
t.tensor([1j]).conj()
t.tensor([1j]).conj().imag
t.Size([1, 2])
t.Size([])
t.float32
t.device('cpu')
t.strided
t.preserve_format
t.tensor([[1.0], [22.123456]])
t.tensor([1.0, 2.0, inf, -inf])
t.tensor(1e-20)
t.tensor([1e4, 1e-4])
t.tensor([1e3, 1e-4])
t.tensor([1e4, 1e-3])
t.tensor([1000., 0.99])
t.tensor([1e-4, 1e-4])
t.tensor([0.99e-4, 1e-4])
t.tensor([65504., 1.], dtype=t.float16)
t.tensor([-1.5, nan, 2.25])
t.tensor([[1, -1000], [10, 5]])
t.tensor(-7, dtype=t.int8)
t.arange(100.).view(2, 50)
t.tensor([0.5 - 1j, -2.25 + 3j])
t.finfo(t.float32)
t.finfo(t.bfloat16)
t.iinfo(t.int16)
[t.tensor(1.5), {"a": t.tensor([1])}]
t.nn.Parameter(t.ones(2))
t.nn.functional.relu(t.ones(3, requires_grad=True))
(t.ones(3, requires_grad=True) + 1).view(3, 1)
""".strip().splitlines()

OPTIONS = [
    {},
    {"precision": 2},
    {"sci_mode": True},
    {"sci_mode": False},
    {"profile": "short"},
    {"linewidth": 40, "threshold": 10, "edgeitems": 2},
    {"threshold": 5, "edgeitems": 0},
    {"precision": 8, "linewidth": 120},
]


def pairs():
    """Every case with default options, and every fourth with the others."""
    for i, options in enumerate(OPTIONS):
        for case in CASES if i == 0 else CASES[i % 4 :: 4]:
            yield f"{i} {case}", options, case
