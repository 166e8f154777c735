"""Every op, one family per file. Star-imported by the package."""

from .activation import *
from .arithmetic import *
from ._autocast import set_policies as _set_policies
from .attention import *
from .bitwise import *
from .compare import *
from .complex_ops import *
from .conv import *
from .convert import *
from .create import *
from .distance import *
from .embedding import *
from .einsum import *
from .exp_log import *
from .fold import *
from .fourier import *
from .fused_steps import *
from .index import *
from .join import *
from .linalg_det import *
from .linalg_indefinite import *
from .linalg_legacy import *
from .linalg_lobpcg import *
from .linalg_misc import *
from .linalg_norms import *
from .linalg_ops import *
from .linalg_spectral import *
from .loss import *
from .matmul import *
from .normalization import *
from .numerical import *
from .pad import *
from .pool import *
from .quantize import *
from .random import *
from .reduce import *
from .registry import verify
from .resample import *
from .rnn import *
from .rounding import *
from .scan import *
from .scatter import *
from .search import *
from .segment import *
from .softmax import *
from .sort import *
from .sparse_parts import *
from .special_unary import *
from .special_bessel import *
from .spectral import *
from .split import *
from .statistics import *
from .ternary import *
from .triangle import *
from .trig import *
from .view import *
from .view_dtype import *

verify()
_set_policies(globals())


def __getattr__(name):
    # torch.ops.<namespace>: ops that the program defined itself. A star import asks for __all__.
    if not name.startswith("__"):
        from ..library import NAMESPACES

        if name in NAMESPACES:
            return NAMESPACES[name]
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
