"""L-BFGS: a quasi-Newton method with an optional strong Wolfe line search."""

import flambeau

from .optimizer import Optimizer, check_settings

__all__ = ["LBFGS"]


def _cubic_minimum(x1, f1, g1, x2, f2, g2, bounds=None):
    """Minimum of the cubic through two points with given slopes, kept within bounds."""
    low, high = bounds if bounds is not None else (x1, x2) if x1 <= x2 else (x2, x1)
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    d2 = square**0.5
    if x1 <= x2:
        position = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        position = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(position, low), high)


class _Point:
    """A step length with its loss, gradient and slope along the direction."""

    __slots__ = ("grad", "loss", "slope", "t")

    def __init__(self, t, loss, grad, slope):
        self.t, self.loss, self.grad, self.slope = t, loss, grad, slope


def _strong_wolfe(  # noqa: C901, PLR0915 - the two phases of one algorithm share all their state
    evaluate, t, direction_norm, loss, grad, slope, c1=1e-4, c2=0.9, tolerance=1e-9, max_ls=25
):
    """A step that decreases the loss enough and flattens the slope enough: (_Point, evaluations).

    References:
        Nocedal, Wright, "Numerical Optimization", 2nd edition, algorithms 3.5 and 3.6.
    """
    start = _Point(0, loss, grad, slope)
    current = evaluate(t)
    evaluations = 1
    previous = start
    bracket, done, count = None, False, 0
    while count < max_ls:
        if current.loss > loss + c1 * current.t * slope or (
            count > 1 and current.loss >= previous.loss
        ):
            bracket = [previous, current]
            break
        if abs(current.slope) <= -c2 * slope:
            bracket, done = [current], True
            break
        if current.slope >= 0:
            bracket = [previous, current]
            break
        low = current.t + 0.01 * (current.t - previous.t)
        high = current.t * 10
        t = _cubic_minimum(
            previous.t,
            previous.loss,
            previous.slope,
            current.t,
            current.loss,
            current.slope,
            (low, high),
        )
        previous, current = current, evaluate(t)
        evaluations += 1
        count += 1
    if bracket is None:
        bracket = [start, current]
    stuck = False
    low, high = (0, 1) if bracket[0].loss <= bracket[-1].loss else (1, 0)
    while not done and count < max_ls:
        if abs(bracket[1].t - bracket[0].t) * direction_norm < tolerance:
            break
        t = _cubic_minimum(
            bracket[0].t,
            bracket[0].loss,
            bracket[0].slope,
            bracket[1].t,
            bracket[1].loss,
            bracket[1].slope,
        )
        # Not too close to an end twice in a row.
        left, right = min(p.t for p in bracket), max(p.t for p in bracket)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) < margin:
            if stuck or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        point = evaluate(t)
        evaluations += 1
        count += 1
        if point.loss > loss + c1 * point.t * slope or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
        else:
            if abs(point.slope) <= -c2 * slope:
                done = True
            elif point.slope * (bracket[high].t - bracket[low].t) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = point
    return bracket[low if len(bracket) > 1 else 0], evaluations


