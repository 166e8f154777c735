"""Functions on tensors that modules are made of.

Native ops come from flambeau.ops as they are; wrappers and compositions are in _functional, by family.
"""

from flambeau import ops
from flambeau.ops.pad import pad

from ._functional.activation import *
from ._functional.attention import *
from ._functional.attention import _canonical_mask, _in_projection_packed, _none_or_dtype  # noqa: F401 - for modules
from ._functional.dropout import *
from ._functional.loss import *
from ._functional.loss import _legacy_reduction  # noqa: F401 - for modules
from ._functional.norm import *
from ._functional.pooling import *
from ._functional.sparse import *
from ._functional.vision import *

# Ops that are functions of this module under their own name.
_FROM_OPS = (
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "bilinear",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_similarity",
    "elu_",
    "fold",
    "gelu",
    "group_norm",
    "hardshrink",
    "hardtanh_",
    "layer_norm",
    "leaky_relu_",
    "linear",
    "logsigmoid",
    "one_hot",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "prelu",
    "relu_",
    "rms_norm",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu_",
    "softplus",
    "softshrink",
    "threshold_",
    "unfold",
)
for _name in _FROM_OPS:
    if hasattr(ops, _name):
        globals()[_name] = getattr(ops, _name)

max_pool1d_with_indices = ops.__dict__.get("max_pool1d_with_indices")
max_pool2d_with_indices = ops.__dict__.get("max_pool2d_with_indices")
max_pool3d_with_indices = ops.__dict__.get("max_pool3d_with_indices")


def feature_alpha_dropout_(input, p=0.5, training=False):
    """In-place form of feature_alpha_dropout."""
    return feature_alpha_dropout(input, p, training, inplace=True)  # noqa: F405 - from _functional.dropout
