"""Idioms of autograd: Functions, hooks, checkpointing, Hessian products, torch.func, in-place, saved tensors"""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

PACKAGES = ()


class StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        rounded = torch.round(x * scale) / scale
        return rounded, (rounded == x)

    @staticmethod
    def backward(ctx, grad, _):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() < 1), None


class Exponential(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.mark_non_differentiable()
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return None if grad is None else grad * y

    @staticmethod
    def vmap(info, dims, x):
        return Exponential.apply(x), dims[0]


class ReverseGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.weight = weight
        return x.view_as(x)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad.neg() * ctx.weight, None


def functions():
    x = (torch.randn(8) * 1.2).requires_grad_()
    rounded, exact = StraightThrough.apply(x, 4)
    (rounded * torch.arange(8.0)).sum().backward()
    y = torch.randn(5, requires_grad=True)
    first = torch.autograd.grad(Exponential.apply(y).sum(), y, create_graph=True)[0]
    second = torch.autograd.grad(first.square().sum(), y)[0]
    z = torch.randn(3, requires_grad=True)
    reversed_grad = torch.autograd.grad(ReverseGradient.apply(z, 0.3).square().sum(), z)[0]
    texts = [
        type(rounded.grad_fn).__name__,
        exact.requires_grad,
        Exponential.apply(y).grad_fn.name(),
    ]
    batched = torch.func.vmap(Exponential.apply)(torch.randn(2, 3))
    return [rounded, exact.float(), x.grad, first, second, reversed_grad, texts, batched]


def tensor_hooks():
    seen = []
    x = torch.randn(4, requires_grad=True)
    y = x * 2
    y.retain_grad()
    handle = x.register_hook(lambda g: g * 3)
    y.register_hook(lambda g: seen.append(g.clone()))
    z = y.sin()
    node_handle = z.grad_fn.register_hook(lambda gi, go: seen.append(gi[0]))
    pre = z.grad_fn.register_prehook(lambda go: (go[0] * 2,))
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    z.sum().backward(retain_graph=True)
    handle.remove()
    node_handle.remove()
    pre.remove()
    z.sum().backward()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.double(), lambda t: t.float()):
        w = (x.exp() * x).sum()
    w.backward()
    return [seen, y.grad, x.grad]


def module_hooks():
    net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
    seen, order = [], []
    handles = [
        net[0].register_forward_pre_hook(lambda m, a: (a[0] + 1,)),
        net[0].register_forward_hook(lambda m, a, out: out * 2),
        net[2].register_forward_hook(
            lambda m, a, k, out: order.append(sorted(k)), with_kwargs=True, always_call=True
        ),
        net[2].register_full_backward_hook(lambda m, gi, go: seen.append([gi[0], go[0]])),
        net[1].register_full_backward_pre_hook(lambda m, go: (go[0] * 0.5,)),
        net.register_forward_hook(lambda m, a, out: order.append("last")),
        net.register_forward_hook(lambda m, a, out: order.append("first"), prepend=True),
    ]
    everywhere = torch.nn.modules.module.register_module_forward_hook(
        lambda m, a, out: order.append(type(m).__name__)
    )
    out = net(torch.randn(3, 4))
    everywhere.remove()
    out.square().sum().backward()
    for handle in handles:
        handle.remove()
    plain = net(torch.ones(1, 4))
    return [out, seen, order, [p.grad for p in net.parameters()], plain, len(net[0]._forward_hooks)]


def checkpoints():
    net = nn.Sequential(
        *(nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Dropout(0.3)) for _ in range(4))
    )
    x = torch.randn(5, 6, requires_grad=True)
    result = []
    for run in (
        lambda: checkpoint_sequential(net, 2, x, use_reentrant=False),
        lambda: checkpoint(net, x, use_reentrant=True),
        lambda: checkpoint(net, x, use_reentrant=False, preserve_rng_state=True),
    ):
        net.zero_grad()
        x.grad = None
        out = run()
        out.sum().backward()
        result.append([out, x.grad, [p.grad for p in net.parameters()]])
    return result


def hessian_products():
    net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
    x, y = torch.randn(9, 3), torch.randn(9, 1)
    params = list(net.parameters())
    loss = nn.functional.mse_loss(net(x), y)
    grads = torch.autograd.grad(loss, params, create_graph=True)
    vector = [torch.randn_like(p) for p in params]
    dot = sum((g * v).sum() for g, v in zip(grads, vector, strict=True))
    product = torch.autograd.grad(dot, params, retain_graph=True)
    penalty = sum(g.square().sum() for g in grads)
    penalty.backward()
    values = dict(net.named_parameters())

    def loss_of(p):
        return nn.functional.mse_loss(torch.func.functional_call(net, p, (x,)), y)

    tangent = {n: v for (n, _), v in zip(net.named_parameters(), vector, strict=True)}
    forward = torch.func.vjp(torch.func.grad(loss_of), values)[1](tangent)[0]
    whole = torch.autograd.functional.hessian(lambda w: (w @ x.T).sin().sum(), torch.randn(3))
    return [product, [p.grad for p in params], forward, whole]


