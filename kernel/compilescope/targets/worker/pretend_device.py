"""Device emulation in a target's process: torch treats the target as its GPU."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

from ...report.devices import Device
from ...torch_api.targets import device as target_device
from ...torch_api.targets import runtime, tensors


class PretendDevice:
    """A torch without a GPU that believes it has one; it cannot be left again.

    Attributes
    ----------
    device
        The GPU.
    """

    def __init__(self, device: Device, mode: Any) -> None:
        self.device = device
        self._mode = mode

    @classmethod
    def enter(cls, device: Device) -> PretendDevice:
        """Makes this process a world for ``device``, once, before Inductor is loaded.

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

        choices.decide_by_rule(device.build)
        return cls(device, tensors.fake_mode())

    @property
    def mode(self) -> AbstractContextManager[Any]:
        """In it torch makes tensors without data, on the target's device too."""
        return self._mode  # type: ignore[no-any-return]

    def storage(self, nbytes: int, device: str = "cuda") -> torch.UntypedStorage:
        """Memory that is not there, for tensors that share it."""
        return tensors.storage(self._mode, nbytes, device)

    def tensor(
        self,
        size: Sequence[int],
        stride: Sequence[int],
        dtype: torch.dtype,
        *,
        device: str = "cuda",
        requires_grad: bool = False,
        storage: torch.UntypedStorage | None = None,
        offset: int = 0,
    ) -> torch.Tensor:
        """A tensor without data, in memory of its own or in that of others."""
        return tensors.tensor(
            self._mode,
            size,
            stride,
            dtype,
            device=device,
            requires_grad=requires_grad,
            storage=storage,
            offset=offset,
        )

    def settings(self) -> dict[str, Any]:
        """Inductor's settings for every compilation here: nothing may be measured."""
        return {"compile_threads": 1}
