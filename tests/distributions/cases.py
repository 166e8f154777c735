"""The distributions that the tests go through, as expressions that Flambeau and PyTorch evaluate alike."""

import zlib

# D: the distributions module, T(values): a tensor of the dtype under test. Two or more per class: numbers, broadcast
# tensors, edges of the parameters.
DISTRIBUTIONS = [
    "D.Bernoulli(0.3)",
    "D.Bernoulli(T([0.0, 0.2, 0.5, 1.0]))",
    "D.Bernoulli(logits=T([[-1.5], [2.0]]))",
    "D.Beta(0.7, 2.5)",
    "D.Beta(T([0.5, 1.0, 30.0]), T([[2.0], [0.3]]))",
    "D.Binomial(5, T([0.0, 0.3, 0.9, 1.0]))",
    "D.Binomial(T([[60.0], [3.0]]), logits=T([-1.0, 0.0, 0.7]))",
    "D.Categorical(T([0.1, 0.6, 0.3]))",
    "D.Categorical(logits=T([[0.1, -0.6, 0.3, 2.0], [0.0, 0.0, 0.0, 1.0]]))",
    "D.Cauchy(0.5, 2.0)",
    "D.Cauchy(T([0.0, -3.0]), T([[0.1], [4.0]]))",
    "D.Chi2(3.0)",
    "D.Chi2(T([0.5, 1.0, 20.0]))",
    "D.ContinuousBernoulli(0.3)",
    "D.ContinuousBernoulli(T([0.02, 0.4995, 0.5, 0.97]))",
    "D.ContinuousBernoulli(logits=T([[-1.5], [0.001]]))",
    "D.Dirichlet(T([0.5, 0.2]))",
    "D.Dirichlet(T([[1.5, 2.0, 0.7], [10.0, 20.0, 0.3]]))",
    "D.Exponential(2.0)",
    "D.Exponential(T([[0.1], [7.0]]))",
    "D.FisherSnedecor(3.0, 5.0)",
    "D.FisherSnedecor(T([1.0, 4.0, 9.0]), T([[1.5], [6.0]]))",
    "D.Gamma(2.0, 3.0)",
    "D.Gamma(T([0.1, 1.0, 12.0]), T([[0.5], [2.0]]))",
    "D.GeneralizedPareto(1.0, 2.0, 0.2)",
    "D.GeneralizedPareto(T([0.0, 1.0]), 1.5, T([[0.0], [-0.4], [0.7]]))",
    "D.Geometric(0.3)",
    "D.Geometric(logits=T([-2.0, 0.5]))",
    "D.Gumbel(0.5, 2.0)",
    "D.Gumbel(T([0.0, -1.0]), T([[0.5], [3.0]]))",
    "D.HalfCauchy(2.0)",
    "D.HalfCauchy(T([0.5, 3.0]))",
    "D.HalfNormal(2.0)",
    "D.HalfNormal(T([[0.5], [3.0]]))",
    "D.Independent(D.Normal(T([[0.0, 1.0], [2.0, 3.0]]), 0.5), 1)",
    "D.Independent(D.Bernoulli(T([[0.1, 0.9], [0.5, 0.6]])), 2)",
    "D.InverseGamma(2.5, 1.5)",
    "D.InverseGamma(T([0.8, 3.0]), T([[0.5], [2.0]]))",
    "D.Kumaraswamy(2.0, 3.0)",
    "D.Kumaraswamy(T([0.5, 2.0]), T([[1.0], [0.7]]))",
    "D.LKJCholesky(3, 1.0)",
    "D.LKJCholesky(4, T([0.5, 2.0]))",
    "D.Laplace(0.5, 2.0)",
    "D.Laplace(T([0.0, -1.0]), T([[0.5], [3.0]]))",
    "D.LogNormal(0.5, 0.8)",
    "D.LogNormal(T([0.0, -1.0]), T([[0.5], [1.2]]))",
    "D.LogisticNormal(T([0.2, -0.4]), T([0.5, 1.5]))",
    "D.LogisticNormal(T([[0.2, -0.4, 1.0]]), T([[0.5], [1.5]]))",
    "D.LowRankMultivariateNormal(T([0.0, 1.0, 2.0]), T([[1.0], [0.5], [-0.3]]), T([0.5, 1.0, 2.0]))",
    "D.LowRankMultivariateNormal(T([[0.0, 1.0], [1.0, 1.0]]), T([[1.0, 0.2], [0.5, 0.1]]), T([0.5, 1.0]))",
    "D.MixtureSameFamily(D.Categorical(T([0.3, 0.7])), D.Normal(T([-1.0, 2.0]), T([0.5, 1.0])))",
    "D.MixtureSameFamily(D.Categorical(T([0.3, 0.7])), D.Independent(D.Normal(T([[-1.0, 2.0], [0.0, 1.0]]), 0.5), 1))",
    "D.MixtureSameFamily(D.Categorical(T([[0.3, 0.7], [0.5, 0.5]])), D.Poisson(T([[1.0, 2.0], [0.5, 8.0]])))",
    "D.Multinomial(4, T([0.2, 0.5, 0.3]))",
    "D.Multinomial(3, logits=T([[0.2, 0.5], [0.0, -1.0]]))",
    "D.MultivariateNormal(T([0.0, 1.0]), T([[2.0, 0.3], [0.3, 1.0]]))",
    "D.MultivariateNormal(T([[0.0, 1.0], [2.0, -1.0]]), precision_matrix=T([[2.0, 0.3], [0.3, 1.0]]))",
    "D.MultivariateNormal(T([0.0, 1.0]), scale_tril=T([[[2.0, 0.0], [0.3, 1.0]], [[1.0, 0.0], [0.0, 0.1]]]))",
    "D.NegativeBinomial(5, T([0.0, 0.3, 0.9]))",
    "D.NegativeBinomial(T([[0.5], [3.0]]), logits=T([-1.0, 0.7]))",
    "D.Normal(0.5, 2.0)",
    "D.Normal(T([0.0, -1.0, 30.0]), T([[0.5], [3.0]]))",
    "D.OneHotCategorical(T([0.1, 0.6, 0.3]))",
    "D.OneHotCategorical(logits=T([[0.1, -0.6], [0.0, 1.0]]))",
    "D.OneHotCategoricalStraightThrough(T([[0.1, 0.6, 0.3]]))",
    "D.Pareto(1.5, 3.0)",
    "D.Pareto(T([0.5, 2.0]), T([[0.7], [4.0]]))",
    "D.Poisson(3.5)",
    "D.Poisson(T([0.0, 0.7, 40.0]))",
    "D.RelaxedBernoulli(T(0.7), T([0.2, 0.9]))",
    "D.RelaxedBernoulli(T(2.0), logits=T([0.2, -1.0]))",
    "D.RelaxedOneHotCategorical(T(0.7), T([0.2, 0.3, 0.5]))",
    "D.RelaxedOneHotCategorical(T(2.0), logits=T([[0.2, 0.3], [1.0, -1.0]]))",
    "D.StudentT(3.0)",
    "D.StudentT(T([0.8, 1.5, 10.0]), T([[0.0], [2.0]]), 2.5)",
    "D.TransformedDistribution(D.Normal(T([0.0, 1.0]), 1.0), [D.AffineTransform(1.0, -2.0), D.ExpTransform()])",
    "D.TransformedDistribution(D.Uniform(0.0, 1.0),"
    " [D.SigmoidTransform().inv, D.AffineTransform(T([0.0, 1.0]), 2.0)])",
    "D.Uniform(-1.0, 2.5)",
    "D.Uniform(T([0.0, 1.0]), T([[1.5], [3.0]]))",
    "D.VonMises(0.5, 2.0)",
    "D.VonMises(T([0.0, -3.0]), T([[0.01], [50.0]]))",
    "D.Weibull(1.5, 2.0)",
    "D.Weibull(T([0.5, 2.0]), T([[0.7], [4.0]]))",
    "D.Wishart(T(5.0), T([[2.0, 0.3], [0.3, 1.0]]))",
    "D.Wishart(T([4.0, 7.5]), scale_tril=T([[1.0, 0.0, 0.0], [0.3, 1.0, 0.0], [0.2, 0.1, 0.5]]))",
]

