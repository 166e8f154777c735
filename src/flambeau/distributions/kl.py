"""kl_divergence: dispatch by the classes of both distributions, and the pairs within one family.

The pairs of different families are in _kl_pairs.py.
"""

import functools
import math
import warnings

import flambeau
from flambeau.nn import functional as F

from . import _matrices as matrices
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import euler_constant, sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY = {}  # (class of p, class of q) -> function
_KL_MEMOIZE = {}  # the same for classes that were looked up; emptied by every registration


def register_kl(type_p, type_q):
    """Decorate a function f(p, q) as the divergence for two classes and their subclasses.

    The most specific pair wins. Where p and q disagree about which that is, a warning asks for a registration that
    settles it.

    Args:
        type_p, type_q: classes of distributions.
    Raises:
        TypeError: they are not.
    """
    for name, cls in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(cls, type):  # any class: libraries register their own roots too
            raise TypeError(
                f"register_kl: expected {name} to be a class, got a {type(cls).__name__}."
            )

    def decorate(function):
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return decorate


@functools.total_ordering
class _Match:
    """Orders tuples of classes, the more specific first; the first class that differs decides."""

    def __init__(self, *types):
        self.types = types

    def __eq__(self, other):
        return self.types == other.types

    def __le__(self, other):
        for mine, others in zip(self.types, other.types, strict=True):
            if not issubclass(mine, others):
                return False
            if mine is not others:
                break
        return True

    __hash__ = None


def _dispatch_kl(type_p, type_q):
    """The function for the most specific registered pair; None if there is none."""
    matches = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not matches:
        return None
    left = min(_Match(*pair) for pair in matches).types
    right = min(_Match(*reversed(pair)) for pair in matches).types[::-1]
    chosen = _KL_REGISTRY[left]
    if chosen is not _KL_REGISTRY[right]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}): register_kl"
            f"({left[0].__name__}, {right[1].__name__}) would settle it.",
            RuntimeWarning,
            stacklevel=3,
        )
    return chosen


def kl_divergence(p, q):
    """Kullback-Leibler divergence KL(p || q) = E_p[log p(x) - log q(x)], of the batch shape.

    Args:
        p, q: distributions of classes for which a formula is registered; see register_kl.
    Raises:
        NotImplementedError: no formula is registered for these classes.
    Example:
        >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
        tensor(0.5000)
    """
    key = type(p), type(q)
    if key not in _KL_MEMOIZE:
        _KL_MEMOIZE[key] = _dispatch_kl(*key)
    function = _KL_MEMOIZE[key]
    if function is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {key[0].__name__} and q type {key[1].__name__}"
        )
    return function(p, q)


def infinite(like):
    """Infinities in the shape of a tensor."""
    return flambeau.full_like(like, math.inf)


def infinite_where(condition, value):
    """`value`, infinite where the support of p leaves that of q."""
    return value.masked_fill(condition, math.inf)


# ---- both of one family ----


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    one = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    one = infinite_where(q.probs == 0, one).masked_fill(p.probs == 0, 0)
    zero = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    zero = infinite_where(q.probs == 1, zero).masked_fill(p.probs == 1, 0)
    return one + zero


