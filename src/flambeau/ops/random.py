"""Random numbers: new random tensors, in-place fills, samples with tensor parameters, dropout.

For the same seed the values are PyTorch's CPU values: bit by bit where they come from uniforms, within 2e-6 for
normals. None of these is differentiable, except dropout in its input and, by implicit reparameterisation,
gamma and Dirichlet samples in their parameters. The seed is set in flambeau/random.py.
"""

from __future__ import annotations

import math
from typing import Any

from .create import empty, empty_like, zeros
from .registry import composite, native, overload

__all__ = [
    "_dirichlet_grad",
    "_sample_dirichlet",
    "_standard_gamma",
    "_standard_gamma_grad",
    "alpha_dropout",
    "alpha_dropout_",
    "bernoulli",
    "binomial",
    "dropout",
    "dropout_",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "feature_dropout",
    "feature_dropout_",
    "multinomial",
    "normal",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
]

_RANDOM = "random numbers do not depend on their parameters smoothly"
_NEW = "dtype? dtype=None, device? device=None"
_LIKE = (
    "Generator? generator=None, dtype? dtype=None, device? device=None,"
    " memory_format? memory_format=None"
)

rand = native(
    f"rand(int[*] size, *, Generator? generator=None, {_NEW}) -> Tensor",
    out=True,
    non_differentiable=_RANDOM,
    doc="""Draw from the uniform distribution on [0, 1).

    Complex tensors get independent real and imaginary parts.

    Args:
        size: shape of the result.
        generator: source of random numbers; the default generator if None.
        dtype: floating point or complex; the default dtype if None.
        device: cpu, or meta for a shape without data.
        requires_grad: whether the result records gradients.
    Returns:
        Shape size.
    Raises:
        NotImplementedError: dtype is an integer type or bool.
    Example:
        >>> flambeau.manual_seed(0).initial_seed()
        0
        >>> flambeau.rand(3)
        tensor([0.4963, 0.7682, 0.0885])
    """,
)

randn = native(
    f"randn(int[*] size, *, Generator? generator=None, {_NEW}) -> Tensor",
    out=True,
    non_differentiable=_RANDOM,
    doc="""Draw from the normal distribution of mean 0 and variance 1.

    Complex values have variance 1 too: 1/2 in each part.

    Args:
        size: shape of the result.
        generator: source of random numbers; the default generator if None.
        dtype: floating point or complex; the default dtype if None.
        device: cpu, or meta for a shape without data.
        requires_grad: whether the result records gradients.
    Returns:
        Shape size.
    References:
        Box, Muller, "A note on the generation of random normal deviates", 1958.
    """,
)

randint_high = native(
    f"randint_high(int high, int[] size, *, Generator? generator=None, {_NEW}) -> Tensor",
    out=True,
    non_differentiable=_RANDOM,
    doc="""Draw integers uniformly from [low, high).

    Args:
        low: smallest value, 0 if left out.
        high: one above the largest value.
        size: shape of the result.
        generator: source of random numbers; the default generator if None.
        dtype: int64 if None; floating point types hold the integers exactly up to 2^digits.
        device: cpu, or meta for a shape without data.
        requires_grad: whether the result records gradients.
    Returns:
        Shape size.
    Raises:
        RuntimeError: low >= high, or a bound does not fit the dtype.
    """,
)
randint_low = native(
    f"randint_low(int low, int high, int[] size, *, Generator? generator=None, {_NEW}) -> Tensor",
    out=True,
    non_differentiable=_RANDOM,
)
randint = overload(
    "randint",
    randint_high,
    randint_low,
)

randperm = native(
    "randperm(int n, *, Generator? generator=None, dtype? dtype=None, device? device=None)"
    " -> Tensor",
    out=True,
    non_differentiable=_RANDOM,
    doc="""Draw a random permutation of 0 to n - 1.

    Args:
        n: length, at least 0.
        generator: source of random numbers; the default generator if None.
        dtype: int64 if None.
        device: cpu, or meta for a shape without data.
        requires_grad: whether the result records gradients.
    Returns:
        Shape (n,).
    Raises:
        RuntimeError: n is negative, or n - 1 is not exact in dtype.
    References:
        Fisher, Yates, shuffled as in Durstenfeld, "Algorithm 235: random permutation", 1964.
    """,
)

