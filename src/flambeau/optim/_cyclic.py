"""Learning rate schedules that follow cycles; exported by lr_scheduler."""

import math

from .lr_scheduler import LRScheduler, _copied, _one_per_group, _set_lr


def _has_momentum(optimizer):
    return "momentum" in optimizer.defaults or "betas" in optimizer.defaults


def _set_momentum(group, use_beta1, value):
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class CyclicLR(LRScheduler):
    """Goes linearly from base_lr up to max_lr in step_size_up batches and back in step_size_down.

    Args:
        mode: "triangular", "triangular2" (amplitude halved each cycle) or "exp_range" (amplitude gamma ** batches).
        scale_fn, scale_mode: an amplitude of one's own, a function of the "cycle" or of the "iterations".
        cycle_momentum: move momentum the other way, between base_momentum and max_momentum.

    References:
        Smith, "Cyclical Learning Rates for Training Neural Networks", 2015, arXiv:1506.01186.
    """

    def __init__(
        self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0,
        scale_fn=None, scale_mode="cycle", cycle_momentum=True, base_momentum=0.8, max_momentum=0.9, last_epoch=-1,
    ):  # fmt: skip
        from .optimizer import Optimizer

        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        groups = optimizer.param_groups
        base_lrs = _one_per_group(
            base_lr, groups, "base_lr must have the same length as optimizer.param_groups ({}, {})"
        )
        if last_epoch == -1:
            for lr, group in zip(base_lrs, groups, strict=False):
                _set_lr(group, lr)
        self.max_lrs = _one_per_group(
            max_lr, groups, "max_lr must have the same length as optimizer.param_groups ({}, {})"
        )
        step_size_up = float(step_size_up)
        step_size_down = float(step_size_down) if step_size_down is not None else step_size_up
        self.total_size = step_size_up + step_size_down
        self.step_ratio = step_size_up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        if scale_fn is None:
            scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.scale_mode = scale_mode
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            if not _has_momentum(optimizer):
                raise ValueError(
                    "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
                )
            self.use_beta1 = "betas" in optimizer.defaults
            message = "momentum must have the same length as optimizer.param_groups ({}, {})"
            self.base_momentums = _one_per_group(base_momentum, groups, message)
            self.max_momentums = _one_per_group(max_momentum, groups, message)
            if last_epoch == -1:
                for high, low, group in zip(
                    self.max_momentums, self.base_momentums, groups, strict=False
                ):
                    _set_momentum(group, self.use_beta1, high)
                    group["max_momentum"] = high
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x):
        """The amplitude at a cycle (or batch)."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        if self.mode == "triangular2":
            return 1 / (2.0 ** (x - 1))
        return self.gamma**x

    def get_lr(self):
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        position = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        values = [
            base + (high - base) * position * scale
            for base, high in zip(self.base_lrs, self.max_lrs, strict=False)
        ]
        if self.cycle_momentum:
            for low, high, group in zip(
                self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=False
            ):
                _set_momentum(group, self.use_beta1, high - (high - low) * position * scale)
        return values

    def state_dict(self):
        """All attributes but the optimizer and plain functions."""
        state = super().state_dict()
        fn = state.pop("_scale_fn_custom", None)
        state["_scale_fn_custom"] = (
            None if fn is None or hasattr(fn, "__code__") else fn.__dict__.copy()
        )
        return state

    def load_state_dict(self, state_dict):
        """Take over attributes from state_dict; a function stays."""
        state_dict = dict(state_dict)
        saved = state_dict.pop("_scale_fn_custom")
        super().load_state_dict(state_dict)
        if saved is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(saved)


class CosineAnnealingWarmRestarts(LRScheduler):
    """eta_min + (base_lr - eta_min) * (1 + cos(pi * T_cur / T_i)) / 2, starting over after T_i epochs, T_i *= T_mult.

    References:
        Loshchilov, Hutter, "SGDR", 2016, arXiv:1608.03983.
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        low = self.eta_min
        scale = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [low + (base - low) * scale / 2 for base in self.base_lrs]

    def step(self, epoch=None):
        """Go to the next epoch, or to the given one, which may be fractional."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur = self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur = self.T_cur % self.T_i
                self.T_i = self.T_i * self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._jump(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            values = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, values, strict=False):
            _set_lr(group, lr)
        self._last_lr = [_copied(group["lr"]) for group in self.optimizer.param_groups]

    def _jump(self, epoch):
        if epoch < self.T_0:
            self.T_i = self.T_0
            self.T_cur = epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log((epoch / self.T_0 * (self.T_mult - 1) + 1), self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n


class OneCycleLR(LRScheduler):
    """One cycle over the whole training: up to max_lr, then down to far below the start; momentum the other way.

    Args:
        total_steps: number of steps, or give epochs and steps_per_epoch.
        pct_start: the fraction of steps spent going up.
        anneal_strategy: "cos" or "linear".
        div_factor: max_lr / the rate at the start.
        final_div_factor: the rate at the start / the rate at the end.
        three_phase: go down as long as up, then to the end.

    References:
        Smith, Topin, "Super-Convergence", 2017, arXiv:1708.07120.
    """

    def __init__(
        self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
        anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0,
        final_div_factor=1e4, three_phase=False, last_epoch=-1,
    ):  # fmt: skip
        from .optimizer import Optimizer

        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        self.total_steps = self._total(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        self._schedule_phases = self._phases(pct_start, three_phase)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        groups = optimizer.param_groups
        max_lrs = _one_per_group(
            max_lr, groups, "max_lr must have the same length as optimizer.param_groups ({}, {})"
        )
        if last_epoch == -1:
            for group, high in zip(groups, max_lrs, strict=False):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            if not _has_momentum(optimizer):
                raise ValueError(
                    "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
                )
            self.use_beta1 = "betas" in optimizer.defaults
            message = "momentum must have the same length as optimizer.param_groups ({}, {})"
            highs = _one_per_group(max_momentum, groups, message)
            lows = _one_per_group(base_momentum, groups, message)
            if last_epoch == -1:
                for high, low, group in zip(highs, lows, groups, strict=False):
                    _set_momentum(group, self.use_beta1, high)
                    group["max_momentum"] = high
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _total(total_steps, epochs, steps_per_epoch):
        if total_steps is not None:
            if total_steps <= 0 or not isinstance(total_steps, int):
                raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
            return total_steps
        if epochs is None or steps_per_epoch is None:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        for name, value in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
            if value <= 0 or not isinstance(value, int):
                raise ValueError(f"Expected positive integer {name}, but got {value}")
        return epochs * steps_per_epoch

    def _phases(self, pct_start, three_phase):
        total = self.total_steps
        up = float(pct_start * total) - 1

        def phase(end, start_lr, end_lr, start_momentum, end_momentum):
            return {
                "end_step": end,
                "start_lr": start_lr,
                "end_lr": end_lr,
                "start_momentum": start_momentum,
                "end_momentum": end_momentum,
            }

        rise = phase(up, "initial_lr", "max_lr", "max_momentum", "base_momentum")
        if not three_phase:
            return [rise, phase(total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        return [
            rise,
            phase(
                float(2 * pct_start * total) - 2,
                "max_lr",
                "initial_lr",
                "base_momentum",
                "max_momentum",
            ),
            phase(total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
        ]

    def _anneal_func(self, start, end, pct):
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)
        return (end - start) * pct + start

    def get_lr(self):
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )
        values = []
        for group in self.optimizer.param_groups:
            start = 0.0
            for i, phase in enumerate(self._schedule_phases):
                end = phase["end_step"]
                if step <= end or i == len(self._schedule_phases) - 1:
                    pct = (step - start) / (end - start)
                    values.append(
                        self._anneal_func(group[phase["start_lr"]], group[phase["end_lr"]], pct)
                    )
                    if self.cycle_momentum:
                        momentum = self._anneal_func(
                            group[phase["start_momentum"]], group[phase["end_momentum"]], pct
                        )
                        _set_momentum(group, self.use_beta1, momentum)
                    break
                start = end
        return values
