"""Run the checks, or the checks and the tests, and print one summary.

``python scripts/steps.py check`` or ``python scripts/steps.py test``, from the repository's root,
in the environment that ``make setup`` made; ``kernel`` runs the kernel's tests alone. The quick
checks run two at a time; tests run alone, since some of them measure time. Every step's full output
is kept in ``build/steps/``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "steps"


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
    limit_s
        It is ended, and has failed, after so many seconds.
    """

    name: str
    command: tuple[str, ...]
    folder: str = "."
    limit_s: float = 300


@dataclass(frozen=True)
class Outcome:
    """How a step ended."""

    step: Step
    passed: bool
    seconds: float
    note: str


def python(*arguments: str) -> tuple[str, ...]:
    """Arguments for this interpreter."""
    return (sys.executable, *arguments)


CHECKS = [
    Step("ruff format", python("-m", "ruff", "format", "--check", ".")),
    Step("ruff check", python("-m", "ruff", "check", ".")),
    Step("mypy", python("-m", "mypy")),
    Step("import contracts", ("lint-imports", "--no-cache")),
    Step("generated types", python("scripts/generate_types.py", "--check")),
    Step("prettier", ("jlpm", "prettier:check")),
    Step("stylelint", ("jlpm", "stylelint:check")),
    Step("tsc", ("jlpm", "types:check")),
    Step("eslint", ("jlpm", "eslint:check")),
    Step("browser tests' types", ("jlpm", "check"), folder="tests/ui"),
]

# What needs a second try is told, as the browser's tests tell it.
AGAIN = ("--reruns", "1", "-raR") if os.environ.get("CI") else ()

KERNEL = Step("pytest", python("-m", "pytest", "-q", "--durations=30", *AGAIN), limit_s=3300)

TESTS = [
    Step("jest", ("jlpm", "test", "--ci", "--maxWorkers=2")),
    KERNEL,
    Step("browser tests", ("jlpm", "test"), folder="tests/ui", limit_s=2700),
]


def run_step(step: Step) -> Outcome:
    """Run one step to its end or its time limit; its output goes to a log, shown if it failed."""
    log = LOGS / (step.name.replace(" ", "-").replace("'", "") + ".log")
    start = time.monotonic()
    note = ""
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
        try:
            status = process.wait(timeout=step.limit_s)
        except subprocess.TimeoutExpired:
            end(process)
            status, note = 1, f"ended after {step.limit_s:.0f} s"
        finally:
            running.discard(process)
    seconds = time.monotonic() - start
    text = log.read_text(encoding="utf-8", errors="replace")
    note = note or (last_line(text) if step in TESTS else "")
    if status:
        print(f"\n--- {step.name} failed ---\n{text}", flush=True)
    else:
        print(f"{step.name}: passed in {seconds:.0f} s", flush=True)
    return Outcome(step, status == 0, seconds, note)


def last_line(text: str) -> str:
    """The last line that counts tests ("12 passed in 3 s"), or nothing."""
    lines = [line.strip(" =") for line in text.splitlines()]
    counts = [line for line in lines if "passed" in line or "failed" in line]
    return counts[-1][:60] if counts else ""


running: set[subprocess.Popen[bytes]] = set()


def end(process: subprocess.Popen[bytes]) -> None:
    """End a step and all that it started: politely, then not."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=5)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        return


def interrupted(number: int, _frame: object) -> None:
    """Ctrl-C, or a polite kill: leave nothing behind."""
    for process in list(running):
        end(process)
    os._exit(128 + number)


def summary(outcomes: list[Outcome]) -> str:
    """One line a step."""
    width = max(len(outcome.step.name) for outcome in outcomes)
    lines = ["", "Summary"]
    for outcome in outcomes:
        word = "passed" if outcome.passed else "FAILED"
        row = f"  {outcome.step.name:<{width}}  {word}  {outcome.seconds:6.1f} s  {outcome.note}"
        lines.append(row.rstrip())
    failed = sum(not outcome.passed for outcome in outcomes)
    lines.append(f"{failed} of {len(outcomes)} steps failed." if failed else "All passed.")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Run what was asked for; 1 if anything failed."""
    if arguments not in (["check"], ["test"], ["kernel"]):
        print("Usage: python scripts/steps.py check|test|kernel", file=sys.stderr)
        return 2
    signal.signal(signal.SIGINT, interrupted)
    signal.signal(signal.SIGTERM, interrupted)
    LOGS.mkdir(parents=True, exist_ok=True)
    outcomes: list[Outcome] = []
    if arguments != ["kernel"]:
        with ThreadPoolExecutor(max_workers=2) as pool:
            outcomes += pool.map(run_step, CHECKS)
    if arguments != ["check"]:
        tests = [KERNEL] if arguments == ["kernel"] else TESTS
        outcomes += [run_step(step) for step in tests]
    print(summary(outcomes), flush=True)
    return 0 if all(outcome.passed for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