# Where PyTorch 2.13 is wrong or gives NaN, and Flambeau does not follow: (distribution, answer).
DEVIATIONS = {
    ("D.Kumaraswamy(2.0, 3.0)", "mode"),  # always NaN
    ("D.Kumaraswamy(T([0.5, 2.0]), T([[1.0], [0.7]]))", "mode"),
    ("D.Weibull(T([0.5, 2.0]), T([[0.7], [4.0]]))", "mode"),  # NaN for a concentration below 1
}


def is_deviation(pair):
    """The same for divergences.

    ContinuousBernoulli and Uniform: infinite even where one support contains the other. Wishart: sums a term over the
    batch. Infinite divergences have the shape of p alone.
    """
    p, q = pair.split(" || ")
    kinds = {p.partition("(")[0], q.partition("(")[0]}
    return kinds in ({"D.ContinuousBernoulli", "D.Uniform"}, {"D.Wishart"})


# One parameter set per class for the divergences of all pairs; supports that nest and some that do not.
DIVERGENCES = [
    "D.Bernoulli(T([0.2, 0.7]))",
    "D.Bernoulli(T([0.0, 0.5]))",
    "D.Beta(T([0.7, 2.0]), T([1.5, 3.0]))",
    "D.Beta(T([1.7, 2.0]), T([0.5, 30.0]))",
    "D.Binomial(5, T([0.3, 0.8]))",
    "D.Binomial(5, T([0.5, 0.1]))",
    "D.Categorical(T([[0.1, 0.6, 0.3], [0.5, 0.5, 0.0]]))",
    "D.Categorical(logits=T([0.1, -0.6, 0.3]))",
    "D.Cauchy(T([0.0, 1.0]), T([0.5, 2.0]))",
    "D.Cauchy(0.5, 2.0)",
    "D.ContinuousBernoulli(T([0.2, 0.7]))",
    "D.ContinuousBernoulli(T([0.5, 0.9]))",
    "D.Chi2(T([2.0, 5.0]))",
    "D.Dirichlet(T([[1.5, 2.0, 0.7], [10.0, 20.0, 0.3]]))",
    "D.Dirichlet(T([1.0, 1.0, 1.0]))",
    "D.Exponential(T([0.5, 3.0]))",
    "D.Exponential(2.0)",
    "D.Gamma(T([0.5, 4.0]), T([2.0, 0.3]))",
    "D.Gamma(1.5, 2.0)",
    "D.Geometric(T([0.3, 0.8]))",
    "D.Geometric(logits=T([0.3, 0.8]))",
    "D.Gumbel(T([0.5, -1.0]), T([2.0, 0.7]))",
    "D.Gumbel(0.0, 1.0)",
    "D.HalfNormal(T([0.5, 2.0]))",
    "D.HalfNormal(1.0)",
    "D.Independent(D.Normal(T([[0.0, 1.0], [2.0, 3.0]]), 0.5), 1)",
    "D.Independent(D.Normal(T([[0.0, 1.0]]), 1.5), 1)",
    "D.Laplace(T([0.5, -1.0]), T([2.0, 0.7]))",
    "D.Laplace(0.0, 1.0)",
    "D.LogNormal(T([0.5, -1.0]), T([2.0, 0.7]))",
    "D.LogNormal(0.0, 1.0)",
    "D.LowRankMultivariateNormal(T([0.0, 1.0]), T([[1.0], [0.5]]), T([0.5, 1.0]))",
    "D.LowRankMultivariateNormal(T([[0.0, 1.0], [1.0, 1.0]]), T([[1.0, 0.2], [0.5, 0.1]]), T([0.5, 1.0]))",
    "D.MultivariateNormal(T([[0.0, 1.0], [3.0, 1.0]]), T([[2.0, 0.3], [0.3, 1.0]]))",
    "D.MultivariateNormal(T([0.0, 1.0]), scale_tril=T([[[2.0, 0.0], [0.3, 1.0]], [[1.0, 0.0], [0.0, 0.1]]]))",
    "D.Normal(T([0.0, 2.0]), T([0.5, 3.0]))",
    "D.Normal(0.3, 1.0)",
    "D.OneHotCategorical(T([[0.1, 0.6, 0.3], [0.5, 0.5, 0.0]]))",
    "D.OneHotCategorical(logits=T([0.1, -0.6, 0.3]))",
    "D.Pareto(T([0.5, 2.0]), T([0.7, 4.0]))",
    "D.Pareto(0.6, 2.5)",
    "D.Poisson(T([0.5, 20.0]))",
    "D.Poisson(3.0)",
    "D.Uniform(T([0.2, -1.0]), T([0.9, 4.0]))",
    "D.Uniform(0.0, 1.0)",
    "D.Uniform(0.7, 1.0)",
    "D.Wishart(T([4.0, 7.5]), scale_tril=T([[1.0, 0.0, 0.0], [0.3, 1.0, 0.0], [0.2, 0.1, 0.5]]))",
    "D.Wishart(T([5.0, 6.0]), scale_tril=T([[1.5, 0.0, 0.0], [0.0, 0.4, 0.0], [0.2, 0.1, 1.0]]))",
]


