"""The Triton kernels that a C++ wrapper's code depends on are built while code is generated."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from compilescope.torch_api.inductor.wrappers import early_kernels
from compilescope.torch_api.inductor.wrappers.early_kernels import EarlyKernels
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.codecache import LambdaFuture
from torch._inductor.virtualized import V

PYTHON, CPP = "inductor_meta={'store_cubin': False}", "inductor_meta={'store_cubin': True}"


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def test_kernels_are_built_at_the_same_time_and_once(threads: ThreadPoolExecutor) -> None:
    together = threading.Barrier(3)
    builds: list[str] = []

    def in_a_process(text: str) -> LambdaFuture:
        def build() -> Callable[..., str]:
            builds.append(text)
            together.wait()
            return lambda: text

        return LambdaFuture(build)

    kernels = EarlyKernels(threads)
    futures = [kernels.compile(in_a_process, text) for text in ("a", "b", "a")]
    together.wait()  # both are being built, and nobody has asked for the results
    assert [future.result()() for future in futures * 2] == ["a", "b", "a"] * 2
    assert sorted(builds) == ["a", "b"]


def test_a_kernel_that_cannot_be_built_raises_where_it_is_needed(
    threads: ThreadPoolExecutor,
) -> None:
    def fail() -> Callable[..., str]:
        raise ValueError("no such instruction")

    future = EarlyKernels(threads).compile(lambda text: LambdaFuture(fail), "a")
    with pytest.raises(ValueError, match=r"^no such instruction$"):
        future.result()


def test_a_kernel_compiled_in_this_process_is_torchs_own(threads: ThreadPoolExecutor) -> None:
    kernels = EarlyKernels(threads)
    compiled = [object(), object()]
    for kernel in compiled:  # torch has a cache of its own
        assert kernels.compile(lambda text, kernel=kernel: kernel, "a") is kernel


@pytest.mark.parametrize("is_cpp", [False, True])
def test_the_kernels_of_a_python_wrapper_are_compiled_for_the_cpp_wrapper(
    is_cpp: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    monkeypatch.setattr(AsyncCompile, "triton", lambda self, name, text: texts.append(text))
    with early_kernels.built_early(), V.set_graph_handler(SimpleNamespace(cpp_wrapper=is_cpp)):
        AsyncCompile().triton("triton_poi_0", CPP if is_cpp else PYTHON)
    AsyncCompile().triton("triton_poi_0", PYTHON)
    assert texts == [CPP, PYTHON], "other compilations compile what torch generates"
