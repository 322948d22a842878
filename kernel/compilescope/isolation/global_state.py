"""State that belongs to no object: random generators and torch's global modes."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

from ..torch_api.process.float32_precision import (
    changed_precisions,
    float32_precisions,
    set_float32_precisions,
)
from .saved_python import Change

AUTOCAST_DEVICES = ("cpu", "cuda")
"""The devices whose autocast is applied to later calls."""
_INFERENCE = "inference mode"


class SavedRandomness:
    """The global random generators that a call may draw from."""

    def __init__(self) -> None:
        self.python = random.getstate()
        self.cpu = torch.get_rng_state()
        self.cuda = torch.cuda.get_rng_state_all() if _cuda_is_up() else []
        # Looked up, not imported: a module that is not loaded has no state.
        numpy_random = sys.modules.get("numpy.random")
        self.numpy = numpy_random.get_state() if numpy_random is not None else None

    def changed(self) -> Iterator[Change]:
        """Whether numbers were drawn from any of them."""
        now = SavedRandomness()
        if (
            now.python != self.python
            or not torch.equal(now.cpu, self.cpu)
            or len(now.cuda) != len(self.cuda)
            or any(not torch.equal(a, b) for a, b in zip(now.cuda, self.cuda, strict=True))
            or (self.numpy is not None and not _same_numbers(now.numpy, self.numpy))
        ):
            yield Change()

    def restore(self) -> None:
        """Sets every generator back."""
        random.setstate(self.python)
        torch.set_rng_state(self.cpu)
        if self.cuda:
            torch.cuda.set_rng_state_all(self.cuda)
        elif _cuda_is_up():
            # The call was the first to use CUDA: no numbers had been drawn.
            for generator in torch.cuda.default_generators:
                generator.manual_seed(generator.initial_seed())
        if self.numpy is not None:
            sys.modules["numpy.random"].set_state(self.numpy)


class SavedModes:
    """torch's modes, of this thread and of the process."""

    def __init__(self) -> None:
        self.values = [(read(), write) for read, write in _modes()]
        self._inference = torch.is_inference_mode_enabled()

    def changed(self) -> Iterator[Change]:
        """Whether any mode differs."""
        if any(
            read() != value for (value, _), (read, _) in zip(self.values, _modes(), strict=True)
        ):
            yield Change()

    def now(self) -> list[Any]:
        """The values alone, for `in_force` here or in another process.

        In inference mode there is one more at the end: no function sets this mode, only a context.
        """
        values = [value for value, _ in self.values]
        return [*values, _INFERENCE] if self._inference else values

    def restore(self) -> None:
        """Sets the modes that changed."""
        for (value, write), (read, _) in zip(self.values, _modes(), strict=True):
            if read() != value:
                write(value)


@contextmanager
def in_force(values: Sequence[Any]) -> Iterator[None]:
    """Applies modes from `SavedModes.now` in the block.

    Casts of weights that autocast keeps are dropped before and after it, as at the end of autocast
    itself.

    Examples
    --------
    >>> with torch.inference_mode():
    ...     modes = SavedModes().now()
    >>> with in_force(modes):
    ...     torch.is_inference_mode_enabled()
    True
    """
    modes = _modes()
    before = SavedModes()
    torch.clear_autocast_cache()
    try:
        with _inference_mode(on=_INFERENCE in values[len(modes) :]):
            for value, (read, write) in zip(values, modes, strict=False):
                if read() != value:
                    write(value)
            yield
    finally:
        before.restore()
        torch.clear_autocast_cache()


def _inference_mode(*, on: bool) -> AbstractContextManager[object]:
    """Switches inference mode, if it differs: entering it again would change the grad mode."""
    differs = on != torch.is_inference_mode_enabled()
    return torch.inference_mode(on) if differs else nullcontext()


