"""The exceptions with which Dynamo starts a frame again: why, and what avoids it."""

from __future__ import annotations

_EXPLANATIONS = {
    "TensorifyScalarRestartAnalysis": (
        "a float that Dynamo had made an input of the graph had to become a constant",
        (
            "Set torch._dynamo.config.specialize_float = True: floats are constants from the "
            "start. Each new value of a float then recompiles."
        ),
    ),
    "UnspecializeRestartAnalysis": ("the code changes a module that Dynamo took as constant", ""),
    "CompileCollectiveRestartAnalysis": (
        "the ranks told each other which sizes are dynamic (enable_compiler_collectives)",
        "",
    ),
}
"""Type of torch's exception, which it logs for a restart without a reason → why, and a remedy."""


def explanation_of(text: str) -> tuple[str, str] | None:
    """Why Dynamo starts again, and what avoids it; None if the text names none of its exceptions.

    Examples
    --------
    >>> explanation_of("torch._dynamo.exc.UnspecializeRestartAnalysis")
    ('the code changes a module that Dynamo took as constant', '')
    """
    for exception, explanation in _EXPLANATIONS.items():
        if exception in text:
            return explanation
    return None
