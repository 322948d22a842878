"""Make the reports that the front end's tests read: real ones, without this machine's paths."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

HERE = Path(__file__).parent
KERNEL = HERE.parents[2] / "kernel"
SAMPLES = 40
"""How many of a timing's samples are kept."""
CONFIGS = 1
"""Of how many further launch configurations of a kernel the texts are kept."""


def main(names: Sequence[str]) -> None:
    from programs import PROGRAMS

    for name in names or PROGRAMS:
        with tempfile.TemporaryDirectory() as cache:
            environment = {
                **os.environ,
                "TORCHINDUCTOR_CACHE_DIR": cache,
                "PYTHONPATH": os.pathsep.join([str(KERNEL), os.environ.get("PYTHONPATH", "")]),
            }
            command = [sys.executable, __file__, "--make", name]
            subprocess.run(command, check=True, env=environment, cwd=cache)


def make(name: str) -> None:
    """Run a notebook's cells, and write the report of the last one."""
    from ipykernel.compiler import XCachingCompiler
    from IPython.core.interactiveshell import InteractiveShell
    from programs import PROGRAMS
    from traitlets import Type
    from traitlets.config import Config

    class Shell(InteractiveShell):
        compiler_class = Type(XCachingCompiler)  # names cells as a notebook's kernel does

    config = Config()
    config.HistoryManager.enabled = False
    shell = Shell.instance(config=config)
    warm_up()
    for cell in PROGRAMS[name]:
        shell.run_cell(cell, store_history=True).raise_error()
    report = json.loads(shell.user_ns["_report"].to_json())
    text = json.dumps(anonymous(report), ensure_ascii=False, separators=(",", ":"))
    path = HERE / f"{name}.compilescope.json"
    path.write_text(text + "\n", encoding="utf-8")
    conclude(name)  # of what is left
    sys.stdout.write(f"{path.name}: {len(text) // 1000} kB\n")


def conclude(name: str) -> None:
    """Work out what a report computes of what is stored, as this version does."""
    import compilescope
    from compilescope.analysis.overview.bounds import add_words
    from compilescope.analysis.overview.limit_verdict import verdict

    path = HERE / f"{name}.compilescope.json"
    report = compilescope.load(path)
    for variant in report.variants:
        # From the samples that are left, as the overview's.
        variant.verdict = verdict(variant, report)
        add_words(variant)
    text = json.dumps(json.loads(report.to_json()), ensure_ascii=False, separators=(",", ":"))
    path.write_text(text + "\n", encoding="utf-8")


def warm_up() -> None:
    """Build the precompiled headers, which take most of a minute and come first by chance."""
    import torch

    for wrapper in (False, True):
        compiled = torch.compile(lambda x: x + 1, options={"cpp_wrapper": wrapper})
        compiled(torch.ones(2))
    torch._dynamo.reset()


def anonymous(
    report: dict[str, Any], folders: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Leave out what names this machine: its folders and its processor.

    Parameters
    ----------
    report
        A report, as its file has it.
    folders
        Further folders, each with what is written in its place.
    """
    import torch

    report["environment"] |= {"cpu": "A processor", "platform": "Linux", "threads": 2}
    for variant in report["variants"]:
        timing = variant["timing"]
        if timing:
            timing["samples_us"] = timing["samples_us"][:SAMPLES]
        for compilation in variant["compilations"]:
            for kernel in compilation["kernels"]:
                others = [config for config in kernel["configs"] if config["assembly"]]
                for config in others[CONFIGS:]:
                    config["assembly"] = config["assembly_lines"] = {}
    text = json.dumps(report, ensure_ascii=False)
    replaced = {
        **folders,
        str(KERNEL): "/site-packages",
        str(HERE): "/home/user",
        str(Path(torch.__file__).parents[1]): "/site-packages",
        os.environ["TORCHINDUCTOR_CACHE_DIR"]: "/tmp/torchinductor_user",
        sys.prefix: "/venv",
        sys.base_prefix: "/python",
        str(HERE.parents[2]): "/home/user",
    }
    # Inductor's cache folder lies in the temporary one, so the longest come first.
    for folder in sorted(replaced, key=len, reverse=True):
        text = text.replace(folder, replaced[folder])
    temporary = re.escape(tempfile.gettempdir())
    text = re.sub(rf"{temporary}/ipykernel_\d+", "/tmp/ipykernel_7", text)
    text = re.sub(r"/compilescope/tmp\w+/", "/compilescope/", text)
    anonymised = json.loads(text)
    assert isinstance(anonymised, dict)
    return anonymised


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        make(sys.argv[2])
    elif sys.argv[1:2] == ["--conclude"]:
        from programs import PROGRAMS

        for name in sys.argv[2:] or PROGRAMS:
            conclude(name)
    else:
        main(sys.argv[1:])
