"""``compilescope sweep``: runs a planned sweep, or a part of it."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from . import files

if TYPE_CHECKING:
    from ..report import Sweep, SweepCell


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "sweep",
        help="run a sweep that cs.plan_sweep wrote, or a part of it",
        description=(
            "Run the unfinished cells of a plan, and print all cells. Several machines can run "
            "parts of a plan at the same time, for example in a job array: all store their cells "
            "in one folder. Running the plan without --shard then joins them."
        ),
    )
    parser.add_argument(
        "plan", type=Path, help="the file that cs.plan_sweep wrote; it contains code that is run"
    )
    parser.add_argument(
        "--shard", type=_shard, metavar="I/N", help="run part I of N, counted from 1: 2/8"
    )
    parser.add_argument(
        "--gpus", action="store_true", help="run one cell at a time on each GPU of this machine"
    )
    parser.add_argument(
        "--workers", type=int, default=1, help="how many cells compile at once (default: 1)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="save the result: x.html or x.compilescope.json"
    )
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Run the plan, and print its cells."""
    from ..processes.gpu_executor import NoGpuError
    from ..report.errors import CompilescopeError
    from ..sweep import plan_file
    from ..sweep.plan import new_report
    from ..sweep.result import SweepResult
    from ..sweep.run import Running
    from ..sweep.wait import follow
    from ..views.progress import Line

    if options.out is not None:
        files.check_output(options.out)
    plan = plan_file.read(options.plan, options.shard)
    report = new_report(plan.subject)
    try:
        running = Running(plan, executor="gpus" if options.gpus else None, workers=options.workers)
    except NoGpuError as error:
        raise CompilescopeError(
            error.problem.what, remedy="Leave --gpus out: cells run on the processor."
        ) from None
    report.sweep = running.sweep
    running.start()
    with Line() as line:
        # The log of a job has no line that is redrawn.
        follow(running, line.show, None if sys.stderr.isatty() else _log)
    print(SweepResult(report))
    if options.out is not None:
        report.save(options.out)
    return 0 if running.sweep.state == "done" else 1


def _log(sweep: Sweep, cell: SweepCell) -> None:
    """Write that a cell has ended, how many have, and about how long the others take."""
    from ..views.rows.sweep import outcome

    if cell.state == "running" or cell.reused:
        return
    finished = sum(cell.has_ended for cell in sweep.cells)
    # The sweep's own thread counts what is left a moment after a cell has ended.
    left = f", {sweep.left} left" if sweep.left and finished < len(sweep.cells) else ""
    print(
        f"compilescope: {finished} of {len(sweep.cells)} cells{left}: {outcome(cell)}",
        file=sys.stderr,
        flush=True,
    )


def _shard(text: str) -> tuple[int, int]:
    numbers = re.fullmatch(r"(\d+)/(\d+)", text)
    if numbers is None or not 1 <= int(numbers[1]) <= int(numbers[2]):
        raise argparse.ArgumentTypeError(
            f"{text} is not a part: 1/8 is the first of 8. A job array counts from 1: --array=1-8"
        )
    return int(numbers[1]), int(numbers[2])
