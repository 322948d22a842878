"""``%%compile`` and ``%compilescope`` in a real shell."""

from __future__ import annotations

import atexit
import linecache
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from compilescope.progress.progress import Progress
from compilescope.report import Report
from compilescope.report.variant import Variant
from compilescope.report.watching import WatchState
from compilescope.session import requests
from compilescope.session import session as sessions
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from traitlets.config import Config

from ..views_report import report


class FakeWatcher:
    """A switch that is as it was put."""

    def __init__(self) -> None:
        self.asked: list[object] = []
        self.now = WatchState()

    def on(self, memory_mb: float | None) -> None:
        self.asked.append(memory_mb)
        self.now = WatchState(on=True, subject="w", since_s=0.0, budget_bytes=256_000_000)

    def off(self) -> bool:
        was_on, self.now.on = self.now.on, False
        return was_on

    def raised(self, error: BaseException) -> None:
        """A cell's exception, of which these tests have many."""

    def clear(self) -> None:
        self.asked.append("clear")

    def state(self) -> WatchState:
        return self.now


COMMANDS = "There are watch, off, clear, forget, status, doctor."


class FakeSession:
    """Notes what it is asked, and answers with a small report."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.inspections: dict[str, Any] = {}
        self.watcher = FakeWatcher()
        self.error: BaseException | None = None

    def forget(self, subject: str) -> None:
        del self.inspections[subject]

    def inspect(self, fn: Any, args: Any, kwargs: Any, **options: Any) -> Report:
        self.asked.append({"fn": fn, "args": args, "kwargs": kwargs, **options})
        options["progress"](Progress(step="capturing", fraction=0.5))
        if self.error is not None:
            raise self.error
        return report()


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    before = sys.displayhook
    shell = InteractiveShell.instance(config=config)
    shell.run_line_magic("load_ext", "compilescope")
    shell.run_cell("def f(a, b=1):\n    calls.append((a, b))\n    return a + b\ncalls = []")
    yield shell
    shell.run_line_magic("unload_ext", "compilescope")
    InteractiveShell.clear_instance()
    # Each shell would look for garbage as the process ends: in all that the run has left, half a
    # second a shell.
    atexit.unregister(shell.atexit_operations)
    sys.displayhook = before


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> FakeSession:
    fake = FakeSession()
    monkeypatch.setattr(sessions, "get_session", lambda: fake)
    # Its report is of no call that could be made again.
    monkeypatch.setattr(requests, "plan_breakdown", lambda *_, **__: None)
    return fake


def succeed(result: ExecutionResult) -> None:
    result.raise_error()


def test_the_last_call_is_made_once_and_inspected(
    shell: InteractiveShell, session: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed(shell.run_cell("%%compile\nx = 2\ny = f(x, b=x * 3)"))
    assert shell.user_ns["calls"] == [(2, 6)]
    assert shell.user_ns["y"] == 8
    (asked,) = session.asked
    assert (asked["fn"], asked["args"], asked["kwargs"]) == (shell.user_ns["f"], (2,), {"b": 6})
    assert asked["run"] is True
    assert asked["variants"] is None
    assert asked["watched"].compilations("in the cell") == []
    assert "compilation 0/0" in capsys.readouterr().out
    assert shell.user_ns["_report"].subject.name == "f"
    assert not [name for name in shell.user_ns if name.startswith("__compilescope")]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("f(1, 2)", True),
        ("f(1, 2)  # not ; the end", True),
        ("f(1, 2);", False),
        ("f(1, 2) ;  # quiet\n", False),
        ("y = f(1, 2)", False),
    ],
)
def test_the_value_appears_as_without_the_magic(
    shell: InteractiveShell,
    session: FakeSession,
    capsys: pytest.CaptureFixture[str],
    cell: str,
    shown: bool,
) -> None:
    shell.run_cell(f"%%compile\n{cell}")
    assert (": 3\n" in capsys.readouterr().out) is shown
    assert (shell.user_ns["_"] == 3) is shown


@pytest.mark.parametrize(
    ("last", "calls"),
    [
        ("f(1)", [(1, 1)]),
        ("f(1);", [(1, 1)]),
        ("y: int = f(1)", [(1, 1)]),
        ("y = z = f(1)", [(1, 1)]),
        ("y, z = [f][0](*[1], **{'b': 2}), 3", None),
        ("[f][0](*[1], **{'b': 2})", [(1, 2)]),
        ("box[0] = f(\n    1,\n    b=5,\n)", [(1, 5)]),
        ("f(f(1))", [(1, 1), (2, 1)]),
        ("(lambda v: f(v))(4)  # comment", [(4, 1)]),
    ],
)
def test_forms_of_the_last_line(
    shell: InteractiveShell, session: FakeSession, last: str, calls: list[Any] | None
) -> None:
    result = shell.run_cell(f"%%compile\nbox = [0]\n{last}")
    if calls is None:
        assert not result.success
        assert session.asked == []
    else:
        succeed(result)
        assert shell.user_ns["calls"] == calls
        assert len(session.asked) == 1


EXAMPLE = "For example:\n\n    %%compile\n    y = x * 2\n    model(y)\n"
NONE = "%%compile looks into the call in the cell's last line, and there is none. " + EXAMPLE
NOTHING = (
    "torch.compile has nothing to look into there: the outermost call is the subject. " + EXAMPLE
)
WRONG = [
    ("x = 1\nx", "The cell ends in `x`. " + NONE),
    ("x = 1", "The cell ends in `x = 1`. " + NONE),
    ("for i in []:\n    f(i)", "The cell ends in `for i in []:`. " + NONE),
    ("def g(): pass", "The cell ends in `def g():`. " + NONE),
    ("import math", "The cell ends in `import math`. " + NONE),
    ("# nothing", "The cell is empty. " + NONE),
    ("!true", "The cell ends in a magic or a shell command. " + NONE),
    ("%time f(1)", "The cell ends in a magic or a shell command. " + NONE),
    ("print(f(1))", "The cell's last call is print(...). " + NOTHING),
    ("list(range(3))", "The cell's last call is list(...). " + NOTHING),
    (
        "import torch\ntorch.ones(2).sum()",
        "The cell's last call is the tensor's own .sum(...). " + NOTHING,
    ),
    (
        "x = 1\nawait f(x)",
        (
            "Line 3 awaits. torch.compile takes no coroutines, and %%compile runs its cell without "
            "awaiting. Await it in a separate cell, and call with the result.\n"
        ),
    ),
    (
        "async def g(): pass\ng()",
        (
            "g is an async function. Calling it computes nothing, and torch.compile takes no "
            "coroutines. Await it in a separate cell, and call with the result.\n"
        ),
    ),
    (
        "x = 1\nf(x))",
        (
            'Syntax error in the cell.\n  File "cell", line 3\n    f(x))\n        ^\n'
            "SyntaxError: unmatched ')'\n"
        ),
    ),
]


@pytest.mark.parametrize(("body", "message"), WRONG)
def test_a_wrong_cell_says_what_it_should_be(
    shell: InteractiveShell,
    session: FakeSession,
    capsys: pytest.CaptureFixture[str],
    body: str,
    message: str,
) -> None:
    result = shell.run_cell(f"%%compile\n{body}")
    output = capsys.readouterr()
    assert not result.success
    assert output.err == f"UsageError: {message}"
    assert "Traceback" not in output.out
    assert session.asked == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--bogus", "unrecognized arguments: --bogus"),
        ("--dynamic maybe", "argument --dynamic: invalid choice: 'maybe'"),
        ("--mode fast", "There is no mode 'fast'. "),
        ("--variants python,rust", "There is no variant 'rust'. "),
        ("--backend gpu", "There is no backend 'gpu'. "),
        ("--name 3x", "--name 3x: that is not the name of a variable."),
        ("--measure soon", "argument --measure: invalid seconds value: 'soon'"),
        ("--measure 0", "argument --measure: invalid seconds value: '0'"),
        ("--study layers,horoscope", "There is no study 'horoscope'. "),
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


def test_the_cell_goes_by_its_number(shell: InteractiveShell, session: FakeSession) -> None:
    for _ in range(2):
        result = shell.run_cell("%%compile\nf(1)", store_history=True)
        file = session.asked[-1]["call"].file
        assert shell.compile.format_code_name(file) == ("Cell", f"In[{result.execution_count}]")


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

    def measure_and_study(*given: Any, breakdown: bool, progress: Any) -> None:
        assert breakdown
        asked.append(given)
        progress(Progress(step="measuring", fraction=0.5))
        if error is not None:
            raise error

    monkeypatch.setattr(requests, "measure_and_study", measure_and_study)
    result = shell.run_cell("%%compile --measure 2.5 --study layers,kernels\nf(1)")
    ((_, record_kernel_results, seconds, studies),) = asked
    assert record_kernel_results is shell.user_ns["_report"]
    assert (seconds, studies) == (2.5, ["layers", "kernels"])
    output = capsys.readouterr()
    assert "compilation 0/0" in output.out, "what was found out is shown in any case"
    assert result.success == (error is None)
    if error is not None:
        assert "Interrupted: your call ran; the report keeps what was there by then." in output.out
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


def test_a_bare_magic_asks_for_a_cell(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not shell.run_cell("%%compile").success
    assert capsys.readouterr().err == f"UsageError: %%compile has no cell below it. {EXAMPLE}"


@pytest.mark.parametrize("above", ["", "\n\n"])
def test_lines_are_those_of_the_cell(
    shell: InteractiveShell, session: FakeSession, above: str
) -> None:
    succeed(shell.run_cell(f"%%compile\n{above}def g(v):\n    return v\ng(1)"))
    (asked,) = session.asked
    code = asked["fn"].__code__
    assert code.co_filename == asked["call"].file
    assert code.co_firstlineno == 2 + len(above)
    assert linecache.getline(code.co_filename, 1) == "%%compile\n"
    assert linecache.getline(code.co_filename, code.co_firstlineno) == "def g(v):\n"


def test_magics_and_commands_work_above_the_call(
    shell: InteractiveShell, session: FakeSession, capfd: pytest.CaptureFixture[str]
) -> None:
    succeed(
        shell.run_cell(
            "%%compile\n%env FRUIT=pear\nfiles = !echo $FRUIT\n!echo hello\nf(files)\n".replace(
                "f(files)", "f(files[0], 's')"
            )
        )
    )
    assert shell.user_ns["calls"] == [("pear", "s")]
    assert "hello" in capfd.readouterr().out


def test_the_users_error_shows_the_users_lines(
    shell: InteractiveShell, session: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    result = shell.run_cell("%%compile\nx = 1\nf(x, 'a')")
    assert isinstance(result.error_in_exec, TypeError)
    out = capsys.readouterr().out
    assert "----> 3 f(x, 'a')" in out
    assert "compilescope" not in out
    assert session.asked == []
    assert "__compilescope_call__" not in shell.user_ns


def test_an_error_above_the_call_ends_the_cell(
    shell: InteractiveShell, session: FakeSession
) -> None:
    result = shell.run_cell("%%compile\n1 / 0\nf(1)")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert shell.user_ns["calls"] == []


def test_an_interrupt_keeps_the_call(
    shell: InteractiveShell, session: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    session.error = KeyboardInterrupt()
    assert not shell.run_cell("%%compile\ny = f(1)").success
    assert shell.user_ns["y"] == 2
    output = capsys.readouterr()
    assert output.out.strip() == "Interrupted: your call ran; the inspection was cancelled."
    assert output.err == ""


def test_status_lists_what_was_inspected(
    shell: InteractiveShell, session: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed(shell.run_cell("%compilescope status"))
    assert capsys.readouterr().out.startswith("Nothing inspected yet.")
    session.inspections["s1"] = type("Inspection", (), {"report": report()})
    succeed(shell.run_cell("%compilescope"))
    assert (
        "f (cell:3): eager (built and run), python (built and run), cpp (sources only)"
        in capsys.readouterr().out
    )


def test_all_reports_are_forgotten(
    shell: InteractiveShell, session: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    session.inspections |= {"s1": report(), "s2": report()}
    succeed(shell.run_cell("%compilescope forget"))
    assert session.inspections == {}
    assert capsys.readouterr().out == "All reports are forgotten.\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "dance",
            f"There is no %compilescope dance. {COMMANDS}",
        ),
        (
            "off now",
            f"There is no %compilescope off now. {COMMANDS}",
        ),
        (
            "doctor me",
            f"There is no %compilescope doctor me. {COMMANDS}",
        ),
        ("watch 3", "%compilescope watch 3: write --memory 512, in MB."),
        ("watch --memory much", "%compilescope watch --memory much: write --memory 512, in MB."),
    ],
)
def test_other_commands_say_so(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], command: str, message: str
) -> None:
    assert not shell.run_cell(f"%compilescope {command}").success
    assert capsys.readouterr().err == f"UsageError: {message}\n"


def test_watching_is_switched_on_and_off(
    shell: InteractiveShell, session: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed(shell.run_cell("%compilescope off"))
    assert capsys.readouterr().out == "Nothing was watched.\n"
    succeed(shell.run_cell("%compilescope watch --memory 512"))
    assert capsys.readouterr().out.startswith("Watching since ")
    succeed(shell.run_cell("%compilescope watch"))
    succeed(shell.run_cell("%compilescope clear"))
    assert session.watcher.asked == [512.0, None, "clear"]
    capsys.readouterr()
    succeed(shell.run_cell("%compilescope off"))
    assert capsys.readouterr().out.startswith("Not watching; recorded: 0 compilations")


def test_unloading_takes_everything_away_and_loading_says_what_to_do(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    before = list(shell.input_transformers_cleanup)
    shell.run_line_magic("unload_ext", "compilescope")
    assert len(shell.input_transformers_cleanup) == len(before) - 1
    for kind, name in (("cell", "compile"), ("line", "compile"), ("line", "compilescope")):
        assert name not in shell.magics_manager.magics[kind]
    capsys.readouterr()
    shell.run_line_magic("load_ext", "compilescope")
    assert shell.input_transformers_cleanup == before
    assert capsys.readouterr().out == "Ready: put %%compile at the top of a cell, and run it.\n"


def test_a_real_inspection_points_at_the_cells_lines(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    body = [
        "import torch",
        "def g(v):",
        "    w = v * 2",
        "    return w.sin() + 1",
        "g(torch.ones(4))",
    ]
    succeed(shell.run_cell("\n".join(["%%compile --no-run --name made", *body])))
    user_n = shell.user_ns["made"]
    assert user_n.subject.where.line == 3
    assert user_n.compilation("0/0").code.cpp is not None
    graph = user_n.compilation("0/0").graphs["dynamo"]
    lines = {
        source.line: linecache.getline(source.file, source.line).strip()
        for node in graph.nodes
        for source in node.sources
    }
    assert lines[4] == "w = v * 2"
    assert lines[5] == "return w.sin() + 1"
    assert "cpp_fused_add_mul_sin_0" in capsys.readouterr().out


def test_kernels_of_torchs_own_modules_lead_to_the_call(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    body = [
        "import torch",
        "net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU())",
        "",
        "net(torch.ones(1, 3, 8, 8))",
    ]
    succeed(shell.run_cell("\n".join(["%%compile --no-run --name made", *body])))
    user_n = shell.user_ns["made"]
    assert (user_n.subject.call.line, user_n.subject.call.code) == (5, body[-1])
    assert user_n.subject.call.file in user_n.files
    for variant in user_n.variants:
        (compilation,) = variant.compilations
        forward = [kernel for kernel in compilation.kernels if kernel.direction == "forward"]
        assert forward
        for kernel in forward:
            assert kernel.sources == [user_n.subject.call]
            assert "sources" not in kernel.absent
        assert {name for kernel in forward for name in kernel.modules} == {"0: Conv2d", "1: ReLU"}
        wrapper = "cpp" if compilation.code.cpp else "python"
        for region in compilation.code.regions[wrapper]:
            if region.kind == "launch":
                assert region.sources == [user_n.subject.call]
    assert "of 0: Conv2d" in capsys.readouterr().out
