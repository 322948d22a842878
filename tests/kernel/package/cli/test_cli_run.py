"""``compilescope run``, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import compilescope as cs
import pytest
from compilescope.processes import runner

SCRIPT = """
import sys
import torch

assert __name__ == "__main__" and __file__.endswith("train.py"), (__name__, __file__)
assert "annotations" not in globals()


@torch.compile(backend="eager")
def step(x):
    y = x + 1
    print("in the step")
    return y * 2


step(torch.ones(4))
print("arguments", sys.argv[1:])
"""


class Ended(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str, folder: Path, **environment: str) -> Ended:
    """Runs ``compilescope`` in a process that is forked: importing torch takes seconds."""
    process = runner.subprocess.Popen(
        [sys.executable, "-m", "compilescope", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, **environment},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.close()
    with ThreadPoolExecutor() as pool, process.stdout, process.stderr:
        stdout, stderr = pool.map(lambda stream: stream.read(), (process.stdout, process.stderr))
    return Ended(process.wait(), stdout.decode(), stderr.decode())


@pytest.mark.slow
def test_a_script_runs_as_by_itself_and_is_reported(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "compilescope", "run", "-o", "out.json", "--trace", "logs"]
    ran = subprocess.run(
        [*command, "train.py", "--lr", "-1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.stdout == "in the step\narguments ['--lr', '-1']\n", ran.stderr
    assert ran.returncode == 0
    report = cs.load(tmp_path / "out.json")
    assert report.subject.name == "train.py --lr -1"
    (graph_break,) = report.variants[0].breaks
    assert graph_break.cause.where is not None
    assert graph_break.cause.where.code == 'print("in the step")'
    assert "1 graph break" in ran.stderr
    assert "1. Fix the graph break at train.py:" in ran.stderr
    assert str(tmp_path / "out.json") in ran.stderr
    assert "compilescope show out.json prints the rest" in ran.stderr
    (logged,) = cs.read_trace(tmp_path / "logs").variants
    assert len(logged.breaks) == 1


FALLBACK = """
import torch
import torch._dynamo.config

torch._dynamo.config.suppress_errors = True


def refuses(graph, inputs):
    raise RuntimeError("boom")


torch.compile(lambda x: x + 1, backend=refuses)(torch.ones(4))
"""


@pytest.mark.slow
def test_what_fell_back_to_eager_is_counted_and_a_problem(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FALLBACK)
    ran = run("run", "-o", "out.json", "train.py", folder=tmp_path)
    assert ran.returncode == 0
    assert "1 compilation (1 fell back to eager): 0 recompiles and 0 graph breaks" in ran.stderr
    report = cs.load(tmp_path / "out.json")
    assert report.compilations[0].outcome == "eager"
    (problem,) = report.problems
    assert problem.what.startswith("0/0 fell back to eager: backend='refuses' raised: ")


EXIT_WORK = """
import atexit, sys, threading, time
atexit.register(print, "exit handler")
ran = threading.Event()
threading.Thread(target=lambda: (ran.wait(), time.sleep(0.2), print("thread ended"))).start()
print("ran")
ran.set()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("sys.exit(3)", 3),
        ("sys.exit('no data')", 1),
        ("raise KeyError('weights')", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT),
    ],
)
def test_however_a_script_ends_it_ends_so_and_is_reported(
    tmp_path: Path, ending: str, status: int
) -> None:
    (tmp_path / "train.py").write_text(f"{EXIT_WORK}\n{ending}\n")
    plain = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True
    )
    ran = run("run", "train.py", folder=tmp_path, RANK="2")
    assert (ran.returncode, ran.stdout) == (plain.returncode, plain.stdout)
    assert plain.returncode == status
    assert plain.stdout == "ran\nthread ended\nexit handler\n"
    # Its traceback has no frame of ours.
    assert plain.stderr.strip() in ran.stderr
    assert "<title>train.py" in (tmp_path / "train.rank2.html").read_text()


@pytest.mark.slow
def test_a_script_that_deletes_its_folder_is_reported_from_where_it_was_started(
    tmp_path: Path,
) -> None:
    program = "import os\nos.mkdir('scratch')\nos.chdir('scratch')\nos.rmdir(os.getcwd())\n"
    (tmp_path / "train.py").write_text(program)
    ran = run("run", "train.py", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "compilescope show train.html prints the rest" in ran.stderr
    assert (tmp_path / "train.html").is_file()


@pytest.mark.slow
def test_a_redacted_run_tells_neither_code_nor_arguments(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    asked = ["run", "--redact", "-o", "out.json", "train.py", "--token", "hunter2"]
    ran = run(*asked, folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    written = (tmp_path / "out.json").read_text()
    for secret in ("hunter2", "in the step", str(tmp_path)):
        assert secret not in written
    report = cs.load(tmp_path / "out.json")
    assert report.subject.name == "train.py"
    assert report.variants[0].breaks


@pytest.mark.slow
def test_a_module_runs_as_by_python_m(tmp_path: Path) -> None:
    package = tmp_path / "job"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import sys\nprint(__package__, sys.argv[1:])\n")
    ran = run("run", "-o", "out.json", "-m", "job", "-o", "x", folder=tmp_path)
    assert ran.stdout == "job ['-o', 'x']\n"
    assert not cs.load(tmp_path / "out.json").compilations
    missing = run("run", "-m", "no_such_module", folder=tmp_path)
    assert missing.returncode == 1
    assert missing.stderr == "No module named no_such_module\n"
    assert not (tmp_path / "no_such_module.html").exists()


SPAWNING = """
import dataclasses, multiprocessing, os
from concurrent.futures import ProcessPoolExecutor


@dataclasses.dataclass
class Result:
    loss: float


if __name__ == "__main__":
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        print(pool.submit(Result, 0.5).result())
"""


@pytest.mark.slow
@pytest.mark.parametrize("script", [["train.py"], ["-m", "train"]])
def test_a_script_gets_objects_of_its_classes_from_spawned_processes(
    tmp_path: Path, script: list[str]
) -> None:
    (tmp_path / "train.py").write_text(SPAWNING)
    ran = run("run", *script, folder=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "Result(loss=0.5)\n"), ran.stderr
