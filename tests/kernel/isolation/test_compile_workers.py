"""torch's compile workers stay for a while, unless the user's compilations use them."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator

import pytest
from compilescope.torch_api.inductor import workers
from torch._inductor import async_compile


class Pool:
    """Stands in for the processes in which torch compiles Triton kernels."""

    def __init__(self) -> None:
        self.job_id_count = itertools.count()
        self.pending_futures: dict[int, object] = {}
        self.has_ended = False

    def shutdown(self) -> None:
        self.has_ended = True


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool()
    yield pool
    async_compile._pool_set.discard(pool)


def compile_with(pool: Pool) -> None:
    """A block that starts the processes."""
    with workers.temporary():
        async_compile._pool_set.add(pool)
        next(pool.job_id_count)


def wait() -> None:
    for thread in threading.enumerate():
        if thread.name == "compilescope-workers":
            thread.join()


def test_idle_workers_end(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "IDLE_S", 0.0)
    compile_with(pool)
    wait()
    assert pool.has_ended
    assert not workers.are_running()


def test_the_next_block_uses_them(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_with(pool)
    monkeypatch.setattr(workers, "IDLE_S", 0.0)
    with workers.temporary():
        assert workers.are_running()
    wait()
    assert pool.has_ended


def test_workers_that_the_user_used_stay(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_with(pool)
    next(pool.job_id_count)
    monkeypatch.setattr(workers, "IDLE_S", 0.0)
    with workers.temporary():
        pass
    wait()
    assert not pool.has_ended
    assert workers.are_running()


def test_workers_of_the_users_stay(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    async_compile._pool_set.add(pool)
    monkeypatch.setattr(workers, "IDLE_S", 0.0)
    with workers.temporary():
        next(pool.job_id_count)
    wait()
    assert not pool.has_ended


def test_an_interrupt_ends_them_at_once(pool: Pool) -> None:
    def interrupted() -> None:
        with workers.temporary():
            async_compile._pool_set.add(pool)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    wait()
    assert pool.has_ended


@pytest.mark.parametrize("is_allowed", [True, False])
def test_workers_started_early_end_unused(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, is_allowed: bool
) -> None:
    monkeypatch.setenv("TORCH_WARM_POOL", "1" if is_allowed else "0")
    monkeypatch.setattr(workers, "wake", lambda: async_compile._pool_set.add(pool))
    monkeypatch.setattr(workers, "IDLE_S", 0.0)
    workers.start_early()
    wait()
    assert pool.has_ended == is_allowed
