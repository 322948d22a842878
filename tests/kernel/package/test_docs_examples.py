"""The examples of `docs/learn`, and of a recipe, print what their pages say. The Python on pages
of views runs.

With ``COMPILESCOPE_UPDATE_GOLDENS=1`` the outputs on the pages, and the reports that the site shows
below those of `docs/learn`, are written anew.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
from pathlib import Path

import compilescope as cs
import pytest
import torch
from compilescope.report import Report
from compilescope.report.compilation.artifacts import Autotuning, Choice
from compilescope.report.subjects.ranks import Collective, Rank, RankDifference
from compilescope.targets import known_devices

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
LEARN = sorted(path.stem for path in (DOCS / "learn").glob("*.md") if path.stem != "index")
PAGES = [*(f"learn/{name}" for name in LEARN), "recipes/nodes"]
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)
UPDATE = os.environ.get("COMPILESCOPE_UPDATE_GOLDENS") == "1"
WRITTEN_WITH = re.search(r"^torch==(\d+\.\d+)", (ROOT / "constraints/dev.txt").read_text(), re.M)
SAME_TORCH = WRITTEN_WITH is not None and torch.__version__.startswith(f"{WRITTEN_WITH[1]}.")
"""Names and counts differ between versions: elsewhere the examples run, and that is all."""


def stored(page: str) -> Path | None:
    """The report that the site shows on a page."""
    folder, name = page.split("/")
    return DOCS / folder / "reports" / f"{name}.compilescope.json" if folder == "learn" else None


def outline(report: Report) -> list[object]:
    """What a report is about, without figures and code that depend on the processor."""
    return [
        (variant.name, compilation.id, list(compilation.graphs), kernels)
        for variant in report.variants
        for compilation in variant.compilations
        for kernels in [[kernel.name for kernel in compilation.kernels]]
    ]


@pytest.mark.parametrize("page", PAGES)
def test_an_example_prints_what_its_page_says(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, report_path = DOCS / f"{page}.md", stored(page)
    text = path.read_text(encoding="utf-8")
    example = EXAMPLE.search(text)
    assert example is not None, "a page has one example, and its output"
    if "target=" in example["code"] and known_devices.unavailable():
        pytest.skip(known_devices.unavailable())
    (tmp_path / "example.py").write_text(example["code"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    torch.compiler.reset()
    torch.manual_seed(0)
    capsys.readouterr()
    # As a program: what a target's process gets is pickled by value, as in a notebook.
    report = runpy.run_path("example.py", run_name="__main__")["report"]
    printed = "".join(f"{line.rstrip()}\n" for line in capsys.readouterr().out.splitlines())
    if not SAME_TORCH:
        return
    if UPDATE:
        start, end = example.span("output")
        path.write_text(text[:start] + printed + text[end:], encoding="utf-8")
        if report_path:
            anonymous = runpy.run_path(str(ROOT / "tests/data/reports/make.py"))["anonymous"]
            data = anonymous(json.loads(report.to_json()), {str(tmp_path): "/home/user"})
            lines = json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"
            report_path.write_text(lines, encoding="utf-8")
        return
    assert printed == example["output"]
    if report_path:
        assert outline(report) == outline(cs.load(report_path))


FROM_PYTHON = re.compile(
    r"^(?:## )?From Python.*?\n\n```python\n(.*?)```", re.MULTILINE | re.DOTALL
)
VIEWS = {
    "ahead-of-time": "docs/learn/reports/aotinductor",
    "autotune": "tests/data/reports/mlp",
    "breaks": "tests/data/reports/breaks",
    "changes": "tests/data/reports/mlp",
    "code": "tests/data/reports/mlp",
    "compile-time": "tests/data/reports/mlp",
    "graph": "tests/data/reports/mlp",
    "guards": "tests/data/reports/training",
    "layers": "tests/data/reports/mlp",
    "overview": "tests/data/reports/mlp",
    "plans": "tests/data/reports/mlp",
    "ranks": "tests/data/reports/mlp",
    "recompiles": "tests/data/reports/recompiles",
    "requested": "docs/learn/reports/cuda-graphs",
    "traces": "tests/data/reports/mlp",
    "wrappers": "docs/learn/reports/cpp-wrapper",
}
"""The page of a view, and a report that has something for it."""


@pytest.mark.parametrize("page", VIEWS)
def test_the_python_of_a_views_page_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = FROM_PYTHON.search((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    assert section is not None
    report = cs.load(ROOT / f"{VIEWS[page]}.compilescope.json")
    # What no stored report has.
    report.compilations[0].autotunings = [Autotuning(operator="mm", choices=[Choice(name="mm")])]
    report.rank = Rank(
        rank=0,
        size=1,
        collectives=[Collective(operator="all_reduce")],
        differences=[RankDifference(what="guards of 0/0", kind="guards")],
    )
    (tmp_path / "traces").mkdir()
    shutil.copy(ROOT / "tests/data/traces/cpu-torch2.13-fullgraph.log.gz", tmp_path / "traces")
    monkeypatch.chdir(tmp_path)
    torch.compiler.reset()
    x = torch.ones(4)
    compiled = torch.compile(torch.sin, backend="eager")
    compiled(x)
    names = {"cs": cs, "report": report, "reports": [report], "compiled": compiled, "x": x}
    exec(compile(section[1], f"{page}.md", "exec"), names)
