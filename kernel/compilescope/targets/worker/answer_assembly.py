"""Compiles Triton kernels for the target, each in a fork of the target's process.

The results are cached in a separate folder (`assembly_cache`), keyed by everything that determines
Triton's output: a second request compiles nothing.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import shutil
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import psutil
import torch
import triton

from ...analysis.kernels import assembly_lines
from ...analysis.kernels.assembly_lines import Listing, read
from ...report import FORMS
from ...torch_api.process import caches
from ...torch_api.targets import assembly
from ..assembly_request import (
    Assembled,
    AssembledKernel,
    AssemblyReply,
    AssemblyRequest,
    RequestedKernel,
)
from . import assembly_cache, forks
from .pretend_device import PretendDevice

_RESULT, _OUTPUT = "result", "said"
_REASON = re.compile(r"^.*(?:rror:|ERROR|UNREACHABLE|Assertion).*$", re.M)


def answer(world: PretendDevice, payload: bytes, step: Callable[[str], None]) -> bytes:
    """The answer to an `AssemblyRequest`."""
    request = msgspec.msgpack.decode(payload, type=AssemblyRequest)
    with _workplace() as folder:
        kernels = _Assembly(world, request.kernels, folder, step).run()
    return msgspec.msgpack.encode(AssemblyReply(kernels=kernels))


@contextlib.contextmanager
def _workplace() -> Iterator[Path]:
    """A folder of this process. What processes that were ended left of theirs is removed."""
    parent = caches.own_folder() / "assembling"
    parent.mkdir(parents=True, exist_ok=True)
    folder = parent / str(os.getpid())
    for left in parent.iterdir():
        if left == folder or not psutil.pid_exists(int(left.name)):
            shutil.rmtree(left, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class _Kernel:
    """A kernel, and what has been made of it so far."""

    name: str
    source: str
    folder: Path
    loaded: assembly.Loaded | None = None
    why: str = ""
    assembled: list[Assembled | None] = field(default_factory=list)
    """For each configuration; None while it is under way."""


@dataclass
class _Job:
    kernel: _Kernel
    place: int
    stored: Path | None
    """Where the result is kept, when it is there; None: it is not."""

    @property
    def folder(self) -> Path:
        """Of this job alone."""
        return self.kernel.folder / str(self.place)

    @property
    def config(self) -> Any:
        """The object that torch has for it."""
        assert self.kernel.loaded is not None, "it has configurations"
        return self.kernel.loaded.configs[self.place]


class _Assembly:
    """Compiles kernels, several at a time."""

    def __init__(
        self,
        world: PretendDevice,
        kernels: list[RequestedKernel],
        folder: Path,
        step: Callable[[str], None],
    ) -> None:
        self._world = world
        self._step = step
        self._cache_folder = caches.own_folder() / "assembly"
        self._cache_folder.mkdir(parents=True, exist_ok=True)
        self._jobs: deque[_Job] = deque()
        self._kernels = [
            _Kernel(asked_kernel.name, asked_kernel.source, folder / str(number))
            for number, asked_kernel in enumerate(kernels)
        ]
        self._finished = 0

    def run(self) -> list[AssembledKernel]:
        self._step("reading the kernels")
        for kernel in self._kernels:
            self._load(kernel)
        if self._jobs:
            assert self._world.target.build is not None, "a target has one"
            assembly.prepare(self._world.target.build)
        is_new = bool(self._jobs)
        # One more than there are cores, so that fewer cores are idle while the last ones finish.
        forks.run(self._jobs, _work, self._done, at_most=len(os.sched_getaffinity(0)) + 1)
        if is_new:
            assembly_cache.prune(self._cache_folder)
        return [
            AssembledKernel(
                [result for result in kernel.assembled if result is not None],
                kernel.why,
            )
            for kernel in self._kernels
        ]

    def _load(self, kernel: _Kernel) -> None:
        kernel.folder.mkdir()
        try:
            kernel.loaded = assembly.load(kernel.source, kernel.folder)
        except Exception as error:  # noqa: BLE001 - a kernel's source may raise anything
            kernel.why = f"Its source cannot be read: {type(error).__name__}: {error}"
            self._finished += 1
            return
        self._plan(kernel)

    def _plan(self, kernel: _Kernel) -> None:
        """Starts the remaining configurations; those that torch adds come last."""
        assert kernel.loaded is not None, "it was loaded"
        while True:
            for place in range(len(kernel.assembled), len(kernel.loaded.configs)):
                key = _key(kernel, kernel.loaded.configs[place])
                job = _Job(kernel, place, self._cache_folder / key if key else None)
                cached = assembly_cache.read(job.stored) if job.stored else None
                kernel.assembled.append(cached)
                if cached is None:
                    self._jobs.append(job)
            if None in kernel.assembled:
                return
            added = self._next_configurations(
                kernel.loaded,
                [result for result in kernel.assembled if result is not None],
            )
            if not added:
                self._finished += 1
                return
            kernel.loaded.configs += added

    def _next_configurations(
        self, loaded: assembly.Loaded, assembled: list[Assembled]
    ) -> list[Any]:
        """What torch would try next, after these."""
        assert self._world.target.build is not None, "a target has one"
        room = self._world.target.build.shared_per_block_bytes
        taken = [result.resources["shared_bytes"] for result in assembled if not result.why]
        if taken and min(taken) > room:
            return assembly.unpipelined(loaded)
        registers = {
            place: int(result.resources["registers"])
            for place, result in enumerate(assembled)
            if "registers" in result.resources
        }
        return assembly.scaled(loaded, registers)

    def _done(self, job: _Job, failure: str) -> None:
        result = job.folder / _RESULT
        if failure:
            assembled = Assembled(assembly.describe(job.config), why=f"The compiler {failure}.")
        else:
            result_read = assembly_cache.read(result)
            assert result_read is not None, "the fork has written it whole, or it would have failed"
            assembled = result_read
        if assembled.why:
            assembled.why = f"{assembled.why} {_compiler_output(job.folder)}".rstrip()
        elif job.stored and not assembled.absent:
            shutil.move(result, job.stored)
        shutil.rmtree(job.folder, ignore_errors=True)
        job.kernel.assembled[job.place] = assembled
        if None not in job.kernel.assembled:
            self._plan(job.kernel)
            self._step(
                f"compiled {job.kernel.name}, {self._finished} of {len(self._kernels)} kernels done"
            )


def _work(job: _Job) -> None:
    """Compiles a kernel under one configuration, in a fork."""
    assert job.kernel.loaded is not None, "it has configurations"
    job.folder.mkdir()
    log = os.open(job.folder / _OUTPUT, os.O_WRONLY | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ["TRITON_CACHE_DIR"] = str(job.folder / "triton")
    compiled = assembly.compile_config(job.kernel.loaded, job.config)
    assembled = Assembled(
        assembly.describe(job.config),
        resources=compiled.resources,
        absent=compiled.absent,
        why=compiled.why,
    )
    ptx: Listing | None = None
    for form in FORMS:
        if form in compiled.texts:
            listing = read(form, compiled.texts[form], assembly.FILE, ptx)
            assembled.texts[form], assembled.lines[form] = listing.text, listing.lines
            ptx = listing if form == "ptx" else ptx
    (job.folder / _RESULT).write_bytes(assembly_cache.pack(assembled))


def _compiler_output(folder: Path) -> str:
    """What a compiler wrote of why it failed: LLVM ends a process without raising anything."""
    try:
        text = (folder / _OUTPUT).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    match = _REASON.search(text)
    return match.group().strip() if match else ""


def _key(kernel: _Kernel, config: Any) -> str:
    """What a result is kept under; empty for a kernel that Triton does not understand.

    The fork that compiles such a kernel reports the error.
    """
    assert kernel.loaded is not None, "it has configurations"
    versions = (_own_code(), torch.__version__, triton.__version__)
    described = assembly.describe(config)
    try:
        identity = repr((versions, described, assembly.identity(kernel.loaded, config)))
    except Exception:  # noqa: BLE001 - whatever Triton raises
        return ""
    return hashlib.sha256(identity.encode()).hexdigest()


@functools.cache
def _own_code() -> str:
    """Which compilescope reads what was compiled: another one may read it otherwise."""
    files = [module.__file__ for module in (assembly_lines, assembly)]
    parts = [Path(file).read_bytes() for file in (*files, __file__) if file]
    return hashlib.sha256(b"".join(parts)).hexdigest()
