"""Cells with ``%%compile`` in a real shell."""

from __future__ import annotations

import linecache
import textwrap
from typing import Any

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from .magic_support import FakeSession, succeed


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


@pytest.mark.parametrize(
    ("block", "contexts"),
    [
        ("with torch.no_grad():\n    {}", ["torch.no_grad()"]),
        ("with own():\n    {}", ["torch.no_grad()"]),
        ("with short():\n    {}", ["torch.no_grad()"]),
        (
            "with torch.inference_mode() as mode:\n    z = 1\n    {}",
            ["torch.inference_mode()"],
        ),
        (
            "with torch.autocast('cpu'):\n    with torch.inference_mode():\n        {}",
            ["torch.inference_mode()", 'torch.autocast("cpu", dtype=torch.bfloat16)'],
        ),
        (
            "with torch.no_grad(), torch.autocast('cpu', torch.float16):\n    {}",
            ["torch.no_grad()", 'torch.autocast("cpu", dtype=torch.float16)'],
        ),
    ],
)
def test_a_call_in_a_with_block_is_inspected_in_its_modes(
    shell: InteractiveShell, session: FakeSession, block: str, contexts: list[str]
) -> None:
    shell.run_cell("import torch\ndef g(x): return torch.is_grad_enabled()")
    shell.run_cell("short = torch.no_grad\ndef own(): return torch.no_grad()")
    succeed(shell.run_cell("%%compile\nx = 2\n" + block.format("y = g(x)")))
    assert shell.user_ns["y"] is False
    (asked,) = session.asked
    assert (asked["fn"], asked["args"]) == (shell.user_ns["g"], (2,))
    assert asked["call"].code == "y = g(x)"
    assert session.contexts == [contexts]
    assert torch.is_grad_enabled()
    assert not torch.is_autocast_enabled("cpu")


