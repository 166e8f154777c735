"""torch.special: special functions. Most are also functions of the package itself, some under another name."""

from flambeau.ops import special_bessel as _bessel
from flambeau.ops import special_unary as _ops
from flambeau.ops.exp_log import exp2, expm1, log1p, xlogy
from flambeau.ops.rounding import round
from flambeau.ops.softmax import log_softmax, logsumexp, softmax
from flambeau.ops.special_bessel import i0
from flambeau.ops.special_unary import digamma, erf, erfc, erfinv, logit, polygamma
from flambeau.ops.special_unary import igamma as gammainc
from flambeau.ops.special_unary import igammac as gammaincc
from flambeau.ops.special_unary import lgamma as gammaln
from flambeau.ops.special_unary import mvlgamma as multigammaln
from flambeau.ops.special_unary import sigmoid as expit
from flambeau.ops.trig import sinc

psi = digamma

airy_ai = _bessel.special_airy_ai
bessel_j0 = _bessel.special_bessel_j0
bessel_j1 = _bessel.special_bessel_j1
bessel_y0 = _bessel.special_bessel_y0
bessel_y1 = _bessel.special_bessel_y1
chebyshev_polynomial_t = _bessel.special_chebyshev_polynomial_t
chebyshev_polynomial_u = _bessel.special_chebyshev_polynomial_u
chebyshev_polynomial_v = _bessel.special_chebyshev_polynomial_v
chebyshev_polynomial_w = _bessel.special_chebyshev_polynomial_w
entr = _ops.special_entr
erfcx = _ops.special_erfcx
hermite_polynomial_h = _bessel.special_hermite_polynomial_h
hermite_polynomial_he = _bessel.special_hermite_polynomial_he
i0e = _bessel.special_i0e
i1 = _bessel.special_i1
i1e = _bessel.special_i1e
iv = _bessel.special_iv
ive = _bessel.special_ive
laguerre_polynomial_l = _bessel.special_laguerre_polynomial_l
legendre_polynomial_p = _bessel.special_legendre_polynomial_p
logerfc = _ops.special_logerfc
logerfcx = _ops.special_logerfcx
log_ndtr = _ops.special_log_ndtr
modified_bessel_i0 = _bessel.special_modified_bessel_i0
modified_bessel_i1 = _bessel.special_modified_bessel_i1
modified_bessel_k0 = _bessel.special_modified_bessel_k0
modified_bessel_k1 = _bessel.special_modified_bessel_k1
ndtr = _ops.special_ndtr
ndtri = _ops.special_ndtri
scaled_modified_bessel_k0 = _bessel.special_scaled_modified_bessel_k0
scaled_modified_bessel_k1 = _bessel.special_scaled_modified_bessel_k1
shifted_chebyshev_polynomial_t = _bessel.special_shifted_chebyshev_polynomial_t
shifted_chebyshev_polynomial_u = _bessel.special_shifted_chebyshev_polynomial_u
shifted_chebyshev_polynomial_v = _bessel.special_shifted_chebyshev_polynomial_v
shifted_chebyshev_polynomial_w = _bessel.special_shifted_chebyshev_polynomial_w
spherical_bessel_j0 = _bessel.special_spherical_bessel_j0
xlog1py = _ops.special_xlog1py
zeta = _ops.special_zeta

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t", "chebyshev_polynomial_u",
    "chebyshev_polynomial_v", "chebyshev_polynomial_w", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2",
    "expit", "expm1", "gammainc", "gammaincc", "gammaln", "hermite_polynomial_h", "hermite_polynomial_he", "i0",
    "i0e", "i1", "i1e", "iv", "ive", "laguerre_polynomial_l", "legendre_polynomial_p", "log1p", "log_ndtr",
    "log_softmax", "logerfc", "logerfcx", "logit",
    "logsumexp", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1",
    "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round", "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0",
    "xlog1py", "xlogy", "zeta",
]  # fmt: skip