rand_like = native(
    f"rand_like(Tensor input, *, {_LIKE}) -> Tensor",
    non_differentiable=_RANDOM,
    doc="""Draw from [0, 1) with the shape, dtype, device and strides of input.

    Args:
        input: any tensor of a floating point or complex dtype.
        generator, dtype, device, requires_grad: as in rand.
        memory_format: layout of the result; that of input if None.
    Returns:
        Shape of input.
    """,
)
randn_like = native(
    f"randn_like(Tensor input, *, {_LIKE}) -> Tensor",
    non_differentiable=_RANDOM,
    doc="""Draw standard normals with the shape, dtype, device and strides of input.

    Args:
        input: any tensor of a floating point or complex dtype.
        generator, dtype, device, requires_grad: as in randn.
        memory_format: layout of the result; that of input if None.
    Returns:
        Shape of input.
    """,
)
randint_like_high = native(
    f"randint_like_high(Tensor input, int high, *, {_LIKE}) -> Tensor",
    non_differentiable=_RANDOM,
    doc="""Draw integers from [low, high) with the shape, dtype, device and strides of input.

    Args:
        input: any tensor of a real dtype.
        low, high, generator, dtype, device, requires_grad: as in randint.
        memory_format: layout of the result; that of input if None.
    Returns:
        Shape of input.
    """,
)
randint_like_low = native(
    f"randint_like_low(Tensor input, int low, int high, *, {_LIKE}) -> Tensor",
    non_differentiable=_RANDOM,
)
randint_like = overload(
    "randint_like",
    randint_like_high,
    randint_like_low,
)

normal_both = native(
    "normal_both(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
    out=True,
    non_differentiable=_RANDOM,
    doc="""Draw from normal distributions.

    Args:
        mean, std: numbers, or tensors that broadcast together; std is at least 0.
        size: shape, when both are numbers.
        generator: source of random numbers; the default generator if None.
        dtype, device, requires_grad: as in randn, when both are numbers.
    Returns:
        The broadcast shape of mean and std, in the dtype of the first tensor; or shape size.
    Raises:
        RuntimeError: an element of std is negative, or std is complex.
    """,
)
normal_mean = native(
    "normal_mean(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor",
    out=True,
    non_differentiable=_RANDOM,
)
normal_std = native(
    "normal_std(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
    out=True,
    non_differentiable=_RANDOM,
)
normal_size = native(
    f"normal_size(float mean, float std, int[] size, *, Generator? generator=None, {_NEW}) -> Tensor",
    out=True,
    non_differentiable=_RANDOM,
)
normal = overload(
    "normal",
    normal_both,
    normal_mean,
    normal_std,
    normal_size,
)

uniform_ = native(
    "uniform_(Tensor(a!) input, float from=0, float to=1, *, Generator? generator=None)"
    " -> Tensor(a!)",
    methods=("uniform_",),
    non_differentiable=_RANDOM,
    doc="""Fill input with draws from [from, to), in the order of its memory.

    Args:
        input: floating point or complex, any strides without overlap.
        from, to: bounds, from <= to.
        generator: source of random numbers; the default generator if None.
    Returns:
        input.
    Raises:
        RuntimeError: from > to, or a bound does not fit the dtype.
    """,
)
normal_ = native(
    "normal_(Tensor(a!) input, float mean=0, float std=1, *, Generator? generator=None)"
    " -> Tensor(a!)",
    methods=("normal_",),
    non_differentiable=_RANDOM,
    doc="""Fill input with normals of the given mean and standard deviation.

    Args:
        input: floating point or complex.
        mean, std: parameters; std is at least 0.
        generator: source of random numbers; the default generator if None.
    Returns:
        input.
    """,
)
exponential_ = native(
    "exponential_(Tensor(a!) input, float lambd=1, *, Generator? generator=None) -> Tensor(a!)",
    methods=("exponential_",),
    non_differentiable=_RANDOM,
    doc="""Fill input with draws of density lambd * exp(-lambd * x).

    Args:
        input: floating point.
        lambd: rate, above 0.
        generator: source of random numbers; the default generator if None.
    Returns:
        input.
    """,
)
log_normal_ = native(
    "log_normal_(Tensor(a!) input, float mean=1, float std=2, *, Generator? generator=None)"
    " -> Tensor(a!)",
    methods=("log_normal_",),
    non_differentiable=_RANDOM,
    doc="""Fill input with exponentials of normals of the given mean and std.

    Args:
        input: floating point.
        mean, std: parameters of the underlying normal; std is above 0.
        generator: source of random numbers; the default generator if None.
    Returns:
        input.
    """,
)
cauchy_ = native(
    "cauchy_(Tensor(a!) input, float median=0, float sigma=1, *, Generator? generator=None)"
    " -> Tensor(a!)",
    methods=("cauchy_",),
    non_differentiable=_RANDOM,
    doc="""Fill input with draws of density sigma / (pi * (sigma^2 + (x - median)^2)).

    Args:
        input: floating point.
        median, sigma: centre and half width; sigma is above 0.
        generator: source of random numbers; the default generator if None.
    Returns:
        input.
    """,
)
geometric_ = native(
    "geometric_(Tensor(a!) input, float p, *, Generator? generator=None) -> Tensor(a!)",
    methods=("geometric_",),
    non_differentiable=_RANDOM,
    doc="""Fill input with the number of trials up to the first success, of probability p each.

    Args:
        input: floating point or integer.
        p: in (0, 1).
        generator: source of random numbers; the default generator if None.
    Returns:
        input.
    """,
)

