"""Whether what compilescope shows is what torch generates, for calls that no test was made of.

    python benchmarks/foreign_subjects.py [--only NAME …] [--limit N] [--build] [--device cuda]
                                          [--diff FOLDER] [--again N]
    python benchmarks/foreign_subjects.py --tests FOLDER [--limit N]

Each call of ``foreign_cases`` is compiled by plain ``torch.compile`` in a process that has never
loaded compilescope, under either wrapper, with the backward of what it returns; and inspected with
``compilescope.inspect(run=False)`` in another. The text of each wrapper is compared character by
character, but for comments (torch's provenance, which compilescope has on, writes more of them),
blank lines, and torch's own numbers of a compilation and of kernels' files.

Not all that torch generates is the same in every process: on a GPU it pads a matrix product where
that was faster when it timed both, and torch 2.11 numbers arrays in a C++ wrapper by addresses in
memory. Where a text differs, ``--again N`` has plain torch generate it up to N times more: equal to
one of those is ``same again``, and counted apart.

``--tests`` takes the subjects from a folder of somebody's tests instead, such as ``test/dynamo`` of
PyTorch's repository: what each test compiles, with the arguments of the first call.

``--jobs`` compares that many subjects at a time. Without ``--build`` the plain process stops torch
where the generated code would be compiled by the C++ compiler, and runs the graph in its place.
With it everything is built, and the text is what torch writes to its output code; torch 2.11 needs
it for a backward under the C++ wrapper on CUDA, whose kernels' launch parameters come from the
build. ``same`` counts graphs whose text is equal. ``--diff`` writes what differs, whole, into a
folder.
"""

from __future__ import annotations

import argparse
import difflib
import json
import multiprocessing
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

import torch
import torch._inductor.compile_fx
from foreign_cases import CASES, MISSING, test_files
from torch._inductor.graph import GraphLowering

WRAPPERS = ("python", "cpp")
_COMMENT = {"python": re.compile(r"^\s*#.*$"), "cpp": re.compile(r"^\s*//.*$")}
_NUMBERS = re.compile(r"(?<=compiled_module_main\(')[^']*|(?<=loadKernel\(\")[^\"]*")
"""Torch's own number of a compilation, and the file of a cubin.

A cubin's name is a hash of its bytes, which hold the path of the Triton source that it was compiled
from, and so differ with the folder of the process.
"""
_CPP = re.compile(r"^(cpp_wrapper_src|kernel_src)\s*=\s*\(?\s*[rR]('''|\"\"\")(.*?)\2", re.M | re.S)
"""The C++ in the Python that torch writes: the wrapper, and the kernels if they are built apart."""

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["torch._inductor.compile_fx", "torch.testing._internal.jit_utils"])
"""What each process would otherwise import for ten seconds; Python 3.11 does not preload the main
module. The second is what PyTorch's own tests import; it initializes CUDA, which no fork survives,
so that subjects on a GPU have processes that are spawned."""

Texts = dict[str, list[str]]
"""Wrapper → the text of each graph's."""


