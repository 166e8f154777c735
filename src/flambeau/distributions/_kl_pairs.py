"""Kullback-Leibler divergences between distributions of different families.

Most are -H(p) - E_p[log q(x)], which needs only moments of p; the divergence is infinite wherever p has values that q
does not.
"""

import math

import flambeau

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .distribution import LOG_2PI
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import infinite, infinite_where, register_kl
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant

# Supports never nested, whatever the parameters: (p, those q).
_ALWAYS_INFINITE = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}


def _always_infinite(p, q):
    """Infinities of the joint batch shape."""
    return infinite(p.mean + q.mean)


for _p, _others in _ALWAYS_INFINITE.items():
    for _q in _others:
        register_kl(_p, _q)(_always_infinite)


# ---- E_p[log q(x)] for q of one family, from moments of p ----


def _cross_exponential(q, mean):
    return q.rate.log() - q.rate * mean


def _cross_gamma(q, mean, mean_log):
    log_normaliser = flambeau.lgamma(q.concentration) - q.concentration * q.rate.log()
    return (q.concentration - 1) * mean_log - q.rate * mean - log_normaliser


def _cross_normal(q, mean, variance):
    squares = variance + (mean - q.loc).pow(2)
    return -0.5 * LOG_2PI - q.scale.log() - squares / (2 * q.scale.pow(2))


def _cross_continuous_bernoulli(q, mean):
    return mean * q.logits + flambeau.log1p(-q.probs) + q._cont_bern_log_norm()


def _cross_gumbel(q, mean, mean_exp):
    """mean_exp is E[exp(-(x - loc) / scale)]."""
    return -q.scale.log() - (mean - q.loc) / q.scale - mean_exp


# ---- p Bernoulli ----


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


# ---- p Beta ----


def _beta_mean_log(p):
    total = p.concentration1 + p.concentration0
    return p.concentration1.digamma() - total.digamma()


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p, q):
    return -p.entropy() - _cross_continuous_bernoulli(q, p.mean)


@register_kl(Beta, Exponential)
def _beta_exponential(p, q):
    return -p.entropy() - _cross_exponential(q, p.mean)


@register_kl(Beta, Gamma)
def _beta_gamma(p, q):
    return -p.entropy() - _cross_gamma(q, p.mean, _beta_mean_log(p))


@register_kl(Beta, Normal)
def _beta_normal(p, q):
    return -p.entropy() - _cross_normal(q, p.mean, p.variance)


@register_kl(Beta, Uniform)
def _beta_uniform(p, q):
    result = -p.entropy() + (q.high - q.low).log()
    return infinite_where((q.low > 0) | (q.high < 1), result)


# ---- p ContinuousBernoulli ----


@register_kl(ContinuousBernoulli, Exponential)
def _continuous_bernoulli_exponential(p, q):
    return -p.entropy() - _cross_exponential(q, p.mean)


@register_kl(ContinuousBernoulli, Normal)
def _continuous_bernoulli_normal(p, q):
    return -p.entropy() - _cross_normal(q, p.mean, p.variance)


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p, q):
    result = -p.entropy() + (q.high - q.low).log()
    return infinite_where((q.low > 0) | (q.high < 1), result)


# ---- p Exponential ----


@register_kl(Exponential, Gamma)
def _exponential_gamma(p, q):
    mean_log = -p.rate.log() - euler_constant
    return -p.entropy() - _cross_gamma(q, p.mean, mean_log)


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p, q):
    product = p.rate * q.scale
    mean_exp = flambeau.exp(q.loc / q.scale) * product / (product + 1)
    return -p.entropy() - _cross_gumbel(q, p.mean, mean_exp)


@register_kl(Exponential, Normal)
def _exponential_normal(p, q):
    return -p.entropy() - _cross_normal(q, p.mean, p.variance)


# ---- p Gamma ----


@register_kl(Gamma, Exponential)
def _gamma_exponential(p, q):
    return -p.entropy() - _cross_exponential(q, p.mean)


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p, q):
    # the moment generating function of a gamma number, at -1 / scale
    mean_exp = flambeau.exp(q.loc / q.scale) * (1 + (p.rate * q.scale).reciprocal()).pow(
        -p.concentration
    )
    return -p.entropy() - _cross_gumbel(q, p.mean, mean_exp)