def build(expression, module, dtype):
    """The distribution of an expression; `module` is flambeau or torch, with `dtype` as its default dtype."""

    def tensor(values):
        return module.tensor(values, dtype=dtype)

    return eval(expression, {"D": module.distributions, "T": tensor})


def plain(tensor):
    """Nested lists of numbers."""
    return tensor.detach().double().tolist()


def attempt(function):
    """What a function returns, as lists; None where it is not defined."""
    try:
        return plain(function())
    except (NotImplementedError, AttributeError):
        return None


def draw(expression, module, dtype):
    """Three seeded draws: the tensor, and it as lists after a single draw."""
    d = build(expression, module, dtype)
    module.manual_seed(zlib.crc32(expression.encode()))
    single = d.sample()
    sample = d.sample((3,))
    return sample, [plain(single), plain(sample)]


def answers(expression, module, dtype):
    """Everything a distribution says about itself: seeded samples, moments, densities, quantiles."""
    d = build(expression, module, dtype)
    sample, drawn = draw(expression, module, dtype)
    found = {"sample": drawn}
    if d.has_rsample:
        found["rsample"] = plain(d.rsample())
    for name in ("mean", "mode", "variance"):
        found[name] = attempt(lambda name=name: getattr(d, name))
    found["entropy"] = attempt(d.entropy)
    found["log_prob"] = attempt(lambda: d.log_prob(sample))
    found["cdf"] = attempt(lambda: d.cdf(sample))
    quantiles = module.tensor([0.1, 0.35, 0.5, 0.99], dtype=dtype)
    quantiles = quantiles.reshape((4,) + (1,) * len(d.batch_shape))
    found["icdf"] = None if d.event_shape else attempt(lambda: d.icdf(quantiles))
    if d.has_enumerate_support:
        found["support"] = attempt(lambda: d.enumerate_support(expand=False))
    return found


def divergences(module, dtype):
    """KL(p || q) for all pairs that have a formula, by their expressions."""
    built = {expression: build(expression, module, dtype) for expression in DIVERGENCES}
    found = {}
    for first, p in built.items():
        for second, q in built.items():
            try:
                found[first + " || " + second] = plain(module.distributions.kl_divergence(p, q))
            except NotImplementedError:
                continue
            except (ValueError, RuntimeError) as error:
                found[first + " || " + second] = type(error).__name__
    return found
