"""Explains torch's reasons for skipping CUDA graphs: the meaning and the remedy."""

from __future__ import annotations

from typing import NamedTuple

from ...report.compilation.cuda_graphs import Skip
from ..text.stacks import read_stack

_PREFIXES = ("skipping cudagraphs due to ", "skipping cudagraph due to ", "disabling cudagraphs ")
_ENDS = ("Found from", "\n")


class Meaning(NamedTuple):
    """What a reason means, what to do, and the setting that allows the capture."""

    text: str
    remedy: str
    setting: str = ""


_CONFIG = "torch._inductor.config."
PARTS = f"{_CONFIG}graph_partition = True"
_MEANINGS = {
    "graph partition": Meaning(
        (
            "By default torch partitions a graph around what cannot be captured, and the C++ "
            "wrapper does not support partitions."
        ),
        "Have the graph captured as a whole, or use the Python wrapper.",
        f"{_CONFIG}graph_partition = False",
    ),
    "cpp wrapper enabled": Meaning(
        "This version of torch captures no CUDA graphs of a C++ wrapper.",
        "Use the Python wrapper, or torch 2.12 or later.",
    ),
    "mutated inputs": Meaning(
        "A replay works on copies of the arguments, and one of them is changed in place: the "
        "change would not reach the tensor that was passed.",
        "Return the new value instead, or pass the same tensor at every call and mark it so.",
        "torch._dynamo.mark_static_address(argument)",
    ),
    "input storage mutation": Meaning(
        "An argument's storage is replaced (set_), which a replay cannot do.",
        "Do that outside the compiled function.",
    ),
    "cpu device": Meaning(
        "A CUDA graph records only GPU work, and some of this runs on the CPU.",
        "Move those tensors to the GPU, or let torch partition the graph around them.",
        PARTS,
    ),
    "multiple devices": Meaning(
        "A CUDA graph records one GPU, and this uses several devices.",
        "Compile the part on each device separately.",
    ),
    "symbolic shapes": Meaning(
        "A CUDA graph has fixed sizes, and a setting skips graphs with dynamic sizes.",
        "Record one for each size that occurs, or pad to a few sizes.",
        f"{_CONFIG}triton.cudagraph_skip_dynamic_graphs = False",
    ),
    "incompatible op": Meaning(
        (
            "The operator cannot be recorded: it synchronizes with the GPU, or depends on the "
            "values of tensors."
        ),
        "Let torch partition the graph around it, or exclude it with torch.compiler.disable.",
        PARTS,
    ),
    "re-recording limit": Meaning(
        ("The graph was re-recorded too often: tensors that it expects at fixed addresses moved."),
        "Keep parameters and buffers at the same addresses between calls.",
        f"{_CONFIG}triton.cudagraph_unexpected_rerecord_limit = 1024",
    ),
    "non-Tensor inputs": Meaning(
        "The graph has an input that is not a tensor, which a replay cannot pass.",
        "Pass tensors, or numbers that Dynamo treats as constants.",
    ),
    "caching allocator": Meaning(
        "CUDA graphs keep their memory in pools of the caching allocator, which is off.",
        "Turn it on: unset PYTORCH_NO_CUDA_MEMORY_CACHING.",
        "torch.cuda.caching_allocator_enable(True)",
    ),
    "override_cudagraphs": Meaning(
        "The code turns them off, with torch.compiler's override of CUDA graphs.",
        "Remove the override.",
    ),
    "bisector": Meaning(
        "torch's compiler bisector has turned CUDA graphs off.", "End the bisection."
    ),
    "force_disable": Meaning(
        "A setting for torch's own tests turns them off.",
        "Unset it.",
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
    for end in _ENDS:
        reason = reason.partition(end)[0]
    stripped = True
    while stripped:
        stripped = False
        for prefix in _PREFIXES:
            if reason.startswith(prefix):
                reason, stripped = reason[len(prefix) :], True
    return reason.removeprefix("due to ").strip().rstrip(".:")
