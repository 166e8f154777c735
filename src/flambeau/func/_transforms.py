"""Derivatives as functions of functions: reverse mode, and forward mode where no dual level is active yet.

Transforms nest. Each differentiates in aliases of its arguments; its results keep a graph only if that graph leads
further than those aliases: to an outer transform's, or to tensors of the caller that require grad.
"""

import functools

from .. import _C
from ..autograd import enable_grad, is_grad_enabled
from ..autograd import grad as autograd_grad
from ..utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = [
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "vjp",
]


def _is_tensor(value):
    return isinstance(value, _C.TensorBase)


def _alias(value):
    """A tensor of its own to differentiate in; it keeps history and tangent of `value`."""
    if not _is_tensor(value) or not (value.is_floating_point() or value.is_complex()):
        return value
    alias = value.view_as(value)
    return alias if alias.requires_grad else alias.requires_grad_()


def _leads_further(outputs, aliases):
    """Does the graph of the outputs have leaves, or nodes above the aliases, that are not theirs?"""
    own = {id(alias) for alias in aliases}
    # An alias with a history of its own belongs to somebody outside.
    if any(alias.grad_fn is not None for alias in aliases):
        return True
    seen, stack = set(), [output.grad_fn for output in outputs if _is_tensor(output)]
    nodes = []  # keeps them alive: their ids are what `seen` holds
    while stack:
        node = stack.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        nodes.append(node)
        leaf = getattr(node, "variable", None)
        if leaf is not None and id(leaf) not in own:
            return True
        stack.extend(following for following, _ in node.next_functions)
    return any(
        _is_tensor(o) and o.requires_grad and o.grad_fn is None and id(o) not in own
        for o in outputs
    )


def _detached(tree):
    return tree_map(lambda leaf: leaf.detach() if _is_tensor(leaf) else leaf, tree)


def _primal(value):
    """Without history, with its tangent."""
    if not _is_tensor(value) or not value.requires_grad:
        return value
    if not _C._is_dual_level_active():
        return value.detach()
    primal, tangent = _C._unpack_dual(value)
    return primal.detach() if tangent is None else _C._make_dual(primal.detach(), tangent)


class _Point:
    """`func` evaluated with a graph, at aliases of the arguments that argnums selects."""

    def __init__(self, func, args, kwargs, argnums, has_aux, name):
        self.keeps_graph = is_grad_enabled()
        self.args = args
        self.argnums = argnums
        chosen = _select(args, argnums, name)
        self.flat, self.spec = tree_flatten(chosen)
        with enable_grad():
            self.aliases = [_alias(leaf) for leaf in self.flat]
            self.tensors = [alias for alias in self.aliases if _is_tensor(alias)]
            output = func(
                *_replace(args, argnums, tree_unflatten(self.aliases, self.spec)), **kwargs
            )
        self.aux = None
        if has_aux:
            if not isinstance(output, tuple) or len(output) != 2:
                raise RuntimeError(
                    f"{name}(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True"
                )
            output, self.aux = output
        self.output = output
        self.outputs, self.output_spec = tree_flatten(output)
        self.further = self.keeps_graph and _leads_further(self.outputs, self.tensors)
        aux = tree_flatten(self.aux)[0]
        self.aux_further = self.keeps_graph and _leads_further(aux, self.tensors)

    def gradients(self, outputs, cotangents):
        """Of each tensor among the aliases, zeros where the outputs do not depend on it."""
        create_graph = self.keeps_graph and (
            self.further or any(c is not None and c.requires_grad for c in cotangents)
        )
        pairs = [(o, c) for o, c in zip(outputs, cotangents, strict=True) if o.requires_grad]
        if not pairs or not self.tensors:
            return [alias.detach().new_zeros(alias.shape) for alias in self.tensors]
        with enable_grad():
            found = autograd_grad(
                [o for o, _ in pairs],
                self.tensors,
                [c for _, c in pairs],
                retain_graph=True,
                create_graph=create_graph,
                allow_unused=True,
            )
        return [
            alias.detach().new_zeros(alias.shape) if gradient is None else gradient
            for gradient, alias in zip(found, self.tensors, strict=True)
        ]

    def rebuild(self, values):
        """A tree like the selected arguments, with `values` in place of its tensors."""
        values = iter(values)
        return tree_unflatten(
            [next(values) if _is_tensor(alias) else None for alias in self.aliases], self.spec
        )

    def result(self):
        """The output, with a graph if it leads further."""
        return self.output if self.further else tree_map(_primal, self.output)

    def extra(self):
        """The auxiliary output likewise."""
        return self.aux if self.aux_further else tree_map(_primal, self.aux)


