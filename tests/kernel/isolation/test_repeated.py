"""An inspection that is repeated keeps nothing of the earlier ones."""

from __future__ import annotations

import contextvars
import ctypes
import gc
import itertools
import linecache
import sys
import types
import weakref
from collections import Counter

import compilescope as cs
import pytest
import torch
from compilescope.session.session import get_session
from torch._dynamo import convert_frame
from torch.fx import graph_module

from ..session.session_support import in_thread

WARM_UP = 3
REPETITIONS = 9
BLOCKS = 3
"""Memory is looked at after each: what is kept of every inspection grows in all of them, a table of
Python's that grows once does so in one."""
MOST_BYTES = 25_000
"""What an inspection may keep of the C library's memory. It has been 100,000 and is about 1,000."""
MOST_BLOCKS = 200
"""How many of Python's small objects it may keep, tracked by the garbage collector or not. It has
been 550 and is about 10."""


# As it is by default: what is garbage between two compilations must not look kept.
@pytest.mark.slow
@torch._dynamo.config.patch(run_gc_after_compile=True)
def test_inspections_and_switches_that_are_repeated_keep_nothing() -> None:
    # Indices of a shuffle are divided: torch remembers what it concludes from their bounds.
    shuffle = torch.nn.Sequential(torch.nn.Unflatten(1, (8, 2, 2)), torch.nn.PixelShuffle(2))
    module = torch.nn.Sequential(torch.nn.Linear(4, 32), shuffle, torch.nn.Sigmoid())
    arguments = (torch.randn(2, 4),)
    session = get_session()

    def flip(subject: str, variant: cs.Variant) -> None:
        name, job = in_thread(lambda: session.panel_jobs.sources(subject, variant))
        assert job is None or job.ended.wait(600)
        assert session.inspection(subject).report.variant(name).stage == "sources"

    def repeat(times: int) -> None:
        # The cell runs again each time, so that code is generated for each first flip.
        for _ in range(times):
            report = cs.inspect(module, arguments, variants=("python",), run=False)
            for variant in (*FLIPPED, cs.Variant(), *FLIPPED):
                flip(report.subject.id, variant)

    repeat(1)
    # What is loaded and compiled by now is not looked through for garbage after each compilation.
    gc.collect()
    gc.freeze()
    repeat(WARM_UP - 1)
    objects, tables = _objects(), _tables()
    allocated, blocks = [_allocated()], [sys.getallocatedblocks()]
    for _ in range(BLOCKS):
        repeat(REPETITIONS // BLOCKS)
        grown = _objects() - objects
        allocated.append(_allocated())
        blocks.append(sys.getallocatedblocks())
    assert _least_growth(allocated) < MOST_BYTES * REPETITIONS // BLOCKS
    assert _least_growth(blocks) < MOST_BLOCKS * REPETITIONS // BLOCKS
    repeated = {kind: more for kind, more in grown.items() if more >= REPETITIONS}
    assert {kind: more for kind, more in repeated.items() if kind not in _MEMOS} == {}
    # What an earlier test left may go meanwhile.
    assert {name: size for name, size in _tables().items() if size > tables[name]} == {}


FLIPPED = (cs.Variant(cpp_wrapper=True), cs.Variant(mode="max-autotune-no-cudagraphs"))
"""The first is generated in advance, the second when it is requested."""


def test_the_lines_of_graph_modules_of_the_user_stay() -> None:
    traced = torch.fx.symbolic_trace(torch.nn.Linear(4, 4))
    name = traced.forward.__code__.co_filename
    cs.inspect(torch.nn.Linear(4, 4), (torch.randn(2, 4),), variants=("python",), run=False)
    assert "def forward" in "".join(linecache.getlines(name))


_MEMOS = (str(types.BuiltinFunctionType), str(weakref.ReferenceType))
"""What ``abc`` remembers classes with, at times many at once."""


def _objects() -> Counter[str]:
    for _ in range(3):  # what goes may let more go
        gc.collect()
    return Counter(str(type(item)) for item in gc.get_objects())


def _least_growth(seen: list[int]) -> int:
    return min(after - before for before, after in itertools.pairwise(seen))


class _MallInfo(ctypes.Structure):
    """What ``mallinfo2`` of glibc returns."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def _allocated() -> int:
    """How many bytes are in use, of what the C library hands out; 0 where it does not say.

    Unlike the process's memory it does not depend on which pages are in use.
    """
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        return 0
    ask.restype = _MallInfo
    result = ask()
    return int(result.uordblks + result.hblkhd)


def _tables() -> dict[str, int]:
    """How large the tables are that torch and Python keep for the process's life."""
    return {
        "context variables": len(contextvars.copy_context()),
        "lines of files": len(linecache.cache),
        "lines of graph modules": len(graph_module._loader.eval_cache),
        "modules": len(sys.modules),
        "code that was compiled": len(convert_frame.input_codes.seen),
        "code that Dynamo made": len(convert_frame.output_codes.seen),
    }