random_any = native(
    "random_(Tensor(a!) input, *, Generator? generator=None) -> Tensor(a!)",
    non_differentiable=_RANDOM,
    doc="""Fill input with integers drawn uniformly from [from, to).

    Without bounds: from 0 to the largest value of an integer dtype, or to 2^digits of a floating
    point one. With from alone (to=None): from there to the largest value.

    Args:
        input: any real dtype.
        from, to: bounds, from < to.
        generator: source of random numbers; the default generator if None.
    Returns:
        input.
    """,
)
random_from = native(
    "random_from_(Tensor(a!) input, int from, int? to, *, Generator? generator=None) -> Tensor(a!)",
    non_differentiable=_RANDOM,
)
random_to = native(
    "random_to_(Tensor(a!) input, int to, *, Generator? generator=None) -> Tensor(a!)",
    non_differentiable=_RANDOM,
)
random_ = overload(
    "random_",
    random_any,
    random_from,
    random_to,
    methods=("random_",),
)

bernoulli_float_ = native(
    "bernoulli_float_(Tensor(a!) input, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
    non_differentiable=_RANDOM,
    doc="""Fill input with ones of probability p and zeros.

    Args:
        input: any real dtype.
        p: number or tensor in [0, 1] that broadcasts to input.
        generator: source of random numbers; the default generator if None.
    Returns:
        input.
    """,
)
bernoulli_tensor_ = native(
    "bernoulli_tensor_(Tensor(a!) input, Tensor p, *, Generator? generator=None) -> Tensor(a!)",
    non_differentiable=_RANDOM,
)
bernoulli_ = overload(
    "bernoulli_",
    bernoulli_float_,
    bernoulli_tensor_,
    methods=("bernoulli_",),
)
bernoulli_draw = native(
    "bernoulli_draw(Tensor input, *, Generator? generator=None) -> Tensor",
    out=True,
    non_differentiable=_RANDOM,
    doc="""Draw ones with probability input (or p) and zeros, of input's shape and dtype.

    Args:
        input: probabilities in [0, 1], floating point.
        p: one probability instead: input then gives only shape and dtype.
        generator: source of random numbers; the default generator if None.
    Returns:
        Same shape and dtype as input.
    Raises:
        RuntimeError: a probability outside [0, 1].
    """,
)
bernoulli_p = native(
    "bernoulli_p(Tensor input, float p, *, Generator? generator=None) -> Tensor",
    non_differentiable=_RANDOM,
)
bernoulli = overload(
    "bernoulli",
    bernoulli_draw,
    bernoulli_p,
    methods=("bernoulli",),
)