def main() -> None:
    """Compares, and prints a table and totals."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--tests", type=Path, metavar="FOLDER", help="the tests of a folder")
    parser.add_argument("--limit", type=int, help="only this many, spread over all")
    parser.add_argument("--build", action="store_true", help="build the plain side's code")
    parser.add_argument("--device", default="cpu", help="where the subjects' tensors are")
    parser.add_argument("--jobs", type=int, default=1, help="subjects compared at a time")
    parser.add_argument("--diff", type=Path, metavar="FOLDER", help="write differences there")
    parser.add_argument("--again", type=int, default=0, help="more processes of plain torch")
    options = parser.parse_args()
    names = list(test_files.names_in(options.tests.resolve())) if options.tests else list(CASES)
    if options.only:
        if unknown := [name for name in options.only if name not in names]:
            parser.error(f"There is no subject {unknown[0]!r}.")
        names = options.only
    if options.limit is not None and options.limit < len(names):
        names = [names[i * len(names) // options.limit] for i in range(options.limit)]
    for library in MISSING:
        print(f"{library} is not installed: its models are left out.", flush=True)
    totals = {"same": 0, "again": 0, "graphs": 0, "refused": 0, "subjects": len(names)}
    print(f"{'subject':28} {'python':>8} {'C++':>8}   what differs", flush=True)

    def texts_of(name: str) -> tuple[Texts, Texts, list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            plain: Texts = {}
            given = name, options.device, options.build
            for wrapper in WRAPPERS:
                plain |= _in_a_process(_plain, Path(folder), *given, wrapper)
            shown = _in_a_process(_shown, Path(folder), name, options.device)
            same_again = []
            for wrapper in WRAPPERS:
                if not _compared(plain, shown, wrapper).difference:
                    continue
                for _ in range(options.again):
                    other = _in_a_process(_plain, Path(folder), *given, wrapper)
                    if not _compared(other, shown, wrapper).difference:
                        same_again.append(wrapper)
                        break
            return plain, shown, same_again

    with ThreadPoolExecutor(options.jobs) as pool:
        for name, (plain, shown, same_again) in zip(names, pool.map(texts_of, names), strict=True):
            cells, remarks = [], []
            for wrapper in WRAPPERS:
                same, graphs, remark, difference = _compared(plain, shown, wrapper)
                if wrapper in same_again:
                    totals["again"] += graphs - same
                    remark = f"same again; at first {remark}"
                if difference and options.diff:
                    options.diff.mkdir(parents=True, exist_ok=True)
                    path = options.diff / f"{name.replace('/', '.')}.{wrapper}.diff"
                    path.write_text(difference)
                totals["same"] += same
                totals["graphs"] += graphs
                totals["refused"] += not graphs
                cells.append(f"{same}/{graphs}" if graphs else "-")
                remarks += [f"{wrapper}: {remark}"] if remark else []
            shown_name = name.rpartition("/")[2]
            print(f"{shown_name:28} {cells[0]:>8} {cells[1]:>8}   {'; '.join(remarks)}", flush=True)
    print(
        f"{totals['same']} of {totals['graphs']} graphs are the same, {totals['again']} more are "
        f"the same again, of {totals['subjects']} "
        f"subjects; {totals['refused']} wrappers were refused by torch too"
    )


class Comparison(NamedTuple):
    """A wrapper's texts against plain torch's."""

    same: int
    graphs: int
    remark: str
    """What differs first."""
    difference: str
    """All that differs."""


def _compared(plain: Texts, shown: Texts, wrapper: str) -> Comparison:
    error, ours = plain.get(f"{wrapper} error"), shown.get(f"{wrapper} error")
    if error and ours:
        return Comparison(0, 0, f"both fail: {error[0][:60]}", "")
    if error or ours:
        outcomes = (error or ["compiles"])[0], (ours or ["shown"])[0]
        remark = "torch: {:.60}; here: {:.60}".format(*outcomes)
        return Comparison(0, 1, remark, "\n".join(outcomes))
    expected = sorted(_without_noise(text, wrapper) for text in plain[wrapper])
    generated = sorted(_without_noise(text, wrapper) for text in shown[wrapper])
    if len(expected) != len(generated):
        graphs = max(len(expected), len(generated))
        remark = f"{len(expected)} graphs, shown {len(generated)}"
        return Comparison(0, graphs, remark, remark)
    pairs = list(zip(expected, generated, strict=True))
    lines = [
        line
        for text, other in pairs
        for line in difflib.unified_diff(
            text.split("\n"), other.split("\n"), "torch", "compilescope", lineterm=""
        )
    ]
    first = [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]
    remark = " | ".join(line.strip()[:70] for line in first[:2])
    same = sum(text == other for text, other in pairs)
    return Comparison(same, len(expected), remark, "\n".join(lines))


def _without_noise(text: str, wrapper: str) -> str:
    """The text without comments and blank lines, and of a C++ wrapper the C++ alone."""
    if wrapper == "cpp" and (parts := _CPP.findall(text)):
        text = "\n".join(body for _, _, body in sorted(parts))
    comment = _COMMENT[wrapper]
    lines = [line.rstrip() for line in text.split("\n") if not comment.match(line)]
    return _NUMBERS.sub("", "\n".join(line for line in lines if line))


def _plain(name: str, device: str, build: bool, wrapper: str) -> Texts:
    """What torch generates, in a process without compilescope.

    Each wrapper has its own process: a subject may change what it reads, such as a global.
    """
    assert "compilescope" not in sys.modules
    texts: Texts = {}
    fn, args = _subject(name, device)
    generated: list[str] = []
    try:
        with _collecting(generated, build=build):
            compiled = torch.compile(fn, options={"cpp_wrapper": wrapper == "cpp"})
            _backward(compiled(*args))
    except Exception as error:  # noqa: BLE001 - what torch refuses is a result
        texts[f"{wrapper} error"] = [f"{type(error).__name__}: {error}".replace("\n", " ")]
    texts[wrapper] = generated
    return texts


def _backward(output: Any) -> None:
    roots = [
        leaf
        for leaf in torch.utils._pytree.tree_leaves(output)
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad and leaf.grad_fn is not None
    ]
    if roots:
        try:
            torch.autograd.backward(roots, [torch.ones_like(root) for root in roots])
        except RuntimeError as error:
            # The subject called its backward itself, and both graphs are there.
            if "second time" not in str(error):
                raise


def _collecting(texts: list[str], *, build: bool) -> Any:
    """Appends what is generated in the block to ``texts``."""
    original = GraphLowering.compile_to_module

    def compile_to_module(self: Any) -> Any:
        wrapper, _ = self.codegen_with_cpp_wrapper() if self.cpp_wrapper else self.codegen()
        texts.append(wrapper.value)
        graph = self.orig_gm

        def call(args: list[Any]) -> list[Any]:
            given = list(args)
            args.clear()
            return list(graph(*given))

        return SimpleNamespace(
            call=call,
            runner=SimpleNamespace(recursively_apply_fns=lambda wrappers: None, partitions=[]),
            __file__=None,
            __name__="generated",
        )

    def save_output_code(code: str) -> None:
        texts.append(code)

    if build:
        assert original is GraphLowering.compile_to_module
        return mock.patch.object(GraphLowering, "save_output_code", save_output_code)
    return mock.patch.object(GraphLowering, "compile_to_module", compile_to_module)


def _subject(name: str, device: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The call to compile, its parameters and arguments made on the device."""
    torch.manual_seed(0)
    with torch.device(device):
        return CASES[name]() if name in CASES else test_files.first_call(name)


