"""The process of a package: exports a call, compiles it ahead of time and, on request, times it."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec
import torch

from ...analysis.packages.archive import read_packages
from ...analysis.packages.cpp import in_range
from ...builds.build import build
from ...builds.comparison.call_result import Outcome, leaves, outcome_of, with_changes
from ...builds.comparison.compare_with_eager import Reference
from ...builds.comparison.repeatable_state import begin_of
from ...builds.eager_call import eager_call, in_eager
from ...isolation.code_swap import CodeCopies
from ...isolation.muted_output import quiet
from ...isolation.object_walk import walk
from ...isolation.state_changes import RANDOM, changes_of
from ...isolation.user_state import Snapshot
from ...measure.timing import time_calls
from ...processes.child import ChildProcess, serve
from ...report import Entry, Package, Timing
from ...report.problem import Problem
from ...report.variant import Variant
from ...subject.functions import functions_of
from ...subject.pickled_subject import Call, unpack
from ...torch_api.dynamo import compile_variant
from ...torch_api.failures import failures
from ...torch_api.inductor import ahead_of_time

COMMAND = "{imports}; from compilescope.studies.ahead_of_time.process import main; main()"
"""What the process runs."""
PACKAGE_FILE = "made.json"
"""The file with what was made, while it is run: a library that is loaded may end the process."""
SECONDS = 1.5
"""How long its entries are timed together."""

EAGER = "eager"
IN_PROCESS = "in process: torch.compile, C++ wrapper"
STANDALONE = "standalone: aoti_load_package"
LOADER = "standalone: AOTIModelPackageLoader.run"

TRAINS = (
    "The subject's forward alone: AOTInductor compiles inference, and what a package returns has "
    "no gradient."
)
CHANGES = "A package has its own copy of the constants: what a call changes stays in the package."


def main() -> None:
    """Makes the package and gives it as JSON."""
    serve(_work)


def _work(inside: ChildProcess) -> bytes:
    variant, packed = pickle.loads(inside.task())
    ahead_of_time.trust(inside.header["vectors"])
    call = unpack(packed)
    with torch.no_grad(), quiet():
        package = _PackageBuild(inside, variant, call).package()
    return msgspec.json.encode(package)


class _PackageBuild:
    def __init__(self, inside: ChildProcess, variant: Variant, call: Call) -> None:
        self._inside = inside
        self._variant = variant
        self._call = call
        self._snapshot = Snapshot(*call)

    def package(self) -> Package:
        built = self._inside.header["built"]
        fn, args, kwargs = self._call
        self._inside.step("exporting")
        start = time.perf_counter()
        try:
            exported = ahead_of_time.export(
                fn, args, kwargs, _modules(fn), dynamic=bool(self._variant.dynamic)
            )
        except Exception as error:  # noqa: BLE001 - it is the package's problem
            return Package(problem=self._export_problem(error))
        finally:
            self._snapshot.restore()
        parts = {"export": time.perf_counter() - start}
        self._inside.step("compiling ahead of time" if built else "generating sources")
        path = Path(self._inside.header["folder"]) / "model.pt2"
        settings = compile_variant.settings_of(self._variant)
        del settings["cpp_wrapper"]  # there is no other wrapper
        try:
            parts |= ahead_of_time.package(
                exported.program, path, settings if built else {**settings, **ahead_of_time.SOURCES}
            )
        except Exception as error:  # noqa: BLE001 - it is the package's problem
            return Package(problem=failures.of_codegen(error), parts=parts)
        (package,) = read_packages(path)
        package.inputs, package.outputs = exported.inputs, exported.outputs
        package.dynamic = [in_range(*dynamic_size) for dynamic_size in exported.dynamic]
        package.metadata["traced by"] = "Dynamo (strict)" if exported.strict else "torch.export"
        numbers = set(exported.state) - {constant.original for constant in package.constants}
        if numbers:
            # Inductor writes tensors of up to eight elements so.
            package.metadata["as numbers in the code"] = ", ".join(sorted(numbers))
        package.parts, package.seconds = parts, sum(parts.values())
        package.path = ""
        if any(tensor.requires_grad for tensor in self._snapshot.tensors.values()):
            package.absent["backward"] = TRAINS
        if built:
            path.with_name(PACKAGE_FILE).write_bytes(msgspec.json.encode(package))
            self._run(package, path)
        return package

    def _export_problem(self, error: Exception) -> Problem:
        """Why it could not be exported; the subject's own problem where it fails in eager too."""
        fn, args, kwargs = self._call
        try:
            fn(*args, **kwargs)
        except Exception as eager_error:  # noqa: BLE001 - it is the subject's problem
            return failures.subject_failure(eager_error)
        finally:
            self._snapshot.restore()
        return ahead_of_time.refusal(error)

    def _run(self, package: Package, path: Path) -> None:
        """Loads the package, compares it with eager, and times the ways to call it."""
        fn, args, kwargs = self._call
        self._inside.step("loading")
        begin, changed = self._later_state()
        of_the_call = self._argument_paths()
        if changed - of_the_call:
            package.absent["changes"] = CHANGES
        reference = Reference(*self._call, self._snapshot, backward=False)
        start = time.perf_counter()
        try:
            loaded = ahead_of_time.load(path, args, kwargs)
            package.parts["loading"] = time.perf_counter() - start
            outcome = outcome_of(loaded.call(*args, **kwargs), None)
            outcome = with_changes(outcome, self._snapshot)
        except Exception as error:  # noqa: BLE001 - it is the package's problem
            package.problem = failures.of_codegen(error)
            return
        finally:
            self._snapshot.restore()
        if not reference.random:
            package.accurate = reference.agrees(_with_own(outcome, reference, of_the_call))
        calls: dict[str, Callable[[], Any]] = {
            EAGER: eager_call(fn, args, kwargs, self._snapshot),
            STANDALONE: lambda: loaded.call(*args, **kwargs),
            LOADER: loaded.run,
        }
        self._inside.step("building the C++ wrapper")
        code_copies = CodeCopies(functions_of(fn, args, kwargs))
        built = build(
            fn,
            args,
            kwargs,
            name=IN_PROCESS,
            variant=msgspec.structs.replace(self._variant, cpp_wrapper=True),
            code_copies=code_copies,
            code_set=code_copies.copy(),
            folder=Path(self._inside.header["folder"]) / "caches",
            backward=self._snapshot.backward.without_gradients(),
        )
        self._snapshot.restore()
        missing = Entry(name=IN_PROCESS)
        if built.problem is None:
            calls[IN_PROCESS] = lambda: built.call(*args, **kwargs)
        else:
            missing.why = built.problem.what
        self._inside.step("timing")
        timings = time_calls(
            calls,
            budget_s=SECONDS,
            before_each=None if begin is None else lambda name: begin.restore(),
            device=_device(package),
        )
        package.entries = _entries(timings) + ([missing] if missing.why else [])

    def _later_state(self) -> tuple[Snapshot | None, set[str]]:
        """The state that timed calls begin with, None if it does not matter; what a call changes.

        A call is made to find out. The state before it is restored.
        """
        fn, args, kwargs = self._call
        try:
            with quiet():
                in_eager(lambda: fn(*args, **kwargs), self._snapshot)
            changes = changes_of(self._snapshot)
            begin = begin_of(*self._call, self._snapshot, changes)
        finally:
            self._snapshot.restore()
        return begin, set(changes) - {RANDOM}

    def _argument_paths(self) -> set[str]:
        """The paths of the tensors in the arguments."""
        _, args, kwargs = self._call
        own = {id(value) for _, value in leaves((args, kwargs))}
        return {path for path, tensor in self._snapshot.tensors.items() if id(tensor) in own}


