"""What torch generates for a call, and what both stages of a report show, without a C++ compiler.

Each graph runs in eager in the place of the module that Inductor would build, so that torch
compiles a backward when it is first called, as ever.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import compilescope as cs
import torch
from compilescope.builds.comparison.rank_agreement import ALONE
from compilescope.inspection.inspection import Inspection
from compilescope.progress.progress import Monitor
from compilescope.report import Report, VariantReport
from compilescope.report.variant import Variant
from compilescope.torch_api.dynamo.compile_variant import settings_of
from torch._inductor.codecache import PyCodeCache
from torch._inductor.graph import GraphLowering
from torch._inductor.virtualized import V
from torch.fx import GraphModule

Call = tuple[Any, tuple[Any, ...]]

_PLACE = re.compile(
    r"^(?:# kernel path: |# AOT ID: ).*$|(?<=\[Provenance debug handles\] ).*$", re.MULTILINE
)
_CPP = re.compile(r"^(cpp_wrapper_src|kernel_src)\s*=\s*\(?\s*[rR]('''|\"\"\")(.*?)\2", re.M | re.S)
"""The C++ in the Python that torch writes: the wrapper, and the kernels if they are built apart."""
_CPP_COMMENT = re.compile(r"^\s*//.*$", re.M)
"""torch writes more of them while it tracks where kernels come from, as it does for a report."""


@contextmanager
def generating(texts: list[str]) -> Iterator[None]:
    """Appends the wrappers that torch generates in the block to ``texts``, and loads none."""
    with (
        unloaded(),
        mock.patch.object(
            GraphLowering, "save_output_code", lambda text: texts.append(plain(text))
        ),
        torch._inductor.config.patch(fx_graph_cache=False),
        torch._functorch.config.patch(enable_autograd_cache=False),
    ):
        yield


@contextmanager
def unloaded() -> Iterator[None]:
    """Builds in the block write their code and load none of it: each graph runs in eager."""
    graphs: dict[str, GraphModule] = {}

    def load_by_key_path(key: str, path: str, *_: Any, **__: Any) -> Any:
        if key not in graphs:  # what a cache has was generated in the block
            graphs[key] = V.graph.orig_gm
        return _module(graphs[key], key, path)

    with mock.patch.object(PyCodeCache, "load_by_key_path", load_by_key_path):
        yield


def _module(graph: GraphModule, key: str = "", file: str | None = None) -> Any:
    """What torch calls in the place of a generated module."""

    def call(args: list[Any]) -> list[Any]:
        inputs = list(args)
        args.clear()
        return list(graph(*inputs))

    return SimpleNamespace(
        call=call,
        runner=SimpleNamespace(recursively_apply_fns=lambda wrappers: None, partitions=[]),
        key=key,
        __file__=file,
        __name__="generated",
    )


def of_torch(make: Callable[[], Call], variant: Variant) -> list[str]:
    """The wrappers that torch generates for a call, and for the backward of what it returns."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    fn, args = make()
    texts: list[str] = []
    with generating(texts):
        compiled = torch.compile(fn, options=settings_of(variant), dynamic=variant.dynamic)
        output = None
        try:
            output = compiled(*args)
        except RuntimeError as error:
            # torch refuses the call of a backward that it compiled too early to know of.
            if "donated buffers" not in str(error):
                raise
        roots = [
            leaf
            for leaf in torch.utils._pytree.tree_leaves(output)
            if isinstance(leaf, torch.Tensor) and leaf.grad_fn is not None
        ]
        if roots:
            try:
                torch.autograd.backward(roots, [torch.ones_like(root) for root in roots])
            except RuntimeError as error:
                if "second time" not in str(error):
                    raise
    torch._dynamo.reset()
    return sorted(texts)


def of_sources(make: Callable[[], Call], *variants: Variant) -> list[list[str]]:
    """The wrappers that one report shows for the same call before anything is built, by variant."""
    torch.manual_seed(0)
    fn, args = make()
    named = {str(place): variant for place, variant in enumerate(variants)}
    report = cs.inspect(fn, args, variants=named, run=False)
    return [_shown(report.variant(name)) for name in named]


def of_both_stages(
    make: Callable[[], Call], *variants: Variant
) -> tuple[list[list[str]], list[list[str]]]:
    """The wrappers that one report shows before and after its variants are built, by variant."""
    named = {str(place): variant for place, variant in enumerate(variants)}
    with _stages(make, named) as (report, build):
        sources = [_shown(report.variant(name)) for name in named]
        build()
        return sources, [_shown(report.variant(name)) for name in named]


def shells_of_both_stages(make: Callable[[], Call], variant: Variant) -> tuple[str, str]:
    """The Python around a C++ wrapper, without places on disk, before and after it is built."""
    with _stages(make, {"cpp": variant}) as (report, build):
        sources = report.variant("cpp").compilations[0].code.shell
        build()
        built = report.variant("cpp").compilations[0].code.shell
    assert sources is not None
    assert built is not None
    return _PLACE.sub("", sources), _PLACE.sub("", built)


@contextmanager
def _stages(
    make: Callable[[], Call], variants: dict[str, Variant]
) -> Iterator[tuple[Report, Callable[[], None]]]:
    """A report of sources, and what builds its variants without loading them."""
    torch.manual_seed(0)
    inspection = Inspection(*make())
    monitor = Monitor()
    inspection.sources.capture(variants, monitor)
    inspection.sources.generate(variants, monitor)

    def build() -> None:
        with unloaded():
            inspection.build(list(variants), monitor, lambda calls, restore: {}, ALONE)
        for name in variants:
            variant = inspection.report.variant(name)
            assert variant.stage == "built", variant.problems

    yield inspection.report, build
    inspection.close()


def _shown(shown: VariantReport) -> list[str]:
    assert not [problem for problem in shown.problems if problem.severity == "error"]
    wrapper = "cpp" if shown.requested.cpp_wrapper else "python"
    texts = []
    for compilation in shown.compilations:
        for code in (compilation.code, compilation.code.backward):
            if code is not None:
                texts += [getattr(part, wrapper) for part in (code, *code.others)]
    return sorted(plain(text) for text in texts if text)


def plain(text: str) -> str:
    """A wrapper without its numbers and places on disk; of a C++ one the C++, without comments."""
    if cpp := _CPP.findall(text):
        text = "\n".join(source for _, _, source in sorted(cpp))
    if "cpp_wrapper/" in text:
        text = _CPP_COMMENT.sub("", text)
        return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())
    return _PLACE.sub("", text).strip()
