"""The command line."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import compilescope as cs
import msgspec
import pytest
from compilescope import cli
from compilescope.cli import files, main
from compilescope.report import Kernel, OutputError, VariantReport

TRACES = Path(__file__).resolve().parents[2] / "data" / "traces"
PYTHON = TRACES / "h200-torch2.11-mlp_b1_python.log.gz"
LIMIT = TRACES / "cpu-torch2.13-limit.log.gz"
REPORTS = TRACES.parent / "reports"
MLP = REPORTS / "mlp.compilescope.json"
CPP = TRACES / "h200-torch2.11-mlp_b1_cpp.log.gz"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "missing.py"], "no script 'missing.py'"),
        (["run", "-o", "x.txt", __file__], "Use .json or .html"),
        (
            ["run", "-o", "no/such/folder/x.html", __file__],
            "is not a writable folder",
        ),
        (["trace", "missing.log"], "no trace at 'missing.log'"),
        (["trace", __file__], "is not a trace"),
        (["trace", "run.json"], "compilescope show, diff and open read reports"),
        (["show", __file__], "is not a trace"),
        (["diff", __file__, str(PYTHON)], "is not a trace"),
        (["trace", str(PYTHON), "--rank", "7"], "no rank 7"),
        (["trace", str(PYTHON), "--search", ""], "this one is empty"),
        (
            ["trace", str(PYTHON), "--search", "x", "-o", "x.html"],
            "--search prints to the terminal",
        ),
        (["trace", str(PYTHON), "--stacks", "-o", "x.html"], "--stacks prints to the terminal"),
        (["trace", str(PYTHON), "--stacks", "--search", "x"], "Give one of them"),
        (["trace", str(PYTHON), "-o", "x.txt"], "Use .json or .html"),
        (["trace", str(PYTHON), "--follow"], "cannot be followed: it is compressed"),
        (["diff", str(PYTHON), str(PYTHON), "-o", "x.txt"], "Use .json or .html"),
        (["sweep", "plan.json", "--out", "x.txt"], "Use .json or .html"),
        (["show", str(PYTHON), "--variant", "rank 7"], "no variant 'rank 7'"),
        (["show", str(PYTHON), "--guards", "--json"], "--json prints the summary or the list"),
        (["open", __file__, "--no-browser"], "is not a trace"),
        (["show", "missing.json"], "There is no file 'missing.json'. It was looked for in "),
        (["show", str(PYTHON), "--kernel", "k"], "has no kernel 'k'"),
        (["show", str(PYTHON), "--code", "cpp"], "It has: python"),
        (["show", str(MLP), "--variant", "eager", "--guards"], "eager in "),
        (["show", str(MLP), "--kernel", "extern_kernels.addmm"], "has no source"),
        (["reproduce", str(PYTHON)], "Give --kernel NAME or --graph STAGE"),
        (["viewer", "-o", "x.json"], "A page cannot be saved as 'x.json'. Use .html."),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert says in output.err
    assert "Traceback" not in output.err
    assert not output.out


def test_a_trace_is_summarized_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    assert main(["trace", str(PYTHON), "--json", "-o", str(page)]) == 0
    summary = json.loads(capsys.readouterr().out)
    (compilation,) = cs.read_trace(PYTHON).compilations
    (process,) = summary["processes"]
    assert process["compile_time_s"] == summary["slowest"][0]["duration_s"]
    assert process["compile_time_s"] == compilation.duration_s
    assert process["caches"]["FX graph"] == {"miss": 1}
    assert page.read_text().startswith("<!doctype html>")
    assert main(["trace", str(PYTHON)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == PYTHON.name
    assert lines[1] == "torch 2.11.0+cu130 · triton 3.6.0 · Python 3.12.3 · NVIDIA H200"
    assert lines[3].startswith(
        "1 compilation, 0 recompiles, 0 graph breaks, 2.48 s of compile time"
    )
    assert "\033" not in "".join(lines), "a pipe is no terminal"


def test_a_summary_imports_nothing_that_only_other_views_of_a_trace_need() -> None:
    script = f"""if True:
        import sys
        from compilescope.cli import main
        main(["trace", {str(PYTHON)!r}])
        print(*(name for name in sys.modules if name.startswith("compilescope.")), file=sys.stderr)
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported = {name.removeprefix("compilescope.") for name in done.stderr.split()}
    assert "readers.trace_summary" in imported
    unneeded = {"readers.offsets", "readers.search", "readers.stacks", "readers.rank_divergence"}
    assert not imported & {*unneeded, "analysis.assemble", "cli.follow", "cli.run", "views"}


