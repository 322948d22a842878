"""Device emulation in a target's process: torch treats the target as its GPU."""

from __future__ import annotations

from typing import Any

import torch

from ...report.devices import Device
from ...torch_api.targets import device as target_device
from ...torch_api.targets import runtime, tensors
from .world import World


class PretendDevice(World):
    """A torch without a GPU that believes it has one; it cannot be left again.

    Attributes
    ----------
    target
        The GPU.
    """

    def __init__(self, target: Device, mode: Any) -> None:
        super().__init__(mode)
        self.target = target

    @classmethod
    def enter(cls, device: Device, *, is_here: bool = False) -> PretendDevice:
        """Makes this process a world for ``device``, once, before Inductor is loaded.

        Parameters
        ----------
        is_here
            Whether it is this machine's GPU, and its code is used here: then torch's cache of what
            it measured on the GPU counts.

        Raises
        ------
        CompilescopeError
            There is no C++ compiler.
        """
        target_device.pretend(device)
        assert device.build is not None, "pretend() has seen to it"
        runtime.load_replacement(device.build)
        # Not before: it loads Inductor.
        from ...torch_api.targets import choices

        choices.decide_by_rule(device.build, is_here=is_here)
        return cls(device, tensors.fake_mode())

    def device(self, name: str, *, moves: bool) -> torch.device:
        """The emulated GPU, except for what stays on the CPU."""
        kind, _, index = name.partition(":")
        if kind in ("cpu", "meta") and not moves:
            return torch.device(name)
        return torch.device("cuda", 0) if index else torch.device("cuda")

    def settings(self) -> dict[str, Any]:
        """Inductor's settings for every compilation here: nothing may be measured."""
        return {"compile_threads": 1}