def _with_own(outcome: Outcome, reference: Reference, of_the_call: Collection[str]) -> Outcome:
    """A package's outcome, with eager's changes of modules: those of a package are its own."""
    own = {
        path: tensor
        for path, tensor in reference.outcome.changes.items()
        if path not in of_the_call
    }
    return msgspec.structs.replace(outcome, changes={**outcome.changes, **own})


def _entries(timings: Mapping[str, Timing]) -> list[Entry]:
    """The ways to call it; of their samples the figures are enough."""
    order = (EAGER, IN_PROCESS, STANDALONE, LOADER)
    return [
        Entry(name=name, timing=msgspec.structs.replace(timings[name], samples_us=[]))
        for name in order
        if name in timings
    ]


def _device(package: Package) -> str:
    return "cuda" if package.device == "cuda" else "cpu"


def _modules(fn: Callable[..., Any]) -> dict[str, torch.nn.Module]:
    """The modules that a function reaches, outermost alone, by names that attributes may have."""
    modules: dict[str, torch.nn.Module] = {}
    inner: set[int] = set()
    for value, path in walk(fn).objects:
        if isinstance(value, torch.nn.Module) and id(value) not in inner:
            inner |= {id(module) for module in value.modules()}
            name = "".join(letter if letter.isalnum() else "_" for letter in path).strip("_")
            modules[name if name not in modules else f"{name}_{len(modules)}"] = value
    return modules
