"""The compiled forms of a kernel, as texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ...report import FORMS, Compilation, Kernel, KernelConfig
from ...report.contents import StoredText
from ..text.lines import line_count


def artifact_of(kernel: Kernel) -> str:
    """The name of the artifact with a kernel's source."""
    return f"kernel.{kernel.direction}.{kernel.name}"


def forms_of(kernel: Kernel | KernelConfig) -> list[str]:
    """What it was compiled to, in the order in which the compiler makes it."""
    return [form for form in FORMS if form in kernel.assembly]


def configs_of(kernel: Kernel) -> list[str]:
    """The names of the launch configurations that have texts of their own."""
    return [config.name for config in kernel.configs if config.assembly and not config.usual]


def compiled(compilation: Compilation, name: str = "") -> Iterator[StoredText]:
    """The compiled forms of the kernels; with ``name``, of the kernels that it may be a form of."""
    for index, kernel in enumerate(compilation.kernels):
        prefix = artifact_of(kernel) + "."
        if name and not name.startswith(prefix):
            continue
        yield from _forms(kernel, kernel, prefix, f"kernels/{index}", "")
        for number, config in enumerate(kernel.configs):
            place = f"kernels/{index}/configs/{number}"
            yield from _forms(kernel, config, prefix, place, config.name)


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


def _forms(
    kernel: Kernel, compiled: Kernel | KernelConfig, prefix: str, place: str, config: str
) -> Iterator[StoredText]:
    for form in forms_of(compiled):
        title, language = FORMS[form]
        yield StoredText(
            name=prefix + form + (f"@{config}" if config else ""),
            label=f"{kernel.name}: {title}" + (f", {config}" if config else ""),
            group="kernel",
            language=language,
            lines=line_count(compiled.assembly[form]),
            text=f"{place}/assembly/{form}",
            text_lines=f"{place}/assembly_lines/{form}" if form in compiled.assembly_lines else "",
            source="/".join([*place.split("/")[:2], "source"]),
            listed=False,
        )


def _named(texts: Mapping[str, str]) -> dict[str, str]:
    return dict.fromkeys(texts, "")
