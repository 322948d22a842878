"""Attributes replaced for a while, by several at once."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from compilescope.torch_api.process.patching import patched


class Owner:
    def plain(self, text: str) -> str:
        return f"plain {text}"

    @classmethod
    def of_class(cls, text: str) -> str:
        return f"{cls.__name__} {text}"

    @staticmethod
    def static(text: str) -> str:
        return f"static {text}"


class Heir(Owner):
    pass


def first(original: Any, *args: Any) -> str:
    return f"first({original(*args)})"


def second(original: Any, *args: Any) -> str:
    return f"second({original(*args)})"


def calls() -> list[str]:
    return [Owner().plain("x"), Heir.of_class("x"), Owner.static("x")]


def test_patches_of_one_attribute_stand_around_each_other_and_end_in_any_order() -> None:
    names = ("plain", "of_class", "static")
    before, by_name = calls(), {name: vars(Owner)[name] for name in names}
    outer, inner = ExitStack(), ExitStack()
    for name in names:
        outer.enter_context(patched(Owner, name, first))
        inner.enter_context(patched(Owner, name, second))
        inner.enter_context(patched(Owner, name, first))
    assert calls() == [f"second(first({text}))" for text in before]
    outer.close()
    assert calls() == [f"second(first({text}))" for text in before]
    inner.close()
    assert calls() == before
    assert {name: vars(Owner)[name] for name in names} == by_name
