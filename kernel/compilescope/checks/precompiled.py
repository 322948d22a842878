"""Precompiled headers, which save most of a C++ wrapper's build time."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..report.checkup import Check
from ..torch_api.inductor import toolchain
from .compiler import with_compiler
from .context import CheckContext, CheckFunction, not_needed, ok, problem, run, warning

SUBJECT = "Precompiled headers"
_TURNED_OFF = "torch._inductor.config.cpp_cache_precompile_headers is off."
_ENDINGS = (".gch", ".pch")


def present(context: CheckContext) -> Check:
    """Those that there are, and whether more can be kept."""
    name = "kept headers"
    if not toolchain.precompiles():
        return warning(name, _TURNED_OFF, "Turn it on: C++ wrappers build several times faster.")
    folder = toolchain.header_folder()
    files = (
        [file for file in folder.rglob("*") if file.suffix in _ENDINGS] if folder.exists() else []
    )
    size = sum(file.stat().st_size for file in files)
    parent = next(existing for existing in (folder, *folder.parents) if existing.exists())
    if not os.access(parent, os.W_OK):
        return warning(
            name,
            f"{folder} is not writable: every process precompiles the headers again.",
            "Make it writable, or set TORCHINDUCTOR_CACHE_DIR to another folder.",
        )
    if not files:
        return ok(name, f"None yet in {folder}: the first C++ wrapper builds them.")
    return ok(name, f"{len(files)} in {folder}, {size / 1e6:,.0f} MB")


@with_compiler("precompile and use")
def works(context: CheckContext) -> Check:
    """A header precompiled as Inductor would, and whether the compiler then takes it."""
    name = "precompile and use"
    if not toolchain.precompiles():
        return not_needed(name, _TURNED_OFF)
    lacking = [tool for tool in toolchain.header_tools() if shutil.which(tool) is None]
    if lacking:
        return problem(
            name,
            f"torch needs {lacking[0]} to precompile a header, and it is not installed.",
            f"Install it (Debian: apt-get install {lacking[0]}), or turn "
            "cpp_cache_precompile_headers off.",
        )
    folder = context.place("precompiled")
    header = folder / "small.h"
    header.write_text("#pragma once\n#include <vector>\n", encoding="utf-8")
    command, path = toolchain.build_command(header, kind="header")
    done = run(command, folder=folder)
    remedy = "Use g++ or clang++ of one installation; without, building only takes longer."
    if not done.ok or not path.exists():
        return warning(name, f"Not possible: {done.first}", remedy, detail=done.output)
    source = folder / "uses.cpp"
    source.write_text(
        f'#include "{header}"\nextern "C" int size() {{ return std::vector<int>(3).size(); }}\n',
        encoding="utf-8",
    )
    command, _ = toolchain.build_command(source)
    used = run([*command, "-Winvalid-pch", "-H"], folder=folder)
    if not used.ok:
        return warning(name, f"It cannot be used: {used.first}", remedy, detail=used.output)
    if toolchain.is_gcc() and f"! {Path(path)}" not in used.output:
        return warning(
            name, "The compiler builds one but does not use it.", remedy, detail=used.output
        )
    return ok(name, "The compiler builds a precompiled header and uses it.")


CHECKS: tuple[CheckFunction, ...] = (present, works)
