"""``compilescope diff``: what it compares, reports as worse, and refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import compilescope as cs
import msgspec
import pytest
from compilescope.cli import files, main
from compilescope.report import OutputError, Report, VariantReport

from ..stored_logs import LIMIT, MLP, PYTHON, REPORTS, text_of


@pytest.fixture
def folders(tmp_path: Path) -> Callable[[Callable[[Report], None]], list[str]]:
    """Makes two folders with the same report, which is changed in the second."""

    def make(change: Callable[[Report], None]) -> list[str]:
        for name in ("before", "after"):
            (tmp_path / name).mkdir()
            report = files.read(MLP)
            if name == "after":
                change(report)
            report.save(tmp_path / name / "mlp.compilescope.json")
        return [str(tmp_path / "before"), str(tmp_path / "after")]

    return make


def _rename(report: Report) -> None:
    for variant in report.variants:
        variant.name = f"new {variant.name}"


def test_reports_of_folders_without_a_common_variant_are_no_success(
    folders: Callable[[Callable[[Report], None]], list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = folders(_rename)
    assert main(["diff", *paths]) == 0
    capsys.readouterr()
    assert main(["diff", *paths, "--fail-on", "recompile"]) == 2
    written = capsys.readouterr()
    assert "only before: variant" in written.out
    assert "--fail-on compares nothing of mlp" in written.err


def test_folders_without_a_common_report_are_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "before", tmp_path / "after"]
    for path in paths:
        path.mkdir()
    texts = [str(path) for path in paths]
    assert main(["diff", *texts]) == 2
    assert f"The folder {texts[0]!r} is empty." in capsys.readouterr().err
    report = cs.read_trace(PYTHON)
    report.save(paths[0] / "old.compilescope.json")
    for after in ("none", "new"):
        assert main(["diff", *texts]) == 0
        assert main(["diff", *texts, "--fail-on", "recompile"]) == 2
        written = capsys.readouterr()
        assert "only before: report old" in written.out
        assert "--fail-on compares nothing: the two folders have no report" in written.err
        assert f"Before: old. After: {after}." in written.err
        report.save(paths[1] / "new.compilescope.json")


def _clear(report: Report) -> None:
    for variant in report.variants:
        variant.timing, variant.accuracy = None, []


def test_what_was_not_measured_is_said_to_be_not_compared(
    folders: Callable[[Callable[[Report], None]], list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = folders(_clear)
    assert main(["diff", *paths, "--fail-on", "slower,wrong-result,recompile"]) == 0
    written = capsys.readouterr()
    assert "wrong results" not in written.out
    assert [line.partition(":")[0] for line in written.err.splitlines()] == [
        "--fail-on slower compares nothing",
        "--fail-on wrong-result compares nothing",
    ]


def _load(report: Report) -> None:
    report.environment.torch = "99.0"
    for variant in report.variants:
        if variant.timing is not None:
            variant.timing.median_us *= 3
            low, high = variant.timing.interval_us
            variant.timing.interval_us = (low * 3, high * 3)


def test_a_slower_machine_is_not_a_slower_call(
    folders: Callable[[Callable[[Report], None]], list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = folders(_load)
    assert main(["diff", *paths, "--fail-on", "slower"]) == 0
    written = capsys.readouterr()
    assert "higher, but not clearly slower compared with eager" in written.out
    assert "→ 99.0" in written.out
    assert written.err == ""
    assert main(["diff", *paths, "--json"]) == 0
    variants = json.loads(capsys.readouterr().out)["reports"]["mlp"]["variants"]
    assert [variant["latency"]["conditions"] for variant in variants if variant["latency"]]


def test_nothing_to_fail_on_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["diff", str(MLP), str(MLP), "--fail-on", ""])
    assert ended.value.code == 2
    assert "it is empty; it takes slower" in capsys.readouterr().err


def test_a_regression_is_not_looked_for_where_nothing_is_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = str(REPORTS / "mlp.compilescope.json")
    assert main(["diff", str(LIMIT), report, "--fail-on", "recompile"]) == 2
    assert "--fail-on compares nothing" in capsys.readouterr().err


def test_a_report_is_the_same_as_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counted = "failure,eager-fallback,recompile,graph-break,more-kernels,more-guards"
    saved = tmp_path / "saved.json"
    cs.read_trace(PYTHON).save(saved)
    for path, every in ((PYTHON, counted), (saved, f"{counted},slower,wrong-result")):
        assert main(["diff", str(path), str(path), "--fail-on", every]) == 0
        output = capsys.readouterr().out
        assert not [line for line in output.splitlines() if line.lstrip().startswith(("+", "-"))]
    # What cannot be compared is no success.
    for name in ("slower", "wrong-result"):
        assert main(["diff", str(PYTHON), str(PYTHON), "--fail-on", name]) == 2


def test_two_traces_differ_in_what_was_compiled_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = text_of(LIMIT)
    shorter = tmp_path / "shorter.log"
    shorter.write_bytes(text[: text.rindex(b"\nV", 0, text.index(b'"frame_compile_id": 2')) + 1])
    paths = [str(shorter), str(LIMIT)]
    assert main(["diff", *paths, "--fail-on", "failure"]) == 0
    assert "  + newly compiled: " in capsys.readouterr().out
    # It reached the recompile limit.
    assert main(["diff", *paths, "--fail-on", "recompile"]) == 0
    capsys.readouterr()
    assert main(["diff", *paths, "--fail-on", "eager-fallback"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == f"worse: {LIMIT.name[:-7]}: eager-fallback"
    assert main(["diff", *paths, "--json"]) == 0
    (process,) = json.loads(capsys.readouterr().out)["processes"]
    assert [line["id"] for line in process["new"]] == ["0/2"]
    assert process["gone"] == process["changed"] == []


def test_two_reports_differ_in_what_was_added(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = cs.read_trace(PYTHON)
    after = cs.read_trace(PYTHON)
    extra = after.compilations[0].kernels.pop()
    assert extra.language == "triton"
    assert extra.ops[-1] == "aten.rsqrt.default"
    before.save(tmp_path / "before.json")
    after.save(tmp_path / "after.json")
    paths = [str(tmp_path / "before.json"), str(tmp_path / "after.json")]
    assert main(["diff", *paths, "--fail-on", "more-kernels"]) == 0
    gone = capsys.readouterr().out
    assert re.search("^  - Triton kernel of .*, rsqrt$", gone, re.M)
    assert main(["diff", *reversed(paths), "--fail-on", "more-kernels"]) == 1
    new = capsys.readouterr().out
    assert re.search("^  [+] Triton kernel of .*, rsqrt$", new, re.M)
    assert "worse: " in new
    assert main(["diff", *paths, "--json"]) == 0
    (variant,) = json.loads(capsys.readouterr().out)["variants"]
    (kernels,) = [figure for figure in variant["figures"] if figure["name"] == "kernels"]
    assert kernels["before"] == kernels["after"] + 1
    after.compilations[0].kernels.append(extra)
    extra.source += "\n# another version's"
    after.save(tmp_path / "after.json")
    assert main(["diff", *paths]) == 0
    changed = capsys.readouterr().out
    assert re.search("^  ≠ Triton kernel of .*, rsqrt$", changed, re.M)
    assert not re.search("^  [+-]", changed, re.M)
    with pytest.raises(SystemExit, match="2"):
        main(["diff", *paths, "--fail-on", "weather"])
    assert "there is no 'weather'" in capsys.readouterr().err


def test_a_copied_script_differs_only_in_what_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = cs.read_trace(LIMIT), cs.read_trace(LIMIT)
    for compilation in after.compilations:
        frame = compilation.frame
        assert frame is not None
        compilation.frame = msgspec.structs.replace(frame, file=f"{frame.file[:-3]}2.py")
    before.save(tmp_path / "before.json")
    after.save(tmp_path / "after.json")
    paths = [str(tmp_path / "before.json"), str(tmp_path / "after.json")]
    assert main(["diff", *paths]) == 0
    assert not re.search("^ +[-+≠] ", capsys.readouterr().out, re.M)
    recompiled = after.variants[0].compilations.pop()
    after.save(tmp_path / "after.json")
    assert recompiled.recompile is not None
    assert main(["diff", *paths]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "signs: - only before"
    (line,) = [line for line in lines if line.startswith("  - recompile of ")]
    assert before.compilations[0].frame is not None
    assert Path(before.compilations[0].frame.file).name in line


def test_a_kernel_has_one_sign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = cs.read_trace(PYTHON), cs.read_trace(PYTHON)
    kernels = after.compilations[0].kernels
    kernels[-1].source += "\n# another version's"
    kernels.append(msgspec.structs.replace(kernels[-1]))
    before.save(tmp_path / "before.json")
    after.save(tmp_path / "after.json")
    assert main(["diff", str(tmp_path / "before.json"), str(tmp_path / "after.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "signs: ≠ in both, but different"
    (line,) = [line for line in lines if re.match(" +[-+≠] ", line)]
    assert re.fullmatch("  ≠ Triton kernel of .*, rsqrt, 1 → 2 times", line)


def test_a_variant_that_fails_or_computes_something_else_is_worse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def diff(change: Callable[[VariantReport], None], name: str) -> int:
        report = files.read(MLP)
        (tmp_path / "before.json").write_text(MLP.read_text())
        change(report.variant("cpp"))
        report.save(tmp_path / "after.json")
        paths = (str(tmp_path / f"{when}.json") for when in ("before", "after"))
        return main(["diff", *paths, "--fail-on", name])

    def fail(variant: VariantReport) -> None:
        variant.stage, variant.compilations = "failed", []

    def fall_back(variant: VariantReport) -> None:
        variant.compilations[0].outcome = "eager"

    def miscompute(variant: VariantReport) -> None:
        variant.accuracy = [OutputError("out", "float32", 1.0, 1.0, 0.1, 0.1, ok=False)]

    for change, name in (
        (fail, "failure"),
        (fall_back, "eager-fallback"),
        (miscompute, "wrong-result"),
    ):
        # What did not compile has no kernels: it is better by every other figure.
        assert diff(change, "more-kernels,more-guards,recompile,graph-break") == 0
        assert diff(change, name) == 1
        assert capsys.readouterr().out.endswith(f": {name}\n")


def test_two_folders_of_reports_are_compared_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()
    report = cs.read_trace(PYTHON)
    for place in (before / "kept", before / "gone", after / "kept", after / "worse", after / "new"):
        report.save(place.with_suffix(".compilescope.json"))
    report.compilations[0].kernels.pop()
    report.save(before / "worse.compilescope.json")
    paths = [str(before), str(after)]
    assert main(["diff", *paths]) == 0
    assert main(["diff", *paths, "--fail-on", "recompile,slower"]) == 0
    capsys.readouterr()
    assert main(["diff", *paths, "--fail-on", "more-kernels"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith(":")] == ["worse:"]
    assert lines[-4:-1] == [
        "no difference: kept",
        "only before: report gone",
        "only after: report new",
    ]
    assert re.fullmatch(r"worse: worse: .*: more-kernels", lines[-1])
    assert main(["diff", *paths, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert list(data["reports"]) == ["kept", "worse"]
    for places, words in (
        ((tmp_path / "nowhere", after), "There is no file or folder '"),
        ((tmp_path / "nowhere", tmp_path / "else"), "There is no file or folder '"),
        ((next(before.iterdir()), after), "is a file, and the other is a folder of reports."),
    ):
        assert main(["diff", *map(str, places)]) == 2
        assert words in capsys.readouterr().err
