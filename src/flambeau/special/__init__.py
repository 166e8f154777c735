"""torch.special: special functions. Most are also functions of the package itself, some under another name."""

from flambeau.ops import special_unary as _ops
from flambeau.ops.exp_log import exp2, expm1, log1p, xlogy
from flambeau.ops.rounding import round
from flambeau.ops.softmax import log_softmax, logsumexp, softmax
from flambeau.ops.special_unary import digamma, erf, erfc, erfinv, i0, logit, polygamma
from flambeau.ops.special_unary import igamma as gammainc
from flambeau.ops.special_unary import igammac as gammaincc
from flambeau.ops.special_unary import lgamma as gammaln
from flambeau.ops.special_unary import mvlgamma as multigammaln
from flambeau.ops.special_unary import sigmoid as expit
from flambeau.ops.trig import sinc

psi = digamma

airy_ai = _ops.special_airy_ai
bessel_j0 = _ops.special_bessel_j0
bessel_j1 = _ops.special_bessel_j1
bessel_y0 = _ops.special_bessel_y0
bessel_y1 = _ops.special_bessel_y1
chebyshev_polynomial_t = _ops.special_chebyshev_polynomial_t
chebyshev_polynomial_u = _ops.special_chebyshev_polynomial_u
chebyshev_polynomial_v = _ops.special_chebyshev_polynomial_v
chebyshev_polynomial_w = _ops.special_chebyshev_polynomial_w
entr = _ops.special_entr
erfcx = _ops.special_erfcx
hermite_polynomial_h = _ops.special_hermite_polynomial_h
hermite_polynomial_he = _ops.special_hermite_polynomial_he
i0e = _ops.special_i0e
i1 = _ops.special_i1
i1e = _ops.special_i1e
laguerre_polynomial_l = _ops.special_laguerre_polynomial_l
legendre_polynomial_p = _ops.special_legendre_polynomial_p
log_ndtr = _ops.special_log_ndtr
modified_bessel_i0 = _ops.special_modified_bessel_i0
modified_bessel_i1 = _ops.special_modified_bessel_i1
modified_bessel_k0 = _ops.special_modified_bessel_k0
modified_bessel_k1 = _ops.special_modified_bessel_k1
ndtr = _ops.special_ndtr
ndtri = _ops.special_ndtri
scaled_modified_bessel_k0 = _ops.special_scaled_modified_bessel_k0
scaled_modified_bessel_k1 = _ops.special_scaled_modified_bessel_k1
shifted_chebyshev_polynomial_t = _ops.special_shifted_chebyshev_polynomial_t
shifted_chebyshev_polynomial_u = _ops.special_shifted_chebyshev_polynomial_u
shifted_chebyshev_polynomial_v = _ops.special_shifted_chebyshev_polynomial_v
shifted_chebyshev_polynomial_w = _ops.special_shifted_chebyshev_polynomial_w
spherical_bessel_j0 = _ops.special_spherical_bessel_j0
xlog1py = _ops.special_xlog1py
zeta = _ops.special_zeta

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t", "chebyshev_polynomial_u",
    "chebyshev_polynomial_v", "chebyshev_polynomial_w", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2",
    "expit", "expm1", "gammainc", "gammaincc", "gammaln", "hermite_polynomial_h", "hermite_polynomial_he", "i0",
    "i0e", "i1", "i1e", "laguerre_polynomial_l", "legendre_polynomial_p", "log1p", "log_ndtr", "log_softmax", "logit",
    "logsumexp", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1",
    "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round", "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0",
    "xlog1py", "xlogy", "zeta",
]  # fmt: skip