def test_logs_at_several_paths_are_one_trace_and_say_once_what_all_of_them_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = [tmp_path / f"node{rank}" / f"trace_rank_{rank}_x.log.gz" for rank in (0, 1)]
    for log in logs:
        log.parent.mkdir()
        log.write_bytes(LIMIT.read_bytes())
    report = tmp_path / "ranks.json"
    assert main(["trace", str(logs[1]), str(logs[0].parent), "-o", str(report)]) == 0
    summary = capsys.readouterr().out
    assert summary.startswith(f"{tmp_path.name}, ranks 0 to 1\n")
    assert summary.count("fell back to eager: Dynamo recompile limit exceeded  (f") == 1
    assert "warning: [rank 0, rank 1] 0/2 fell back to eager" in summary
    assert [variant.name for variant in cs.load(report).variants] == ["rank 0", "rank 1"]
    assert main(["trace", str(logs[0]), str(tmp_path / "nothing")]) == 2
    assert "There is no trace at" in capsys.readouterr().err


def test_a_log_that_cannot_be_unpacked_is_not_called_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "x.log.gz"
    log.write_bytes(gzip.compress(b"")[:12])
    for command in ("trace", "show", "open"):
        assert main([command, str(log)]) == 2
        assert "x.log.gz cannot be unpacked." in capsys.readouterr().err


def test_a_trace_is_called_after_the_folder_that_a_dot_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.log").write_bytes(gzip.decompress(LIMIT.read_bytes()))
    monkeypatch.chdir(tmp_path)
    assert main(["trace", "."]) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path.name}\n")


