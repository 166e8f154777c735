"""Optimizer steps as functions of lists of parameters, gradients and state, which they change in place.

Arguments are PyTorch's; foreach, fused, capturable and the has_... flags are accepted. A step that is to be
differentiated is the optimizer's own, with differentiable=True.
"""

from flambeau import ops

__all__ = [
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "adamw",
    "nadam",
    "radam",
    "rmsprop",
    "rprop",
    "sgd",
]


def _refuse(name, differentiable):
    if differentiable:
        raise RuntimeError(
            f"{name}: expected differentiable=False. Use the optimizer class with differentiable=True."
        )


def sgd(
    params, d_p_list, momentum_buffer_list, has_sparse_grad=False, foreach=None, fused=None, grad_scale=None,
    found_inf=None, *, weight_decay, momentum, lr, dampening, nesterov, maximize,
):  # fmt: skip
    """One step of SGD; missing momentum buffers (None) are put into their list."""
    settings = (float(lr), momentum, dampening, float(weight_decay), nesterov, maximize)
    if momentum == 0:
        ops._sgd_step(params, d_p_list, [], *settings, False)
        return
    for first in (False, True):
        chosen = [i for i, buffer in enumerate(momentum_buffer_list) if (buffer is None) is first]
        for i in chosen if first else ():
            momentum_buffer_list[i] = ops.empty_like(params[i])
        if chosen:
            lists = (params, d_p_list, momentum_buffer_list)
            ops._sgd_step(*([values[i] for i in chosen] for values in lists), *settings, first)
        if first is False and not any(buffer is None for buffer in momentum_buffer_list):
            return


def adam(
    params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach=None, capturable=False,
    differentiable=False, fused=None, grad_scale=None, found_inf=None, has_complex=False,
    decoupled_weight_decay=False, *, amsgrad, beta1, beta2, lr, weight_decay, eps, maximize,
):  # fmt: skip
    """One step of Adam."""
    _refuse("adam", differentiable)
    ops._adam_step(
        params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, float(lr), float(beta1), float(beta2),
        weight_decay, eps, amsgrad, maximize, decoupled_weight_decay,
    )  # fmt: skip


def adamw(
    params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach=None, capturable=False,
    differentiable=False, fused=None, grad_scale=None, found_inf=None, has_complex=False, *, amsgrad, beta1, beta2,
    lr, weight_decay, eps, maximize,
):  # fmt: skip
    """One step of AdamW."""
    adam(
        params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, differentiable=differentiable,
        decoupled_weight_decay=True, amsgrad=amsgrad, beta1=beta1, beta2=beta2, lr=lr, weight_decay=weight_decay,
        eps=eps, maximize=maximize,
    )  # fmt: skip


def adamax(
    params, grads, exp_avgs, exp_infs, state_steps, foreach=None, maximize=False, differentiable=False,
    capturable=False, has_complex=False, *, eps, beta1, beta2, lr, weight_decay,
):  # fmt: skip
    """One step of Adamax."""
    _refuse("adamax", differentiable)
    ops._adamax_step(
        params, grads, exp_avgs, exp_infs, state_steps, float(lr), beta1, beta2, weight_decay, eps, maximize
    )  # fmt: skip


def nadam(
    params, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps, decoupled_weight_decay=False, foreach=None,
    capturable=False, differentiable=False, has_complex=False, maximize=False, *, beta1, beta2, lr, weight_decay,
    momentum_decay, eps,
):  # fmt: skip
    """One step of NAdam."""
    _refuse("nadam", differentiable)
    ops._nadam_step(
        params, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps, float(lr), beta1, beta2, weight_decay,
        momentum_decay, eps, maximize, decoupled_weight_decay,
    )  # fmt: skip


def radam(
    params, grads, exp_avgs, exp_avg_sqs, state_steps, decoupled_weight_decay=False, foreach=None,
    differentiable=False, capturable=False, has_complex=False, maximize=False, *, beta1, beta2, lr, weight_decay, eps,
):  # fmt: skip
    """One step of RAdam."""
    _refuse("radam", differentiable)
    ops._radam_step(
        params, grads, exp_avgs, exp_avg_sqs, state_steps, float(lr), beta1, beta2, weight_decay, eps, maximize,
        decoupled_weight_decay,
    )  # fmt: skip


def adagrad(
    params, grads, state_sums, state_steps, fused=None, grad_scale=None, found_inf=None, has_sparse_grad=False,
    foreach=None, differentiable=False, has_complex=False, *, lr, weight_decay, lr_decay, eps, maximize,
):  # fmt: skip
    """One step of Adagrad on dense gradients."""
    _refuse("adagrad", differentiable)
    ops._adagrad_step(
        params, grads, state_sums, state_steps, float(lr), lr_decay, weight_decay, eps, maximize
    )


def adadelta(
    params, grads, square_avgs, acc_deltas, state_steps, capturable=False, foreach=None, differentiable=False,
    has_complex=False, *, lr, rho, eps, weight_decay, maximize,
):  # fmt: skip
    """One step of Adadelta."""
    _refuse("adadelta", differentiable)
    ops._adadelta_step(
        params,
        grads,
        square_avgs,
        acc_deltas,
        state_steps,
        float(lr),
        rho,
        eps,
        weight_decay,
        maximize,
    )


def rmsprop(
    params, grads, square_avgs, grad_avgs, momentum_buffer_list, state_steps, foreach=None, maximize=False,
    differentiable=False, capturable=False, has_complex=False, *, lr, alpha, eps, weight_decay, momentum, centered,
):  # fmt: skip
    """One step of RMSprop."""
    _refuse("rmsprop", differentiable)
    ops._rmsprop_step(
        params, grads, square_avgs, grad_avgs if centered else [], momentum_buffer_list if momentum > 0 else [],
        state_steps, float(lr), alpha, eps, weight_decay, momentum, centered, maximize,
    )  # fmt: skip


def rprop(
    params, grads, prevs, step_sizes, state_steps, foreach=None, capturable=False, maximize=False,
    differentiable=False, has_complex=False, *, step_size_min, step_size_max, etaminus, etaplus,
):  # fmt: skip
    """One step of Rprop."""
    _refuse("rprop", differentiable)
    ops._rprop_step(
        params,
        grads,
        prevs,
        step_sizes,
        state_steps,
        etaminus,
        etaplus,
        step_size_min,
        step_size_max,
        maximize,
    )
