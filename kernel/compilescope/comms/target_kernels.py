"""Kernels that were compiled for a target, in the panel's messages."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ..report import FORMS, Compilation, Kernel, KernelConfig
from .messages import Artifact, ArtifactResult


def artifact_of(kernel: Kernel) -> str:
    """The name of the artifact with a kernel's source."""
    return f"kernel.{kernel.direction}.{kernel.name}"


def forms_of(kernel: Kernel | KernelConfig) -> list[str]:
    """What it was compiled to, in the order in which the compiler makes it."""
    return [form for form in FORMS if form in kernel.assembly]


def configs_of(kernel: Kernel) -> list[str]:
    """The names of the launch configurations that have texts of their own."""
    return [config.name for config in kernel.configs if config.assembly and not config.usual]


def result(compilation: Compilation, name: str) -> ArtifactResult | None:
    """The text of a compiled kernel; None where the name is of none that there is."""
    for kernel in compilation.kernels:
        rest = name.removeprefix(artifact_of(kernel) + ".")
        form, _, config = rest.partition("@")
        if rest == name or form not in FORMS:
            continue
        compiled = _compiled(kernel, config)
        if compiled is not None and form in compiled.assembly:
            title, language = FORMS[form]
            text = compiled.assembly[form]
            label = f"{kernel.name}: {title}" + (f", {config}" if config else "")
            return ArtifactResult(
                artifact=Artifact(
                    name=name, label=label, group="kernel", language=language, lines=_count(text)
                ),
                text=text,
                lines=compiled.assembly_lines.get(form, []),
                source=kernel.source,
            )
    return None


def reason(compilation: Compilation, name: str) -> str:
    """Why there is no such text of a compiled kernel, where that is known."""
    for kernel in compilation.kernels:
        rest = name.removeprefix(artifact_of(kernel) + ".")
        form, _, config = rest.partition("@")
        if rest == name or form not in FORMS:
            continue
        why = next(
            (kernel_config.why for kernel_config in kernel.configs if kernel_config.name == config),
            "",
        )
        return why or kernel.absent.get(form, "") or kernel.absent.get("assembly", "")
    return ""


def without_texts(kernel: Kernel) -> Kernel:
    """A kernel without its source and assembly texts; the forms of the assembly stay as keys."""
    return msgspec.structs.replace(
        kernel,
        source="",
        assembly=_named(kernel.assembly),
        assembly_lines={},
        configs=[
            msgspec.structs.replace(config, assembly=_named(config.assembly), assembly_lines={})
            for config in kernel.configs
        ],
    )


def _compiled(kernel: Kernel, config: str) -> Kernel | KernelConfig | None:
    if not config:
        return kernel
    return next(
        (kernel_config for kernel_config in kernel.configs if kernel_config.name == config), None
    )


def _named(texts: Mapping[str, str]) -> dict[str, str]:
    return dict.fromkeys(texts, "")


def _count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))
