"""Triton kernels as Inductor wrote them, compiled for a device that is not there.

Stands on ``torch._inductor.runtime.triton_heuristics`` (CachingAutotuner: configs,
_precompile_config, which calls ``triton.compile`` and would go on to load what that makes;
_dynamic_scale_rblock, which calls _make_launchers and loads a kernel anew by _reload_kernel;
compile_by_disabling_pipelining, which _make_launchers calls), on
``triton_helpers.set_driver_to_gpu``, on Triton's CompiledKernel (asm, metadata) and its knobs, and
on the tools that come with Triton: cuobjdump and nvdisasm.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import logging
import os
import re
import subprocess
import tempfile
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from ...report.devices import Build
from ..process.patching import patched

FILE = "kernel.py"
"""What a kernel's source is called in the assembly."""

_REGISTERS = re.compile(r"\bREG:(\d+)")
_SPILLED = re.compile(r"(\d+) bytes spill stores")
_PTXAS = re.compile(r"^ptxas\s.*?(?:error|fatal)\s*:\s*(.+)$", re.M)
_AMD = re.compile(r"^\s+(?:- )?\.(vgpr_count|vgpr_spill_count|sgpr_count):\s+(\d+)", re.M)
_TIMEOUT_S = 120.0


@dataclass
class Loaded:
    """A kernel that was defined, with the configurations that Inductor would try.

    Attributes
    ----------
    autotuner
        torch's object.
    configs
        torch's objects; `describe` says what they are.
    """

    autotuner: Any
    configs: list[Any]


@dataclass
class Compiled:
    """What Triton made of a kernel under one configuration."""

    texts: dict[str, str] = field(default_factory=dict)
    """Form → text as the compiler has it; ``sass`` is as nvdisasm prints it."""
    resources: dict[str, float] = field(default_factory=dict)
    """registers, scalar_registers (AMD), spills, shared_bytes, warps, stages, tensor_columns."""
    absent: dict[str, str] = field(default_factory=dict)
    """Form → why there is no text."""
    why: str = ""
    """Why nothing was made."""


class _Stopped(BaseException):
    """Carries what was wanted past all that torch would go on to do."""

    def __init__(self, wanted: Any) -> None:
        self.wanted = wanted


@triton.jit
def _little(pointer):  # type: ignore[no-untyped-def]  # its types are Triton's
    tl.store(pointer, tl.load(pointer))


@functools.cache
def prepare(build: Build) -> None:
    """Has Triton do what it does once in a process: hash its own files, load its compiler.

    Forks of this process then need not.
    """
    arch: Any = int(build.arch) if build.backend == "cuda" else build.arch
    target = GPUTarget(build.backend, arch, build.warp_size)
    with tempfile.TemporaryDirectory(prefix="compilescope-triton-") as folder:
        before = os.environ.get("TRITON_CACHE_DIR")
        os.environ["TRITON_CACHE_DIR"] = folder
        try:
            triton.compile(ASTSource(_little, {"pointer": "*fp32"}), target=target)
        finally:
            os.environ.pop("TRITON_CACHE_DIR")
            if before is not None:
                os.environ["TRITON_CACHE_DIR"] = before


def load(source: str, folder: Path) -> Loaded:
    """Defines a kernel as Inductor's generated code would, and compiles nothing.

    Parameters
    ----------
    source
        As Inductor wrote it, decorated.
    folder
        A folder of its own, where its source has to stay while it is compiled.

    Raises
    ------
    Exception
        Whatever the source raises.
    LookupError
        It defines no kernel of Inductor's.
    """
    path = folder / FILE
    path.write_text(source, encoding="utf-8")
    module = types.ModuleType("kernel")
    module.__file__ = str(path)
    with without_driver():
        exec(compile(source, str(path), "exec"), vars(module))
    kind = triton_heuristics.CachingAutotuner
    autotuners = [value for value in vars(module).values() if isinstance(value, kind)]
    if not autotuners:
        raise LookupError("the source defines no kernel that Inductor would launch")
    return Loaded(autotuners[-1], list(autotuners[-1].configs or ()))


def describe(config: Any) -> dict[str, str]:
    """A configuration's block sizes, warps and stages, by torch's names."""
    described = {name: str(value) for name, value in config.kwargs.items()}
    described |= {name: str(getattr(config, name)) for name in ("num_warps", "num_stages")}
    for name, usual in (("num_ctas", 1), ("maxnreg", None)):
        value = getattr(config, name, usual)
        if value not in (usual, None):
            described[name] = str(value)
    return described


def scaled(loaded: Loaded, registers: Mapping[int, int]) -> list[Any]:
    """Configurations that torch adds for a reduction that takes too many registers.

    Parameters
    ----------
    registers
        Place of a configuration in ``loaded.configs`` → a thread's registers; those compiled.
    """
    autotuner, added = loaded.autotuner, []

    def result(config: Any, count: int) -> Any:
        return SimpleNamespace(config=config, kernel=SimpleNamespace(n_regs=count))

    def add(config: Any) -> Any:
        added.append(config)
        return result(config, 0)

    replaced = {
        "compile_results": [result(loaded.configs[number], n) for number, n in registers.items()],
        "_precompile_config": add,
        "_make_launchers": lambda: None,
        "_reload_kernel": lambda: autotuner,
    }
    before = {name: vars(autotuner)[name] for name in replaced if name in vars(autotuner)}
    vars(autotuner).update(replaced)
    try:
        autotuner._dynamic_scale_rblock()
    finally:
        for name in replaced:
            vars(autotuner).pop(name)
        vars(autotuner).update(before)
    return added