def _select(args, argnums, name):
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not numbers or not all(isinstance(n, int) for n in numbers):
        raise RuntimeError(
            f"{name}: expected argnums to be an int or a non-empty tuple of ints, got {argnums!r}."
        )
    for n in numbers:
        if not -len(args) <= n < len(args):
            raise RuntimeError(f"Got argnum={n}, but only {len(args)} positional inputs")
    if len({n % len(args) for n in numbers}) != len(numbers):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return tuple(args[n] for n in numbers) if isinstance(argnums, tuple) else args[argnums]


def _replace(args, argnums, values):
    args = list(args)
    if isinstance(argnums, tuple):
        for n, value in zip(argnums, values, strict=True):
            args[n] = value
    else:
        args[argnums] = values
    return args


def _require_tensors(outputs, call, what="tensors"):
    if not outputs:
        raise RuntimeError(
            f"{call}: Expected f to be a function that has non-empty output (got output = {outputs})"
        )
    for output in outputs:
        if not _is_tensor(output):
            raise RuntimeError(
                f"{call}: Expected f(*args) to return only {what}, got unsupported type {type(output)}"
            )


# ---- reverse mode ----


def grad_and_value(func, argnums=0, has_aux=False):
    """Make a function that returns (gradient, value) of `func`, which returns a tensor of one element.

    Args:
        func: its output, or with has_aux the first of two, is a 0-d tensor.
        argnums: which positional argument to differentiate in, or a tuple of several; they may be trees of tensors.
        has_aux: func returns (output, anything else).
    Returns:
        A function of func's arguments: (gradient, value), or (gradient, (value, aux)).
    """

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        point = _Point(func, args, kwargs, argnums, has_aux, "grad_and_value")
        output = point.output
        if not _is_tensor(output):
            raise RuntimeError(
                f"grad_and_value(f)(*args): Expected f(*args) to return a tensor, got {type(output)}"
            )
        if output.dim() != 0:
            raise RuntimeError(
                "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
                f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        gradient = point.rebuild(point.gradients([output], [None]))
        value = point.result()
        return gradient, (value, point.extra()) if has_aux else value

    return wrapper


def grad(func, argnums=0, has_aux=False):
    """Make a function that returns the gradient of `func`, which returns a tensor of one element.

    Args:
        func, argnums, has_aux: as in grad_and_value.
    Returns:
        A function of func's arguments: the gradient, like the argument that argnums names; or (gradient, aux).
    Example:
        >>> import flambeau
        >>> flambeau.func.grad(flambeau.func.grad(flambeau.sin))(flambeau.tensor(1.0))
        tensor(-0.8415)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


def vjp(func, *primals, has_aux=False):
    """Compute func(*primals), and the function that multiplies a cotangent with its Jacobian.

    Args:
        func: takes and returns (trees of) tensors.
        has_aux: func returns (output, anything else).
    Returns:
        (output, vjp_fn), or (output, vjp_fn, aux). vjp_fn(cotangent) takes a tree like output, and returns a tuple
        with one product for each primal.
    """
    point = _Point(func, primals, {}, tuple(range(len(primals))), has_aux, "vjp")
    _require_tensors(point.outputs, "vjp(f, *primals)")

    def vjp_fn(*cotangents, retain_graph=True, create_graph=None):
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        flat, spec = tree_flatten(given)
        if spec != point.output_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {spec}, primal output: {point.output_spec}"
            )
        return point.rebuild(point.gradients(point.outputs, flat))

    output = point.result()
    return (output, vjp_fn, point.extra()) if has_aux else (output, vjp_fn)


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """Make a function that returns the Jacobian of `func`, by one backward per output element.

    Args:
        func, argnums, has_aux: as in grad, but the output may be any tree of tensors.
        chunk_size: accepted; rows are computed one at a time.
    Returns:
        A function of func's arguments. Its result is a tree like the output, of trees like the argument, of tensors of
        shape (*output shape, *argument shape).
    """

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        point = _Point(func, args, kwargs, argnums, has_aux, "jacrev")
        _require_tensors(point.outputs, "jacrev(f, argnums)(*args)")
        jacobian = tree_unflatten(
            [point.rebuild(_rows(point, output)) for output in point.outputs], point.output_spec
        )
        return (jacobian, point.extra()) if has_aux else jacobian

    return wrapper


def _rows(point, output):
    from .. import stack

    rows = []
    for k in range(output.numel()):
        seed = output.detach().new_zeros(output.numel())
        seed[k] = 1
        rows.append(point.gradients([output], [seed.view(output.shape)]))
    return [
        stack(column).reshape(*output.shape, *alias.shape)
        for column, alias in zip(zip(*rows, strict=True), point.tensors, strict=True)
    ] or [alias.detach().new_zeros((*output.shape, *alias.shape)) for alias in point.tensors]


# ---- forward mode ----


def _push_forward(func, primals, tangents):
    """(outputs of func at `primals` and their tangents, flat; spec of the outputs). All are tensors, in flat lists."""
    if _C._is_dual_level_active():
        return _double_backward(func, primals, tangents)
    from ..autograd import forward_ad

    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(p, t) for p, t in zip(primals, tangents, strict=True)]
        outputs, spec = tree_flatten(func(duals))
        pairs = [forward_ad.unpack_dual(o) if _is_tensor(o) else (o, None) for o in outputs]
    return [p for p, _ in pairs], [t for _, t in pairs], spec


def _double_backward(func, primals, tangents):
    """The same inside another forward transform: the vjp is linear in its cotangent, and differentiated in it."""
    keeps_graph = is_grad_enabled()
    with enable_grad():
        aliases = [_alias(primal) for primal in primals]
        outputs, spec = tree_flatten(func(aliases))
        chosen = [o for o in outputs if _is_tensor(o) and o.requires_grad]
        further = keeps_graph and _leads_further([*chosen, *tangents], aliases)
        products = iter(_products(chosen, aliases, tangents, further))
        found = [next(products) if any(o is c for c in chosen) else None for o in outputs]
    if not further:
        outputs = [_primal(o) for o in outputs]
    return outputs, found, spec


def _products(outputs, aliases, tangents, create_graph):
    if not outputs:
        return []
    dummies = [o.detach().new_zeros(o.shape).requires_grad_() for o in outputs]
    adjoint = autograd_grad(outputs, aliases, dummies, create_graph=True, allow_unused=True)
    pairs = [
        (a, t) for a, t in zip(adjoint, tangents, strict=True) if a is not None and a.requires_grad
    ]
    if not pairs:
        return [None] * len(outputs)
    return autograd_grad(
        [a for a, _ in pairs],
        dummies,
        [t for _, t in pairs],
        create_graph=create_graph,
        allow_unused=True,
    )


def _fill(outputs, tangents, strict):
    filled = []
    for output, tangent in zip(outputs, tangents, strict=True):
        if tangent is None:
            if strict:
                raise RuntimeError(
                    "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is "
                    "not allowed with strict=True."
                )
            tangent = output.detach().new_zeros(output.shape)
        filled.append(tangent)
    return filled


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """Compute func(*primals) and the product of its Jacobian with `tangents`.

    Args:
        func: takes and returns (trees of) tensors.
        primals, tangents: tuples of (trees of) tensors of the same structure and shapes.
        strict: raise when an output does not depend on the primals.
        has_aux: func returns (output, anything else).
    Returns:
        (output, product), or (output, product, aux).
    Example:
        >>> import flambeau
        >>> flambeau.func.jvp(flambeau.square, (flambeau.tensor(3.0),), (flambeau.tensor(1.0),))
        (tensor(9.), tensor(6.))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    flat, spec = tree_flatten(primals)
    flat_tangents, tangents_spec = tree_flatten(tangents)
    if spec != tangents_spec:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, "
            "if primals is a tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{spec} and tangents with structure {tangents_spec}"
        )
    _require_tensors(flat, "jvp(f, primals, tangents)")
    aux = None

    def run(values):
        nonlocal aux
        output = func(*tree_unflatten(values, spec))
        if has_aux:
            if not isinstance(output, tuple) or len(output) != 2:
                raise RuntimeError(
                    "jvp(f, primals, tangents): output of function f should be a tuple: (output, aux) if has_aux is "
                    "True"
                )
            output, aux = output
            aux = tree_map(_primal_only, aux)
        return output

    outputs, products, output_spec = _push_forward(run, flat, flat_tangents)
    _require_tensors(outputs, "jvp(f, primals, tangents)")
    results = (
        tree_unflatten(outputs, output_spec),
        tree_unflatten(_fill(outputs, products, strict), output_spec),
    )
    return (*results, aux) if has_aux else results