def _shown(name: str, device: str) -> Texts:
    """What compilescope shows before anything is built."""
    import compilescope

    fn, args = _subject(name, device)
    report = compilescope.inspect(fn, args, variants=WRAPPERS, run=False)
    texts: Texts = {}
    for wrapper in WRAPPERS:
        variant = report.variant(wrapper)
        errors = [problem.what for problem in variant.problems if problem.severity == "error"]
        if errors:
            texts[f"{wrapper} error"] = errors
        codes = [
            graph_code
            for compilation in variant.compilations
            for code in (compilation.code, compilation.code.backward)
            if code is not None
            for graph_code in (code, *code.others)
        ]
        sources = [getattr(code, wrapper) for code in codes]
        texts[wrapper] = [code for code in sources if code]
    return texts


def _in_a_process(work: Callable[..., Texts], folder: Path, *given: Any) -> Texts:
    """Does the work in a process that has imported torch and nothing of ours."""
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    context = _FORKS if given[1] == "cpu" else multiprocessing.get_context("spawn")
    process = context.Process(target=_run, args=(work, result, given))
    process.start()
    process.join()
    if not result.exists():
        raise SystemExit(f"{work.__name__} of {given[0]} ended with {process.exitcode}")
    texts: Texts = json.loads(result.read_text())
    return texts


def _run(work: Callable[..., Texts], result: Path, given: tuple[Any, ...]) -> None:
    folder = tempfile.mkdtemp(dir=result.parent)
    warnings.simplefilter("ignore")
    torch._inductor.config.force_disable_caches = True
    # torch compiles a small library for every vector instruction set to see whether it runs here.
    torch._inductor.config.cpp.vec_isa_ok = True
    with mock.patch.dict("os.environ", {"TORCHINDUCTOR_CACHE_DIR": folder}):
        try:
            texts = work(*given)
        except Exception as error:  # noqa: BLE001 - it stands in the table
            traceback.print_exc()
            message = [f"{type(error).__name__}: {error}".replace("\n", " ")]
            texts = {f"{wrapper} error": message for wrapper in WRAPPERS}
    result.write_text(json.dumps(texts))


if __name__ == "__main__":
    main()
