"""Whether the code that runs now was called from a function that ``torch.compile`` compiled.

Relies on ``torch._C._dynamo.eval_frame.get_eval_frame_callback`` (2.11 to 2.15): it is set while a
compiled function runs, also in what a graph break leaves to eager, and not in what
``torch.compiler.disable`` wraps.
"""

from __future__ import annotations

from torch._C._dynamo.eval_frame import get_eval_frame_callback


def is_under_dynamo() -> bool:
    """Whether Dynamo compiles, or would compile, the functions that are called now."""
    return get_eval_frame_callback() is not None
