"""A linear layer and cross entropy as one loss."""

import math
from collections import namedtuple

from flambeau.nn import functional as F

from .linear import Linear
from .module import Module

__all__ = ["LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]

LinearCrossEntropyOptions = namedtuple(
    "LinearCrossEntropyOptions",
    ["allow_retain_graph", "batch_chunk_size", "chunking_method", "acc_policy", "acc_dtype"],
    defaults=[False, None, "auto", "auto", None],
)
LinearCrossEntropyOptions.__doc__ = (
    "How PyTorch splits the scores; accepted, they are computed in one piece."
)


class LinearCrossEntropyLoss(Module):
    """cross_entropy(linear(input), target); see nn.functional.linear_cross_entropy."""

    def __init__(
        self, in_features, num_classes, *, out_features=(), bias=False, device=None, dtype=None, reduction="mean",
        weight=None, ignore_index=None, label_smoothing=0.0, options=None,
    ):  # fmt: skip
        super().__init__()
        self.in_features = in_features
        self.num_classes = num_classes
        self.out_features = tuple(out_features)
        total = num_classes * math.prod(self.out_features)
        self.linear = Linear(in_features, total, bias=bias, device=device, dtype=dtype)
        self.register_buffer("weight", weight)
        self.reduction = reduction
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.options = options

    def forward(self, input, target):
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input, self.linear.weight.view(*shape, self.in_features), target,
            linear_bias=None if bias is None else bias.view(shape), weight=self.weight, reduction=self.reduction,
            ignore_index=self.ignore_index, label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self):
        return (
            f"in_features={self.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