def test_a_process_that_summarizes_a_trace_imports_no_more_than_it_needs() -> None:
    script = f"""if True:
        import sys
        from compilescope.cli import run_process
        sys.argv[1:] = ["trace", {str(PYTHON)!r}]
        run_process()
        print(*sys.modules, file=sys.stderr)
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported = set(done.stderr.split())
    assert "msgspec" in imported
    unneeded = {"json"}
    if sys.version_info >= (3, 11):
        unneeded.add("typing_extensions")
    assert not imported & unneeded


def test_help_is_as_wide_as_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    widths = []
    for columns in ("60", "120"):
        cli._columns.cache_clear()
        monkeypatch.setenv("COLUMNS", columns)
        with pytest.raises(SystemExit):
            main(["trace", "--help"])
        lines = capsys.readouterr().out.split("\n")
        # A choice is one word, which is not split.
        widths.append(max(len(line) for line in lines if "{" not in line))
    cli._columns.cache_clear()
    assert widths[0] <= 58 < 80 < widths[1] <= 118


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
from compilescope.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "status"), [(("doctor",), 2), (("sweep", "plan.json"), 2), (("show", PYTHON), 0)]
)
def test_a_command_that_needs_torch_says_so(arguments: tuple[str | Path, ...], status: int) -> None:
    command = (sys.executable, "-c", WITHOUT_TORCH, *arguments)
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == status
    assert ("pip install torch" in done.stderr) == (status == 2)
    assert "Traceback" not in done.stderr


def test_the_parts_of_a_trace_are_listed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(PYTHON), "--list", "--json"]) == 0
    (parts,) = json.loads(capsys.readouterr().out)
    assert parts["code"] == ["python"]
    assert parts["kernels"]
    assert main(["show", str(PYTHON), "--compilation", parts["compilation"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == parts | {"variant": ""}


def test_nothing_to_fail_on_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["diff", str(MLP), str(MLP), "--fail-on", ""])
    assert ended.value.code == 2
    assert "it is empty; it takes slower" in capsys.readouterr().err


def test_an_option_that_is_given_twice_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["show", str(PYTHON), "--kernel", "a", "--kernel=b"])
    error = "argument --kernel: it is given twice, as a and as b. Leave one out."
    assert error in capsys.readouterr().err


def test_a_regression_is_not_looked_for_where_nothing_is_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = str(REPORTS / "mlp.compilescope.json")
    assert main(["diff", str(LIMIT), report, "--fail-on", "recompile"]) == 2
    assert "--fail-on compares nothing" in capsys.readouterr().err


def test_an_empty_log_holds_no_compilations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "empty.log"
    log.touch()
    assert main(["trace", str(log)]) == 0
    assert "No compilations: torch logged none." in capsys.readouterr().out


def test_compilations_of_a_trace_are_listed_sorted_and_filtered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def ids(*options: str) -> list[str]:
        assert main(["trace", str(LIMIT), "--json", *options]) == 0
        return [line["id"] for line in json.loads(capsys.readouterr().out)]

    assert ids("--list") == ["0/0", "0/1", "0/2"]
    assert ids("--only", "failed") == []
    with pytest.raises(SystemExit):
        main(["trace", str(LIMIT), "--min-nodes", "-1"])
    assert "-1 is not a number of nodes: give 0 or more" in capsys.readouterr().err
    assert ids("--only", "fallback") == ["0/2"]
    assert ids("--only", "recompiled", "--sort", "time") == ["0/1"]
    assert ids("--sort", "outcome") == ["0/2", "0/0", "0/1"]
    assert ids("--sort", "recompile")[-1] == "0/0"
    assert ids("--sort", "cache") == ids("--sort", "breaks") == ["0/0", "0/1", "0/2"]
    assert ids("--function", "program.py") == ["0/0", "0/1", "0/2"]
    assert main(["trace", str(LIMIT), "--search", "l_x_ + 1"]) == 0
    hits = capsys.readouterr().out.splitlines()
    assert [hit.split(": ")[0] for hit in hits] == [
        f"{LIMIT.name[:-7]} {compilation} dynamo_output_graph, line 6"
        for compilation in ("0/0", "0/1")
    ]
    assert main(["trace", str(LIMIT), "--search", "no such text"]) == 1
    assert capsys.readouterr().out == ""
    assert main(["trace", str(LIMIT), "--stacks"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "<module>, program.py:77",
        "  f, program.py:36  0/0 0/1",
    ]
    assert main(["trace", str(LIMIT), "--list"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "77.0 ms  0/1  f, program.py:36  recompiled"


def test_a_redacted_trace_prints_no_message_of_the_users(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = {"fail_type": "ValueError", "fail_reason": "hunter2"}
    record = {"compilation_metrics": failed, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    trace, page = tmp_path / "trace.log", tmp_path / "report.html"
    trace.write_text(f"V1124 10:00:01.000000 7 torch/x.py:1] {json.dumps(record)}\n")
    for form in ([], ["--json"]):
        assert main(["trace", str(trace), *form]) == 0
        assert "hunter2" in capsys.readouterr().out
        assert main(["trace", str(trace), "--redact", *form, "-o", str(page)]) == 0
        assert "hunter2" not in capsys.readouterr().out + page.read_text()


def test_one_thing_of_a_report_is_shown_for_pipes(capsys: pytest.CaptureFixture[str]) -> None:
    compilation = cs.read_trace(PYTHON).compilations[0]
    kernel = next(kernel for kernel in compilation.kernels if kernel.source)
    for option, text in (
        (["--code", "python"], compilation.code.python),
        (["--kernel", kernel.name], kernel.source),
        (["--graph", "post_grad"], compilation.graphs["post_grad"].text),
        (["--guards"], "\n".join(guard.expression for guard in compilation.guards)),
    ):
        assert main(["show", str(PYTHON), *option]) == 0
        assert capsys.readouterr().out == f"{(text or '').rstrip()}\n"
    assert main(["show", str(PYTHON), "--list"]) == 0
    listing = capsys.readouterr().out
    assert kernel.name in listing
    assert "post_grad" in listing
    assert main(["show", str(PYTHON), "--compilation", compilation.id]) == 0
    assert capsys.readouterr().out.splitlines()[0] == compilation.id


def test_a_part_is_searched_in_all_compilations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = cs.read_trace(PYTHON)
    (variant,) = report.variants
    first = variant.compilations[0]
    second = msgspec.structs.replace(
        first, id="7/0", kernels=[Kernel(name="other", language="cpp", source="only here")]
    )
    variant.compilations = [first, second]
    saved = str(report.save(tmp_path / "two.json"))
    assert main(["show", saved, "--kernel", "other"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "only here\n"
    assert f"compilation 7/0 of {variant.name} is shown, the first with it of 2" in shown.err
    assert main(["show", saved, "--kernel", "none"]) == 2
    error = capsys.readouterr().err
    assert "No compilation has a kernel 'none'." in error
    assert f"7/0 of {variant.name} has: other." in error


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
    text = gzip.decompress(LIMIT.read_bytes())
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


def test_a_report_is_written_as_a_page_to_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "saved.json"
    cs.read_trace(CPP).save(saved)
    assert main(["open", str(saved), "--no-browser"]) == 0
    page = Path(capsys.readouterr().out.strip())
    try:
        assert page.read_text().startswith("<!doctype html>")
        assert page.parent.stat().st_mode & 0o077 == 0
        # A saved page is opened as it is.
        assert main(["open", str(page), "--no-browser"]) == 0
        assert capsys.readouterr().out.strip() == str(page)
        # The report in it is read by the other commands.
        assert main(["diff", str(saved), str(page)]) == 0
        assert "kernels              2 → 2" in capsys.readouterr().out
    finally:
        page.unlink()
        page.parent.rmdir()


def test_open_starts_jupyterlab_with_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[list[str]] = []

    class Started:
        def __init__(self, command: list[str]) -> None:
            started.append(command)

        def wait(self) -> int:
            return 0

    monkeypatch.setattr("compilescope.cli.lab.subprocess.Popen", Started)
    log = tmp_path / "a log.log"
    log.write_bytes(gzip.decompress(LIMIT.read_bytes()))
    assert main(["open", str(log), "--lab", "--no-browser", "--port", "8701"]) == 0
    assert started[0][1:] == [
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={tmp_path}",
        "--LabApp.default_url=/lab?compilescope-open=a%20log.log",
        "--no-browser",
        "--ServerApp.port=8701",
    ]
    assert main(["open", str(tmp_path / "report.json"), "--lab"]) == 2
    assert ".compilescope.json" in capsys.readouterr().err
    assert len(started) == 1
