"""exact and variational Gaussian processes"""

import gpytorch
import torch
from gpytorch import kernels, likelihoods, means, mlls, models, variational

PACKAGES = ("gpytorch", "linear_operator")


class Exact(models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = means.ConstantMean()
        self.covar_module = kernels.ScaleKernel(kernels.MaternKernel(nu=2.5) + kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


class Sparse(models.ApproximateGP):
    def __init__(self, points):
        distribution = variational.CholeskyVariationalDistribution(points.size(0))
        super().__init__(variational.VariationalStrategy(self, points, distribution))
        self.mean_module = means.LinearMean(1)
        self.covar_module = kernels.ScaleKernel(kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def data():
    x = torch.linspace(0, 1, 30, dtype=torch.float64).unsqueeze(-1)
    return x, torch.sin(6 * x[:, 0]) + 0.1 * torch.randn(30, dtype=torch.float64)


def exact():
    x, y = data()
    likelihood = likelihoods.GaussianLikelihood().double()
    model = Exact(x, y, likelihood).double()
    losses = fit(model, likelihood, mlls.ExactMarginalLogLikelihood(likelihood, model), x, y)
    model.eval(), likelihood.eval()
    prediction = likelihood(model(torch.tensor([[0.3], [0.71], [1.4]], dtype=torch.float64)))
    return [losses, prediction.mean, prediction.variance, prediction.sample()]


def approximate():
    x, y = data()
    likelihood = likelihoods.StudentTLikelihood().double()
    model = Sparse(x[::5].clone()).double()
    losses = fit(model, likelihood, mlls.VariationalELBO(likelihood, model, num_data=30), x, y)
    model.eval()
    prediction = model(x[::7])
    return [losses, prediction.mean, prediction.covariance_matrix]


def fit(model, likelihood, objective, x, y):
    model.train(), likelihood.train()
    # an exact process holds its likelihood too
    parameters = dict.fromkeys([*model.parameters(), *likelihood.parameters()])
    optimizer = torch.optim.Adam(list(parameters), lr=0.05)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        loss = -objective(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


CASES = {"exact": exact, "approximate": approximate}