def contexts() -> list[str]:
    """The grad mode, inference mode and autocast of this thread, as code that enters them.

    Examples
    --------
    >>> with torch.no_grad(), torch.autocast("cpu"):
    ...     contexts()
    ['torch.no_grad()', 'torch.autocast("cpu", dtype=torch.bfloat16)']
    """
    entered = []
    if torch.is_inference_mode_enabled():
        entered.append("torch.inference_mode()")
    elif not torch.is_grad_enabled():
        entered.append("torch.no_grad()")
    uncached = "" if torch.is_autocast_cache_enabled() else ", cache_enabled=False"
    entered += [
        f'torch.autocast("{device}", dtype={torch.get_autocast_dtype(device)}{uncached})'
        for device in AUTOCAST_DEVICES
        if torch.is_autocast_enabled(device)
    ]
    return entered


def is_autocast_on() -> bool:
    """Whether this thread casts operators' inputs, on any device."""
    return any(torch.is_autocast_enabled(device) for device in AUTOCAST_DEVICES)


def changed_process_settings() -> list[str]:
    """Torch's process-wide settings that change code and are not the defaults, as statements.

    Examples
    --------
    >>> torch.use_deterministic_algorithms(True)
    >>> changed_process_settings()
    ['torch.use_deterministic_algorithms(True)']
    """
    changed = []
    if torch.get_default_dtype() != torch.float32:
        changed.append(f"torch.set_default_dtype({torch.get_default_dtype()})")
    if torch.are_deterministic_algorithms_enabled():
        warns = torch.is_deterministic_algorithms_warn_only_enabled()
        arguments = "True, warn_only=True" if warns else "True"
        changed.append(f"torch.use_deterministic_algorithms({arguments})")
    return [*changed, *changed_precisions()]


def _same_numbers(now: Any, before: Any) -> bool:
    """Whether two states of NumPy's global generator are equal: name, keys and positions."""
    return bool(now[0] == before[0] and (now[1] == before[1]).all() and now[2:] == before[2:])


def _cuda_is_up() -> bool:
    return bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]


def _modes() -> list[tuple[Callable[[], Any], Callable[[Any], object]]]:
    modes: list[tuple[Callable[[], Any], Callable[[Any], object]]] = [
        (torch.is_grad_enabled, torch.set_grad_enabled),
        (torch.get_default_dtype, torch.set_default_dtype),
        (float32_precisions, set_float32_precisions),
        (torch.get_num_threads, torch.set_num_threads),
        (torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled),
        (
            lambda: (
                torch.are_deterministic_algorithms_enabled(),
                torch.is_deterministic_algorithms_warn_only_enabled(),
            ),
            lambda was: torch.use_deterministic_algorithms(was[0], warn_only=was[1]),
        ),
        (
            lambda: (torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic),
            _set_cudnn,
        ),
        (_attention_backends, _set_attention_backends),
    ]
    for device in AUTOCAST_DEVICES:
        modes.append(
            (
                lambda device=device: torch.is_autocast_enabled(device),  # type: ignore[misc]
                lambda was, device=device: torch.set_autocast_enabled(device, was),  # type: ignore[misc]
            )
        )
        modes.append(
            (
                lambda device=device: torch.get_autocast_dtype(device),  # type: ignore[misc]
                lambda was, device=device: torch.set_autocast_dtype(device, was),  # type: ignore[misc]
            )
        )
    return modes


def _attention_backends() -> tuple[bool, ...]:
    """Which implementations ``scaled_dot_product_attention`` may use, on the CPU too."""
    cuda: Any = torch.backends.cuda
    return (
        cuda.flash_sdp_enabled(),
        cuda.mem_efficient_sdp_enabled(),
        cuda.math_sdp_enabled(),
        cuda.cudnn_sdp_enabled(),
    )


def _set_attention_backends(was: tuple[bool, ...]) -> None:
    cuda: Any = torch.backends.cuda
    flash, mem_efficient, math, cudnn = was
    cuda.enable_flash_sdp(flash)
    cuda.enable_mem_efficient_sdp(mem_efficient)
    cuda.enable_math_sdp(math)
    cuda.enable_cudnn_sdp(cudnn)


def _set_cudnn(was: tuple[bool, bool]) -> None:
    torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic = was