poisson = native(
    "poisson(Tensor input, Generator? generator=None) -> Tensor",
    non_differentiable=_RANDOM,
    doc="""Draw from Poisson distributions with the rates in input.

    Args:
        input: rates of at least 0, floating point.
        generator: source of random numbers; the default generator if None.
    Returns:
        Same shape and dtype as input.
    References:
        Hörmann, "The transformed rejection method for generating Poisson random variables", 1993.
    """,
)
binomial = native(
    "binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
    non_differentiable=_RANDOM,
    doc="""Draw the number of successes in count trials of probability prob.

    Args:
        count: numbers of trials, floating point.
        prob: probabilities, same dtype, broadcasting with count.
        generator: source of random numbers; the default generator if None.
    Returns:
        The broadcast shape.
    References:
        Hörmann, "The generation of binomial random variates", 1993.
    """,
)
_standard_gamma = native(
    "_standard_gamma(Tensor input, Generator? generator=None) -> Tensor",
    doc="""Draw from gamma distributions of the shapes in input and scale 1.

    Args:
        input: shapes above 0, floating point.
        generator: source of random numbers; the default generator if None.
    Returns:
        Same shape and dtype as input; never 0.
    Differentiable in input, once: see _standard_gamma_grad.
    References:
        Marsaglia, Tsang, "A simple method for generating gamma variables", 2000.
    """,
)
_standard_gamma_grad = native(
    "_standard_gamma_grad(Tensor input, Tensor output) -> Tensor",
    non_differentiable="a fit, whose derivative would not be one",
    doc="""Compute how a gamma sample moves with its shape parameter, at a fixed quantile.

    -(dF(x; a)/da) / f(x; a), for F and f the distribution function and density of the gamma distribution.

    Args:
        input: shapes a above 0, floating point.
        output: samples x of _standard_gamma, broadcasting with input.
    Returns:
        The broadcast shape; right to about 1e-3, with PyTorch's approximations.
    References:
        Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients", 2018.
    """,
)


@_standard_gamma.vjp("input")
def _(grad: Any, input: Any, result: Any) -> Any:
    return grad * _standard_gamma_grad(input, result)


_sample_dirichlet = native(
    "_sample_dirichlet(Tensor input, Generator? generator=None) -> Tensor",
    doc="""Draw from Dirichlet distributions with concentrations along the last dim.

    Args:
        input: shape (*, K), values above 0, floating point.
        generator: source of random numbers; the default generator if None.
    Returns:
        Same shape and dtype; the last dim sums to 1.
    Differentiable in input, once: see _dirichlet_grad.
    """,
)
_dirichlet_grad = native(
    "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
    non_differentiable="a fit, whose derivative would not be one",
    doc="""Compute how a beta sample moves with its first parameter, at a fixed quantile, over 1 - x.

    -(dF/dalpha) / f / (1 - x), for F and f the distribution function and density of Beta(alpha, total - alpha) at x.
    The derivative of a Dirichlet sample is made of these.

    Args:
        x: samples in (0, 1), floating point.
        alpha: the component's concentration, above 0.
        total: sum of the concentrations, above alpha.
    Returns:
        The broadcast shape; right to about 1e-3, with PyTorch's approximations.
    Raises:
        RuntimeError: the dtypes differ or are not floating point.
    References:
        Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients", 2018.
    """,
)


@_sample_dirichlet.vjp("input")
def _(grad: Any, input: Any, result: Any) -> Any:
    total = input.sum(-1, True)
    return _dirichlet_grad(result, input, total) * (grad - (result * grad).sum(-1, True))


multinomial = native(
    "multinomial(Tensor input, int num_samples, bool replacement=False, *,"
    " Generator? generator=None) -> Tensor",
    methods=("multinomial",),
    out=True,
    non_differentiable=_RANDOM,
    doc="""Draw category numbers with the weights in each row of input.

    Args:
        input: shape (K,) or (N, K), weights of at least 0 that need not sum to 1.
        num_samples: draws per row; at most K without replacement.
        replacement: whether one category may be drawn twice.
        generator: source of random numbers; the default generator if None.
    Returns:
        int64, shape (num_samples,) or (N, num_samples).
    Raises:
        RuntimeError: a weight is negative, infinite or NaN, a row sums to 0, or K is too small.
    """,
)

dropout_with_mask = native(
    "dropout_with_mask(Tensor input, float p, *, Generator? generator=None)"
    " -> (Tensor result, Tensor mask)"
)


@dropout_with_mask.vjp("input")
def _(grad_result: Any, mask: Any) -> Any:
    return grad_result * mask


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout: dropout probability has to be between 0 and 1, but got {p}")


