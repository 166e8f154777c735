"""Averages of models over training: stochastic weight averaging and exponential moving averages."""

import math
from copy import deepcopy

import flambeau
from flambeau.nn import Module

from .lr_scheduler import LRScheduler, _one_per_group

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def get_ema_avg_fn(decay=0.999):
    """Average = decay * average + (1 - decay) * current."""
    _check_decay(decay)

    def ema_update(ema_param, current_param, num_averaged):
        with flambeau.no_grad():
            return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_ema_multi_avg_fn(decay=0.999):
    """get_ema_avg_fn for lists of tensors, in place."""
    _check_decay(decay)

    def ema_update(ema_param_list, current_param_list, _):
        with flambeau.no_grad():
            for average, current in zip(ema_param_list, current_param_list, strict=False):
                if average.is_floating_point() or average.is_complex():
                    average.lerp_(current, 1 - decay)
                else:
                    average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_avg_fn():
    """The mean of all models so far."""

    def swa_update(averaged_param, current_param, num_averaged):
        with flambeau.no_grad():
            return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_swa_multi_avg_fn():
    """get_swa_avg_fn for lists of tensors, in place."""

    def swa_update(averaged_param_list, current_param_list, num_averaged):
        with flambeau.no_grad():
            weight = 1 / (float(num_averaged) + 1)
            for average, current in zip(averaged_param_list, current_param_list, strict=False):
                if average.is_floating_point() or average.is_complex():
                    average.lerp_(current, weight)
                else:
                    average.add_((current - average) * weight)

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose parameters are an average of those that update_parameters was given.

    Args:
        avg_fn: f(average, current, number averaged) for one tensor.
        multi_avg_fn: the same in place for lists of tensors.
        use_buffers: average the buffers too; otherwise they are copied.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", flambeau.tensor(0, dtype=flambeau.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        """Take the current parameters of a model into the average."""
        own, new = list(self.module.parameters()), list(model.parameters())
        if self.use_buffers:
            own += list(self.module.buffers())
            new += list(model.buffers())
        own = [t.detach() for t in own]
        new = [t.detach().to(a.device) for t, a in zip(new, own, strict=False)]
        count = self.n_averaged
        if int(count) == 0:
            for average, current in zip(own, new, strict=False):
                average.copy_(current)
        elif self.multi_avg_fn is not None:
            self.multi_avg_fn(own, new, count)
        elif self.avg_fn is not None:
            for average, current in zip(own, new, strict=False):
                average.copy_(self.avg_fn(average, current, count))
        else:
            get_swa_multi_avg_fn()(own, new, count)
        if not self.use_buffers:
            for average, current in zip(self.module.buffers(), model.buffers(), strict=False):
                average.detach().copy_(current.detach().to(average.device))
        self.n_averaged += 1


def update_bn(loader, model, device=None):
    """Recompute the running statistics of all batch norms by one pass over the data."""
    from flambeau.nn.modules.batchnorm import _BatchNorm

    norms = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not norms:
        return
    momenta = {}
    with flambeau.no_grad():
        for norm in norms:
            norm.reset_running_stats()
            momenta[norm] = norm.momentum
            norm.momentum = None  # cumulative average
        was_training = model.training
        model.train()
        for batch in loader:
            if isinstance(batch, (list, tuple)):
                batch = batch[0]
            model(batch if device is None else batch.to(device))
    for norm, momentum in momenta.items():
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Anneals the rate to swa_lr in anneal_epochs epochs and stays there.

    Args:
        anneal_strategy: "cos" or "linear".
    """

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        rates = _one_per_group(
            swa_lr,
            optimizer.param_groups,
            "swa_lr must have the same length as optimizer.param_groups: optimizer.param_groups has {}, swa_lr has {}",
        )
        for rate, group in zip(rates, optimizer.param_groups, strict=False):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _weight(self, t):
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    @staticmethod
    def _initial_lr(lr, swa_lr, alpha):
        if alpha == 1:
            return swa_lr
        return (lr - alpha * swa_lr) / (1 - alpha)

    def get_lr(self):
        self._warn_outside_step()
        # Each group's rate determines where its annealing started.
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before = self._weight(max(0, min(1, (step - 1) / max(1, self.anneal_epochs))))
        now = self._weight(max(0, min(1, step / max(1, self.anneal_epochs))))
        result = []
        for group in self.optimizer.param_groups:
            start = self._initial_lr(group["lr"], group["swa_lr"], before)
            result.append(group["swa_lr"] * now + start * (1 - now))
        return result
