"""The options of ``%%compile``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from compilescope.processes import executors
from compilescope.progress.progress import Progress
from compilescope.report.variant import Variant
from compilescope.session import requests
from compilescope.studies.context import StudyProcesses
from IPython.core.interactiveshell import InteractiveShell

from .magic_support import FakeSession, succeed


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "--bogus",
            "unrecognized arguments: --bogus. %%compile --help lists the options.",
        ),
        ("fast", "unrecognized arguments: fast. %%compile --help lists the options."),
        ("--cpp_wraper", "unrecognized arguments: --cpp_wraper. Did you mean --cpp-wrapper?"),
        (
            "--dynamics on --mesure=3",
            "unrecognized arguments: --dynamics on --mesure=3. Did you mean --dynamic, --measure?",
        ),
        ("--dynamic maybe", "argument --dynamic: invalid choice: 'maybe'"),
        ("--mode fast", "There is no mode 'fast'. "),
        ("--variants python,rust", "There is no variant 'rust'. "),
        ("--backend gpu", "There is no backend 'gpu'. "),
        ("--name 3x", "--name 3x: that is not the name of a variable."),
        ("--measure soon", "argument --measure: invalid seconds value: 'soon'"),
        ("--measure 0", "argument --measure: invalid seconds value: '0'"),
        ("--study layers,horoscope", "There is no study 'horoscope'. "),
        ("--ways eager", "ways is an option of the study deploy, which is not requested. "),
        ("--study layers --ways eager", "ways is an option of the study deploy, "),
        ("--mode default --variants max-autotune", "--mode default contradicts --variants max-"),
        ("--variants python,cpp --cpp-wrapper", "--cpp-wrapper contradicts --variants python, "),
        ("--option cpp_wrapper=True", "--option cpp_wrapper: that is a switch of its own. Write"),
        ("--study deploy --ways eager,bogus", "ways: 'bogus' is not a way to deploy this call."),
        ("--study deploy --executor mine", "There is no executor 'mine'. The names are gpus. "),
        ("--study layers --executor mine", "There is no executor 'mine'. "),
        ("--no-run --measure 3", "--no-run builds nothing, and --measure times what is built. "),
        ("--no-run --study layers", "--no-run builds nothing, and the study layers needs a build"),
        ("--study deploy --ways ,", "ways selects nothing. Give names, or leave ways out: all."),
        ("--mode=lite --mode default", "argument --mode: it is given twice, as lite and as d"),
        ("--measure 1 --measure 2", "argument --measure: it is given twice, as 1.0 and as 2.0."),
        ("--option a=1 --option a=2", "--option a is given twice, as 1 and as 2. Leave one out."),
        ("--option size", "--option size has no value. Write --option max_autotune=True."),
        ("--option max_fusion_siz=3", "There is no option 'max_fusion_siz'. Did you mean "),
    ],
)
def test_a_wrong_option_says_what_it_may_be(
    shell: InteractiveShell,
    session: FakeSession,
    capsys: pytest.CaptureFixture[str],
    line: str,
    message: str,
) -> None:
    result = shell.run_cell(f"%%compile {line}\nf(1)")
    output = capsys.readouterr()
    assert not result.success
    assert output.err.startswith(f"UsageError: {message}")
    assert shell.user_ns["calls"] == []


@pytest.mark.parametrize(
    ("line", "variants"),
    [
        ("--cpp-wrapper", {"cpp": Variant(cpp_wrapper=True)}),
        (
            "--variants eager,cpp --dynamic on",
            {
                "eager": Variant(backend=None),
                "cpp dynamic": Variant(cpp_wrapper=True, dynamic=True),
            },
        ),
        (
            "--mode max-autotune --fullgraph",
            {
                "max-autotune fullgraph": Variant(mode="max-autotune", fullgraph=True),
                "cpp max-autotune fullgraph": Variant(
                    mode="max-autotune", fullgraph=True, cpp_wrapper=True
                ),
            },
        ),
        (
            "--variants python --option max_fusion_size=8 --option triton.cudagraphs=False",
            {
                "python max_fusion_size=8 triton.cudagraphs=False": Variant(
                    options={"max_fusion_size": 8, "triton.cudagraphs": False}
                )
            },
        ),
        ("--backend aot_eager", {"backend=aot_eager": Variant(backend="aot_eager")}),
        ("--dynamic auto", {"python": Variant(), "cpp": Variant(cpp_wrapper=True)}),
    ],
)
def test_options_become_variants(
    shell: InteractiveShell, session: FakeSession, line: str, variants: dict[str, Variant]
) -> None:
    succeed(shell.run_cell(f"%%compile {line} --no-run\nf(1)"))
    assert session.asked[0]["variants"] == variants
    assert session.asked[0]["run"] is False


@pytest.mark.parametrize("error", [None, KeyboardInterrupt()])
def test_measuring_and_studies_come_after_the_inspection(
    shell: InteractiveShell,
    session: FakeSession,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException | None,
) -> None:
    asked: list[tuple[Any, ...]] = []

    def measure_and_study(
        *given: Any, options: Any, processes: Any, breakdown: bool, progress: Any
    ) -> None:
        assert breakdown
        assert processes == StudyProcesses("two at a time")
        assert options == {"ways": ["eager", "C++ wrapper"]}
        asked.append(given)
        progress(Progress(step="measuring", fraction=0.5))
        if error is not None:
            raise error

    monkeypatch.setattr(requests, "measure_and_study", measure_and_study)
    monkeypatch.setitem(executors._named, "two at a time", ThreadPoolExecutor(2))
    line = (
        '--measure 2.5 --study layers,deploy --ways "eager, C++ wrapper" --executor "two at a time"'
    )
    result = shell.run_cell(f"%%compile {line}\nf(1)")
    ((_, record_kernel_results, seconds, studies),) = asked
    assert session.asked[0]["studies"] == studies
    assert session.asked[0]["study_options"] == {"ways": ["eager", "C++ wrapper"]}
    assert record_kernel_results is shell.user_ns["_report"]
    assert (seconds, studies) == (2.5, ["layers", "deploy"])
    output = capsys.readouterr()
    assert "compilation 0/0" in output.out, "what was found out is shown in any case"
    assert result.success == (error is None)
    if error is not None:
        assert "Interrupted: your call ran; the report keeps the results so far." in output.out
        assert "Traceback" not in output.out


def test_name_keeps_the_report(shell: InteractiveShell, session: FakeSession) -> None:
    succeed(shell.run_cell("%%compile --name mine\nf(1)"))
    assert shell.user_ns["mine"] is shell.user_ns["_report"]


@pytest.mark.parametrize(
    "cell", ["%%compile --help", "\n%%compile --help\n", "%%compile --help\nf(1)"]
)
def test_help_prints_every_option_and_runs_nothing(
    shell: InteractiveShell,
    session: FakeSession,
    capsys: pytest.CaptureFixture[str],
    cell: str,
) -> None:
    succeed(shell.run_cell(cell))
    out = capsys.readouterr().out
    assert out.startswith("  %%compile [--variants NAMES]")
    for option in ("--mode", "--cpp-wrapper", "--dynamic", "--fullgraph", "--backend", "--option"):
        assert f"\n  {option}" in out
    assert shell.user_ns["calls"] == []
