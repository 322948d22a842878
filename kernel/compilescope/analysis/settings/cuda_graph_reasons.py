"""Explains torch's reasons for skipping CUDA graphs: the meaning and the remedy."""

from __future__ import annotations

from typing import NamedTuple

from ...report.compilation.cuda_graphs import Skip
from ..text.stacks import read_stack

_PREFIXES = ("skipping cudagraphs due to ", "skipping cudagraph due to ", "disabling cudagraphs ")
_FOUND = ("Found from", "\n")


class Meaning(NamedTuple):
    """What a reason means, what to do, and the setting that allows the capture."""

    text: str
    remedy: str
    setting: str = ""


_CONFIG = "torch._inductor.config."
PARTS = f"{_CONFIG}graph_partition = True"
_MEANINGS = {
    "graph partition": Meaning(
        "By default torch captures a graph part by part, around what cannot be captured, and the "
        "C++ wrapper is not generated in parts.",
        "Have the graph captured as a whole, or use the Python wrapper.",
        f"{_CONFIG}graph_partition = False",
    ),
    "cpp wrapper enabled": Meaning(
        "This torch captures no CUDA graph around a C++ wrapper, whatever is set.",
        "Use the Python wrapper, or torch 2.12 or later.",
    ),
    "mutated inputs": Meaning(
        "A replay works on copies of the arguments, and one of them is changed in place: the "
        "change would not reach the tensor that was passed.",
        "Return the new value instead, or pass the same tensor at every call and mark it so.",
        "torch._dynamo.mark_static_address(argument)",
    ),
    "input storage mutation": Meaning(
        "An argument gets other memory (set_), which a replay cannot do.",
        "Do that outside of what is compiled.",
    ),
    "cpu device": Meaning(
        "A CUDA graph holds work of the GPU only, and some of this is done on the CPU.",
        "Move those tensors to the GPU, or have what is around them captured in parts.",
        PARTS,
    ),
    "multiple devices": Meaning(
        "One CUDA graph is of one GPU, and this uses several devices.",
        "Compile the part on each device by itself.",
    ),
    "symbolic shapes": Meaning(
        "A CUDA graph is of one size, and graphs with sizes that change were asked to be left out.",
        "Record one for each size that occurs, or pad to a few sizes.",
        f"{_CONFIG}triton.cudagraph_skip_dynamic_graphs = False",
    ),
    "incompatible op": Meaning(
        "The operator cannot be recorded: it waits for the GPU, or what it does depends on values.",
        "Have what is around it captured in parts, or keep it out with torch.compiler.disable.",
        PARTS,
    ),
    "re-recording limit": Meaning(
        "The graph was recorded again and again: tensors that it takes to stay in place did not.",
        "Keep parameters and buffers where they are between calls.",
        f"{_CONFIG}triton.cudagraph_unexpected_rerecord_limit = 1024",
    ),
    "non-Tensor inputs": Meaning(
        "The graph takes something that is no tensor, which a replay could not pass on.",
        "Pass tensors, or numbers that Dynamo takes as constants.",
    ),
    "caching allocator": Meaning(
        "CUDA graphs keep their memory in pools of the caching allocator, which is off.",
        "Turn it on: unset PYTORCH_NO_CUDA_MEMORY_CACHING.",
        "torch.cuda.caching_allocator_enable(True)",
    ),
    "override_cudagraphs": Meaning(
        "The code says so itself, with torch.compiler's override of CUDA graphs.",
        "Take the override away.",
    ),
    "bisector": Meaning(
        "torch's compiler bisector has turned CUDA graphs off.", "End the bisection."
    ),
    "force_disable": Meaning(
        "A setting for torch's own tests turns them off.",
        "Take it back.",
        f"{_CONFIG}force_disable_cudagraph_TESTING_ONLY = False",
    ),
}


def read_skip(reason: str, compilation: str = "") -> Skip:
    """Parses a reason that torch gave.

    Parameters
    ----------
    reason
        As torch logs it; it may end in a stack of the user's code.
    """
    text = _essential(reason)
    meaning = next(
        (known_meaning for key, known_meaning in _MEANINGS.items() if key in text), Meaning("", "")
    )
    # Some reasons have the first stack frame on the same line.
    lines = read_stack(reason.replace("Found from", "\n"))
    return Skip(
        reason=text,
        compilation=compilation,
        meaning=meaning.text,
        remedy=meaning.remedy,
        setting=meaning.setting,
        where=lines[-1] if lines else None,
    )


def _essential(reason: str) -> str:
    """The reason without its constant prefix and without the stack."""
    for end in _FOUND:
        reason = reason.partition(end)[0]
    stripped = True
    while stripped:
        stripped = False
        for prefix in _PREFIXES:
            if reason.startswith(prefix):
                reason, stripped = reason[len(prefix) :], True
    return reason.removeprefix("due to ").strip().rstrip(".:")