def _keep_mask(input: Any, p: float, features: bool) -> Any:
    """Ones with probability 1 - p and zeros; one value per (batch, channel) if features."""
    if not features:
        return empty_like(input.detach()).bernoulli_(1 - p)
    if input.dim() < 2:
        raise RuntimeError(
            "feature_dropout: Feature dropout requires at least 2 dimensions in the input"
        )
    shape = [*input.shape[:2], *([1] * (input.dim() - 2))]
    return empty(shape, dtype=input.dtype, device=input.device).bernoulli_(1 - p)


def _is_identity(input: Any, p: float, train: bool) -> bool:
    _check_probability(p)
    return p == 0 or not train or input.numel() == 0


def _alpha_terms(mask: Any, p: float) -> tuple[Any, Any]:
    """Factor and summand that keep mean and variance when dropped values become -alpha.

    -alpha is the limit of selu at minus infinity.
    """
    alpha = 1.7580993408473766
    scale = 1.0 / math.sqrt((alpha * alpha * p + 1) * (1 - p))
    shift = (mask - 1) * (alpha * scale) + alpha * scale * p
    return mask * scale, shift


@composite
def dropout(input: Any, p: float, train: bool) -> Any:
    """Zero elements with probability p and scale the others by 1 / (1 - p), when training.

    Args:
        input: floating point.
        p: probability in [0, 1].
        train: False returns input itself.
    Returns:
        Same shape and dtype as input.
    Raises:
        RuntimeError: p outside [0, 1].
    Differentiable in input.
    References:
        Srivastava and others, "Dropout: a simple way to prevent neural networks from overfitting", 2014.
    """
    if _is_identity(input, p, train):
        return input
    if p == 1:
        return input * zeros((), dtype=input.dtype, device=input.device)
    return dropout_with_mask(input, p)[0]


@composite
def dropout_(input: Any, p: float, train: bool) -> Any:
    """Do dropout in place: see dropout."""
    if _is_identity(input, p, train):
        return input
    if p == 1:
        return input.zero_()
    return input.mul_(_keep_mask(input, p, False).div_(1 - p))


@composite
def feature_dropout(input: Any, p: float, train: bool) -> Any:
    """Zero whole channels with probability p and scale the others by 1 / (1 - p), when training.

    Args:
        input: shape (N, C, *), floating point.
        p: probability in [0, 1].
        train: False returns input itself.
    Returns:
        Same shape and dtype as input.
    Differentiable in input.
    """
    if _is_identity(input, p, train):
        return input
    if p == 1:
        return input * zeros((), dtype=input.dtype, device=input.device)
    return input * _keep_mask(input, p, True).div_(1 - p)


@composite
def feature_dropout_(input: Any, p: float, train: bool) -> Any:
    """Do feature_dropout in place."""
    if _is_identity(input, p, train):
        return input
    if p == 1:
        return input.zero_()
    return input.mul_(_keep_mask(input, p, True).div_(1 - p))


def _alpha_dropout(input: Any, p: float, train: bool, features: bool, inplace: bool) -> Any:
    if _is_identity(input, p, train):
        return input
    if p == 1:
        return (
            input.zero_() if inplace else input * zeros((), dtype=input.dtype, device=input.device)
        )
    factor, shift = _alpha_terms(_keep_mask(input, p, features), p)
    return input.mul_(factor).add_(shift) if inplace else input * factor + shift


@composite
def alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """Do dropout that keeps the mean and variance of selu outputs, when training.

    Args:
        input: floating point.
        p: probability in [0, 1].
        train: False returns input itself.
    Returns:
        Same shape and dtype as input.
    Differentiable in input.
    References:
        Klambauer and others, "Self-normalizing neural networks", 2017, section 3.
    """
    return _alpha_dropout(input, p, train, False, False)


@composite
def alpha_dropout_(input: Any, p: float, train: bool) -> Any:
    """Do alpha_dropout in place."""
    return _alpha_dropout(input, p, train, False, True)


@composite
def feature_alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """Do alpha_dropout on whole channels of an input of shape (N, C, *)."""
    return _alpha_dropout(input, p, train, True, False)


@composite
def feature_alpha_dropout_(input: Any, p: float, train: bool) -> Any:
    """Do feature_alpha_dropout in place."""
    return _alpha_dropout(input, p, train, True, True)
