"""Draws against PyTorch's recorded streams; derivatives of gamma and Dirichlet draws.

Moments, seeds and meta tensors: tests/ops/test_draws.py. Bits and states: tests/core/test_random.py.
"""

import base64
import json
import re
from pathlib import Path

import numpy as np
from scipy import stats

import flambeau
from flambeau.testing.opspec import WIDE, Case, OpSpec, Sample, kind_of

# The approximations are right to a few thousandths; everything else about the ops is checked to that tolerance.
ROUGH = 5e-3 / np.finfo(np.float64).eps


def implicit(distribution, parameter, x):
    """-(dF/dparameter) / f by central differences."""
    step = 1e-4 * parameter
    slope = distribution(parameter + step).cdf(x) - distribution(parameter - step).cdf(x)
    return -slope / (2 * step) / distribution(parameter).pdf(x)


def standard_gamma_grad(input, output):
    return implicit(stats.gamma, input, output)


def dirichlet_grad(x, alpha, total):
    return implicit(lambda a: stats.beta(a, total - alpha), alpha, x) / (1 - x)


def gamma_samples(draw):
    for a, b in (((), ()), ((5,), (5,)), ((0,), (1,)), ((2, 1, 3), (4, 1)), ((33, 5), (33, 5))):
        alpha = draw.array(a, 0.3, 12)
        yield Sample((alpha, draw.array(b, 0.3, 12)))


def dirichlet_samples(draw):
    for shape in ((), (5,), (0,), (3, 4)):
        alpha = draw.array(shape, 0.3, 10)
        yield Sample((draw.array(shape, 0.05, 0.95), alpha, alpha + draw.array(shape, 0.3, 10)))


SPECS = [
    OpSpec(
        "_standard_gamma_grad",
        standard_gamma_grad,
        gamma_samples,
        dtypes=("float64",),
        k=ROUGH,
        grad=False,
        errors=[Case(args=(np.ones(2), np.ones(3)), match="broadcast|match")],
    ),
    OpSpec(
        "_dirichlet_grad",
        dirichlet_grad,
        dirichlet_samples,
        dtypes=("float64",),
        k=ROUGH,
        grad=False,
        errors=[
            Case(
                args=(np.ones(2), np.ones(2, np.float32), np.ones(2)),
                raises=RuntimeError,
                match="one floating point dtype",
            )
        ],
    ),
]

# ---- draws: PyTorch's recorded streams, and calls that must fail ----

DATA = Path(__file__).parents[2] / "data"
RECORDED = json.loads((DATA / "random.json").read_text())


def recorded(call):
    """What PyTorch drew for that call, in the wide dtype of its kind."""
    entry = RECORDED["cases"][call]
    raw = np.frombuffer(base64.b64decode(entry["data"]), dtype=np.uint8)
    if entry["dtype"] == "bfloat16":
        values = (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    else:
        values = raw.view(entry["dtype"])
    return values.astype(WIDE[kind_of(entry["dtype"])]).reshape(entry["shape"])


def draw(call):
    """The call under the recorded seed; `t` is the package."""
    flambeau.manual_seed(RECORDED["seed"])
    return eval(call, {"t": flambeau})


def calls_of(name):
    """The recorded calls of a function, by its name below the package."""
    pattern = re.compile(rf"t\.{re.escape(name)}\(")
    return [call for call in RECORDED["cases"] if pattern.match(call)]


def random_spec(name, error, raises=RuntimeError, match=""):
    """A function that draws. Bits and strides, and the state after the draw: tests/core/test_random.py."""
    return OpSpec(
        name,
        recorded,
        lambda _: [Sample((call,)) for call in calls_of(name) if "[" not in call],
        dtypes=("float32",),
        # Normals pass through other vector math than PyTorch's; a recorded float16 rounds what they differ by.
        k=16,
        grad=False,
        inplace=False,
        out=False,
        method=False,
        meta=False,
        views=False,
        function=draw,
        result_dtype=lambda _: None,
        errors=[Case(args=(f"t.{name}({error})",), raises=raises, match=match)],
    )


PROBABILITY = {"raises": ValueError, "match": "probability"}

SPECS += [
    random_spec("rand", "-1", match="negative"),
    random_spec("randn", "-1", match="negative"),
    random_spec("rand_like", "t.zeros(2, dtype=t.int64)", match="rand_like|not implemented"),
    random_spec("randn_like", "t.zeros(2, dtype=t.int64)", match="randn_like|not implemented"),
    random_spec("randint", "3, 3, (2,)", match="to > from|from.*to|greater than"),
    random_spec("randint_like", "t.zeros(2), 0", match="to > from|from.*to|greater than"),
    random_spec("randperm", "-1", match="negative dimension"),
    random_spec("normal", "0.0, -1.0, (2,)", match="std"),
    random_spec("bernoulli", "t.tensor([2.0])", match="p_in|0 <= p|probabilit"),
    random_spec("poisson", "t.tensor([-1.0])", match="non-negative|poisson"),
    random_spec("binomial", "t.ones(2), t.ones(3)", match="must match|broadcast"),
    random_spec("multinomial", "t.ones(3), 4", match="replacement"),
    random_spec("dropout", "t.ones(2), 2.0, True", match="probability"),
    random_spec("dropout_", "t.ones(2), 2.0, True", match="probability"),
    random_spec("feature_dropout", "t.ones(2, 2), 2.0, True", match="probability"),
    random_spec("feature_dropout_", "t.ones(2, 2), 2.0, True", match="probability"),
    random_spec("alpha_dropout", "t.ones(2), 2.0, True", match="probability"),
    random_spec("alpha_dropout_", "t.ones(2), 2.0, True", match="probability"),
    random_spec("feature_alpha_dropout", "t.ones(2, 2), 2.0, True", match="probability"),
    random_spec("feature_alpha_dropout_", "t.ones(2, 2), 2.0, True", match="probability"),
    random_spec("nn.functional.dropout", "t.ones(2), 2.0", **PROBABILITY),
    random_spec("nn.functional.dropout1d", "t.ones(2)", match="Expected 2D or 3D input"),
    random_spec("nn.functional.dropout2d", "t.ones(2, 2, 2, 2), -1.0", **PROBABILITY),
    random_spec("nn.functional.dropout3d", "t.ones(2, 2, 2, 2), -1.0", **PROBABILITY),
    random_spec("nn.functional.alpha_dropout", "t.ones(2), 2.0, True", **PROBABILITY),
    random_spec("nn.functional.feature_alpha_dropout", "t.ones(2, 2), 2.0, True", **PROBABILITY),
    random_spec("nn.functional.gumbel_softmax", "t.ones(2), dim=3", raises=IndexError, match="out of range"),
]  # fmt: skip
