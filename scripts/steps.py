"""Run the checks, or the checks and the tests, and print one summary.

``python scripts/steps.py check|test|kernel|quick|gpu``, from the repository's root, in the
environment that ``make setup-tests`` made:

========  ==========================================================================
check     formatters, linters, types, import contracts
test      the checks and every test
kernel    the kernel's tests alone, for another torch
quick     the checks, jest and the kernel's tests that build no C++ and start nothing
gpu       the tests that need a GPU, on a machine that has one
========  ==========================================================================

A few steps run at the same time, long ones first: as one ends, the next begins, so that no long one
runs alone at the end. The kernel's tests are three processes, each with its files in a fixed order.
Every step's full output is kept in ``build/steps/``.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import signal
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "steps"
COMPILATIONS = ROOT / "build" / "compilations"
"""What the tests have compiled; see tests/compiler/g++."""
COMPILATIONS_KEPT_S = 7 * 24 * 3600.0
"""How long a compilation is kept that no run uses."""


@dataclass(frozen=True)
class Step:
    """Something to run that passes (exit status 0) or fails.

    Parameters
    ----------
    name
        What the summary calls it.
    command
        Program and arguments.
    folder
        Where it runs, relative to the repository's root.
    """

    name: str
    command: tuple[str, ...]
    folder: str = "."


@dataclass(frozen=True)
class Outcome:
    """How a step ended."""

    step: Step
    passed: bool
    seconds: float
    processor: float
    """Seconds of processor time, of all processes that it started and waited for."""
    note: str


def python(*arguments: str) -> tuple[str, ...]:
    """Arguments for this interpreter."""
    return (sys.executable, *arguments)


SPHINX = ("-q", "-W", "-b", "html", "-d", "build/doctrees", "docs", "build/site")
DOCS = Step("docs", python("-m", "sphinx", *SPHINX))
"""Every warning is an error, a broken link among them. Sphinx needs Python 3.11."""

CHECKS = [
    Step("eslint", ("jlpm", "eslint:check")),
    Step("mypy", python("-m", "mypy")),
    Step("tsc", ("jlpm", "types:check")),
    Step("prettier", ("jlpm", "prettier:check")),
    Step("browser tests' types", ("jlpm", "check"), folder="tests/ui"),
    Step("stylelint", ("jlpm", "stylelint:check")),
    Step("front end's imports", ("jlpm", "imports:check")),
    Step("import contracts", ("lint-imports", "--no-cache")),
    Step("generated types", python("scripts/generate_types.py", "--check")),
    Step("ruff check", python("-m", "ruff", "check", ".")),
    Step("ruff format", python("-m", "ruff", "format", "--check", ".")),
    *([DOCS] if sys.version_info >= (3, 11) else []),
]

KERNEL_TESTS = ROOT / "tests" / "kernel"
KERNEL_FOLDERS = (
    ("guards", "package", "reproducers", "session", "targets"),
    ("analysis", "inspection", "measure"),
)
"""Folders of the kernel's tests for all processes but the last, which has the rest: each process
needs about as long as the others, and loads torch, and what it forks, for itself."""


def kernel_files() -> list[list[str]]:
    """The kernel's test files of each process, in alphabetical order."""
    files = sorted(path.relative_to(ROOT).as_posix() for path in KERNEL_TESTS.rglob("test_*.py"))
    parts = [
        [name for name in files if name.split("/")[2] in folders] for folders in KERNEL_FOLDERS
    ]
    return [*parts, [name for name in files if not any(name in part for part in parts)]]


