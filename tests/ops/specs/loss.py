"""Losses, with every reduction."""

import numpy as np
import scipy.special

from flambeau.testing.opspec import FLOATING, Case, OpSpec, Sample, keep

REDUCTIONS = ("mean", "sum", "none")
MISMATCH = [
    Case(
        args=(np.zeros((2, 3)), np.zeros((2, 2))),
        raises=(RuntimeError, ValueError, UserWarning),
        match="",
    )
]


def reduced(values, reduction, weight=None):
    if reduction == "none":
        return values
    return (
        values.sum()
        if reduction == "sum"
        else values.sum() / (values.size if weight is None else weight)
    )


def elementwise(
    name,
    values,
    low=-3,
    high=3,
    target=(-3, 3),
    kwargs=({},),
    apart=0.0,
    reductions=REDUCTIONS,
    **options,
):
    """A loss of prediction and target that is a function of each pair."""

    def samples(draw):
        for shape in ((5,), (2, 3), ()) if draw.smooth else ((5,), (2, 3), (), (40, 30)):
            for extra in kwargs:
                for reduction in reductions:
                    first = draw.array(shape, low, high)
                    # Kinks lie where the two agree: smooth samples keep away.
                    second = (
                        np.asarray(first + 0.3 + draw.array(shape, 0, 0.4))
                        if apart
                        else draw.array(shape, *target)
                    )
                    yield Sample((first, second), {**extra, "reduction": reduction})

    def reference(input, target, reduction="mean", **extra):
        return reduced(values(input, target, **extra), reduction)

    return OpSpec(f"nn.functional.{name}", reference, samples, k=16, floor=options.pop("floor", 300), method=False,
                  inplace=False, errors=MISMATCH, **options)  # fmt: skip


def smooth_l1(x, y, beta=1.0):
    d = np.abs(x - y)
    return np.where(d < beta, d * d / (2 * beta), d - beta / 2)


def huber(x, y, delta=1.0):
    d = np.abs(x - y)
    return np.where(d <= delta, d * d / 2, delta * (d - delta / 2))


def bce(p, y):
    return -(y * np.log(p) + (1 - y) * np.log1p(-p))


def bce_with_logits(x, y):
    return np.logaddexp(0, x) - x * y


def poisson(x, y, log_input=True, eps=1e-8):
    return np.exp(x) - y * x if log_input else x - y * np.log(x + eps)


def kl(x, y, log_target=False):
    return np.exp(y) * (y - x) if log_target else scipy.special.xlogy(y, y) - y * x


def class_samples(draw):
    for shape, labels in (((4, 3), (4,)), ((2, 3, 5), (2, 5)), ((3,), ())):
        target = draw.index(labels, 3)
        for reduction in REDUCTIONS:
            yield Sample((draw.array(shape), target), {"reduction": reduction})
    ignored = keep(np.array([0, -100, 2, 1]))
    yield Sample((draw.array((4, 3)), ignored), {})
    yield Sample(
        (draw.array((4, 3)), ignored), {"weight": draw.array((3,), 0.5, 2), "reduction": "mean"}
    )


def nll(logp, target, weight=None, ignore_index=-100, reduction="mean", **_):
    if logp.ndim == 1:
        return nll(logp[None], target[None], weight, ignore_index, reduction)[0] if reduction == "none" else nll(
            logp[None], target[None], weight, ignore_index, reduction)  # fmt: skip
    weight = np.ones(logp.shape[1]) if weight is None else weight
    used = target != ignore_index
    safe = np.where(used, target, 0)
    picked = np.take_along_axis(logp, np.expand_dims(safe, 1), 1).squeeze(1)
    values = -picked * weight[safe] * used
    return reduced(values, reduction, (weight[safe] * used).sum())


def cross_entropy(x, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    axis = 1 if x.ndim > 1 else 0
    logp = scipy.special.log_softmax(x, axis)
    hard = nll(logp, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return hard
    smooth = reduced(-logp.sum(axis), reduction)
    return (1 - label_smoothing) * hard + label_smoothing / x.shape[axis] * smooth


def smoothed_samples(draw):
    for reduction in REDUCTIONS:
        yield Sample(
            (draw.array((4, 3)), draw.index((4,), 3)),
            {"reduction": reduction, "label_smoothing": 0.2},
        )


BAD_CLASS = [
    Case(args=(np.zeros((2, 3)), np.array([0, 3])), raises=(IndexError, RuntimeError), match="")
]


def classes(name, reference, samples, **options):
    return OpSpec(f"nn.functional.{name}", reference, samples, dtypes=FLOATING, k=16, floor=8, method=False,
                  inplace=False,                  grad_arguments=(0,), errors=BAD_CLASS, **options)  # fmt: skip


def triple_samples(draw):
    for reduction in REDUCTIONS:
        sign = (
            keep(np.where(draw.mask((4,)), 1.0, -1.0))
            if draw.dtype == "float64"
            else np.where(draw.mask((4,)), 1.0, -1.0)
        )
        yield Sample(
            (draw.array((4,), 0, 1), draw.array((4,), 2, 3), sign),
            {"margin": 0.25, "reduction": reduction},
        )


SPECS = [
    elementwise("mse_loss", lambda x, y: (x - y) ** 2),
    elementwise("l1_loss", lambda x, y: np.abs(x - y), apart=0.3),
    elementwise("smooth_l1_loss", smooth_l1, apart=0.3, kwargs=({}, {"beta": 0.25})),
    elementwise("huber_loss", huber, apart=0.3, kwargs=({}, {"delta": 0.25})),
    elementwise("soft_margin_loss", lambda x, y: np.log1p(np.exp(-x * y)), grad_arguments=(0,)),
    elementwise("binary_cross_entropy", bce, 0.1, 0.9, (0, 1)),
    elementwise("binary_cross_entropy_with_logits", bce_with_logits, target=(0, 1)),
    elementwise("poisson_nll_loss", poisson, 0.2, 2, (0, 3), kwargs=({}, {"log_input": False})),
    elementwise("kl_div", kl, -3, -0.2, (0.1, 0.9), reductions=("sum", "none")),
    classes("nll_loss", nll, class_samples),
    classes("cross_entropy", cross_entropy, class_samples),
    classes("cross_entropy", cross_entropy, smoothed_samples, variant="smoothed"),
    OpSpec(
        "nn.functional.margin_ranking_loss",
        lambda a, b, y, margin=0.0, reduction="mean": reduced(
            np.maximum(0, -y * (a - b) + margin), reduction
        ),
        triple_samples,
        floor=16,
        method=False,
        inplace=False,
        errors=[Case(args=(np.zeros(2), np.zeros(3), np.zeros(2)), match="")],
    ),
]
