"""Losses, with every reduction."""

from dataclasses import replace

import numpy as np
import scipy.special

from flambeau.testing.opcheck import resolve
from flambeau.testing.opspec import FLOATING, Case, OpSpec, Sample, keep

REDUCTIONS = ("mean", "sum", "none")
MISMATCH = [
    Case(
        args=(np.zeros((2, 3)), np.zeros((2, 2))),
        raises=(RuntimeError, ValueError, UserWarning),
        match="broadcastable|arget size|batchmean",
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


def poisson(x, y, log_input=True, full=False, eps=1e-8):
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
    Case(
        args=(np.zeros((2, 3)), np.array([0, 3])),
        raises=(IndexError, RuntimeError),
        match="out of bounds",
    )
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
        errors=[Case(args=(np.zeros(2), np.zeros(3), np.zeros(2)), match="broadcastable")],
    ),
]


# ---- losses of several tensors ----

EPS = 1e-8


def functional(name, reference, samples, error, **options):
    options = {"k": 32, "floor": 16, "method": False, "inplace": False, **options}
    return OpSpec(f"nn.functional.{name}", reference, samples, errors=[error], **options)


def signs(draw, shape):
    """Labels 1 and -1, both of them, kept as they are."""
    values = np.ones(int(np.prod(shape)), np.int64)
    values[::2] = -1
    return keep(values.reshape(shape))


def hinge_embedding(x, y, margin=1.0, reduction="mean"):
    return reduced(np.where(y == 1, x, np.maximum(0, margin - x)), reduction)


def hinge_embedding_samples(draw):
    for reduction in REDUCTIONS:
        yield Sample((draw.array((2, 3), 0.1, 0.9), signs(draw, (2, 3))), {"reduction": reduction})
        yield Sample((draw.array((4,), 0.1, 0.4), signs(draw, (4,)), 0.5), {"reduction": reduction})


def cosine_embedding(a, b, y, margin=0.0, reduction="mean"):
    cosine = (a * b).sum(-1) / np.sqrt(((a * a).sum(-1) + 1e-12) * ((b * b).sum(-1) + 1e-12))
    return reduced(np.where(y == 1, 1 - cosine, np.maximum(0, cosine - margin)), reduction)


def cosine_embedding_samples(draw):
    for reduction in REDUCTIONS:
        a, b = draw.array((4, 3), 0.2, 2), draw.array((4, 3), 0.2, 2)
        yield Sample((a, b, signs(draw, (4,))), {"reduction": reduction})
        yield Sample((a[0], b[0], keep(np.array(1)), 0.1), {"reduction": reduction})


def triplet(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction="mean"):
    apart = lambda a, b: (np.abs(a - b + eps) ** p).sum(-1) ** (1 / p)
    far = apart(anchor, negative)
    if swap:
        far = np.minimum(far, apart(positive, negative))
    return reduced(np.maximum(0, margin + apart(anchor, positive) - far), reduction)


def triplet_samples(draw):
    triple = lambda: [draw.array((3, 4), *bounds) for bounds in ((0, 1), (2, 3), (1, 2))]
    for reduction in REDUCTIONS:
        yield Sample(tuple(triple()), {"margin": 3.0, "reduction": reduction})
        yield Sample(tuple(triple()), {"margin": 3.0, "swap": True, "reduction": reduction})


def gaussian(x, y, var, full=False, eps=1e-6, reduction="mean"):
    loss = (np.log(var) + (x - y) ** 2 / var) / 2 + (np.log(2 * np.pi) / 2 if full else 0)
    return reduced(loss, reduction)


def gaussian_samples(draw):
    for reduction in REDUCTIONS:
        for full in (False, True):
            parts = draw.array((2, 3)), draw.array((2, 3)), draw.array((2, 3), 0.5, 2)
            yield Sample(parts, {"full": full, "reduction": reduction})


def rows(x, y):
    return (x, y) if x.ndim == 2 else (x[None], np.asarray(y)[None])


def per_row(x, losses, reduction):
    return (
        losses[0] if reduction == "none" and x.ndim == 1 else reduced(np.array(losses), reduction)
    )


