"""Advice on a recompile without code for its line: eager, torch's limit, a loop's variable."""

from __future__ import annotations

from ....report import Advice


def raise_limit(limit: int) -> Advice:
    """The advice for a frame that was compiled too often."""
    return Advice(
        kind="limit",
        what="Allow more compilations of a function before torch falls back to eager.",
        code=f"torch._dynamo.config.recompile_limit = {2 * limit}",
    )


def pass_loop_variable(name: str) -> Advice:
    """The advice on a global that the loop around the call assigns, so that no tensor lasts."""
    return Advice(
        kind="tensor",
        what=(
            f"The loop assigns {name} in each iteration, and the compiled function reads it as a "
            f"global. Give the function a parameter for it, and pass torch.tensor({name}): a "
            "tensor's value is not guarded. Suitable for a number that is used only in arithmetic."
        ),
    )


def run_in_eager() -> Advice:
    """The advice if nothing removes the recompile; it names no line.

    The call that recompiled may be inside a compiled function, where torch does not allow it, or in
    a loop: before its first call, it would prevent every compilation.
    """
    return Advice(
        kind="stance",
        what=(
            "For the rest of the process, calls that would recompile run in eager instead, each "
            "time: useful only if they are rare. Put it after the calls that should be compiled, "
            "outside of compiled functions."
        ),
        code='torch.compiler.set_stance("eager_on_recompile")',
    )