def per_sample_gradients():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(18, 3))
    params = {k: v.detach() for k, v in net.named_parameters()}
    buffers = dict(net.named_buffers())
    images, labels = torch.randn(4, 1, 5, 5), torch.tensor([0, 2, 1, 1])

    def loss_of(params, buffers, image, label):
        out = torch.func.functional_call(net, (params, buffers), (image.unsqueeze(0),))
        return nn.functional.cross_entropy(out, label.unsqueeze(0))

    grads = torch.func.vmap(torch.func.grad(loss_of), in_dims=(None, None, 0, 0))(
        params, buffers, images, labels
    )
    norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()]).norm(dim=0)
    stacked, _ = torch.func.stack_module_state([nn.Linear(3, 2) for _ in range(3)])
    base = nn.Linear(3, 2).to("meta")
    ensemble = torch.func.vmap(
        lambda p, x: torch.func.functional_call(base, p, (x,)), in_dims=(0, None)
    )(stacked, torch.randn(5, 3))
    jacobian = torch.func.jacrev(lambda x: x.sin().cumsum(0))(torch.randn(4))
    forward = torch.func.jacfwd(lambda x: x.prod())(torch.randn(4))
    return [grads, norms, ensemble, jacobian, forward]


def maml():
    """One inner step per task, differentiated through."""
    weight = torch.randn(1, 4, requires_grad=True)
    bias = torch.zeros(1, requires_grad=True)
    meta = torch.optim.Adam([weight, bias], lr=0.01)
    losses = []
    for _ in range(4):
        meta.zero_grad()
        total = 0
        for _task in range(3):
            target = torch.randn(4, 1)
            x = torch.randn(6, 4)
            inner = nn.functional.mse_loss(nn.functional.linear(x, weight, bias), x @ target)
            gw, gb = torch.autograd.grad(inner, (weight, bias), create_graph=True)
            fast_w, fast_b = weight - 0.1 * gw, bias - 0.1 * gb
            x = torch.randn(6, 4)
            total = total + nn.functional.mse_loss(
                nn.functional.linear(x, fast_w, fast_b), x @ target
            )
        total.backward()
        meta.step()
        losses.append(total)
    return [losses, weight, bias]


def in_place():
    x = torch.randn(4, 4, requires_grad=True)
    y = x.clone()
    y[1:3, :2] *= 2
    y[0].zero_()
    y.t()[3].add_(1)
    mask = y > 0.5
    y[mask] = y[mask] ** 2
    y.masked_fill_(mask.t(), 0.1).clamp_(-1, 1)
    y.sum().backward()
    leaf = torch.zeros(3, requires_grad=True)
    errors = []
    for act in (
        lambda: leaf.add_(1),
        lambda: torch.autograd.grad((x.exp().add_(1) * x).sum() * 0 + bad(x), x),
        lambda: (x * 2).sum().backward(torch.ones(2)),
        lambda: x.detach().sum().backward(),
    ):
        try:
            act()
        except RuntimeError as error:
            errors.append(str(error)[:38])
    with torch.no_grad():
        leaf += 2
    leaf.data.mul_(3)
    return [y, x.grad, errors, leaf, leaf._version, leaf.is_leaf]


def bad(x):
    y = x.exp()
    z = y.sin()
    y.mul_(2)
    return z.sum()


def gan():
    g, d = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
    og, od = (
        torch.optim.Adam(g.parameters(), 1e-2, (0.5, 0.999)),
        torch.optim.RMSprop(d.parameters(), 1e-2),
    )
    values = []
    for step in range(4):
        real, noise = torch.randn(8, 3), torch.randn(8, 2)
        fake = g(noise)
        mix = torch.rand(8, 1)
        between = (mix * real + (1 - mix) * fake.detach()).requires_grad_()
        slope = torch.autograd.grad(d(between).sum(), between, create_graph=True)[0]
        loss_d = (
            d(fake.detach()).mean() - d(real).mean() + 10 * (slope.norm(2, 1) - 1).pow(2).mean()
        )
        od.zero_grad()
        loss_d.backward()
        od.step()
        for p in d.parameters():
            p.data.clamp_(-0.5, 0.5)
        if step % 2:
            d.requires_grad_(False)
            loss_g = -d(fake).mean()
            og.zero_grad()
            loss_g.backward()
            og.step()
            d.requires_grad_(True)
            values.append(loss_g)
        values.append(loss_d)
    return values


def policy_gradient():
    from torch.distributions import (
        Categorical,
        Independent,
        Normal,
        TanhTransform,
        TransformedDistribution,
        kl_divergence,
    )

    net = nn.Linear(3, 4)
    states = torch.randn(6, 3)
    policy = Categorical(logits=net(states))
    actions = policy.sample()
    returns = torch.randn(6)
    loss = -(policy.log_prob(actions) * returns).mean() - 0.01 * policy.entropy().mean()
    loss.backward()
    head = nn.Linear(3, 4)
    mean, log_std = head(states).chunk(2, -1)
    base = Independent(Normal(mean, log_std.exp()), 1)
    squashed = TransformedDistribution(base, [TanhTransform(cache_size=1)])
    action = squashed.rsample()
    chance = squashed.log_prob(action)
    distance = kl_divergence(base, Independent(Normal(torch.zeros(6, 2), torch.ones(6, 2)), 1))
    (chance + distance).mean().backward()
    return [actions, loss, net.weight.grad, action, chance, distance, head.weight.grad]


CASES = {
    f.__name__: f
    for f in (
        functions,
        tensor_hooks,
        module_hooks,
        checkpoints,
        hessian_products,
        per_sample_gradients,
        maml,
        in_place,
        gan,
        policy_gradient,
    )
}
