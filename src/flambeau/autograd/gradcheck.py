"""Check gradients against central differences.

Jacobians are NumPy arrays here: rows are input elements, columns output elements. For a real-valued output s and a
complex input z = x + iy the gradient is ds/dx + i ds/dy; complex outputs are checked as their real and imaginary parts.
"""

import itertools
import warnings

from .. import _C
from ._api import grad as autograd_grad
from .function import Function
from .grad_mode import no_grad

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class _LazyNumpy:
    """NumPy, imported at first use: importing flambeau does not need it."""

    def __getattr__(self, name):
        import numpy

        return getattr(numpy, name)


np = _LazyNumpy()


class GradcheckError(RuntimeError):
    """What gradcheck and gradgradcheck raise."""


def _tuple_of(value):
    return (value,) if isinstance(value, _C.TensorBase) else tuple(value)


def _needs_gradient(value):
    return isinstance(value, _C.TensorBase) and value.requires_grad


def _array(tensor):
    """The values as a flat float64 or complex128 array."""
    import flambeau

    wide = flambeau.complex128 if tensor.is_complex() else flambeau.float64
    return tensor.detach().to(wide).resolve_conj().resolve_neg().contiguous().numpy().reshape(-1)


def _differentiable_outputs(outputs):
    return tuple(output for output in _tuple_of(outputs) if output.requires_grad)


def gradcheck(
    func,
    inputs,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_batched_forward_grad=False,
    check_forward_ad=False,
    check_backward_ad=True,
    fast_mode=False,
    masked=None,
):
    """Check the gradients of `func` in its floating point inputs against central differences.

    Args:
        func: takes tensors, returns a tensor or a tuple of tensors.
        inputs: tensors (float64 or complex128 for the default tolerances); those that require grad are checked.
        eps: step of the differences.
        atol, rtol: |analytical - numerical| <= atol + rtol * |numerical|.
        raise_exception: raise GradcheckError (True) or return False.
        nondet_tol: how much two runs of one backward may differ.
        check_undefined_grad: also check outputs whose gradient is undefined.
        check_grad_dtypes: also check that gradients have the dtype of their inputs.
        check_batched_grad: also check gradients of a batch against those one by one.
        check_forward_ad: also check tangents, as forward mode gives them.
        check_batched_forward_grad: accepted; a batch of tangents is computed one by one.
        check_backward_ad: check backward.
        fast_mode: one random direction instead of the whole Jacobian.
        masked: accepted.
    Returns:
        True if all gradients agree.
    Example:
        >>> import flambeau
        >>> x = flambeau.ones(2, dtype=flambeau.float64, requires_grad=True)
        >>> flambeau.autograd.gradcheck(lambda t: t.exp(), (x,))
        True
    """
    _check_flags(
        check_forward_ad, check_backward_ad, check_batched_grad, check_batched_forward_grad
    )
    inputs = _tuple_of(inputs)
    check = _Check(eps, atol, rtol, nondet_tol, check_grad_dtypes)
    try:
        _check_inputs(inputs)
        outputs = func(*inputs)
        if not _differentiable_outputs(outputs):
            return check.expect_constant(func, inputs)
        if check_forward_ad:
            check.jacobians(func, inputs, fast_mode, forward=True)
        if check_backward_ad:
            check.jacobians(func, inputs, fast_mode)
            check.zero_gradients(func, inputs)
            if check_undefined_grad:
                check.undefined_gradients(func, inputs)
        if check_batched_grad:
            check.batched(func, inputs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_flags(forward, backward, batched, batched_forward):
    if not (forward or backward):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if batched and not backward:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if batched_forward and not forward:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )


