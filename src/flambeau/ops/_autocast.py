"""What autocast does to each op: the table of policies, PyTorch's for the CPU. The switches are in flambeau.amp.

Native ops carry their policy in C++ and test one flag. Compositions get a wrapper, which casts and then runs the body
with autocast off, as an op of its own would.
"""

import functools
import sys

from .. import _C
from .registry import METHODS, OPS, Op

LOWER, FLOAT32, PROMOTE = 1, 2, 3
PLAIN = 0  # compositions only: autocast is off inside, arguments stay as they are

# By name of the native op.
_NATIVE = {
    LOWER: """
        addmm baddbmm bmm conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d linear matmul mm
    """,
    FLOAT32: """
        adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d cross_entropy fractional_max_pool2d
        fractional_max_pool3d geqrf linalg_cholesky_ex linalg_householder_product linalg_inv_ex linalg_qr
        max_pool3d nll_loss polar prod_all prod_dim view_as_complex
    """,
    PROMOTE: "cat index_copy stack",
}
# By name of the composition: policy -> file -> names.
_COMPOSED = {
    LOWER: {
        "activation": "prelu",
        "attention": "scaled_dot_product_attention",
        "linalg_misc": "linalg_vecdot",
        "matmul": "addbmm",
        "rnn": "lstm rnn_relu rnn_tanh",
    },
    FLOAT32: {
        "distance": "cdist",
        "linalg_misc": "linalg_cond linalg_matrix_rank linalg_tensorinv linalg_tensorsolve",
        "linalg_ops": """cholesky cholesky_inverse cholesky_solve inverse linalg_cholesky linalg_inv linalg_solve lu
            lu_solve triangular_solve""",
        "linalg_spectral": """linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_lstsq linalg_svd
            linalg_svdvals ormqr pinverse qr svd""",
        "loss": """binary_cross_entropy binary_cross_entropy_with_logits huber_loss kl_div l1_loss mse_loss
            smooth_l1_loss""",
        "pad": "pad",
        "resample": "grid_sampler",
        "spectral": "stft",
        "statistics": "nanquantile quantile",
        "triangle": "trace",
    },
    PLAIN: {"linalg_misc": "matrix_exp", "matmul": "addr bilinear", "rnn": "gru"},
}


# Compositions whose policy depends on their arguments.
_WHEN = {
    "pad": lambda input, pad, mode="constant", value=None: mode in ("reflect", "replicate"),
}


def _cast_all(value, dtype):
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_cast_all(item, dtype) for item in value)
    return _C._autocast_argument(value, dtype)


def _call(function, policy, args, kwargs):
    if policy != PLAIN:
        dtype = _C._autocast_dtype() if policy == LOWER else _C.float32
        args = [_cast_all(value, dtype) for value in args]
        kwargs = {name: _cast_all(value, dtype) for name, value in kwargs.items()}
    _C._set_autocast_enabled(False)
    try:
        return function(*args, **kwargs)
    finally:
        _C._set_autocast_enabled(True)


def under_autocast(policy):
    """Decorate a composition: in an autocast region its floating point arguments are cast first.

    Calls with out= are left alone.
    """

    def decorate(function):
        when = _WHEN.get(function.__name__)

        @functools.wraps(function)
        def autocasting(*args, **kwargs):
            if not _C._autocast_enabled() or kwargs.get("out") is not None:
                return function(*args, **kwargs)
            if when is not None and not when(*args, **kwargs):
                return function(*args, **kwargs)
            return _call(function, policy, args, kwargs)

        return autocasting

    return decorate


def wrap_names(namespace, names, policy, *others):
    """Decorate functions of a namespace, wherever they were put: aliases, other namespaces, Tensor methods."""
    for name in names.split():
        function = namespace[name]
        if isinstance(function, Op):
            function._set_autocast(policy)
            continue
        wrapped = under_autocast(policy)(function)
        for table in (namespace, *others):
            for alias in [key for key, value in table.items() if value is function]:
                table[alias] = wrapped
        for method in [key for key, value in METHODS.items() if value is function]:
            METHODS[method] = wrapped
            setattr(_C.TensorBase, method, wrapped)


def set_policies(namespace):
    """Apply the table; namespace is that of flambeau.ops."""
    for policy, names in _NATIVE.items():
        for name in names.split():
            OPS[name]._set_autocast(policy)
    for policy, files in _COMPOSED.items():
        for file, names in files.items():
            wrap_names(vars(sys.modules[f"{__package__}.{file}"]), names, policy, namespace)
