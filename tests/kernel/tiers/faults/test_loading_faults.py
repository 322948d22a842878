"""What loading the second tier must not do, and what is no longer there to load."""

from __future__ import annotations

import builtins
import importlib.util
import threading
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.tiers import tiered_graph
from compilescope.torch_api.inductor.both_wrappers import library, loading
from compilescope.torch_api.process import caches
from torch._inductor import codecache
from torch._inductor.runtime import compile_tasks

from .faulty_tiers import X, subject, swapped

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_dynamo", "one_thread")]


def test_a_library_is_loaded_without_asking_how_it_would_be_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load = loading.load

    def asked(*args: Any, **options: Any) -> None:
        raise AssertionError("torch would look for the compiler, and try vector instructions")

    def load_unasked(*args: Any, **options: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(codecache, "CppTorchDeviceOptions", asked)
            return load(*args, **options)

    monkeypatch.setattr(tiered_graph, "load", load_unasked)
    compiled = cs.tiered(subject)
    compiled(X)
    assert swapped(compiled)


def test_a_library_for_another_processor_is_built_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = cs.tiered(subject)
    compiled(X)
    assert swapped(compiled)
    torch._dynamo.reset()
    with monkeypatch.context() as patch:
        patch.setattr(library, "_vector_instructions", list)
        second = cs.tiered(subject)
        second(X)
        assert cs.tiers(second)[0].serving == "python"
    assert swapped(second)


def test_a_library_is_loaded_without_compiling_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    load = loading.load
    compiled_here: list[str] = []

    def compile_noted(source: str, path: str, *args: Any, **options: Any) -> Any:
        compiled_here.append(path)
        return builtins.compile(source, path, *args, **options)

    def load_noted(*args: Any, **options: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(compile_tasks, "compile", compile_noted, raising=False)
            return load(*args, **options)

    monkeypatch.setattr(tiered_graph, "load", load_noted)
    compiled = cs.tiered(subject)
    compiled(X)
    assert swapped(compiled)
    assert compiled_here == []
    # Another Python does not read what this one wrote.
    monkeypatch.setattr(importlib.util, "MAGIC_NUMBER", b"none")
    torch._dynamo.reset()
    second = cs.tiered(subject)
    second(X)
    assert cs.tiers(second)[0].serving == "cpp"
    assert len(compiled_here) == 1


def test_a_library_that_is_gone_is_built_anew_and_not_at_a_call(own_caches: Path) -> None:
    compiled = cs.tiered(subject)
    compiled(X)
    assert swapped(compiled)
    for file in own_caches.rglob("*.main.so"):
        file.unlink()
    torch._dynamo.reset()
    with caches.only(own_caches):  # as a new process: it has loaded none
        second = cs.tiered(subject)
        second(X)
        assert cs.tiers(second)[0].serving == "python"
        assert swapped(second)


def test_a_wrapper_for_a_gpu_is_given_its_context_once_in_each_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepared: list[int] = []
    note = lambda: prepared.append(threading.get_ident())  # noqa: E731
    monkeypatch.setattr(torch.cuda, "mem_get_info", note)
    wrapper = loading._in_any_thread(lambda inputs: [*inputs])
    calls = lambda: [wrapper([number]) for number in range(3)]  # noqa: E731
    assert calls() == [[0], [1], [2]]
    thread = threading.Thread(target=calls)
    thread.start()
    thread.join()
    assert len(prepared) == len(set(prepared)) == 2