class LBFGS(Optimizer):
    """Limited-memory BFGS; step needs a closure that clears gradients, computes the loss and calls backward.

    Args:
        max_iter, max_eval: iterations and evaluations of the closure per step (max_eval: 1.25 * max_iter).
        tolerance_grad: stop when the largest gradient is below.
        tolerance_change: stop when parameters or loss change less.
        history_size: pairs kept for the approximation.
        line_search_fn: None (fixed step lr) or "strong_wolfe".

    References:
        Liu, Nocedal, "On the limited memory BFGS method for large scale optimization", 1989.
    """

    def __init__(
        self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100,
        line_search_fn=None,
    ):  # fmt: skip
        check_settings(lr=lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _views(self, values):
        flat = []
        for value in values:
            value = flambeau.view_as_real(value) if value.is_complex() else value
            flat.append(value.to_dense().reshape(-1))
        return flambeau.cat(flat)

    def _flat_grad(self):
        return self._views(
            [p.new_zeros(p.shape) if p.grad is None else p.grad for p in self._params]
        )

    def _move(self, t, direction):
        start = 0
        for param in self._params:
            target = flambeau.view_as_real(param) if param.is_complex() else param
            count = target.numel()
            target.add_(direction[start : start + count].view_as(target), alpha=t)
            start += count

    def _restore(self, values):
        for param, value in zip(self._params, values, strict=False):
            param.copy_(value)

    def _direction(self, state, grad, previous_grad, previous_direction, t, history_size):
        """The two-loop recursion over the stored pairs."""
        y = grad.sub(previous_grad)
        s = previous_direction.mul(t)
        ys = y.dot(s)
        if ys > 1e-10:
            if len(state["old_dirs"]) == history_size:
                for name in ("old_dirs", "old_stps", "ro"):
                    state[name].pop(0)
            state["old_dirs"].append(y)
            state["old_stps"].append(s)
            state["ro"].append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y)
        ys_list, s_list, ro = state["old_dirs"], state["old_stps"], state["ro"]
        q = grad.neg()
        alphas = state.setdefault("al", [None] * history_size)
        for i in reversed(range(len(ys_list))):
            alphas[i] = s_list[i].dot(q) * ro[i]
            q.add_(ys_list[i], alpha=-alphas[i].item())
        r = q.mul(state["H_diag"])
        for i in range(len(ys_list)):
            beta = ys_list[i].dot(r) * ro[i]
            r.add_(s_list[i], alpha=(alphas[i] - beta).item())
        return r

    def step(self, closure):
        """Run up to max_iter iterations; returns the loss at the start."""
        with flambeau.no_grad():
            return self._step(closure)

    def _step(self, closure):  # noqa: C901, PLR0915 - one loop whose stopping rules share its state
        group = self.param_groups[0]
        lr, search = float(group["lr"]), group["line_search_fn"]
        if search not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        def run():
            with flambeau.enable_grad():
                return closure()

        first_loss = run()
        loss = float(first_loss)
        evaluations = 1
        state["func_evals"] += 1
        grad = self._flat_grad()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first_loss
        direction, t = state.get("d"), state.get("t")
        previous_grad, previous_loss = state.get("prev_flat_grad"), state.get("prev_loss")
        iterations = 0
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction = grad.neg()
                state["old_dirs"], state["old_stps"], state["ro"], state["H_diag"] = [], [], [], 1
            else:
                direction = self._direction(
                    state, grad, previous_grad, direction, t, group["history_size"]
                )
            if previous_grad is None:
                previous_grad = grad.clone()
            else:
                previous_grad.copy_(grad)
            previous_loss = loss
            t = min(1.0, 1.0 / float(grad.abs().sum())) * lr if state["n_iter"] == 1 else lr
            slope = float(grad.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            used = 0
            if search == "strong_wolfe":
                loss, grad, t, used = self._search(run, loss, grad, slope, direction, t)
                self._move(t, direction)
                flat = bool(grad.abs().max() <= group["tolerance_grad"])
            else:
                self._move(t, direction)
                flat = False
                if iterations != group["max_iter"]:
                    loss = float(run())
                    grad = self._flat_grad()
                    flat = bool(grad.abs().max() <= group["tolerance_grad"])
                    used = 1
            evaluations += used
            state["func_evals"] += used
            if iterations == group["max_iter"] or evaluations >= group["max_eval"] or flat:
                break
            if direction.mul(t).abs().max() <= group["tolerance_change"]:
                break
            if abs(loss - previous_loss) < group["tolerance_change"]:
                break
        state.update(d=direction, t=t, prev_flat_grad=previous_grad, prev_loss=previous_loss)
        return first_loss

    def _search(self, run, loss, grad, slope, direction, t):
        saved = [p.clone() for p in self._params]

        def evaluate(step):
            self._move(step, direction)
            value = float(run())
            new_grad = self._flat_grad()
            self._restore(saved)
            return _Point(step, value, new_grad, float(new_grad.dot(direction)))

        point, evaluations = _strong_wolfe(
            evaluate, t, float(direction.abs().max()), loss, grad.clone(), slope
        )
        return point.loss, point.grad, point.t, evaluations