def unpipelined(loaded: Loaded) -> list[Any]:
    """What torch tries where no configuration has room in shared memory: one without a pipeline.

    Empty where there is no pipeline to do without, or torch does not try.
    """
    autotuner = loaded.autotuner
    tries = hasattr(autotuner, "compile_by_disabling_pipelining")
    tries &= autotuner.inductor_meta.get("dynamic_disable_pipelining", True)
    config = copy.deepcopy(loaded.configs[-1])
    if not tries or max(config.num_stages, config.kwargs.get("NUM_STAGES", 1)) <= 1:
        return []
    config.num_stages = 1
    if "NUM_STAGES" in config.kwargs:
        config.kwargs["NUM_STAGES"] = 1
    return [config]


def identity(loaded: Loaded, config: Any) -> str:
    """What decides what Triton makes of a kernel under a configuration, its line numbers too.

    The kernels of a Python and of a C++ wrapper may be one in this.
    """

    def cache_key(_: Any, source: Any, target: Any = None, options: Any = None) -> str:
        return repr((source.hash(), target, sorted((options or {}).items())))

    return str(_instead_of_compiling(loaded.autotuner, config, cache_key))


def compile_config(loaded: Loaded, config: Any) -> Compiled:
    """Compiles a kernel under one configuration, for the device that its source names.

    To be called in a process that does nothing else: it turns off logging, and catches what is
    printed. Triton caches in its usual folder.
    """
    logging.disable(logging.CRITICAL)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), _ptxas_talks():
            binary = _instead_of_compiling(loaded.autotuner, config, _compile)
    except Exception as error:  # noqa: BLE001 - a compiler that fails is an answer
        return Compiled(why=_reason(error))
    compiled = Compiled({form: text for form, text in binary.asm.items() if isinstance(text, str)})
    compiled.texts.pop("source", None)
    compiled.resources = {
        "shared_bytes": float(binary.metadata.shared),
        "warps": float(binary.metadata.num_warps),
        "stages": float(config.num_stages),
    }
    columns = getattr(binary.metadata, "tmem_size", None)
    if columns:
        compiled.resources["tensor_columns"] = float(columns)
    if "cubin" in binary.asm:
        _of_cubin(compiled, binary.asm["cubin"], printed.getvalue())
    elif "amdgcn" in compiled.texts:
        counts = {name: float(count) for name, count in _AMD.findall(compiled.texts["amdgcn"])}
        compiled.resources["registers"] = counts["vgpr_count"]
        compiled.resources["scalar_registers"] = counts["sgpr_count"]
        compiled.resources["spills"] = 4 * counts["vgpr_spill_count"]
    return compiled


def _instead_of_compiling(autotuner: Any, config: Any, wanted: Callable[..., Any]) -> Any:
    """What ``wanted`` gives for ``triton.compile`` and what torch calls it with."""

    def stop(compile_: Any, *args: Any, **kwargs: Any) -> Any:
        raise _Stopped(wanted(compile_, *args, **kwargs))

    try:
        with without_driver(), patched(triton, "compile", stop):
            autotuner._precompile_config(config)
    except _Stopped as stopped:
        return stopped.wanted
    raise RuntimeError("torch compiles kernels by another way than triton.compile")


def _compile(compile_: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return compile_(*args, **kwargs)


@contextlib.contextmanager
def without_driver() -> Iterator[None]:
    """Within, kernels are defined and compiled though there is no driver of a GPU."""
    with patched(triton_helpers, "set_driver_to_gpu", lambda _: None):
        yield


@contextlib.contextmanager
def _ptxas_talks() -> Iterator[None]:
    """What ptxas says of registers and spills is printed."""
    before = knobs.nvidia.dump_ptxas_log
    knobs.nvidia.dump_ptxas_log = True
    try:
        yield
    finally:
        knobs.nvidia.dump_ptxas_log = before


def _of_cubin(compiled: Compiled, cubin: bytes, log: str) -> None:
    """Adds a cubin's SASS, registers and spills."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        usage = _tool("cuobjdump", "--dump-resource-usage", file.name)
        registers = _REGISTERS.search(usage)
        if registers:
            compiled.resources["registers"] = float(registers.group(1))
        try:
            # -gp: with the line of the PTX that each instruction came from.
            compiled.texts["sass"] = _tool("nvdisasm", "-c", "-gp", "-ndf", file.name)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            compiled.absent["sass"] = f"nvdisasm failed: {error}"
    spilled = _SPILLED.findall(log)
    if spilled:
        compiled.resources["spills"] = float(sum(map(int, spilled)))


def _tool(name: str, *args: str) -> str:
    """What a tool that comes with Triton prints."""
    path = getattr(knobs.nvidia, name).path
    result = subprocess.run(
        [path, *args], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if result.returncode:
        raise RuntimeError(result.stderr.strip().split("\n")[-1])
    return result.stdout


def _reason(error: BaseException) -> str:
    """Why a kernel could not be compiled, in a line or two."""
    text = str(error).strip()
    messages = _PTXAS.findall(text)
    if messages:
        return f"ptxas: {messages[0]}"
    return f"{type(error).__name__}: {text or 'Triton says no more'}"
