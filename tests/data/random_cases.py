"""Calls whose results are compared with PyTorch's, as expressions over `t`, the package."""

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
SIZES = (1, 15, 16, 17, 40, 100)


def exact() -> list[str]:
    """Results that have to agree bit by bit."""
    cases = []
    for dtype in FLOATS:
        new = f"dtype=t.{dtype}"
        cases += [f"t.rand({n}, {new})" for n in (0, 1, 17, 100)]
        cases += [
            f"t.empty(50, {new}).uniform_(-0.3, 0.71)",
            f"t.empty(50, {new}).bernoulli_(0.37)",
            f"t.empty(50, {new}).geometric_(0.3)",
            f"t.empty(50, {new}).random_()",
            f"t.empty(50, {new}).random_(100)",
            f"t.empty(50, {new}).random_(-7, 90)",
            f"t.empty(50, {new}).random_(3, None)",
            f"t.bernoulli(t.rand(50, {new}))",
            f"t.bernoulli(t.rand(50, {new}), 0.7)",
            f"t.poisson(t.rand(50, {new}) * 20)",
            f"t.binomial(t.randint(0, 60, (50,)).to(t.{dtype}), t.rand(50, {new}))"
            if dtype in ("float32", "float64")
            else f"t.rand(3, {new})",
            f"t.multinomial(t.rand(4, 9, {new}), 3)",
            f"t.multinomial(t.rand(4, 9, {new}), 1)",
            f"t.multinomial(t.rand(9, {new}), 20, True)",
            f"t.randint(5, 100, (30,), {new})",
            f"t.randperm(20, {new})",
            f"t.rand_like(t.empty(3, 5, {new}).t())",
            f"t.empty(4, 6, {new}).t().uniform_(0, 2)",
            f"t.empty(4, 6, {new})[:, ::2].uniform_()",
            f"t.empty(2, 3, 4, {new}).permute(1, 2, 0).bernoulli_(0.5)",
            f"t.empty(3, 4, {new}).bernoulli_(t.rand(4))",
            f"t.dropout(t.rand(40, {new}), 0.3, True)",
            f"t.dropout(t.rand(5, 8, {new}).t(), 0.5, True)",
            f"t.dropout_(t.rand(40, {new}), 0.3, True)",
            f"t.feature_dropout(t.ones(3, 4, 2, {new}), 0.5, True)",
        ]
    for dtype in INTEGERS:
        new = f"dtype=t.{dtype}"
        cases += [
            f"t.empty(50, {new}).random_()",
            f"t.empty(50, {new}).random_(100)",
            f"t.empty(50, {new}).random_(3, None)",
            f"t.empty(50, {new}).bernoulli_(0.2)",
            f"t.empty(50, {new}).geometric_(0.2)",
            f"t.randint(3, 100, (50,), {new})",
            f"t.randint_like(t.empty(5, {new}), 7)",
            f"t.randperm(100, {new})",
            f"t.empty(3, 4, {new}).bernoulli_(t.rand(4, dtype=t.float64))",
        ]
    return [
        *cases,
        "t.empty(20, dtype=t.bool).random_()",
        "t.empty(20, dtype=t.bool).bernoulli_(0.4)",
        "t.randint(0, 2, (9,), dtype=t.bool)",
        "t.randint(2**28 - 1, (20,))",
        "t.randint(2**28, (20,))",
        "t.randint(2**33, (20,))",
        "t.randint(-(2**62), 2**62, (20,))",
        "t.randint(-(2**63), 2**63 - 1, (20,))",
        "t.empty(9, dtype=t.int64).random_(-(2**63), None)",
        "t.empty(9).random_(-(2**63), None)",
        "t.empty(9, dtype=t.int32).random_(-(2**31), 2**31 - 1)",
        "t.empty(50).uniform_(16777216, 16777218)",
        "t.empty(50).uniform_(-3e7, 5)",
        "t.empty(2000, dtype=t.bfloat16).uniform_()[::20]",
        "t.rand(5, dtype=t.complex64)",
        "t.rand(5, dtype=t.complex128)",
        "t.rand(3, 4).t()",
        "t.rand(2, 0, 3)",
        "t.rand(())",
        "t.rand(10007)[::200]",
        "t.randperm(0)",
        "t.randperm(1)",
        "t.randperm(10000)[::200]",
        "t.rand(4, generator=t.Generator().manual_seed(5))",
        "t.rand(4, out=t.empty(0, dtype=t.float64))",
        "t.multinomial(t.rand(5, 7), 1, True)",
        "t.multinomial(t.tensor([0.0, 0.0, 1.0]), 2)",
        "t.multinomial(t.rand(300), 4)",
        "t.multinomial(t.rand(3, 5).t(), 2)",
        "t.bernoulli(t.rand(4, 5).t())",
        "t.empty(3).exponential_(float('inf'))",
        "t.feature_dropout_(t.ones(3, 4, 2), 0.5, True)",
        "t.nn.functional.dropout(t.ones(40), 0.3)",
        "t.nn.functional.dropout(t.ones(4), 0.3, False)",
        "t.nn.functional.dropout1d(t.ones(3, 4, 2), 0.5)",
        "t.nn.functional.dropout1d(t.ones(6, 2), 0.5)",
        "t.nn.functional.dropout2d(t.ones(3, 4, 2, 2), 0.5)",
        "t.nn.functional.dropout3d(t.ones(2, 4, 2, 1, 2), 0.5)",
    ]


