"""On a GPU, the C++ wrapper from the Python wrapper's lowering is that of a lowering of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
import torch
from compilescope.builds import sources
from compilescope.inspection.inspection import Inspection
from compilescope.progress.progress import Monitor
from compilescope.report import Code
from compilescope.torch_api.inductor.wrappers.other_wrapper import PROVEN_ON_GPU
from msgspec.structs import replace

from .. import fidelity_subjects

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    pytest.mark.skipif(
        not torch.__version__.startswith(tuple(f"{version}." for version in PROVEN_ON_GPU)),
        reason="each wrapper has a lowering of its own in this version of torch",
    ),
]

TEMPLATES = {"flex_attention"}
"""Kernels of templates are generated twice."""

_ARRAY = re.compile(
    r"^\s*(?:static constexpr |const )?int64_t \*?(int_array_\d+)(?:\[\])? ?= ?(.*?);$", re.M
)
_OTHER = re.compile(
    r"(?<=uint32_t grid_).*;|loadKernel\(.*\);|(?<=launchKernel\()\w+, .*;"
    r"|^.*(?:kernel path|AOT ID): .*$",
    re.M,
)


def plain(code: str) -> str:
    """The code without what differs from one generation by torch to the next.

    torch 2.11 numbers arrays by an ``id()`` that may come again, and launches each kernel as its
    timing decides.
    """
    arrays: dict[str, str] = dict(_ARRAY.findall(code))
    code = _OTHER.sub("", _ARRAY.sub("", code))
    code = re.sub(r"\bint_array_\d+\b", lambda match: arrays.get(match[0], match[0]), code)
    return "\n".join(filter(str.strip, code.splitlines()))


def texts(code: Code | None) -> Iterator[str]:
    """The wrappers of a compilation."""
    if code is not None:
        yield from (plain(text) for text in (code.python, code.cpp) if text)
        for graph in (code.backward, *code.others):
            yield from texts(graph)


def shown(generated: sources.Sources) -> list[object]:
    """What a person sees of a wrapper: the code, the kernels, how each was chosen."""
    return [
        (
            list(texts(compilation.code)),
            [kernel.name for kernel in compilation.kernels],
            [autotuning.kernel for autotuning in compilation.autotunings],
            compilation.absent,
        )
        for compilation in generated.compilations
    ]


@pytest.mark.parametrize("make", fidelity_subjects.CASES.values(), ids=fidelity_subjects.CASES)
def test_both_wrappers_come_from_one_lowering(
    make: Callable[[fidelity_subjects.Make], fidelity_subjects.Case],
) -> None:
    case = make(fidelity_subjects.Make("cuda"))
    python, cpp = case.variant, replace(case.variant, cpp_wrapper=True)
    inspection = Inspection(case.fn, case.args)
    inspection.sources.capture({"python": python}, Monitor())
    captured = inspection._generation._captures.find(python)
    assert captured is not None
    alone = sources.generate(captured, "cpp", cpp)
    first = sources.generate(captured, "python", python)
    assert not sources.is_pregenerated(captured, cpp), "nobody has asked for it"
    both = sources.generate(captured, "python", python, coming=(cpp,))
    assert shown(both) == shown(first)
    assert sources.is_pregenerated(captured, cpp) == (make.__name__ not in TEMPLATES)
    assert shown(sources.generate(captured, "cpp", cpp)) == shown(alone)