def _check_inputs(inputs):
    import flambeau

    any_needed = False
    for index, value in enumerate(inputs):
        if not _needs_gradient(value):
            continue
        any_needed = True
        if value.dtype not in (flambeau.float64, flambeau.complex128):
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex.",
                stacklevel=4,
            )
        strides = zip(value.stride(), value.shape, strict=True)
        if any(stride == 0 and size > 1 for stride, size in strides):
            raise RuntimeError(
                f"The {index}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
    if not any_needed:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


def _parts(func, wanted):
    """`func` with each output replaced by a real-valued one: itself, its real or its imaginary part."""

    def real_valued(*inputs):
        results = []
        for output in _tuple_of(func(*inputs)):
            if not output.is_complex():
                results.append(output)
            else:
                results.append(output.real if wanted == "real" else output.imag)
        return tuple(results)

    return real_valued


class _Check:
    """Tolerances, and the checks with them."""

    def __init__(self, eps, atol, rtol, nondet_tol, check_dtypes):
        self.eps = eps
        self.atol = atol
        self.rtol = rtol
        self.nondet_tol = nondet_tol
        self.check_dtypes = check_dtypes

    def jacobians(self, func, inputs, fast, forward=False):
        complex_outputs = any(o.is_complex() for o in _tuple_of(func(*inputs)))
        for part in ("real", "imag") if complex_outputs else (None,):
            real_func = func if part is None else _parts(func, part)
            what = (
                "" if part is None else f" (its {'real' if part == 'real' else 'imaginary'} part)"
            )
            if forward:
                self.tangents(real_func, inputs, what, fast)
            elif fast:
                self.directions(real_func, inputs, what)
            else:
                self.whole(real_func, inputs, what)

    def tangents(self, func, inputs, what, fast):
        """Forward mode: whole Jacobians by one run per input element, or J u for a random u per input."""
        keep = [_is_float(output) for output in _tuple_of(func(*inputs))]
        random = np.random.default_rng(0)
        for i, value in enumerate(value for value in inputs if _needs_gradient(value)):
            if fast:
                u = _unit(random, value.numel(), value.is_complex())
                numerical = [
                    moved
                    for moved, kept in zip(self.moved(func, inputs, value, u), keep, strict=True)
                    if kept
                ]
                analytical = self.along(func, inputs, value, u)
            else:
                numerical = self.numerical_in(func, inputs, value, keep)
                analytical = self.forward_jacobian(func, inputs, value, keep)
            for o, (found, expected) in enumerate(zip(analytical, numerical, strict=True)):
                self.compare(found, expected, i, o, f"{what}, in forward mode")

    def forward_jacobian(self, func, inputs, value, keep):
        """One (input elements, output elements) array per output, as numerical_in gives them."""
        rows = []
        for k in range(value.numel()):
            unit = np.zeros(value.numel(), _dtype_of(value))
            unit[k] = 1
            row = self.along(func, inputs, value, unit)
            if value.is_complex():
                imaginary = self.along(func, inputs, value, 1j * unit)
                row = [dx + 1j * dy for dx, dy in zip(row, imaginary, strict=True)]
            rows.append(row)
        if not rows:
            return self.numerical_in(func, inputs, value, keep)
        return [np.stack(column) for column in zip(*rows, strict=True)]

    def along(self, func, inputs, value, direction):
        """J u for the floating-point outputs, in one forward run."""
        from . import forward_ad

        with forward_ad.dual_level():
            dual = forward_ad.make_dual(value, _from_array(direction, value))
            outputs = _tuple_of(func(*[dual if v is value else v for v in inputs]))
            found = [(o, forward_ad.unpack_dual(o).tangent) for o in outputs if _is_float(o)]
            for output, tangent in found:
                self.check_kind(tangent, output)
            return [_gradient_array(tangent, output).copy() for output, tangent in found]

    def whole(self, func, inputs, what):
        outputs = _differentiable_outputs(func(*inputs))
        numerical = self.numerical(
            func, inputs, [o.requires_grad for o in _tuple_of(func(*inputs))]
        )
        needed = [value for value in inputs if _needs_gradient(value)]
        for o, output in enumerate(outputs):
            analytical = self.analytical(output, needed)
            again = self.analytical(output, needed)
            for i, found in enumerate(analytical):
                if found.size and np.abs(found - again[i]).max() > self.nondet_tol:
                    raise GradcheckError(
                        "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
                        "times gives different values, although analytical gradient matches numerical gradient. The "
                        f"tolerance for nondeterminism was {self.nondet_tol}."
                    )
                self.compare(found, numerical[i][o], i, o, what)

    def compare(self, analytical, numerical, i, o, what):
        if np.allclose(analytical, numerical, rtol=self.rtol, atol=self.atol, equal_nan=True):
            return
        raise GradcheckError(
            f"Jacobian mismatch for output {o}{what} with respect to input {i},\n"
            f"numerical:{numerical}\nanalytical:{analytical}\n"
        )

    def analytical(self, output, needed):
        """One (input elements, output elements) array per input: a backward per output element."""
        columns = []
        flat = output.numel()
        for k in range(flat):
            seed = output.detach().new_zeros(flat)
            seed[k] = 1
            grads = autograd_grad(
                output, needed, seed.view(output.shape), retain_graph=True, allow_unused=True
            )
            for grad, source in zip(grads, needed, strict=True):
                self.check_kind(grad, source)
            columns.append([_gradient_array(g, s) for g, s in zip(grads, needed, strict=True)])
        return [
            np.stack([column[i] for column in columns], axis=1)
            if flat
            else np.zeros((source.numel(), 0), _dtype_of(source))
            for i, source in enumerate(needed)
        ]

    def check_kind(self, grad, source):
        if grad is None:
            return
        if grad.shape != source.shape:
            raise GradcheckError("Analytical gradient has incorrect size")
        if self.check_dtypes and grad.dtype != source.dtype:
            raise GradcheckError("Analytical gradient has dtype of input mismatch")

    def numerical(self, func, inputs, keep):
        """For each needed input: one (input elements, output elements) array per kept output."""
        return [
            self.numerical_in(func, inputs, value, keep)
            for value in inputs
            if _needs_gradient(value)
        ]

    def numerical_in(self, func, inputs, value, keep):
        def outputs():
            # Copies: an output may be a view of the input that is about to change.
            results = _tuple_of(func(*[v.clone() if v is value else v for v in inputs]))
            return [
                _array(result).copy() for result, kept in zip(results, keep, strict=True) if kept
            ]

        def slope(where, step):
            origin = data[where].item()
            data[where] = origin + step
            above = outputs()
            data[where] = origin - step
            below = outputs()
            data[where] = origin
            return [(a - b) / (2 * self.eps) for a, b in zip(above, below, strict=True)]

        data = value.data
        rows = []
        with no_grad():
            for where in itertools.product(*map(range, value.shape)):
                row = slope(where, self.eps)
                if value.is_complex():
                    row = [
                        dx + 1j * dy
                        for dx, dy in zip(row, slope(where, 1j * self.eps), strict=True)
                    ]
                rows.append(row)
            widths = [len(column) for column in outputs()]
        return [
            np.stack([row[o] for row in rows]) if rows else np.zeros((0, width), _dtype_of(value))
            for o, width in enumerate(widths)
        ]

    def directions(self, func, inputs, what):
        """vᵀ J u for random u (inputs) and v (outputs), one input and one output at a time."""
        random = np.random.default_rng(0)
        outputs = _tuple_of(func(*inputs))
        needed = [value for value in inputs if _needs_gradient(value)]
        for i, value in enumerate(needed):
            u = _unit(random, value.numel(), value.is_complex())
            moved = self.moved(func, inputs, value, u)
            for o, output in enumerate(outputs):
                if not output.requires_grad:
                    continue
                v = _unit(random, output.numel(), False)
                seed = output.detach().new_zeros(output.shape).copy_(_from_array(v, output))
                (grad,) = autograd_grad(output, value, seed, retain_graph=True, allow_unused=True)
                self.check_kind(grad, value)
                analytical = float(np.real(np.vdot(_gradient_array(grad, value), u)))
                self.compare(np.asarray(analytical), np.asarray(float(v @ moved[o])), i, o, what)

    def moved(self, func, inputs, value, u):
        step = _from_array(u * self.eps, value)
        with no_grad():
            above = _tuple_of(func(*[v.detach() + step if v is value else v for v in inputs]))
            below = _tuple_of(func(*[v.detach() - step if v is value else v for v in inputs]))
            return [
                (_array(a) - _array(b)) / (2 * self.eps) for a, b in zip(above, below, strict=True)
            ]

    def expect_constant(self, func, inputs):
        outputs = _tuple_of(func(*inputs))
        for part in ("real", "imag") if any(o.is_complex() for o in outputs) else (None,):
            real_func = func if part is None else _parts(func, part)
            for jacobians in self.numerical(real_func, inputs, [_is_float(o) for o in outputs]):
                if any(np.abs(jacobian).max(initial=0.0) > self.atol for jacobian in jacobians):
                    raise GradcheckError("Numerical gradient for function expected to be zero")
        return True

    def zero_gradients(self, func, inputs):
        outputs = _differentiable_outputs(func(*inputs))
        needed = [value for value in inputs if _needs_gradient(value)]
        seeds = [output.detach().new_zeros(output.shape) for output in outputs]
        for grad, source in zip(
            autograd_grad(outputs, needed, seeds, allow_unused=True), needed, strict=True
        ):
            if grad is None:
                continue
            if grad.dtype != source.dtype or grad.shape != source.shape:
                raise GradcheckError("grad is incorrect type or size")
            if np.any(_array(grad) != 0):
                raise GradcheckError("backward not multiplied by grad_output")

    def undefined_gradients(self, func, inputs):
        """Backward must take undefined cotangents (some or all) as zeros."""
        needed = [value for value in inputs if _needs_gradient(value)]
        count = len(_differentiable_outputs(func(*inputs)))
        cases = [range(count)] if count == 1 else [range(count), *([k] for k in range(count))]
        for undefined in cases:
            outputs = _differentiable_outputs(func(*inputs))
            tested = [_Undefined.apply(o) if k in undefined else o for k, o in enumerate(outputs)]
            seeds = [output.detach().new_zeros(output.shape) for output in outputs]
            try:
                grads = autograd_grad(tested, needed, seeds, allow_unused=True)
            except RuntimeError as error:
                raise GradcheckError(
                    "Expected backward function to handle undefined output grads. Please look at 'Notes "
                    "about undefined "
                    "output gradients' in 'tools/autograd/derivatives.yaml'"
                ) from error
            if any(grad is not None and np.any(_array(grad) != 0) for grad in grads):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero."
                )

    def batched(self, func, inputs):
        import flambeau

        outputs = _differentiable_outputs(func(*inputs))
        needed = [value for value in inputs if _needs_gradient(value)]
        for output in outputs:
            seeds = [flambeau.randn_like(output) for _ in range(2)]
            each = [
                autograd_grad(output, needed, s, retain_graph=True, allow_unused=True)
                for s in seeds
            ]
            both = autograd_grad(
                output,
                needed,
                flambeau.stack(seeds),
                retain_graph=True,
                allow_unused=True,
                is_grads_batched=True,
            )
            for i, batch in enumerate(both):
                if batch is not None and not np.allclose(
                    _array(batch), np.concatenate([_array(one[i]) for one in each])
                ):
                    raise GradcheckError("While computing batched gradients, got a mismatch")


