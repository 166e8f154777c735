"""Plain tensor attributes that hooks compute from parameters."""

import weakref


def derived(tensor):
    """Mark a tensor that a hook stores as a module's attribute: a deep copy of the module detaches it.

    It has history, which cannot be copied, and the hook recomputes it before it is used anyway.
    """
    reference = weakref.ref(tensor)  # no cycle: the tensor may be large
    tensor.__deepcopy__ = lambda memo: memo.setdefault(
        id(reference()), reference().detach().clone()
    )
    return tensor