@register_kl(Gamma, Normal)
def _gamma_normal(p, q):
    return -p.entropy() - _cross_normal(q, p.mean, p.variance)


# ---- p Gumbel, Laplace ----


@register_kl(Gumbel, Normal)
def _gumbel_normal(p, q):
    return -p.entropy() - _cross_normal(q, p.mean, p.variance)


@register_kl(Laplace, Normal)
def _laplace_normal(p, q):
    return -p.entropy() - _cross_normal(q, p.mean, p.variance)


# ---- p Normal ----


@register_kl(Normal, Gumbel)
def _normal_gumbel(p, q):
    exponent = 0.5 * (p.scale / q.scale).pow(2) - (p.loc - q.loc) / q.scale
    return -p.entropy() - _cross_gumbel(q, p.mean, exponent.exp())


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    distance = p.loc - q.loc
    z = distance / p.scale
    # E|x - q.loc|: the mean of a folded normal distribution
    folded = math.sqrt(2 / math.pi) * p.scale * flambeau.exp(-0.5 * z.pow(2))
    folded = folded + distance * flambeau.erf(math.sqrt(0.5) * z)
    return -p.entropy() + flambeau.log(2 * q.scale) + folded / q.scale


# ---- p Pareto ----


@register_kl(Pareto, Exponential)
def _pareto_exponential(p, q):
    result = -p.entropy() - _cross_exponential(q, p.alpha * p.scale / (p.alpha - 1))
    return infinite_where(p.alpha <= 1, result)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p, q):
    mean = p.alpha * p.scale / (p.alpha - 1)
    mean_log = p.scale.log() + p.alpha.reciprocal()
    return infinite_where(p.alpha <= 1, -p.entropy() - _cross_gamma(q, mean, mean_log))


@register_kl(Pareto, Normal)
def _pareto_normal(p, q):
    mean = p.alpha * p.scale / (p.alpha - 1)
    variance = mean * p.scale / ((p.alpha - 1) * (p.alpha - 2))
    return infinite_where(p.alpha <= 2, -p.entropy() - _cross_normal(q, mean, variance))


# ---- p Uniform ----


def _mean_log(low, high):
    """E[log x] for uniform x in [low, high]; 0 log 0 is 0."""
    return (flambeau.xlogy(high, high) - flambeau.xlogy(low, low)) / (high - low) - 1


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    total = q.concentration1 + q.concentration0
    log_beta = q.concentration1.lgamma() + q.concentration0.lgamma() - total.lgamma()
    cross = (
        (q.concentration1 - 1) * _mean_log(p.low, p.high)
        + (q.concentration0 - 1) * _mean_log(1 - p.high, 1 - p.low)
        - log_beta
    )
    return infinite_where((p.high > 1) | (p.low < 0), -p.entropy() - cross)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p, q):
    result = -p.entropy() - _cross_continuous_bernoulli(q, p.mean)
    return infinite_where((p.high > 1) | (p.low < 0), result)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p, q):
    return infinite_where(p.low < 0, -p.entropy() - _cross_exponential(q, p.mean))


@register_kl(Uniform, Gamma)
def _uniform_gamma(p, q):
    result = -p.entropy() - _cross_gamma(q, p.mean, _mean_log(p.low, p.high))
    return infinite_where(p.low < 0, result)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p, q):
    low, high = (p.low - q.loc) / q.scale, (p.high - q.loc) / q.scale
    mean_exp = (flambeau.exp(-low) - flambeau.exp(-high)) / (high - low)
    return -p.entropy() - _cross_gumbel(q, p.mean, mean_exp)


@register_kl(Uniform, Normal)
def _uniform_normal(p, q):
    return -p.entropy() - _cross_normal(q, p.mean, p.variance)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p, q):
    cross = q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _mean_log(p.low, p.high)
    return infinite_where(p.low < q.scale, -p.entropy() - cross)
