"""Optimizers and schedules, written against whichever library is passed in as T; recorded by record_optim.py."""


def optimizers(T):
    """Name -> function from parameters to an optimizer."""
    O = T.optim
    return {
        "sgd": lambda p: O.SGD(p, lr=0.1),
        "sgd_momentum": lambda p: O.SGD(p, lr=0.1, momentum=0.9, dampening=0.1, weight_decay=0.01),
        "sgd_nesterov": lambda p: O.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
        "sgd_maximize": lambda p: O.SGD(p, lr=0.01, maximize=True),
        "adam": lambda p: O.Adam(p, lr=0.1),
        "adam_amsgrad": lambda p: O.Adam(p, lr=0.1, weight_decay=0.1, amsgrad=True),
        "adam_small_beta": lambda p: O.Adam(p, lr=0.1, betas=(0.4, 0.99)),
        "adamw": lambda p: O.AdamW(p, lr=0.1),
        "adamw_maximize": lambda p: O.AdamW(p, lr=0.1, amsgrad=True, maximize=True),
        "adagrad": lambda p: O.Adagrad(
            p, lr=0.1, lr_decay=0.01, weight_decay=0.01, initial_accumulator_value=0.1
        ),
        "adadelta": lambda p: O.Adadelta(p, weight_decay=0.01),
        "adamax": lambda p: O.Adamax(p, lr=0.1, weight_decay=0.01),
        "nadam": lambda p: O.NAdam(p, lr=0.1, weight_decay=0.01),
        "nadam_decoupled": lambda p: O.NAdam(
            p, lr=0.1, weight_decay=0.01, decoupled_weight_decay=True
        ),
        "radam": lambda p: O.RAdam(p, lr=0.1, betas=(0.9, 0.8), weight_decay=0.01),
        "radam_default": lambda p: O.RAdam(p, lr=0.1),
        "rmsprop": lambda p: O.RMSprop(p, lr=0.01),
        "rmsprop_centered": lambda p: O.RMSprop(
            p, lr=0.01, centered=True, momentum=0.9, weight_decay=0.01
        ),
        "rprop": lambda p: O.Rprop(p, lr=0.1),
        "asgd": lambda p: O.ASGD(p, lr=0.1, t0=2, weight_decay=0.01),
        "adafactor": lambda p: O.Adafactor(p, lr=0.1, weight_decay=0.01),
        "muon": lambda p: O.Muon(p[:1], lr=0.1),
        "lbfgs": lambda p: O.LBFGS(p, lr=0.5, max_iter=3),
        "lbfgs_wolfe": lambda p: O.LBFGS(p, line_search_fn="strong_wolfe", max_iter=4),
    }


REAL_ONLY = ("adafactor", "muon")


def parameters(T, complex_valued):
    """Two float64 parameters with fixed values."""
    values = [T.linspace(-1, 1, 12).reshape(3, 4).double(), T.linspace(0.5, 2, 5).double()]
    if complex_valued:
        values = [T.complex(v, v.flip(0) * 0.5) for v in values]
    return [T.nn.Parameter(v) for v in values]


def closure_for(optimizer, params):
    def closure():
        optimizer.zero_grad()
        loss = sum(
            ((p * 0.7 - 0.3 * i).abs() ** 2).sum() + 0.1 * (p.abs() ** 4).sum()
            for i, p in enumerate(params)
        )
        loss.backward()
        return loss

    return closure


def trajectory(name, T, complex_valued=False, steps=5):
    """(losses, final values, names of state entries, groups) after some steps."""
    params = parameters(T, complex_valued)
    optimizer = optimizers(T)[name](params)
    closure = closure_for(optimizer, params)
    losses = []
    for _ in range(steps):
        if name.startswith("lbfgs"):
            losses.append(optimizer.step(closure).item())
        else:
            losses.append(closure().item())
            optimizer.step()
    flat = [T.view_as_real(p) if p.is_complex() else p for p in params]
    saved = optimizer.state_dict()
    groups = [
        {k: list(v) if isinstance(v, tuple) else v for k, v in g.items()}
        for g in saved["param_groups"]
    ]
    state = {str(key): sorted(entry) for key, entry in saved["state"].items()}
    if name.startswith("lbfgs"):
        state = {}  # the history is our own
    return [losses, [p.detach().reshape(-1).tolist() for p in flat], state, groups, repr(optimizer)]


def long_run(name, T, dtype, steps=50):
    """Values of single or double precision parameters after many steps."""
    params = parameters(T, dtype.startswith("complex"))
    params = [T.nn.Parameter(p.detach().to(getattr(T, dtype))) for p in params]
    optimizer = optimizers(T)[name](params)
    closure = closure_for(optimizer, params)
    for _ in range(steps):
        closure()
        optimizer.step()
    flat = [T.view_as_real(p) if p.is_complex() else p for p in params]
    return [p.detach().double().reshape(-1).tolist() for p in flat]


def schedules(T):
    """Name -> function from an optimizer to a schedule."""
    S = T.optim.lr_scheduler
    return {
        "lambda": lambda o: S.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (1 + e)]),
        "multiplicative": lambda o: S.MultiplicativeLR(o, lambda e: 0.95),
        "step": lambda o: S.StepLR(o, 3, 0.5),
        "multistep": lambda o: S.MultiStepLR(o, [2, 5, 5], 0.5),
        "constant": lambda o: S.ConstantLR(o, 0.5, 4),
        "linear": lambda o: S.LinearLR(o, 0.3, 0.9, 4),
        "exponential": lambda o: S.ExponentialLR(o, 0.9),
        "cosine": lambda o: S.CosineAnnealingLR(o, 5, 0.01),
        "warm_restarts": lambda o: S.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
        "cyclic": lambda o: S.CyclicLR(o, 0.01, 0.2, 3, mode="triangular2"),
        "cyclic_exp": lambda o: S.CyclicLR(o, 0.01, 0.2, 3, 2, mode="exp_range", gamma=0.9),
        "one_cycle": lambda o: S.OneCycleLR(o, [0.3, 0.6], total_steps=14),
        "one_cycle_three_phase": lambda o: S.OneCycleLR(
            o, 0.3, total_steps=14, three_phase=True, anneal_strategy="linear"
        ),
        "polynomial": lambda o: S.PolynomialLR(o, 6, 2.0),
        "sequential": lambda o: S.SequentialLR(
            o, [S.ConstantLR(o, 0.1, 3), S.ExponentialLR(o, 0.9), S.StepLR(o, 2, 0.5)], [3, 8]
        ),
        "chained": lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 3), S.ExponentialLR(o, 0.9)]),
        "plateau": lambda o: S.ReduceLROnPlateau(
            o, factor=0.5, patience=1, cooldown=1, min_lr=0.05
        ),
        "swa": lambda o: T.optim.swa_utils.SWALR(o, 0.05, anneal_epochs=4),
    }


METRICS = [3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1]


def rates(name, T, steps=13):
    """Learning rate and momentum of both groups after each step, and the names in the state."""
    params = [T.nn.Parameter(T.ones(2)) for _ in range(2)]
    groups = [{"params": params[:1]}, {"params": params[1:], "lr": 0.5}]
    optimizer = T.optim.SGD(groups, lr=0.1, momentum=0.9)
    schedule = schedules(T)[name](optimizer)
    seen = []
    for i in range(steps):
        seen.append(
            [g["lr"] for g in optimizer.param_groups]
            + [g["momentum"] for g in optimizer.param_groups]
        )
        optimizer.step()
        schedule.step(*([METRICS[i]] if name == "plateau" else []))
    return [seen, sorted(schedule.state_dict())]
