"""ExponentialFamily: entropy by differentiating the log normaliser."""

import flambeau

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Base of distributions with density exp(t(x) . theta - F(theta) + k(x)).

    Subclasses give theta in _natural_params, F in _log_normalizer and E[k(x)] in _mean_carrier_measure. Then the
    entropy is F(theta) - theta . grad F(theta) - E[k(x)], and kl_divergence within one family is a Bregman divergence
    of F.

    References:
        Nielsen, Nock, "Entropies and cross-entropies of exponential families", 2010.
    """

    @property
    def _natural_params(self):
        """Tuple of tensors theta."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        """F(theta)."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        """E[k(x)]."""
        raise NotImplementedError

    def entropy(self):
        """Entropy by the formula above; differentiable in the parameters."""
        natural = self._natural_params
        # Without a graph to join, new leaves: the gradient of F is needed all the same.
        params = [p if p.requires_grad else p.detach().requires_grad_() for p in natural]
        with flambeau.enable_grad():
            log_normalizer = self._log_normalizer(*params)
            gradients = flambeau.autograd.grad(log_normalizer.sum(), params, create_graph=True)
        result = log_normalizer - self._mean_carrier_measure
        for param, gradient in zip(params, gradients, strict=True):
            result = result - (param * gradient).reshape(self._batch_shape + (-1,)).sum(-1)
        return result if any(p.requires_grad for p in natural) else result.detach()