def _primal_only(value):
    return _C._unpack_dual(value)[0] if _is_tensor(value) else value


def linearize(func, *primals):
    """Compute func(*primals), and the function that multiplies tangents with its Jacobian there.

    Returns:
        (output, jvp_fn): jvp_fn takes tangents like the primals; func itself does not run again.
    """
    point = _Point(func, primals, {}, tuple(range(len(primals))), False, "linearize")
    _require_tensors(point.outputs, "linearize(f, *primals)")

    def jvp_fn(*tangents):
        flat, spec = tree_flatten(tangents)
        if spec != point.spec:
            raise RuntimeError(
                f"linearize: expected tangents of the structure of the primals, {point.spec}, got {spec}."
            )
        chosen = [output for output in point.outputs if output.requires_grad]
        with enable_grad():
            further = point.keeps_graph and (
                point.further or any(tangent.requires_grad for tangent in flat)
            )
            products = iter(_products(chosen, point.tensors, flat, further))
        found = [next(products) if o.requires_grad else None for o in point.outputs]
        return tree_unflatten(_fill(point.outputs, found, False), point.output_spec)

    return point.result(), jvp_fn


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """Make a function that returns the Jacobian of `func`, by one forward run per argument element.

    Args:
        func, argnums, has_aux: as in jacrev.
        randomness: accepted; every run draws its own numbers.
    Returns:
        As jacrev.
    """

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        flat, spec = tree_flatten(_select(args, argnums, "jacfwd"))
        aux = None

        def run(values):
            nonlocal aux
            output = func(*_replace(args, argnums, tree_unflatten(values, spec)), **kwargs)
            if has_aux:
                output, aux = output
                aux = tree_map(_primal_only, aux)
            return output

        jacobian = _columns(run, flat, spec)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def _columns(run, flat, spec):
    from .. import stack

    columns = [
        [] for _ in flat
    ]  # per argument: the tangents of all outputs for each of its elements
    zeros = [value.detach().new_zeros(value.shape) for value in flat]
    outputs, output_spec = None, None
    for i, value in enumerate(flat):
        for k in range(value.numel()):
            seed = value.detach().new_zeros(value.numel())
            seed[k] = 1
            directions = [*zeros[:i], seed.view(value.shape), *zeros[i + 1 :]]
            outputs, products, output_spec = _push_forward(run, flat, directions)
            _require_tensors(outputs, "jacfwd(f, argnums)(*args)")
            columns[i].append(_fill(outputs, products, False))
    if outputs is None:
        outputs, _, output_spec = _push_forward(run, flat, zeros)
    blocks = [
        tree_unflatten(
            [
                stack([tangents[o] for tangents in columns[i]], -1).reshape(
                    *output.shape, *value.shape
                )
                if columns[i]
                else output.detach().new_zeros((*output.shape, *value.shape))
                for i, value in enumerate(flat)
            ],
            spec,
        )
        for o, output in enumerate(outputs)
    ]
    return tree_unflatten(blocks, output_spec)


def hessian(func, argnums=0):
    """Make a function that returns the Hessian of `func`: the forward-mode Jacobian of its reverse-mode Jacobian."""
    return jacfwd(jacrev(func, argnums), argnums)


def functionalize(func, *, remove="mutations"):
    """Return func itself: nothing here needs programs without in-place operations."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): Valid options are 'mutations', 'mutations_and_views'. Got "
            f"remove={remove}."
        )
    return func
