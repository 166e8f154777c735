"""Plain tensor attributes that hooks compute from parameters."""

import weakref


def derived(tensor):
    """Mark a tensor that a hook stores as a module's attribute: a deep copy of the module detaches it.

    It has history, which cannot be copied, and the hook recomputes it before it is used anyway.
    """
    tensor.__deepcopy__ = _DetachedCopy(tensor)
    return tensor


class _DetachedCopy:
    def __init__(self, tensor):
        self.tensor = weakref.ref(tensor)  # no cycle: the tensor may be large

    def __call__(self, memo):
        tensor = self.tensor()
        return memo.setdefault(id(tensor), tensor.detach().clone())
