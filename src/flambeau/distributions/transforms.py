"""The transforms of distributions. The classes are in the private modules beside this one, by what they map."""

from ._scalar_transforms import *
from ._transform import *
from ._transform import _InverseTransform as _InverseTransform  # programs name it
from ._vector_transforms import *

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]

# Files name the public module, as PyTorch's do.
for _name in (*__all__, "_InverseTransform"):
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
