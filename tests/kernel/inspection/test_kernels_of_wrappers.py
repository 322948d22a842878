"""The Triton kernels that the code of a C++ wrapper depends on are built at the same time."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from compilescope.torch_api.inductor import codegen
from torch._inductor.codecache import CodeCacheFuture


class Kernel(CodeCacheFuture):
    """A kernel that is ready once all of several are being built."""

    def __init__(self, together: threading.Barrier, error: Exception | None = None) -> None:
        self.together, self.error = together, error
        self.builds = 0

    def result(self, timeout: float | None = None) -> str:
        self.builds += 1
        if self.builds == 1:
            self.together.wait()
        if self.error is not None:
            raise self.error
        return f"built {self.builds} times"


def one_by_one(_: object, scope: dict[str, Any]) -> None:
    """As torch waits."""
    for name, value in scope.items():
        if isinstance(value, CodeCacheFuture):
            scope[name] = value.result()


@pytest.fixture
def _builds_kernels() -> Any:
    token = codegen._builds_kernels.set(True)
    yield
    codegen._builds_kernels.reset(token)


@pytest.mark.usefixtures("_builds_kernels")
def test_kernels_are_built_at_the_same_time_and_once() -> None:
    together = threading.Barrier(2)
    scope: dict[str, Any] = {"a": Kernel(together), "b": Kernel(together), "other": 1}
    codegen._wait_for_kernels(one_by_one, object(), scope)
    assert scope == {"a": "built 1 times", "b": "built 1 times", "other": 1}


@pytest.mark.usefixtures("_builds_kernels")
def test_a_kernel_that_fails_is_left_to_torch() -> None:
    together = threading.Barrier(2)
    scope: dict[str, Any] = {"a": Kernel(together, ValueError("a")), "b": Kernel(together)}
    with pytest.raises(ValueError, match=r"^a$"):
        codegen._wait_for_kernels(one_by_one, object(), scope)
    assert scope["b"] == "built 1 times"
