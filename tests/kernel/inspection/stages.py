"""What torch itself generates for a call, backward and all, without a C++ compiler.

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
from compilescope.report.variant import Variant
from compilescope.torch_api.dynamo.compile_variant import settings_of
from torch._inductor.graph import GraphLowering

_PLACE = re.compile(
    r"^(?:# kernel path: |# AOT ID: ).*$|(?<=\[Provenance debug handles\] ).*$", re.MULTILINE
)


@contextmanager
def generating(texts: list[str]) -> Iterator[None]:
    """Appends the Python wrappers that torch generates in the block to ``texts``."""

    def compile_to_module(self: Any) -> Any:
        wrapper, _ = self.codegen()
        texts.append(plain(wrapper.value))
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

    with (
        mock.patch.object(GraphLowering, "compile_to_module", compile_to_module),
        torch._inductor.config.patch(fx_graph_cache=False),
        torch._functorch.config.patch(enable_autograd_cache=False),
    ):
        yield


def of_torch(make: Callable[[], tuple[Any, tuple[Any, ...]]], variant: Variant) -> list[str]:
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
            one
            for one in torch.utils._pytree.tree_leaves(output)
            if isinstance(one, torch.Tensor) and one.grad_fn is not None
        ]
        if roots:
            try:
                torch.autograd.backward(roots, [torch.ones_like(one) for one in roots])
            except RuntimeError as error:
                if "second time" not in str(error):
                    raise
    torch._dynamo.reset()
    return sorted(texts)


def of_sources(make: Callable[[], tuple[Any, tuple[Any, ...]]], variant: Variant) -> list[str]:
    """The wrappers that a report shows for the same call before anything is built."""
    torch.manual_seed(0)
    fn, args = make()
    report = cs.inspect(fn, args, variants={"it": variant}, run=False)
    assert not [one for one in report.variant("it").problems if one.severity == "error"]
    texts = []
    for compilation in report.variant("it").compilations:
        for code in (compilation.code, compilation.code.backward):
            if code is not None:
                texts += [one.python for one in (code, *code.others) if one.python]
    return sorted(plain(one) for one in texts)


def plain(text: str) -> str:
    """A wrapper without its numbers and places on disk."""
    return _PLACE.sub("", text).strip()
