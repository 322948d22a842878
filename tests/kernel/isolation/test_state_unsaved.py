"""What cannot be saved is said, and looking at it runs no code of the user's."""

from __future__ import annotations

import contextvars
import io
import itertools
import threading
import types
from typing import Any

import pytest
import torch
from compilescope.isolation.user_state import preserved


def test_what_cannot_be_saved_is_said(tmp_path: Any) -> None:
    numbers, stream, counter = (n for n in range(3)), io.StringIO(), itertools.count()

    def call() -> None:
        next(numbers), next(counter), stream.write("x")

    with preserved(call) as snapshot:
        call()
    assert any("numbers" in reason and "rewound" in reason for reason in snapshot.unsaved)
    assert any("counter" in reason for reason in snapshot.unsaved)
    assert any("stream" in reason and "file" in reason for reason in snapshot.unsaved)
    assert len(snapshot.unsaved) == 3


def test_what_belongs_to_a_thread_or_context_is_said() -> None:
    mine, variable = threading.local(), contextvars.ContextVar("variable")

    def call() -> None:
        mine.seen = True
        variable.set(1)

    with preserved(call) as snapshot:
        pass
    assert snapshot.unsaved == [
        "mine: what a threading.local holds is not put back.",
        "variable: what a ContextVar holds is not put back.",
    ]


class Countdown:
    def __init__(self) -> None:
        self.left = 3

    def __next__(self) -> int:
        self.left -= 1
        return self.left


def test_iterators() -> None:
    loaded = iter(torch.utils.data.DataLoader([1, 2, 3]))
    own = Countdown()

    def call() -> None:
        next(loaded), next(own)

    with preserved(call) as snapshot:
        call()
    assert own.left == 3
    assert snapshot.unsaved == [
        "loaded: an iterator (_SingleProcessDataLoaderIter) cannot be rewound."
    ]
    assert next(loaded).item() == 2


TAKEN = """
import itertools
_TOKENS = itertools.count()
def take():
    return next(_TOKENS)
"""


@pytest.mark.parametrize("folder", ["site-packages", "mine"])
def test_what_a_library_counts_for_itself_is_not_told_of(folder: str, tmp_path: Any) -> None:
    module = types.ModuleType("taken")
    exec(compile(TAKEN, str(tmp_path / folder / "taken.py"), "exec"), vars(module))
    take = module.take

    def call() -> None:
        take()

    with preserved(call) as snapshot:
        call()
    assert [reason.partition(":")[0] for reason in snapshot.unsaved] == (
        [] if folder == "site-packages" else ["_TOKENS"]
    )


def test_a_walk_too_long_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from compilescope.isolation.object_walk import walk

    result = walk(len, ([[] for _ in range(100)],), limit=10)
    assert len(result.objects) == 10
    assert result.unsaved == ["Objects beyond the first 10 (nearest: args[0][8]) are not saved."]


class Hostile:
    """Every way of looking at it runs code that must not run."""

    def __init__(self) -> None:
        object.__setattr__(self, "inner", [1])

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AssertionError(name)

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    def __hash__(self) -> int:
        raise AssertionError("hashed")

    def __repr__(self) -> str:
        raise AssertionError("shown")

    def __bool__(self) -> bool:
        raise AssertionError("asked")


def test_no_code_of_the_users_runs() -> None:
    hostile = Hostile()
    inner = object.__getattribute__(hostile, "inner")
    with preserved(lambda: hostile, (hostile, [hostile], {"x": hostile})) as snapshot:
        inner.append(2)
        object.__setattr__(hostile, "late", 1)
    assert inner == [1]
    assert object.__getattribute__(hostile, "__dict__") == {"inner": inner}
    assert snapshot.unsaved == []