@register_kl(Beta, Beta)
def _beta(p, q):
    sum_p = p.concentration1 + p.concentration0
    sum_q = q.concentration1 + q.concentration0
    log_beta_q = q.concentration1.lgamma() + q.concentration0.lgamma() - sum_q.lgamma()
    log_beta_p = p.concentration1.lgamma() + p.concentration0.lgamma() - sum_p.lgamma()
    return (
        log_beta_q
        - log_beta_p
        + (p.concentration1 - q.concentration1) * flambeau.digamma(p.concentration1)
        + (p.concentration0 - q.concentration0) * flambeau.digamma(p.concentration0)
        + (sum_q - sum_p) * flambeau.digamma(sum_p)
    )


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "kl_divergence: no closed form for Binomial distributions where q.total_count > p.total_count."
        )
    per_trial = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return infinite_where(p.total_count > q.total_count, p.total_count * per_trial)


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms = infinite_where(q.probs == 0, terms).masked_fill(p.probs == 0, 0)
    return terms.sum(-1)


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    spread = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return spread.log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    normalisers = p._cont_bern_log_norm() - q._cont_bern_log_norm()
    logs = flambeau.log1p(-p.probs) - flambeau.log1p(-q.probs)
    return p.mean * (p.logits - q.logits) + normalisers + logs


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    sum_p, sum_q = p.concentration.sum(-1), q.concentration.sum(-1)
    log_beta = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    mean_log = p.concentration.digamma() - sum_p.digamma().unsqueeze(-1)
    cross = ((p.concentration - q.concentration) * mean_log).sum(-1)
    return sum_p.lgamma() - sum_q.lgamma() - log_beta + cross


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p, q):
    """Bregman divergence of the log normaliser F: F(q) - F(p) - (q - p) . grad F(p)."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "kl_divergence: no formula for exponential families of different classes,"
            f" {type(p).__name__} and {type(q).__name__}."
        )
    own = p._natural_params
    params = [param if param.requires_grad else param.detach().requires_grad_() for param in own]
    with flambeau.enable_grad():
        log_normalizer = p._log_normalizer(*params)
        gradients = flambeau.autograd.grad(log_normalizer.sum(), params, create_graph=True)
    others = q._natural_params
    result = q._log_normalizer(*others) - log_normalizer
    for mine, other, gradient in zip(params, others, gradients, strict=True):
        term = (other - mine) * gradient
        result = result - sum_rightmost(term, term.dim() - len(p.batch_shape))
    return result if any(param.requires_grad for param in (*own, *others)) else result.detach()


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    return (
        q.concentration * (p.rate / q.rate).log()
        + flambeau.lgamma(q.concentration)
        - flambeau.lgamma(p.concentration)
        + (p.concentration - q.concentration) * flambeau.digamma(p.concentration)
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - flambeau.log1p(-q.probs) / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio, distance = p.scale / q.scale, (p.loc - q.loc) / q.scale
    cross = distance + ratio * euler_constant + flambeau.exp(flambeau.lgamma(1 + ratio) - distance)
    return cross - ratio.log() - (1 + euler_constant)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return distance / q.scale + ratio * flambeau.exp(-distance / p.scale) - ratio.log() - 1


@register_kl(Normal, Normal)
def _normal(p, q):
    var_ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (var_ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - var_ratio.log())


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return infinite_where(p.scale < q.scale, result)


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return infinite_where((q.low > p.low) | (q.high < p.high), result)


# ---- wrappers ----


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            "kl_divergence: expected Independent distributions with equally many reinterpreted dims, got"
            f" {p.reinterpreted_batch_ndims} and {q.reinterpreted_batch_ndims}."
        )
    result = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(result, p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    """The divergence of the bases: a shared bijection leaves it as it is."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError(
            "kl_divergence: expected transformed distributions with the same transforms and event shape."
        )
    more = len(p.event_shape) - len(p.base_dist.event_shape)
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), more)


# ---- multivariate normals ----


def _trace_of_quotient(factor, columns):
    """Trace of (L L^T)^-1 C C^T."""
    batch_shape = flambeau.broadcast_shapes(factor.shape[:-2], columns.shape[:-2])
    wide_factor = factor.expand(batch_shape + factor.shape[-2:])
    wide_columns = columns.expand(batch_shape + columns.shape[-2:])
    solved = flambeau.linalg.solve_triangular(wide_factor, wide_columns, upper=False)
    return matrices.trace_of_square(solved)


def _check_event_shapes(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"kl_divergence: expected two {type(p).__name__} distributions of one event shape, got"
            f" {tuple(p.event_shape)} and {tuple(q.event_shape)}."
        )


def _log_det(d):
    """Log determinant of the covariance."""
    if isinstance(d, LowRankMultivariateNormal):
        return matrices.lowrank_log_det(d._unbroadcasted_cov_diag, d._capacitance_tril)
    return 2 * matrices.half_log_det(d._unbroadcasted_scale_tril)


def _columns(d):
    """Matrices whose squares sum to the covariance."""
    if isinstance(d, LowRankMultivariateNormal):
        root = d._unbroadcasted_cov_diag.sqrt().diag_embed()
        return [d._unbroadcasted_cov_factor, root]
    return [d._unbroadcasted_scale_tril]


def _lowrank_trace(q, columns):
    """Trace of (W W^T + D)^-1 C C^T, by the Woodbury identity."""
    diag, factor = q._unbroadcasted_cov_diag, q._unbroadcasted_cov_factor
    plain = matrices.trace_of_square(columns * diag.rsqrt().unsqueeze(-1))
    projected = (factor.mT / diag.unsqueeze(-2)).matmul(columns)
    return plain - _trace_of_quotient(q._capacitance_tril, projected)


def _normals(p, q):
    """Half of log |Q| / |P| + trace(Q^-1 P) + (mean difference)^T Q^-1 (mean difference) - n."""
    _check_event_shapes(p, q)
    distance = q.loc - p.loc
    trace = 0.0
    if isinstance(q, LowRankMultivariateNormal):
        squares = matrices.lowrank_mahalanobis(
            q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, distance, q._capacitance_tril
        )
        for columns in _columns(p):
            trace = trace + _lowrank_trace(q, columns)
    else:
        squares = matrices.batch_mahalanobis(q._unbroadcasted_scale_tril, distance)
        for columns in _columns(p):
            trace = trace + _trace_of_quotient(q._unbroadcasted_scale_tril, columns)
    return 0.5 * (_log_det(q) - _log_det(p) + trace + squares - p.event_shape[0])


for _p in (MultivariateNormal, LowRankMultivariateNormal):
    for _q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_p, _q)(_normals)