EXAMPLE = "For example:\n\n    %%compile\n    y = x * 2\n    model(y)\n"
NONE = "%%compile inspects the call in the cell's last line, and there is none. " + EXAMPLE
ONE_CALL = (
    "%%compile inspects one call, which must be the cell's entire last statement, or that of a "
    "`with` block of torch.no_grad(), torch.inference_mode() or torch.autocast(...). "
)
WHOLE = ONE_CALL + (
    "Put what the cell computes into a function, and call that. For example:\n\n    %%compile\n"
    "    def compute(x):\n        return model(x) + 1\n    compute(x)\n"
)
ENDING = "End the cell in a function, and its call:\n\n    def compute({}):\n        return {}\n"
BACKWARD = (
    "The cell's last call is the tensor's own .backward(...). It would break the graph. A report "
    "on the forward includes its backward. "
)
ONE_STEP = ONE_CALL + (
    "Inspect one step of the loop: put it into a function, if it is not one yet, and call that. "
    "For example:\n\n    %%compile\n    step(batch)\n\nIf the loop calls what is compiled already, "
    "a watch reports what it compiles; in a cell without %%compile:\n\n    import compilescope\n"
    "    with compilescope.watch() as report:\n        for batch in batches:\n"
    "            compiled_step(batch)\n"
)
NOTHING = (
    "torch.compile has nothing to compile there: the outermost call is the subject. " + EXAMPLE
)
WRONG = [
    ("x = 1\nx", "The cell ends in `x`. None of the cell was run. " + NONE),
    ("x = 1", "The cell ends in `x = 1`. None of the cell was run. " + NONE),
    (
        "for i in []:\n    f(i)",
        "The cell ends in `for i in []:`. None of the cell was run. " + ONE_STEP,
    ),
    ("with f(1):\n    f(1)", "The cell ends in `with f(1):`. " + WHOLE),
    (
        "lock = open('/dev/null')\nwith lock:\n    f(1)",
        "The cell ends in `with lock:`. " + WHOLE,
    ),
    (
        "import torch\nwith torch.autocast('mps'):\n    f(1)",
        (
            "The cell's call runs under autocast for mps. compilescope can repeat calls under "
            "autocast for cpu and cuda. Put autocast into the function that the cell calls.\n"
        ),
    ),
    (
        "import torch\nwith torch.no_grad():\n    y = 1",
        "The cell ends in `y = 1`. None of the cell was run. " + NONE,
    ),
    (
        "y = f(1) + g(2)",
        "The cell ends in `y = f(1) + g(2)`. None of the cell was run. "
        + ONE_CALL
        + ENDING.format("", "f(1) + g(2)")
        + "    y = compute()\n",
    ),
    (
        "f(1).cos",
        (
            "The cell ends in `f(1).cos`. None of the cell was run. "
            "That is the method cos itself: its call `()` is probably missing. "
            + ENDING.format("", "f(1).cos()")
            + "    compute()\n"
        ),
    ),
    ("def g(): pass", "The cell ends in `def g():`. None of the cell was run. " + NONE),
    ("import math", "The cell ends in `import math`. None of the cell was run. " + NONE),
    ("# nothing", "The cell is empty. " + NONE),
    ("!true", "The cell ends in a magic or a shell command. None of the cell was run. " + NONE),
    (
        "%time f(1)",
        "The cell ends in a magic or a shell command. None of the cell was run. " + NONE,
    ),
    ("print(f(1))", "The cell's last call is print(...). " + NOTHING),
    ("list(range(3))", "The cell's last call is list(...). " + NOTHING),
    (
        "import torch\nx = torch.ones(2)\n(x * 2).sum()",
        (
            "The cell's last call is the tensor's own .sum(...). torch.compile has nothing to "
            "compile there: the outermost call is the subject. "
            + ENDING.format("x", "(x * 2).sum()")
            + "    compute(x)\n"
        ),
    ),
    (
        "import torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()",
        f"{BACKWARD}{ENDING.format('x', '(x * 2).sum()')}    compute(x)\n",
    ),
    (
        "import torch\nx = torch.ones(2, requires_grad=True)\ng = torch.sum\ng(x * 2).backward()",
        f"{BACKWARD}End the cell in g(x * 2).\n",
    ),
    (
        "import torch\nloss = torch.ones(2, requires_grad=True).sum()\nloss.backward()",
        f"{BACKWARD}End the cell in the call that computes loss.\n",
    ),
    (
        "import torch\nback = torch.ones(2, requires_grad=True).sum().backward\nback()",
        f"{BACKWARD}End the cell in the call that computes the loss.\n",
    ),
    *(
        (
            f"x = 1\n{line}",
            (
                "Line 3 awaits. torch.compile takes no coroutines, and %%compile runs its cell "
                "without awaiting. Await it in a separate cell, and call with the result.\n"
            ),
        )
        for line in (
            "await f(x)",
            "x = [y async for y in x]\nf(x)",
            "@(await f(x))\ndef g(): pass\ng()",
            "def g(y=await f(x)): pass\ng()",
        )
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
    (
        "x = 1\nreturn f(x)",
        (
            'Syntax error in the cell.\n  File "cell", line 3\n    return f(x)\n    ^^^^^^^^^^^\n'
            "SyntaxError: 'return' outside function\n"
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


def test_the_cell_goes_by_its_number(shell: InteractiveShell, session: FakeSession) -> None:
    for _ in range(2):
        result = shell.run_cell("%%compile\nf(1)", store_history=True)
        call = session.asked[-1]["call"]
        assert shell.compile.format_code_name(call.file) == (
            "Cell",
            f"In[{result.execution_count}]",
        )
        assert call.cell == result.execution_count


@pytest.mark.parametrize(
    ("before", "last", "inner"),
    [
        ("", "f(net(x), b=x)", "net(x)"),
        ("", "x = f(torch.relu(both.net(x)), x)", "both.net(x)"),
        ("z = x * 2", "with torch.no_grad():\n    f(net(z), z)", "net(z)"),
        ("", "with torch.no_grad():\n    z = x * 2\n    f(net(z), x)", "net(z)"),
    ],
)
def test_a_module_called_in_the_arguments_is_no_part_of_the_call(
    shell: InteractiveShell, session: FakeSession, before: str, last: str, inner: str
) -> None:
    shell.run_cell(CALLS_OF_MODULES)
    succeed(shell.run_cell(f"%%compile\n{before}\n{last}"))
    (note,) = session.asked[0]["notes"]
    assert note.what == f"`{inner}` is not part of the inspected call."
    ending = textwrap.dedent(note.remedy.partition("\n\n")[2])
    shell.run_cell(CALLS_OF_MODULES)
    succeed(shell.run_cell(f"%%compile\n{before}\n{ending}"))
    assert session.asked[1]["fn"] is shell.user_ns["compute"]
    assert all(isinstance(value, torch.Tensor) for value in session.asked[1]["args"])
    assert session.asked[1]["args"]
    assert not session.asked[1]["notes"]
    assert session.contexts[0] == session.contexts[1]


CALLS_OF_MODULES = """
import torch, types
x = torch.ones(2)
net = torch.nn.Linear(2, 2)
both = types.SimpleNamespace(net=net)
def f(a, b): pass
def compute(z): return net(z)
"""


@pytest.mark.parametrize(
    "last", ["f(x, lambda: net(x))", "f(torch.ones(2), torch.add(x, x))", "f(net, x)"]
)
def test_other_arguments_are_not_noted(
    shell: InteractiveShell, session: FakeSession, last: str
) -> None:
    shell.run_cell(CALLS_OF_MODULES)
    succeed(shell.run_cell(f"%%compile\n{last}"))
    assert not session.asked[0]["notes"]


@pytest.mark.parametrize(
    ("last", "call"),
    [
        ("net(z).sum()", "compute(z)"),
        ("y = net(z) + z.mean()", "y = compute(z)"),
        ("both.net(x).T", "compute(x)"),
        ("torch.stack([net(row * z) for row in z])[0]", "compute(z)"),
        ("compute(z).sum()", "compute_all(z)"),
    ],
)
def test_a_cell_that_ends_in_more_than_a_call_is_told_how_to_end(
    shell: InteractiveShell,
    session: FakeSession,
    capsys: pytest.CaptureFixture[str],
    last: str,
    call: str,
) -> None:
    shell.run_cell(CALLS_OF_MODULES)
    assert not shell.run_cell(f"%%compile\nz = x * 2\n{last}").success
    error = capsys.readouterr().err
    ending = textwrap.dedent(error.partition("\n\n")[2]).rstrip()
    assert ending.splitlines()[-1] == call
    succeed(shell.run_cell(f"%%compile\nz = x * 2\n{ending}"))
    assert session.asked[0]["fn"] is shell.user_ns[call.partition("(")[0].rpartition(" ")[2]]


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


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("x = 1\nf(x, 'a')", "----> 3 f(x, 'a')"),
        ("import torch\nwith torch.no_grad():\n    f(1, 'a')", "----> 4     f(1, 'a')"),
    ],
)
def test_the_users_error_shows_the_users_lines(
    shell: InteractiveShell,
    session: FakeSession,
    capsys: pytest.CaptureFixture[str],
    cell: str,
    line: str,
) -> None:
    result = shell.run_cell(f"%%compile\n{cell}")
    assert isinstance(result.error_in_exec, TypeError)
    out = capsys.readouterr().out
    assert line in out
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
    assert output.out.strip() == "Interrupted: your call ran; the inspection was canceled."
    assert output.err == ""


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


@pytest.mark.parametrize("switch", ["--no-run", "--variants python"])
def test_a_call_that_worked_in_its_cell_is_not_said_to_fail(
    shell: InteractiveShell, switch: str
) -> None:
    body = [
        "import torch",
        "batches = [torch.ones(4)]",
        "def step():",
        "    return batches.pop().sin()",
        "loss = step()",
    ]
    succeed(shell.run_cell("\n".join([f"%%compile {switch} --name used", *body])))
    problems = [
        *shell.user_ns["used"].problems,
        *(problem for variant in shell.user_ns["used"].variants for problem in variant.problems),
    ]
    assert problems
    for problem in problems:
        assert "The call went well at first" in problem.why


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
