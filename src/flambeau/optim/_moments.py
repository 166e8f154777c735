"""What NAdam and RAdam share."""

from .optimizer import ElementwiseOptimizer

__all__ = ["TwoMoments"]


class TwoMoments(ElementwiseOptimizer):
    _like_param = ("exp_avg", "exp_avg_sq")

    def _decay(self, param, grad, group):
        decay = group["weight_decay"]
        if decay == 0:
            return grad
        if group["decoupled_weight_decay"]:
            param.mul_(1 - float(group["lr"]) * decay)
            return grad
        return grad.add(param, alpha=decay)

    def _moments(self, grad, state, betas):
        state["exp_avg"].lerp_(grad, 1 - betas[0])
        state["exp_avg_sq"].mul_(betas[1]).addcmul_(grad, grad, value=1 - betas[1])
