"""Linear algebra over batches of matrices: the names of torch.linalg. The ops are in flambeau/ops/linalg_*.py."""

from ..errors import LinAlgError
from ..ops import linalg_det as _det
from ..ops import linalg_indefinite as _indefinite
from ..ops import linalg_misc as _misc
from ..ops import linalg_norms as _norms
from ..ops import linalg_ops as _systems
from ..ops import linalg_spectral as _spectral
from ..ops.matmul import matmul
from ..ops.view import diagonal as _diagonal

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

cholesky = _systems.linalg_cholesky
cholesky_ex = _systems.linalg_cholesky_ex
det = _det.linalg_det
inv = _systems.linalg_inv
inv_ex = _systems.linalg_inv_ex
ldl_factor = _indefinite.linalg_ldl_factor
ldl_factor_ex = _indefinite.linalg_ldl_factor_ex
ldl_solve = _indefinite.linalg_ldl_solve
lu = _systems.linalg_lu
lu_factor = _systems.linalg_lu_factor
lu_factor_ex = _systems.linalg_lu_factor_ex
lu_solve = _systems.linalg_lu_solve
slogdet = _det.linalg_slogdet
solve = _systems.linalg_solve
solve_ex = _systems.linalg_solve_ex
solve_triangular = _systems.linalg_solve_triangular

eig = _spectral.linalg_eig
eigh = _spectral.linalg_eigh
eigvals = _spectral.linalg_eigvals
eigvalsh = _spectral.linalg_eigvalsh
householder_product = _spectral.linalg_householder_product
lstsq = _spectral.linalg_lstsq
pinv = _spectral.linalg_pinv
qr = _spectral.linalg_qr
svd = _spectral.linalg_svd
svdvals = _spectral.linalg_svdvals

cond = _misc.linalg_cond
cross = _misc.linalg_cross
matrix_exp = _misc.matrix_exp
matrix_norm = _norms.linalg_matrix_norm
matrix_power = _misc.matrix_power
matrix_rank = _misc.linalg_matrix_rank
multi_dot = _misc.multi_dot
norm = _norms.linalg_norm
tensorinv = _misc.linalg_tensorinv
tensorsolve = _misc.linalg_tensorsolve
vander = _misc.linalg_vander
vecdot = _misc.linalg_vecdot
vector_norm = _norms.linalg_vector_norm


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """Diagonal of the last two dims by default; a view. See flambeau.diagonal."""
    return _diagonal(A, offset, dim1, dim2)
