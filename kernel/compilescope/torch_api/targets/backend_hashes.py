"""The hash of Triton and its backend that Inductor writes into each Triton kernel.

torch computes it once in a process. It contains the version of ``ptxas``, and once torch has built
a kernel, it names its own ``ptxas`` in ``TRITON_PTXAS_PATH``: a process that is started afterwards
would compute another hash.

Relies on ``torch.utils._triton.triton_hash_with_backend`` (2.11 to 2.15).
"""

from __future__ import annotations

from typing import Any


def backend_hash() -> str:
    """The hash that is in the code of this process.

    Raises
    ------
    RuntimeError
        Triton has no GPU to generate code for.
    """
    from torch.utils import _triton

    return _triton.triton_hash_with_backend()


def replace_backend_hash(other: str) -> None:
    """Makes this process write another one's hash into its code."""
    from torch.utils import _triton

    private: Any = _triton
    private.triton_hash_with_backend = lambda: other