def multi_margin(x, y, p=1, margin=1.0, weight=None, reduction="mean"):
    losses = []
    for row, label in zip(*rows(x, y), strict=True):
        hinge = np.maximum(0, margin - row[label] + row) ** p
        hinge[label] = 0
        losses.append(hinge.sum() / row.size * (1 if weight is None else weight[label]))
    return per_row(x, losses, reduction)


def multi_margin_samples(draw):
    for reduction in REDUCTIONS:
        yield Sample((draw.array((4, 3)), draw.index((4,), 3)), {"reduction": reduction})
        weight = {"weight": keep(np.array([0.5, 1, 2], draw.dtype)), "reduction": reduction}
        yield Sample((draw.array((4, 3)), draw.index((4,), 3), 2, 0.7), weight)
        yield Sample((draw.array((3,)), draw.index((), 3)), {"reduction": reduction})


def multilabel_margin(x, y, reduction="mean"):
    losses = []
    for row, labels in zip(*rows(x, y), strict=True):
        stop = np.flatnonzero(labels < 0)
        chosen = labels[: stop[0] if stop.size else None]
        others = [i for i in range(row.size) if i not in chosen]
        losses.append(sum(max(0, 1 - row[c] + row[o]) for c in chosen for o in others) / row.size)
    return per_row(x, losses, reduction)


def multilabel_margin_samples(draw):
    labels = keep(np.array([[2, 0, -1, 1], [3, -1, 0, 0], [-1, 1, 1, 1]]))
    for reduction in REDUCTIONS:
        yield Sample((draw.array((3, 4)), labels), {"reduction": reduction})
        yield Sample((draw.array((4,)), labels[0]), {"reduction": reduction})


def multilabel_soft(x, y, weight=None, reduction="mean"):
    loss = np.logaddexp(0, x) - x * y
    return reduced((loss if weight is None else loss * weight).mean(-1), reduction)


def multilabel_soft_samples(draw):
    for reduction in REDUCTIONS:
        yield Sample((draw.array((3, 4)), draw.array((3, 4), 0, 1)), {"reduction": reduction})
    yield Sample(
        (draw.array((3, 4)), draw.array((3, 4), 0, 1)), {"weight": draw.array((4,), 0.5, 2)}
    )


def linear_cross_entropy(x, linear_weight, y, *, linear_bias=None, **options):
    scores = x @ linear_weight.T + (0 if linear_bias is None else linear_bias)
    return cross_entropy(scores, y, **options)


def linear_cross_entropy_samples(draw):
    for reduction in REDUCTIONS:
        parts = draw.array((4, 3)), draw.array((5, 3)), draw.index((4,), 5)
        yield Sample(parts, {"reduction": reduction})
        yield Sample(parts, {"linear_bias": draw.array((5,)), "label_smoothing": 0.1})


def ctc(
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    blank=0,
    reduction="mean",
    zero_infinity=False,
):
    """The forward variables of the extended labelling, one sequence at a time (Graves et al. 2006, eq. 6)."""
    log_probs = scipy.special.log_softmax(log_probs, -1)
    losses, at = [], 0
    for b, (steps, length) in enumerate(zip(input_lengths, target_lengths, strict=True)):
        labels = targets[b, :length] if targets.ndim == 2 else targets[at : at + length]
        at += length
        extended = [blank]
        for label in labels:
            extended += [label, blank]
        alpha = np.full(len(extended), -np.inf)
        alpha[:2] = log_probs[0, b, extended[:2]]
        for t in range(1, steps):
            before = alpha.copy()
            for s, label in enumerate(extended):
                paths = [before[s]] + ([before[s - 1]] if s else [])
                if s > 1 and label != blank and label != extended[s - 2]:
                    paths.append(before[s - 2])
                alpha[s] = np.logaddexp.reduce(paths) + log_probs[t, b, label]
        losses.append(-np.logaddexp.reduce(alpha[-2:]))
    losses = np.array(losses)
    if reduction == "mean":
        return (losses / np.maximum(target_lengths, 1)).mean()
    return reduced(losses, reduction)