GPU_TESTS = sorted(str(path) for path in KERNEL_TESTS.rglob("test_gpu*.py"))
GPU_TESTS_AT_ONCE = max(1, min(7, (os.cpu_count() or 1) // 2))
"""Most of their time is the C++ compiler's, on processors that would stand idle."""
GPU_TIMED_TESTS = [
    str(KERNEL_TESTS / "gpu" / f"test_gpu_{name}.py")
    for name in ("kernels", "layers", "loads", "sampler", "steps")
]
"""Those that compare times: alone, as no other process may use the device meanwhile."""


BROWSER = "browser tests"


def pytest(name: str, *arguments: str) -> Step:
    """A step that runs pytest."""
    return Step(name, python("-m", "pytest", "-q", "--durations=20", *arguments))


def gpu_steps() -> list[Step]:
    """The tests that need a GPU: several at a time, then those that compare times."""
    others = [name for name in GPU_TESTS if name not in GPU_TIMED_TESTS]
    return [
        pytest("pytest, GPU", *others, "-n", str(GPU_TESTS_AT_ONCE), "-rA"),
        pytest("pytest, GPU, times", *GPU_TIMED_TESTS, "-rA"),
    ]


def steps(what: str) -> tuple[int, list[Step]]:
    """How many steps of a command run at a time, and the steps, long ones first.

    Parameters
    ----------
    what
        One of `COMMANDS`.
    """
    jest = Step("jest", ("jlpm", "test", "--ci", "--maxWorkers=1"))
    browser = Step(BROWSER, ("jlpm", "test"), folder="tests/ui")
    kernel = [
        pytest(f"pytest, part {number}", *files) for number, files in enumerate(kernel_files(), 1)
    ]
    quick = pytest("pytest, quick", "-m", "not slow and not gpu")
    return {
        "check": (2, CHECKS),
        "test": (5, [*kernel, browser, jest, *CHECKS]),
        "kernel": (3, kernel),
        "quick": (2, [quick, jest, *CHECKS]),
        "gpu": (1, gpu_steps()),
    }[what]


COMMANDS = ("check", "test", "kernel", "quick", "gpu")


def log_of(step: Step) -> Path:
    """Where a step's full output is kept."""
    return LOGS / (step.name.replace(" ", "-").replace("'", "").replace(",", "") + ".log")


SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
"""The number of the system call sched_setattr(2), which Python has no function for."""
SLICE_NS = 100_000_000
"""The longest slice that Linux gives to a process (since 6.12; earlier ones ignore it)."""


def run_long_slices(pid: int) -> None:
    """Have the scheduler interrupt a process, and what it starts, seldom.

    Several steps share each core. Interrupted every 3 ms, each finds its caches full of the others'
    data: six at a time took a quarter more processor time than two. What answers a browser stays as
    it is: there many processes wait for each other.
    """
    number = SCHED_SETATTR.get(platform.machine())
    if sys.platform != "linux" or number is None:
        return
    # struct sched_attr: size, policy, flags, nice, priority, runtime, deadline, period
    attributes = struct.pack("IIQiIQQQ", 48, os.SCHED_BATCH, 0, 0, 0, SLICE_NS, 0, 0)
    # Where it is refused, or the step has ended already, the step runs as any other.
    ctypes.CDLL(None).syscall(number, pid, attributes, 0)


def run_step(step: Step) -> Outcome:
    """Run one step to its end; its output goes to a log, shown if it failed."""
    if ending.is_set():
        return Outcome(step, passed=False, seconds=0, processor=0, note="not begun")
    log = log_of(step)
    start = time.monotonic()
    with log.open("w", encoding="utf-8") as output:
        # A session of its own, so that ending it ends the servers and browsers it started too.
        process = subprocess.Popen(
            step.command,
            cwd=ROOT / step.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        running.add(process)
        if step.name != BROWSER:
            run_long_slices(process.pid)
        try:
            _, status, used = os.wait4(process.pid, 0)
        finally:
            running.discard(process)
    seconds = time.monotonic() - start
    text = log.read_text(encoding="utf-8", errors="replace")
    note = "" if step in CHECKS else last_line(text)
    if status:
        print(f"\n--- {step.name} failed ---\n{text}", flush=True)
    else:
        print(f"{step.name}: passed in {seconds:.0f} s", flush=True)
    return Outcome(step, status == 0, seconds, used.ru_utime + used.ru_stime, note)


FAILURES = re.compile(
    r"^(?:FAILED|ERROR|FAIL) .*|^ +\d+\) .*|^\s*●.*|.*\berror\b.*"
    r"|^\s*(?:Error: |Expected|Received|> *\d+ \|).*",
    re.MULTILINE,
)
"""How pytest, Playwright, jest and the checks begin the lines that name what failed and why."""


def named_failures(text: str) -> list[str]:
    """The first lines of a failed step's output that name what failed, without repetition."""
    lines = (line.strip()[:160] for line in FAILURES.findall(text))
    return list(dict.fromkeys(lines))[:10]


def last_line(text: str) -> str:
    """The last line that counts tests ("12 passed in 3 s"), or nothing."""
    lines = [line.strip(" =") for line in text.splitlines()]
    counts = [line for line in lines if "passed" in line or "failed" in line]
    return counts[-1][:60] if counts else ""


running: set[subprocess.Popen[bytes]] = set()
ending = threading.Event()
"""Set once the run is interrupted: no other step begins in place of one that ends."""


def end(process: subprocess.Popen[bytes]) -> None:
    """End a step and all that it started: politely, then not.

    Ctrl-C first: what Playwright has started is in sessions of its own, and ends with that alone.
    """
    for number, seconds in ((signal.SIGINT, 20), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=seconds)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        return


def interrupted(number: int, _frame: object) -> None:
    """Ctrl-C, or a polite kill: leave nothing behind."""
    ending.set()
    for process in list(running):
        end(process)
    os._exit(128 + number)


def summary(outcomes: list[Outcome]) -> str:
    """One line a step, and what failed in it."""
    width = max(len(outcome.step.name) for outcome in outcomes)
    lines = ["", "Summary"]
    for outcome in outcomes:
        word = "passed" if outcome.passed else "FAILED"
        took = f"{outcome.seconds:6.1f} s, {outcome.processor:6.1f} s of processor time"
        row = f"  {outcome.step.name:<{width}}  {word}  {took}  {outcome.note}"
        lines.append(row.rstrip())
        if not outcome.passed and outcome.seconds:
            text = log_of(outcome.step).read_text(encoding="utf-8", errors="replace")
            lines += [f"    {line}" for line in named_failures(text)]
    failed = sum(not outcome.passed for outcome in outcomes)
    lines.append(f"{failed} of {len(outcomes)} steps failed." if failed else "All passed.")
    return "\n".join(lines)


def forget_old_compilations() -> None:
    """Remove what the tests compiled and no run has used for a week."""
    COMPILATIONS.mkdir(parents=True, exist_ok=True)
    used_after = time.time() - COMPILATIONS_KEPT_S
    for compilation in COMPILATIONS.iterdir():
        if compilation.stat().st_mtime < used_after:
            compilation.unlink()


def main(arguments: list[str]) -> int:
    """Run what was asked for; 1 if anything failed."""
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        print(f"Usage: python scripts/steps.py {'|'.join(COMMANDS)}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGINT, interrupted)
    signal.signal(signal.SIGTERM, interrupted)
    LOGS.mkdir(parents=True, exist_ok=True)
    forget_old_compilations()
    os.environ["COMPILESCOPE_TEST_COMPILATIONS"] = str(COMPILATIONS)
    # Hundreds of processes import the package: its bytecode is kept, whatever the caller's habit.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    at_once, requested = steps(arguments[0])
    started = time.monotonic()
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        # Each runs whether or not those before it passed.
        outcomes = list(pool.map(run_step, requested))
    for outcome in outcomes:
        if not outcome.passed:
            # What failed is named at the end: again here, where only a log's end is kept.
            text = log_of(outcome.step).read_text(encoding="utf-8", errors="replace")
            end_of_log = "\n".join(text.splitlines()[-40:])
            print(f"\n--- the end of {outcome.step.name} ---\n{end_of_log}", flush=True)
    print(summary(outcomes), flush=True)
    print(f"{(time.monotonic() - started) / 60:.1f} minutes.", flush=True)
    return 0 if all(outcome.passed for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