class _Undefined(Function):
    """Passes its input through; its gradient is undefined."""

    @staticmethod
    def forward(ctx, value):
        return value.view_as(value)

    @staticmethod
    def backward(ctx, grad):
        return None


def _is_float(tensor):
    return tensor.dtype.is_floating_point or tensor.is_complex()


def _dtype_of(tensor):
    return np.complex128 if tensor.is_complex() else np.float64


def _gradient_array(grad, source):
    return np.zeros(source.numel(), _dtype_of(source)) if grad is None else _array(grad)


def _unit(random, size, complex_valued):
    vector = random.random(size) + (1j * random.random(size) if complex_valued else 0)
    return vector / max(np.linalg.norm(vector), 1e-30)


def _from_array(values, like):
    return _C.from_numpy(np.ascontiguousarray(values).reshape(tuple(like.shape))).to(like.dtype)


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    gen_non_contig_grad_outputs=False,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_fwd_over_rev=False,
    check_rev_over_rev=True,
    fast_mode=False,
    masked=False,
):
    """Check second gradients: gradcheck of the backward of `func`, in its inputs and in its output gradients.

    Args:
        func: takes tensors, returns a tensor or a tuple of tensors.
        inputs: tensors; those that require grad are checked.
        grad_outputs: gradients of the outputs; random when None.
        gen_non_contig_grad_outputs: make the random ones non-contiguous.
        check_rev_over_rev: differentiate the gradient by reverse mode.
        check_fwd_over_rev: differentiate the gradient by forward mode.
        eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad,
            fast_mode, masked: as in gradcheck.
    Returns:
        True if all second gradients agree.
    Example:
        >>> import flambeau
        >>> x = flambeau.ones(2, dtype=flambeau.float64, requires_grad=True)
        >>> flambeau.autograd.gradgradcheck(lambda t: t.exp(), (x,))
        True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    inputs = _tuple_of(inputs)
    if grad_outputs is None:
        grad_outputs = _random_grads(
            _differentiable_outputs(func(*inputs)), gen_non_contig_grad_outputs
        )
    else:
        grad_outputs = _tuple_of(grad_outputs)
    count = len(grad_outputs)
    if count == 0:
        return True

    def first_gradient(*args):
        values, grads = args[:-count], args[-count:]
        values = tuple(
            v.requires_grad_() if _wants(v, original) else v
            for v, original in zip(values, inputs, strict=True)
        )
        outputs = _differentiable_outputs(func(*values))
        needed = tuple(
            v for v, original in zip(values, inputs, strict=True) if _needs_gradient(original)
        )
        found = autograd_grad(outputs, needed, grads, create_graph=True, allow_unused=True)
        return tuple(grad for grad in found if grad is not None)

    def recorded(*args):
        from .grad_mode import enable_grad

        with enable_grad():
            return first_gradient(*args)

    return gradcheck(
        recorded,
        inputs + grad_outputs,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _wants(value, original):
    """Under no_grad the copies that numerical differences use do not require grad yet."""
    return _needs_gradient(original) and not value.requires_grad


def _random_grads(outputs, non_contiguous):
    import flambeau

    grads = []
    for output in outputs:
        real = output.real if output.is_complex() else output
        grad = flambeau.empty(output.shape, dtype=output.dtype)
        noise = np.random.default_rng(1).uniform(-1, 1, tuple(real.shape))
        if output.is_complex():
            noise = noise + 1j * np.random.default_rng(2).uniform(-1, 1, tuple(real.shape))
        grad.copy_(_from_array(noise, output))
        if non_contiguous:
            grad = flambeau.stack([grad, grad], -1).select(-1, 0).detach()
        grads.append(grad.requires_grad_())
    return tuple(grads)
