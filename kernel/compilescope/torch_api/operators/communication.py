"""The operators that communicate with other ranks, by their namespaces in ``torch.ops``.

The same from 2.11 to 2.15; ``c10d_functional`` is the older name of ``_c10d_functional``.
"""

COMMUNICATING = (
    "_c10d_functional",
    "_c10d_functional_autograd",
    "c10d_functional",
    "c10d",
    "symm_mem",
)
