"""A variant as code to paste."""

from __future__ import annotations

from typing import Any

from ...report.references import is_reference, name_of
from ...report.variant import Variant


def code_of(variant: Variant, name: str = "fn") -> str:
    """The call of ``torch.compile`` for a variant.

    Parameters
    ----------
    name
        The name of the function.
    """
    if variant.backend is None:
        return f"compiled = {name}  # eager: no torch.compile"
    settings: dict[str, Any] = {}
    if not variant.uses_inductor:
        settings["backend"] = _code(variant.backend)
    options = {"cpp_wrapper": True} if variant.cpp_wrapper else {}
    options |= variant.options
    if variant.mode is not None and not options:
        settings["mode"] = repr(variant.mode)
    if variant.dynamic is not None:
        settings["dynamic"] = repr(variant.dynamic)
    if variant.fullgraph:
        settings["fullgraph"] = "True"
    if options:
        listed = ", ".join(f"{key!r}: {_code(value)}" for key, value in options.items())
        if variant.mode is not None:
            # torch.compile takes a mode or options, not both.
            mode = f"**torch._inductor.list_mode_options({variant.mode!r})"
            listed = f"{mode}, {listed}"
        settings["options"] = f"{{{listed}}}"
    keyword_arguments = "".join(f", {key}={value}" for key, value in settings.items())
    return f"compiled = torch.compile({name}{keyword_arguments})"


def _code(value: Any) -> str:
    """A setting as code, with objects by their names in the notebook."""
    if is_reference(value):
        return name_of(value).removeprefix("__main__.")
    return repr(value)