def ctc_samples(draw):
    lengths = keep(np.array([6, 5])), keep(np.array([3, 2]))
    for reduction in REDUCTIONS:
        scores = draw.array((6, 2, 4))
        target = keep(np.array([[1, 2, 2], [3, 1, 1]]))
        yield Sample((scores, target, *lengths), {"reduction": reduction})
        yield Sample((scores, keep(np.array([1, 2, 2, 3, 1])), *lengths), {"reduction": reduction})


def ctc_of_scores(name):
    """The gradient is right for normalised probabilities only, as PyTorch's: it is that of the scores before them."""
    return lambda scores, *args, **options: resolve(name)(scores.log_softmax(-1), *args, **options)


CLASS_RANGE = Case(args=(np.zeros((2, 3)), np.array([0, 3])), match="out of range|expected")
# The target, or what decides about branches, is no differentiable input.
FIRST = {"grad_arguments": (0,)}

SPECS += [
    functional("hinge_embedding_loss", hinge_embedding, hinge_embedding_samples,
               Case(args=(np.zeros(2), np.zeros(3)), match="must match|broadcast"), **FIRST),
    functional("cosine_embedding_loss", cosine_embedding, cosine_embedding_samples,
               Case(args=(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 2))), match="1D target tensor expected"),
               grad_arguments=(0, 1)),
    functional("triplet_margin_loss", triplet, triplet_samples,
               Case(args=(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros(3)), match="same dimension")),
    functional("triplet_margin_with_distance_loss", triplet, triplet_samples,
               Case(args=(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros(3)), match="same number of dimensions")),
    functional("gaussian_nll_loss", gaussian, gaussian_samples, meta=False,  # it looks for negative variances
               error=Case(args=(np.zeros(2), np.zeros(2), -np.ones(2)), raises=ValueError, match="negative entry")),
    functional("multi_margin_loss", multi_margin, multi_margin_samples, CLASS_RANGE, meta=False, **FIRST),
    functional("multilabel_margin_loss", multilabel_margin, multilabel_margin_samples,
               Case(args=(np.zeros((2, 3)), np.full((2, 3), 3)), match="out of range"), meta=False, views=False),
    functional("multilabel_soft_margin_loss", multilabel_soft, multilabel_soft_samples,
               Case(args=(np.zeros((2, 3)), np.zeros((2, 2))), match="must match|broadcast")),
    functional("linear_cross_entropy", linear_cross_entropy, linear_cross_entropy_samples,
               Case(args=(np.zeros((2, 3)), np.zeros((4, 2)), np.array([0, 1])), match="in_features")),
    functional("ctc_loss", ctc, ctc_samples, function=ctc_of_scores("nn.functional.ctc_loss"), meta=False,
               views=False, grad_grad=False,
               error=Case(args=(np.zeros((3, 1, 2)), np.array([[1]]), np.array([4]), np.array([1])),
                          match="input_lengths")),
]  # fmt: skip


# ---- the top level's forms, whose reduction is a number ----

NUMBERS = {"none": 0, "mean": 1, "sum": 2}
BY_NAME = {spec.name: spec for spec in SPECS}


def numbered(name, positional=()):
    """The spec of flambeau.<name> from that of nn.functional; `positional` lists what has no default there."""
    spec = BY_NAME[f"nn.functional.{name}"]

    def samples(draw):
        for sample in spec.samples(draw):
            options = {**sample.kwargs}
            options["reduction"] = NUMBERS[options.get("reduction", "mean")]
            yield Sample(sample.args, {**dict(positional), **options})

    def reference(*args, reduction, **options):
        return spec.reference(*args, reduction=list(NUMBERS)[reduction], **options)

    errors = [replace(case, kwargs={**dict(positional), "reduction": 1}) for case in spec.errors]
    function = ctc_of_scores(name) if name == "ctc_loss" else None
    return replace(
        spec, name=name, samples=samples, reference=reference, errors=errors, function=function
    )


SPECS += [
    numbered(name)
    for name in (
        *("hinge_embedding_loss", "cosine_embedding_loss", "triplet_margin_loss", "ctc_loss"),
        *("kl_div", "margin_ranking_loss", "binary_cross_entropy_with_logits"),
    )
] + [numbered("poisson_nll_loss", {"log_input": True, "full": False, "eps": EPS}.items())]
