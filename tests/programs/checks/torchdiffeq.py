"""odeint with fixed and adaptive methods, gradients through the solver and by the adjoint, events"""

import torch
from torch import nn
from torchdiffeq import odeint, odeint_adjoint, odeint_event

PACKAGES = ("torchdiffeq",)
METHODS = "dopri5 dopri8 bosh3 fehlberg2 adaptive_heun euler midpoint rk4 explicit_adams implicit_adams heun3".split()


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, t, y):
        return self.net(y**3) + torch.sin(t)


def solve(method):
    def run():
        field = Field().double()
        start = torch.tensor([[2.0, 0.0], [0.5, 1.0]], dtype=torch.float64, requires_grad=True)
        times = torch.linspace(0.0, 1.0, 8, dtype=torch.float64)
        path = odeint(field, start, times, method=method, rtol=1e-6, atol=1e-8)
        path.square().sum().backward()
        return [path, start.grad, [p.grad for p in field.parameters()]]

    return run


def adjoint():
    field = Field().double()
    start = torch.tensor([[2.0, 0.0]], dtype=torch.float64, requires_grad=True)
    times = torch.linspace(0.0, 1.0, 5, dtype=torch.float64, requires_grad=True)
    path = odeint_adjoint(field, start, times, rtol=1e-7, atol=1e-9)
    path.sin().sum().backward()
    return [path, start.grad, times.grad, [p.grad for p in field.parameters()]]


def event():
    def fall(t, state):
        speed = state[1]
        return speed, torch.full_like(speed, -9.81)

    state = (torch.tensor([10.0]), torch.tensor([0.0]))
    time, path = odeint_event(
        fall, state, torch.tensor(0.0), event_fn=lambda t, s: s[0].squeeze(), atol=1e-8, rtol=1e-8
    )
    return [time, path[0][-1].abs() < 1e-3, path[1][-1]]


CASES = {method: solve(method) for method in METHODS} | {"adjoint": adjoint, "event": event}
