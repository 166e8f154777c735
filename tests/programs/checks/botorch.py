"""Bayesian optimisation: a fitted model, acquisition functions and their optimisation"""

import torch
from botorch.acquisition import (
    ExpectedImprovement,
    LogExpectedImprovement,
    UpperConfidenceBound,
    qExpectedImprovement,
    qNoisyExpectedImprovement,
)
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.mlls import ExactMarginalLogLikelihood

PACKAGES = ("botorch", "gpytorch", "linear_operator")


def fitted():
    x = torch.rand(12, 2, dtype=torch.float64)
    y = (torch.sin(6 * x[:, :1]) + x[:, 1:]) + 0.01 * torch.randn(12, 1, dtype=torch.float64)
    model = SingleTaskGP(x, y, outcome_transform=Standardize(m=1))
    likelihood = ExactMarginalLogLikelihood(model.likelihood, model)
    fit_gpytorch_mll(likelihood)
    return model, likelihood, x, y


def model():
    model, _, _, _ = fitted()
    posterior = model.posterior(torch.linspace(0, 1, 10, dtype=torch.float64).repeat(2, 1).T)
    return [posterior.mean, posterior.variance]


def acquisition():
    model, _, x, y = fitted()
    points = torch.rand(6, 1, 2, dtype=torch.float64)
    sampler = SobolQMCNormalSampler(torch.Size([32]), seed=1)
    pairs = torch.rand(4, 2, 2, dtype=torch.float64)
    return [
        ExpectedImprovement(model, y.max())(points),
        LogExpectedImprovement(model, y.max())(points),
        UpperConfidenceBound(model, 0.2)(points),
        qExpectedImprovement(model, y.max(), sampler)(pairs),
        qNoisyExpectedImprovement(model, x, SobolQMCNormalSampler(torch.Size([32]), seed=2))(pairs),
    ]


def optimised():
    model = fitted()[0]
    bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    candidate, value = optimize_acqf(
        UpperConfidenceBound(model, 0.5),
        bounds,
        q=1,
        num_restarts=3,
        raw_samples=16,
        options={"seed": 3},
    )
    return [candidate, value]


CASES = {"model": model, "acquisition": acquisition, "optimised": optimised}
