"""Finds the collectives that a call makes outside its compiled code.

Such are DistributedDataParallel's. They come from torch's profiler, which records every collective
of a process group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch.profiler import ProfilerActivity, profile

from ..builds.comparison.call_result import outcome_of
from ..isolation.own_backward import Backward
from ..report import Collective

_CALLED = "c10d::"
"""The name prefix of a process group's calls, on the calling thread."""
_CARRIED_OUT = ("gloo:", "nccl:", "ucc:", "mpi:")
"""The name prefixes of the backends' own work, on any thread; these events have the shape."""
_COMPILED = ("_c10d_functional", "## Call CompiledFxGraph")
"""Ranges around a call from compiled code."""
_BACKWARD = ("autograd::engine", "FSDP::post_backward", "FSDP::root_post_backward")
"""Ranges around a call of the backward: FSDP's last ones come after autograd's."""


def collectives_outside(
    call: Callable[[], object], variant: str, backward: Backward
) -> list[Collective]:
    """Makes a call, with its backward if any; returns its collectives outside compiled code.

    Parameters
    ----------
    call
        The call of a build that is completely compiled.
    variant
        Its name.
    backward
        Runs the backward of its result.
    """
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiled:
        outcome_of(call(), backward)
    events: list[Any] = list(profiled.events() or ())
    calls = _in_order(events, _CALLED)
    shapes = [_shape(event) for event in _in_order(events, _CARRIED_OUT)]
    trained = any(event.name.startswith(_BACKWARD) for event in events)
    outside = []
    for place, event in enumerate(calls):
        above = [outer.name for outer in _above(event)]
        if any(name.startswith(_COMPILED) for name in above):
            continue
        if any(name.startswith(_BACKWARD) for name in above):
            direction = "backward"
        else:
            direction = "forward" if trained else "inference"
        outside.append(
            Collective(
                operator=event.name.replace("::", "."),
                name=event.name.rpartition("::")[2],
                variant=variant,
                direction=direction,  # type: ignore[arg-type]  # one of the three
                outside=True,
                # If each call is one piece of work, both have the same order.
                shape=shapes[place] if len(shapes) == len(calls) else [],
            )
        )
    return outside


def _in_order(events: Sequence[Any], start: str | tuple[str, ...]) -> list[Any]:
    matching = [event for event in events if event.name.startswith(start)]
    return sorted(matching, key=lambda event: event.time_range.start)


def _shape(event: Any) -> list[str]:
    shapes: list[list[int]] = [shape for shape in event.input_shapes or [] if shape]
    return [str(size) for size in shapes[0]] if shapes else []


def _above(event: Any) -> Iterator[Any]:
    above = event.cpu_parent
    while above is not None:
        yield above
        above = above.cpu_parent
