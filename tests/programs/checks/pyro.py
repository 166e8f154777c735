"""variational inference, NUTS, and distributions and flows with no counterpart here"""

import contextlib

import pyro
import pyro.distributions as dist
import pyro.distributions.transforms as T
import torch
from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO, TraceEnum_ELBO, config_enumerate
from pyro.infer.autoguide import AutoMultivariateNormal, AutoNormal

PACKAGES = ("pyro-ppl", "pyro-api", "opt_einsum")


@contextlib.contextmanager
def double():
    """Sampling chains follow the last bits: float32 would part after a few steps."""
    torch.set_default_dtype(torch.float64)
    pyro.clear_param_store()
    pyro.set_rng_seed(0)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def regression(x, y):
    slope = pyro.sample("slope", dist.Normal(0.0, 5.0))
    offset = pyro.sample("offset", dist.StudentT(4.0, 0.0, 3.0))
    noise = pyro.sample("noise", dist.LogNormal(0.0, 1.0))
    with pyro.plate("data", len(x)):
        pyro.sample("y", dist.Normal(offset + slope * x, noise), obs=y)


def data():
    x = torch.linspace(-1, 1, 40)
    return x, 1.5 * x - 0.5 + 0.3 * torch.randn(40)


def variational():
    with double():
        x, y = data()
        found = []
        for guide in (AutoNormal(regression), AutoMultivariateNormal(regression)):
            pyro.clear_param_store()
            svi = SVI(regression, guide, pyro.optim.Adam({"lr": 0.03}), Trace_ELBO())
            found.append([svi.step(x, y) for _ in range(60)][::10])
            found.append(guide.median())
        return found


def mixture():
    with double():
        values = torch.cat([torch.randn(20) - 2, torch.randn(30) + 3])

        @config_enumerate
        def model(values):
            weights = pyro.sample("weights", dist.Dirichlet(torch.ones(2)))
            with pyro.plate("components", 2):
                loc = pyro.sample("loc", dist.Normal(0.0, 5.0))
            with pyro.plate("data", len(values)):
                kind = pyro.sample("kind", dist.Categorical(weights))
                pyro.sample("x", dist.Normal(loc[kind], 1.0), obs=values)

        guide = AutoNormal(pyro.poutine.block(model, hide=["kind"]))
        svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), TraceEnum_ELBO(max_plate_nesting=1))
        losses = [svi.step(values) for _ in range(40)]
        return [losses[::10], guide.median()]


def nuts():
    with double():
        x, y = data()
        chain = MCMC(NUTS(regression), num_samples=10, warmup_steps=10, disable_progbar=True)
        chain.run(x, y)
        return chain.get_samples()


def distributions():
    with double():
        found = []
        for d in (
            dist.BetaBinomial(2.0, 3.0, 10),
            dist.GammaPoisson(2.0, 3.0),
            dist.DirichletMultinomial(torch.ones(3), total_count=5),
            dist.ZeroInflatedPoisson(torch.tensor(2.0), gate=torch.tensor(0.3)),
            dist.LKJ(3, torch.tensor(1.0)),
            dist.Stable(torch.tensor(1.5), torch.tensor(0.0)),
            dist.SineBivariateVonMises(0.0, 0.0, 1.0, 1.0, 0.1),
            dist.AsymmetricLaplace(0.0, 1.0, 2.0),
            dist.OrderedLogistic(torch.tensor(0.1), torch.tensor([0.0, 1.0])),
            dist.ProjectedNormal(torch.tensor([1.0, 0.0])),
            dist.Normal(torch.zeros(3), 1.0).to_event(1),
            dist.MultivariateStudentT(torch.tensor(3.0), torch.zeros(2), torch.eye(2)),
            dist.RelaxedBernoulliStraightThrough(torch.tensor(0.5), torch.tensor(0.3)),
        ):
            sample = d.sample((3,))
            found.append([sample, d.log_prob(sample)])
        return found


def flows():
    with double():
        x = torch.linspace(-1, 1, 6).reshape(2, 3)
        found = []
        for make in (
            T.affine_autoregressive,
            T.spline,
            T.planar,
            T.radial,
            T.householder,
            T.polynomial,
        ):
            flow = make(3)
            d = dist.TransformedDistribution(dist.Normal(torch.zeros(3), 1.0), [flow])
            y = flow(x)
            found.append([y, flow.log_abs_det_jacobian(x, y), d.sample((2,))])
        return found


CASES = {
    "variational": variational,
    "mixture": mixture,
    "nuts": nuts,
    "distributions": distributions,
    "flows": flows,
}