def close() -> list[str]:
    """Results that went through logarithms, sines and the like: a few units in the last place apart."""
    cases = []
    for dtype in FLOATS:
        new = f"dtype=t.{dtype}"
        cases += [f"t.randn({n}, {new})" for n in SIZES]
        cases += [
            f"t.empty(40, {new}).normal_(2, 3.3)",
            f"t.empty(5, {new}).normal_(2, 3.3)",
            f"t.empty(5, 8, {new}).t().normal_()",
            f"t.empty(40, {new}).exponential_(1.7)",
            f"t.empty(40, {new}).log_normal_(0.1, 0.5)",
            f"t.empty(40, {new}).cauchy_(1, 2)",
            f"t.randn_like(t.empty(4, 5, {new}))",
            f"t.normal(t.rand(3, 1, {new}), t.rand(8, {new}))",
            f"t.normal(t.rand(20, {new}), 0.5)",
            f"t.normal(1.5, t.rand(20, {new}))",
            f"t.alpha_dropout(t.rand(30, {new}), 0.4, True)",
            f"t.feature_alpha_dropout(t.ones(3, 4, 2, {new}), 0.4, True)",
        ]
    return [
        *cases,
        "t.normal(0.5, 2.0, (20,))",
        "t.randn(9, dtype=t.complex64)",
        "t.randn(9, dtype=t.complex128)",
        "t.randn(3, 20, dtype=t.complex64)",
        "t.normal(t.zeros(20, dtype=t.complex64), 1.0)",
        "t.randn(10007)[::200]",
        "t._standard_gamma(t.rand(30) * 3)",
        "t._standard_gamma(t.rand(30, dtype=t.float64) * 3)",
        "t.alpha_dropout_(t.rand(30), 0.4, True)",
        "t.feature_alpha_dropout_(t.ones(3, 4, 2), 0.4, True)",
        "t.nn.functional.alpha_dropout(t.ones(30), 0.4, True)",
        "t.nn.functional.feature_alpha_dropout(t.ones(3, 4, 2), 0.4, True)",
        "t.nn.functional.gumbel_softmax(t.rand(4, 5))",
        "t.nn.functional.gumbel_softmax(t.rand(4, 5), 0.5, True, dim=0)",
        "t.nn.functional.rrelu(-t.rand(4, 5), 0.1, 0.3, True)",
        "t.rrelu(-t.rand(4, 5), 0.1, 0.3, True)",
        "t._sample_dirichlet(t.rand(4, 5, dtype=t.float64) * 3)",
    ]
